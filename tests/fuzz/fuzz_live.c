// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: the live view of a hostile recording that grows.  The bytes of the text cut the
 * recording: after each part, what can be read is counted and shown, and the view is changed as by
 * keys.  However it is cut, the events are the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/stacks/stack_counts.h"
#include "cleanup.h"
#include "live/live_counts.h"
#include "live/live_pairs.h"
#include "live/live_view.h"
#include "recordings.h"
#include "stackonce.h"
#include "strbuf.h"
#include "ui/pairs/pair_query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define MAX_EVENTS 20000
#define MAX_ROWS 64
#define MAX_PARTS 32
#define PATH "/proc/self/fd/"

static int fd;
static char path[32];

/* By fields and generic values, nested or not, and as a preset says. */
static const struct pair_query pair_queries[] = {
	{ .start = "*", .end = "*", .match = "cpu", .single = true, .by = "event,comm,pid" },
	{ .start = "sys_enter*,sched_switch",
	  .end = "sys_exit*,sched_switch",
	  .match = "tid|next_pid=tid|prev_pid",
	  .by = "prev_comm|id" },
	{ .start = "sched_wak*", .end = "sched_switch", .match = "pid=next_pid" },
};
#define NR_QUERIES ARRAY_SIZE(pair_queries)

struct live {
	struct reading rd;
	struct stk_reader *r; /* that of rd */
	struct live_counts *counts;
	struct pair_query queries[NR_QUERIES];
	struct live_pairs *pairs;
	int pairs_end; /* why there are no more pairs */
	uint64_t events; /* all of them, and since the counts were set to zero */
	uint64_t since_zero;
	uint64_t sum; /* a hash of the events, in their order */
	int end; /* of the last read */
};

static void check(bool ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	fd = memfd_create("fuzz", 0);
	check(fd >= 0);
	snprintf(path, sizeof(path), PATH "%d", fd);
	return 0;
}

static void log_nothing(void *ctx, enum stk_log_level level, const char *msg)
{
}

static bool is_exhausted(int err)
{
	return err == -ENOBUFS || err == -ENOMEM;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void add_event(struct live *l, const struct stk_event *e)
{
	const uint64_t values[] = {
		stk_event__ts(e),     stk_event__cpu(e),
		stk_event__tid(e),    stk_event__kstack(e),
		stk_event__ustack(e), stk_event_type__index(stk_event__type(e))
	};
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		l->sum = (l->sum ^ values[i]) * 0x9e3779b97f4a7c15ULL;
	l->events++;
	l->since_zero++;
	err = live_counts__add(l->counts, e);
	check(!err || is_exhausted(err));
	if (err)
		l->end = err;
	if (l->pairs_end)
		return;
	l->pairs_end = live_pairs__add(l->pairs, e);
	/* -ENOENT: an event type lacks a field of the key or of the groups */
	check(!l->pairs_end || l->pairs_end == -ENOENT || is_exhausted(l->pairs_end));
	if (is_exhausted(l->pairs_end))
		l->end = l->pairs_end;
}

static void read_on(struct live *l)
{
	const struct stk_event *e;

	while (!is_exhausted(l->end) && l->events < MAX_EVENTS &&
	       (l->end = stk_reader__next(l->r, &e)) == 1)
		add_event(l, e);
}

static bool open_live(struct live *l)
{
	const struct stk_reader_opts opts = {
		.size = sizeof(opts),
		.want = STK_WANT_EVENTS | STK_WANT_FIELDS,
		.follow = true,
		.log = log_nothing,
	};

	*l = (struct live){ .rd = { .command = "report", .path = path, .every = true } };
	memcpy(l->queries, pair_queries, sizeof(pair_queries));
	if (stk_reader__open(path, &opts, &l->rd.reader))
		return false;
	l->r = l->rd.reader;
	check(!live_counts__new(l->r, STACKS_KERNEL | STACKS_USER, &l->counts));
	for (size_t i = 0; i < NR_QUERIES; i++)
		check(!pair_query__complete(&l->queries[i], "report"));
	check(!live_pairs__new(&l->rd, l->queries, NR_QUERIES, &l->pairs));
	return true;
}

static void close_live(struct live *l)
{
	live_counts__free(l->counts);
	live_pairs__free(l->pairs);
	for (size_t i = 0; i < NR_QUERIES; i++)
		pair_query__free(&l->queries[i]);
	reading__free(&l->rd);
}

/* ---- the view -------------------------------------------------------------------------------- */

static void show(struct live_view *v, const struct live *l)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };

	v->file = path;
	v->events = live_counts__events(l->counts);
	live_view__text(v, 80, 24, true, &b);
	check(!strbuf__failed(&b) && b.len);
	for (size_t i = 0; i < b.len; i++)
		check(b.s[i] == '\n' || ((unsigned char)b.s[i] >= ' ' && b.s[i] != 0x7f));
	live_view__clear(v);
}

