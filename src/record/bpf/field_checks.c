// SPDX-License-Identifier: GPL-2.0-only
/* Attaches and detaches the checks of native events, in a thread beside the recorder's. */
#include "field_checks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "cleanup.h"
#include "log.h"
#include "old_way.h"
#include "programs_priv.h"
#include "record/kernel/native_difference.h"
#include "record/select/rec_event.h"
#include "strbuf.h"
#include "thread.h"

#define MS_NS 1000000ull

#define SERIES 64 /* hits that are compared at a time */
/* So many of a series may differ in what others may have changed meanwhile. */
#define MAX_CHANGED 1
#define LOOK_MIN_NS (10 * MS_NS) /* how often the thread looks while hits are compared */
#define LOOK_MAX_NS (500 * MS_NS) /* and while none are */

/*
 * Later series: one event type at a time, for a short time, since its events cost more meanwhile;
 * with attaching and detaching a thousandth of the time.
 */
#define WINDOW_NS (5 * MS_NS)
#define WINDOW_PART 1000

_Static_assert((int)STK_C_FIELDS_CHANGED == (int)STK_C_FIELDS_AGREED + (int)NATIVE_CHANGED &&
		       (int)STK_C_FIELDS_DIFFERED ==
			       (int)STK_C_FIELDS_AGREED + (int)NATIVE_DIFFERED,
	       "a counter for each verdict");

struct check {
	unsigned int event; /* of several the first one */
	unsigned int index; /* of the check in the map */
	struct native_check *shared;
	struct bpf_link *kernel; /* of the first program; NULL: it is not attached */
	int prog, link; /* descriptors of the second program, or -1 */
	uint64_t seen, agreed; /* comparisons, and those that agreed, when it was last looked at */
	uint64_t changed; /* comparisons with this verdict before the series */
	bool condemned; /* the records are not the kernel's */
};

/* Events of a type that have been recorded. */
struct progress {
	uint64_t now;
	uint64_t looked; /* when its check was last looked at */
	uint64_t agreed; /* not after the last comparison that agreed */
	uint64_t ended; /* when the event took the old way; UINT64_MAX: it has not */
};

struct field_checks {
	struct programs *p;
	struct native_check *shared; /* memory of the map */
	size_t shared_len;
	struct check *v;
	unsigned int nr;
	struct progress *events; /* by event */
	struct check *window; /* what is compared in the present window, or NULL */
	unsigned int next; /* whose the next window is */
	uint64_t first, opened, until, next_at; /* of windows; first: after the start */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stopped;
	bool started, stop;
};

/* ---- one check ------------------------------------------------------------------------------- */

/* Detaching the program of type TRACEPOINT takes two grace periods. */
static void detach(struct check *k)
{
	__atomic_store_n(&k->shared->left, 0, __ATOMIC_SEQ_CST);
	closep(&k->link);
	k->link = -1;
	bpf_link__destroy(k->kernel);
	k->kernel = NULL;
}

/* Its tracepoint; those of system calls are in one system. */
static const char *system_of(const struct field_checks *c, const struct check *k)
{
	return k->index < c->p->nr_events ? c->p->opts->events->v[k->event].system : "raw_syscalls";
}

static const char *name_of(const struct field_checks *c, const struct check *k)
{
	return k->index < c->p->nr_events  ? c->p->opts->events->v[k->event].name :
	       k->index == c->p->nr_events ? "sys_enter" :
					     "sys_exit";
}

/* The kernel calls the programs in the order in which they were attached. */
static int attach(struct field_checks *c, struct check *k)
{
	LIBBPF_OPTS(bpf_tracepoint_opts, opts, .bpf_cookie = k->index);

	if (k->prog < 0)
		k->prog = native__load_check(c->p, k->event);
	if (k->prog < 0)
		return k->prog;
	k->kernel = bpf_program__attach_tracepoint_opts(c->p->skel->progs.check_kernel,
							system_of(c, k), name_of(c, k), &opts);
	if (!k->kernel)
		return -errno;
	k->link = bpf_raw_tracepoint_open(name_of(c, k), k->prog);
	if (k->link < 0)
		return -errno;
	k->changed = k->shared->compared[NATIVE_CHANGED];
	memset(&k->shared->pair[NATIVE_CHANGED], 0, sizeof(k->shared->pair[0]));
	k->shared->round++;
	__atomic_store_n(&k->shared->left, SERIES, __ATOMIC_SEQ_CST);
	return 0;
}

