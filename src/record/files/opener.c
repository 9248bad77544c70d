// SPDX-License-Identifier: GPL-2.0-only
/* Runs the thread that opens new files while their processes exist. */
#include "opener.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include <bpf/libbpf.h>

#include "cleanup.h"
#include "clock.h"
#include "jit_source.h"

#define MAX_WAITING 1024 /* observed files in the queue; each may hold a descriptor */
#define MAX_TABLES 64 /* so many files in the queue may have a table */
/* The thread counts as stuck once so many checks in a row, this far apart, found it asleep. */
#define CHECK_NS 50000000
#define CHECKS_ASLEEP 5
#define STOP_NS (2 * SECOND_NS) /* at the end, a thread that does not stop is abandoned */

struct opener {
	pthread_t thread;
	bool started;
	pid_t tid; /* of the thread; set before it opens a file */
	bool opening; /* a file: if the thread sleeps now, it is waiting for a file system */
	struct ring_buffer *ring;
	const char *positions; /* the ring's consumer and producer position, a page each */
	int stop_fd;
	int ready_fd; /* readable while the queue is not empty */
	bool with_tables;
	struct seen_context ctx; /* used only by the thread */
	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t changed;
	struct observed_file *first, **last;
	unsigned int nr; /* also read without the lock */
	bool stop, stuck;
	int err;
};

/* ---- opening --------------------------------------------------------------------------------- */

int observed_file__open(struct seen_context *ctx, const struct wire_file_event *n, bool with_table,
			struct observed_file *ret_observed)
{
	struct observed_file s = { .n = *n, .file = { .fd = -1 } };
	int err = 0;

	if (n->key.kind == WIRE_KEY_FILE)
		err = seen_file__open(ctx, n, with_table && !n->is_name, &s.file);
	else if (n->key.kind == WIRE_KEY_JIT)
		err = jit_source__new(n->key.w[1], n->key.w[2], &s.jit);
	if (err && err != -ENOENT) {
		observed_file__release(&s);
		return err;
	}
	*ret_observed = s;
	return 0;
}

void observed_file__release(struct observed_file *s)
{
	seen_file__release(&s->file);
	jit_source__free(s->jit);
	s->jit = NULL;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static uint64_t position(const struct opener *o, bool producer)
{
	const char *page = o->positions + (producer ? sysconf(_SC_PAGESIZE) : 0);

	return __atomic_load_n((const uint64_t *)page, __ATOMIC_ACQUIRE);
}

/* Whether file events are pending in the ring. */
static bool has_pending(const struct opener *o)
{
	return position(o, false) < position(o, true);
}

static void append(struct opener *o, struct observed_file *s)
{
	pthread_mutex_lock(&o->lock);
	while (o->nr >= MAX_WAITING && !o->stop)
		pthread_cond_wait(&o->changed, &o->lock);
	s->next = NULL;
	*o->last = s;
	o->last = &s->next;
	__atomic_fetch_add(&o->nr, 1, __ATOMIC_RELAXED);
	o->stuck = false;
	eventfd_write(o->ready_fd, 1);
	pthread_cond_broadcast(&o->changed);
	pthread_mutex_unlock(&o->lock);
}

static int on_file_event(void *ctx, void *data, size_t size)
{
	struct wire_file_event n = { 0 };
	struct opener *o = ctx;
	bool with_table;
	struct observed_file *s;
	int err;

	if (__atomic_load_n(&o->stop, __ATOMIC_RELAXED))
		return -ECANCELED;
	if (size < offsetof(struct wire_file_event, parts))
		return 0;
	memcpy(&n, data, MIN(size, sizeof(n)));
	n.len = MIN((size_t)n.len, MIN(size, sizeof(n)) - offsetof(struct wire_file_event, parts));
	s = malloc(sizeof(*s));
	with_table = o->with_tables && __atomic_load_n(&o->nr, __ATOMIC_RELAXED) < MAX_TABLES;
	__atomic_store_n(&o->opening, true, __ATOMIC_RELEASE);
	err = s ? observed_file__open(&o->ctx, &n, with_table, s) : -ENOMEM;
	__atomic_store_n(&o->opening, false, __ATOMIC_RELEASE);
	if (err) {
		free(s);
		return err;
	}
	append(o, s);
	return 0;
}

/* The sooner the thread runs, the more files can still be opened. */
static void raise_priority(void)
{
	struct sched_param param = { .sched_priority = 1 };

	pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
	prctl(PR_SET_NAME, "stackonce-files");
}

static void *run(void *arg)
{
	struct opener *o = arg;
	struct pollfd fds[2] = {
		{ .fd = ring_buffer__epoll_fd(o->ring), .events = POLLIN },
		{ .fd = o->stop_fd, .events = POLLIN },
	};
	int err = 0;

	__atomic_store_n(&o->tid, gettid(), __ATOMIC_RELAXED);
	raise_priority();
	while (err >= 0) {
		err = ring_buffer__consume(o->ring);
		seen_context__forget(&o->ctx); /* mounts change meanwhile */
		pthread_mutex_lock(&o->lock);
		o->err = MIN(err, 0);
		pthread_cond_broadcast(&o->changed);
		pthread_mutex_unlock(&o->lock);
		poll(fds, 2, -1);
		if (fds[1].revents)
			break;
	}
	return NULL;
}

static int start(struct opener *o)
{
	sigset_t all, before;
	int err;

	/* signals are handled by the other threads */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&o->thread, NULL, run, o);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	o->started = !err;
	return -err;
}