static void add_row(struct live_view *v, uint64_t self, uint64_t all, const char *text)
{
	check(!live_view__add(v,
			      (struct live_row){ .self = self, .all = all, .text = strdup(text) }));
}

static void show_stacks(struct live *l)
{
	uint64_t events = live_counts__events(l->counts), sum = 0;
	static struct live_stack stacks[MAX_EVENTS];
	struct live_view v = { .key = LIVE_STACKS };
	int n = live_counts__stacks(l->counts, stacks, MAX_EVENTS, &v.nr_all);

	check(n >= 0 ? (unsigned int)n == v.nr_all : is_exhausted(n));
	for (int i = 0; i < n; i++) {
		check(stacks[i].count && (!i || stacks[i].count <= stacks[i - 1].count));
		check(stacks[i].kstack <= stk_reader__nr_stacks(l->r));
		sum += stacks[i].count;
		if (i < MAX_ROWS)
			add_row(&v, 0, stacks[i].count, "stack");
	}
	check(n < 0 || sum == events);
	show(&v, l);
}

static void add_function(struct live_view *v, const struct live_function *f)
{
	_cleanup_(strbuf__free) struct strbuf name = { 0 };

	strbuf__text(&name, f->frame.sym ?: "?");
	check(!strbuf__failed(&name));
	add_row(v, f->self, f->all, name.s);
}

static void show_functions(struct live *l, bool all)
{
	uint64_t events = live_counts__events(l->counts), self = 0;
	struct live_view v = { .order = all ? LIVE_BY_ALL : LIVE_BY_SELF };
	struct live_function f[MAX_ROWS];
	int n = live_counts__functions(l->counts, all, f, MAX_ROWS, &v.nr_all);

	check(n >= 0 ? (unsigned int)n <= v.nr_all : is_exhausted(n));
	for (int i = 0; i < n; i++) {
		uint64_t count = all ? f[i].all : f[i].self;

		check(count && f[i].self <= f[i].all && f[i].all <= events);
		check(!i || count <= (all ? f[i - 1].all : f[i - 1].self));
		self += f[i].self;
		add_function(&v, &f[i]);
	}
	check(self <= events);
	if (is_exhausted(n))
		l->end = n;
	show(&v, l);
}

static uint64_t value_of(const struct live_times *t, enum live_pair_order order)
{
	switch (order) {
	case LIVE_BY_COUNT:
		return t->count;
	case LIVE_BY_P50:
		return t->p50;
	case LIVE_BY_P99:
		return t->p99;
	case LIVE_BY_MAX:
		return t->max;
	default:
		return MIN(t->sum, UINT64_MAX);
	}
}

static void check_times(const struct live_times *t)
{
	check(t->p50 <= t->p99 && t->p99 <= t->max && t->max <= t->sum);
	check(t->count || (!t->sum && !t->max));
}

static void add_group(struct live_view *v, const struct live *l, const struct live_group *g)
{
	_cleanup_(strbuf__free) struct strbuf name = { 0 };

	live_pairs__put_group(l->pairs, g, &name);
	check(!strbuf__failed(&name));
	check(!live_view__add(
		v, (struct live_row){ .now = g->now, .since = g->all, .text = take_ptr(name.s) }));
}