static uint64_t verdicts(const struct check *k, enum native_verdict v)
{
	return __atomic_load_n(&k->shared->compared[v], __ATOMIC_ACQUIRE);
}

static uint64_t compared(const struct check *k)
{
	return verdicts(k, NATIVE_AGREED) + verdicts(k, NATIVE_CHANGED) +
	       verdicts(k, NATIVE_DIFFERED);
}

static bool is_wrong(const struct check *k)
{
	return verdicts(k, NATIVE_DIFFERED) ||
	       verdicts(k, NATIVE_CHANGED) > k->changed + MAX_CHANGED;
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool has_event(const struct field_checks *c, const struct check *k, unsigned int event)
{
	return programs__is_native(c->p, event) && native__check(c->p, event) == k->index;
}

/* An agreement that is new was not before the last look. */
static void note_progress(struct field_checks *c, struct check *k)
{
	uint64_t agreed;
	unsigned int i;

	for (i = 0; i < c->p->nr_events; i++)
		if (has_event(c, k, i))
			c->events[i].now = programs__recorded(c->p, i);
	agreed = verdicts(k, NATIVE_AGREED);
	for (i = 0; i < c->p->nr_events; i++) {
		if (!has_event(c, k, i))
			continue;
		if (agreed != k->agreed)
			c->events[i].agreed = c->events[i].looked;
		c->events[i].looked = c->events[i].now;
	}
	k->agreed = agreed;
}

/* The kernel fills the records from now on. */
static void condemn(struct field_checks *c, struct check *k)
{
	unsigned int i;

	k->condemned = true;
	for (i = 0; i < c->p->nr_events; i++)
		if (has_event(c, k, i) && !old_way__take(c->p, i))
			c->events[i].ended = programs__recorded(c->p, i);
}

/* Ends a series that is complete, or that shows a difference; whether it went on meanwhile. */
static bool look_at(struct field_checks *c, struct check *k)
{
	uint64_t before = k->seen;

	/* Its last verdict may have come while it was detached. */
	if (k->condemned || (!k->kernel && !is_wrong(k)))
		return false;
	k->seen = compared(k);
	note_progress(c, k);
	if (is_wrong(k)) {
		detach(k);
		condemn(c, k);
	} else if (__atomic_load_n(&k->shared->left, __ATOMIC_ACQUIRE) < 1) {
		detach(k);
	}
	return k->seen != before;
}

/* ---- windows --------------------------------------------------------------------------------- */

static void open_window(struct field_checks *c)
{
	unsigned int i;
	int err;

	c->opened = clock_ns(CLOCK_MONOTONIC);
	for (i = 0; i < c->nr && !c->window; i++) {
		struct check *k = &c->v[c->next++ % c->nr];

		if (!k->kernel && !k->condemned)
			c->window = k;
	}
	err = c->window ? attach(c, c->window) : 0;
	c->until = clock_ns(CLOCK_MONOTONIC) + WINDOW_NS; /* attaching may have taken longer */
	if (!err)
		return;
	log_debug("records of %s:%s are not compared: %s", system_of(c, c->window),
		  name_of(c, c->window), strerror(-err));
	detach(c->window);
}

/* Also after its check has been detached, when the series was complete. */
static void close_window(struct field_checks *c)
{
	uint64_t now;

	detach(c->window);
	now = clock_ns(CLOCK_MONOTONIC);
	c->next_at = now + (now - c->opened) * WINDOW_PART;
	c->window = NULL;
}

/* The time of the next step, for which the thread must not sleep too long. */
static uint64_t look_at_window(struct field_checks *c)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (c->window && (!c->window->kernel || now >= c->until)) {
		look_at(c, c->window);
		close_window(c);
	} else if (!c->window && now >= c->next_at) {
		open_window(c);
		if (!c->window)
			c->next_at = now + c->first;
	}
	return c->window ? c->until : c->next_at;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* False: the thread is to end. */
static bool sleep_for(struct field_checks *c, uint64_t ns)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + ns;
	const struct timespec t = { until / SECOND_NS, until % SECOND_NS };
	bool stop;

	pthread_mutex_lock(&c->lock);
	while (!c->stop && clock_ns(CLOCK_MONOTONIC) < until)
		pthread_cond_clockwait(&c->stopped, &c->lock, CLOCK_MONOTONIC, &t);
	stop = c->stop;
	pthread_mutex_unlock(&c->lock);
	return !stop;
}