static int open_ring(struct opener *o, int file_event_fd)
{
	void *m = mmap(NULL, 2 * sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, file_event_fd, 0);

	if (m == MAP_FAILED)
		return -errno;
	o->positions = m;
	o->stop_fd = eventfd(0, EFD_CLOEXEC);
	o->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (o->stop_fd < 0 || o->ready_fd < 0)
		return -errno;
	o->ring = ring_buffer__new(file_event_fd, on_file_event, o, NULL);
	return o->ring ? 0 : -errno;
}

int opener__new(int file_event_fd, struct snapshot *snapshot, bool with_tables,
		struct opener **ret_opener)
{
	struct opener *o = calloc(1, sizeof(*o));
	int err;

	if (!o)
		return -ENOMEM;
	o->ctx.snapshot = snapshot;
	o->with_tables = with_tables;
	o->last = &o->first;
	o->stop_fd = o->ready_fd = -1;
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->changed, NULL);
	err = open_ring(o, file_event_fd);
	if (!err)
		err = start(o);
	if (err) {
		opener__free(o);
		return err;
	}
	*ret_opener = o;
	return 0;
}

/* false: the thread hangs in a file system, and is abandoned. */
static bool stop(struct opener *o)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + STOP_NS;
	const struct timespec until = { end / SECOND_NS, end % SECOND_NS };

	pthread_mutex_lock(&o->lock);
	__atomic_store_n(&o->stop, true, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&o->changed);
	pthread_mutex_unlock(&o->lock);
	eventfd_write(o->stop_fd, 1);
	return !pthread_clockjoin_np(o->thread, NULL, CLOCK_MONOTONIC, &until);
}

bool opener__free(struct opener *o)
{
	struct observed_file *s;

	if (!o)
		return true;
	if (o->started && !stop(o))
		return false;
	while ((s = o->first)) {
		o->first = s->next;
		observed_file__release(s);
		free(s);
	}
	ring_buffer__free(o->ring);
	if (o->positions)
		munmap((void *)o->positions, 2 * sysconf(_SC_PAGESIZE));
	closep(&o->stop_fd);
	closep(&o->ready_fd);
	seen_context__free(&o->ctx);
	pthread_cond_destroy(&o->changed);
	pthread_mutex_destroy(&o->lock);
	free(o);
	return true;
}

/* ---- other threads --------------------------------------------------------------------------- */

/*
 * Whether the thread sleeps in an access to a file and has not run since the last check.  A thread
 * that waits for a CPU, or builds the table of a large file, does not sleep.
 */
static bool is_asleep(const struct opener *o, unsigned long *switches)
{
	pid_t tid = __atomic_load_n(&o->tid, __ATOMIC_RELAXED);
	unsigned long now = *switches, before = *switches;
	_cleanup_fclose_ FILE *f = NULL;
	char path[64], line[256], state = 0;

	if (!__atomic_load_n(&o->opening, __ATOMIC_ACQUIRE))
		return false;
	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "State: %c", &state);
		sscanf(line, "voluntary_ctxt_switches: %lu", &now);
	}
	*switches = now;
	return f && state != 'R' && now == before;
}

/* Waits for the next observed file until the deadline, or until the thread is found stuck. */
static void wait_for_first(struct opener *o, uint64_t deadline)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), until;
	unsigned long switches = 0;
	unsigned int asleep = 0;

	while (!o->first && !o->err && !o->stuck && has_pending(o) && now < deadline) {
		until = MIN(now + CHECK_NS, deadline);
		const struct timespec t = { until / SECOND_NS, until % SECOND_NS };

		if (pthread_cond_clockwait(&o->changed, &o->lock, CLOCK_MONOTONIC, &t) ==
		    ETIMEDOUT) {
			asleep = is_asleep(o, &switches) ? asleep + 1 : 0;
			o->stuck = asleep > CHECKS_ASLEEP;
		}
		now = clock_ns(CLOCK_MONOTONIC);
	}
}

bool opener__is_stuck(const struct opener *o)
{
	return __atomic_load_n(&o->stuck, __ATOMIC_RELAXED);
}

int opener__fd(const struct opener *o)
{
	return o->ready_fd;
}

/* The first observed file in the queue; NULL: none. */
static struct observed_file *take_first(struct opener *o)
{
	struct observed_file *s = o->first;
	eventfd_t value;

	if (!s)
		return NULL;
	o->first = s->next;
	__atomic_fetch_sub(&o->nr, 1, __ATOMIC_RELAXED);
	if (!o->first) {
		o->last = &o->first;
		eventfd_read(o->ready_fd, &value);
	}
	pthread_cond_broadcast(&o->changed);
	return s;
}

int opener__next(struct opener *o, uint64_t deadline, struct observed_file *ret_observed)
{
	struct observed_file *s;
	int err;

	/* in this order: what is no longer in the ring is in the queue */
	if ((!deadline || !has_pending(o)) && !__atomic_load_n(&o->nr, __ATOMIC_RELAXED))
		return 0;
	pthread_mutex_lock(&o->lock);
	wait_for_first(o, deadline);
	s = take_first(o);
	err = o->err;
	pthread_mutex_unlock(&o->lock);
	if (!s)
		return err;
	*ret_observed = *s;
	free(s);
	return 1;
}