static void show_pairs(struct live *l, enum live_pair_order order)
{
	struct live_view v = { .key = LIVE_PAIRS, .pair_order = order, .nr_queries = NR_QUERIES };
	uint64_t now, all, sum = 0, sum_now = 0;
	static struct live_group g[MAX_EVENTS];
	int n = live_pairs__groups(l->pairs, order, g, MAX_EVENTS, &v.nr_all);
	bool is_last = false;

	check(n >= 0 ? (unsigned int)n == v.nr_all : is_exhausted(n));
	for (int i = 0; i < n; i++) {
		check(g[i].all.count && g[i].now.count <= g[i].all.count);
		check_times(&g[i].all);
		check_times(&g[i].now);
		/* the group of others comes last */
		check(!i || g[i].group->others ||
		      value_of(&g[i].all, order) <= value_of(&g[i - 1].all, order));
		check(!is_last || g[i].group->others);
		is_last = g[i].group->others;
		sum += g[i].all.count;
		sum_now += g[i].now.count;
		if (i < MAX_ROWS)
			add_group(&v, l, &g[i]);
	}
	live_pairs__sum(l->pairs, &now, &all);
	check(n < 0 || (sum == all && sum_now == now));
	v.interval_ns = now;
	v.nr_pairs = all;
	v.gaps = live_pairs__gaps(l->pairs);
	check(all + v.gaps <= l->since_zero * NR_QUERIES);
	show(&v, l);
}

/* What a key, or the time, does. */
static void act(struct live *l, uint8_t how)
{
	if (how & 1) {
		live_counts__zero(l->counts);
		live_pairs__zero(l->pairs);
		l->since_zero = 0;
	}
	if (how & 2) /* NULL is all types */
		live_counts__select(l->counts, stk_reader__type(l->r, how >> 4 & 3));
	if (how & 64)
		live_pairs__select(l->pairs, (int)(how >> 4 & 3) - 1);
	if (how & 128) {
		live_pairs__end_interval(l->pairs);
		show_pairs(l, (how >> 2 & 7) % NR_LIVE_PAIR_ORDERS);
	} else if (how & 4)
		show_functions(l, how & 8);
	else
		show_stacks(l);
	check(live_counts__events(l->counts) <= l->since_zero);
}

/* ---- the input ------------------------------------------------------------------------------- */

static void append(const uint8_t *data, size_t from, size_t to)
{
	check(pwrite(fd, data + from, to - from, from) == (ssize_t)(to - from));
}

/*
 * Two bytes of the text are a part: how much of the rest there is then, and what is done.  False:
 * the header was not complete.
 */
static bool grow(struct live *l, const uint8_t *data, size_t size, const uint8_t *cuts,
		 size_t nr_cuts)
{
	size_t at = STK_HEADER_SIZE < size ? STK_HEADER_SIZE : size, to;

	check(!ftruncate(fd, 0));
	append(data, 0, at);
	if (!open_live(l))
		return false;
	for (size_t i = 0; i + 1 < nr_cuts && i / 2 < MAX_PARTS; i += 2) {
		to = at + ((size - at) * cuts[i] >> 8);
		append(data, at, to);
		at = to;
		read_on(l);
		act(l, cuts[i + 1]);
	}
	append(data, at, size);
	read_on(l);
	live_counts__select(l->counts, NULL);
	check(live_counts__events(l->counts) == l->since_zero);
	live_pairs__select(l->pairs, -1);
	for (int order = 0; order < NR_LIVE_PAIR_ORDERS; order++)
		show_pairs(l, order);
	show_stacks(l);
	show_functions(l, true);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len = recording_size(data, size);
	_cleanup_free_ uint8_t *copy = malloc(len + !len);
	struct live grown, whole;

	check(copy != NULL);
	memcpy(copy, data, len);
	correct_checksums(copy, len);
	if (!grow(&grown, copy, len, data + len, size - len))
		return 0;
	check(open_live(&whole));
	read_on(&whole);
	/* what the budget allows depends on what has been read */
	if (!is_exhausted(grown.end) && !is_exhausted(whole.end))
		check(grown.events == whole.events && grown.sum == whole.sum &&
		      grown.end == whole.end);
	close_live(&grown);
	close_live(&whole);
	return 0;
}