static void *run(void *arg)
{
	struct field_checks *c = arg;
	uint64_t nap = LOOK_MIN_NS, until = 0, now;
	unsigned int i;
	bool any;

	prctl(PR_SET_NAME, "stackonce-check");
	c->next_at = clock_ns(CLOCK_MONOTONIC) + c->first;
	do {
		any = false;
		for (i = 0; i < c->nr; i++)
			any |= look_at(c, &c->v[i]);
		nap = any ? LOOK_MIN_NS : MIN(2 * nap, LOOK_MAX_NS);
		/* not earlier, because a short recording would have to wait for that */
		if (nap == LOOK_MAX_NS)
			programs__end_calibration(c->p);
		until = look_at_window(c);
		now = clock_ns(CLOCK_MONOTONIC);
	} while (sleep_for(c, MIN(nap, until > now ? until - now : 0)));
	return NULL;
}

int field_checks__start(struct field_checks *c, uint64_t first_window_ns)
{
	int err;

	if (!c)
		return 0;
	c->stop = false;
	c->first = first_window_ns;
	err = thread__start(&c->thread, run, c);
	if (err)
		return log_err(err, "start the thread that checks records");
	c->started = true;
	return 0;
}

void field_checks__stop(struct field_checks *c)
{
	if (!c || !c->started)
		return;
	old_way__stop(c->p);
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_signal(&c->stopped);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	c->started = false;
}

void field_checks__finish(struct field_checks *c)
{
	unsigned int i;

	for (i = 0; c && i < c->nr; i++) {
		struct check *k = &c->v[i];

		if (k->condemned || !is_wrong(k))
			continue;
		note_progress(c, k);
		k->condemned = true; /* too late for the old way */
	}
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool is_known(const struct field_checks *c, unsigned int index)
{
	unsigned int i;

	for (i = 0; i < c->nr; i++)
		if (c->v[i].index == index)
			return true;
	return false;
}

static int add(struct field_checks *c, unsigned int event)
{
	unsigned int index = native__check(c->p, event);
	struct check *k = &c->v[c->nr];

	if (is_known(c, index))
		return 0;
	*k = (struct check){
		.event = event, .index = index, .shared = &c->shared[index], .prog = -1, .link = -1
	};
	c->nr++;
	native__masks(c->p, event, k->shared);
	return attach(c, k);
}

/* An event that cannot be attached to is left out if its name was a pattern, see attach__all(). */
static int attach_all(struct field_checks *c)
{
	const struct rec_events *l = c->p->opts->events;
	unsigned int i;
	int err;

	for (i = 0; i < l->nr; i++) {
		c->events[i].ended = UINT64_MAX;
		err = programs__is_native(c->p, i) ? add(c, i) : 0;
		if (err && !l->v[i].globbed)
			return log_err(err, "attach the check of %s:%s", l->v[i].system,
				       l->v[i].name);
		if (err)
			detach(&c->v[c->nr - 1]);
	}
	return 0;
}

int field_checks__new(struct programs *p, struct field_checks **ret_checks)
{
	struct field_checks *c;
	void *shared;
	int err;

	*ret_checks = NULL;
	if (!p->native)
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->p = p;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->stopped, NULL);
	c->v = calloc(p->nr_events + 2, sizeof(*c->v));
	c->events = calloc(MAX(p->nr_events, 1u), sizeof(*c->events));
	c->shared_len = (p->nr_events + 2) * sizeof(*c->shared);
	shared = mmap(NULL, c->shared_len, PROT_READ | PROT_WRITE, MAP_SHARED,
		      bpf_map__fd(p->skel->maps.native_checks), 0);
	err = !c->v || !c->events ? -ENOMEM : shared == MAP_FAILED ? -errno : 0;
	if (shared != MAP_FAILED)
		c->shared = shared;
	if (!err)
		err = attach_all(c);
	if (err) {
		field_checks__free(c);
		return err;
	}
	*ret_checks = c;
	return 0;
}

void field_checks__free(struct field_checks *c)
{
	unsigned int i;

	if (!c)
		return;
	field_checks__stop(c);
	for (i = 0; i < c->nr; i++) {
		detach(&c->v[i]);
		closep(&c->v[i].prog);
	}
	if (c->shared)
		munmap(c->shared, c->shared_len);
	pthread_cond_destroy(&c->stopped);
	pthread_mutex_destroy(&c->lock);
	free(c->events);
	free(c->v);
	free(c);
}

unsigned int field_checks__max_fds(const struct field_checks *c)
{
	return c ? 2 * c->nr : 0;
}

unsigned int field_checks__fds(const struct field_checks *c, int *ret_fds)
{
	unsigned int i, nr = 0;

	for (i = 0; c && i < c->nr; i++) {
		if (c->v[i].kernel)
			ret_fds[nr++] = bpf_link__fd(c->v[i].kernel);
		if (c->v[i].link >= 0)
			ret_fds[nr++] = c->v[i].link;
	}
	return nr;
}

void field_checks__counters(const struct field_checks *c, unsigned int event, uint64_t *counters)
{
	const struct native_check *n;
	unsigned int i;

	if (!c || !programs__is_native(c->p, event))
		return;
	n = &c->shared[native__check(c->p, event)];
	for (i = 0; i < NATIVE_NR_VERDICTS; i++)
		counters[STK_C_FIELDS_AGREED + i] =
			__atomic_load_n(&n->compared[i], __ATOMIC_ACQUIRE);
}

/* ---- differences ----------------------------------------------------------------------------- */

static const struct check *condemned(const struct field_checks *c, unsigned int event)
{
	unsigned int i;

	for (i = 0; c && i < c->nr; i++)
		if (c->v[i].condemned && has_event(c, &c->v[i], event))
			return &c->v[i];
	return NULL;
}

struct programs_unverified field_checks__unverified(const struct field_checks *c,
						    unsigned int event)
{
	const struct check *k = condemned(c, event);
	struct programs_unverified u = { 0 };
	const struct progress *e;

	if (!k)
		return u;
	e = &c->events[event];
	u.stacks =
		(e->ended == UINT64_MAX ? programs__recorded(c->p, event) : e->ended) - e->agreed;
	u.from = k->shared->agreed_ts;
	u.to = old_way__since(c->p, event) ?: recorder_opts__now(c->p->opts);
	return u;
}

void field_checks__difference(const struct field_checks *c, unsigned int event, struct strbuf *text)
{
	const struct check *k = condemned(c, event);

	if (k)
		native_difference__print(k->shared, c->p->opts->events->v[event].fmt, text);
}

struct programs_unverified programs__fields_unverified(const struct programs *p, unsigned int event)
{
	return field_checks__unverified(p->checks, event);
}

void programs__fields_difference(const struct programs *p, unsigned int event, struct strbuf *text)
{
	if (p->checks)
		field_checks__difference(p->checks, event, text);
}
