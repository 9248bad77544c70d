// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * counted RECORDING...: reads each recording by events, counted, and with selections, from the file
 * and from a pipe, and fails unless all agree.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "stackonce.h"

/* All that must not depend on how events are read. */
struct sum {
	uint32_t type, cpu, tid, pid, kstack, ustack, flags, preempt_count, marks, comm;
	uint64_t count;
};

struct sums {
	struct sum *v;
	size_t nr, cap;
	uint64_t returned, calls;
	struct stk_totals totals;
	int end;
};

/* What a selection takes; all zero but `to`: everything. */
struct wanted {
	uint64_t from, to;
	uint32_t cpus, types; /* every nth; 0: all */
	bool counted, by_reader; /* the reader selects, not the caller */
};

static uint32_t hash(const char *s)
{
	uint32_t h = 5381;

	while (*s)
		h = h * 33 + (unsigned char)*s++;
	return h;
}

static void add(struct sums *s, const struct stk_event *e, uint64_t count)
{
	if (s->nr == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 1024;
		s->v = realloc(s->v, s->cap * sizeof(*s->v));
		if (!s->v)
			err(1, "realloc");
	}
	s->v[s->nr++] = (struct sum){
		.type = stk_event_type__index(stk_event__type(e)),
		.cpu = stk_event__cpu(e),
		.tid = stk_event__tid(e),
		.pid = stk_event__pid(e),
		.kstack = stk_event__kstack(e),
		.ustack = stk_event__ustack(e),
		.flags = stk_event__flags(e),
		.preempt_count = stk_event__preempt_count(e),
		.marks = stk_event__marks(e),
		.comm = hash(stk_event__comm(e)),
		.count = count,
	};
	s->returned += count;
	s->calls++;
}

static int by_key(const void *a, const void *b)
{
	return memcmp(a, b, offsetof(struct sum, count));
}

static void merge(struct sums *s)
{
	size_t n = 0;

	if (s->nr)
		qsort(s->v, s->nr, sizeof(*s->v), by_key);
	for (size_t i = 0; i < s->nr; i++) {
		if (n && !by_key(&s->v[n - 1], &s->v[i]))
			s->v[n - 1].count += s->v[i].count;
		else
			s->v[n++] = s->v[i];
	}
	s->nr = n;
}

static bool cpu_wanted(void *ctx, uint32_t cpu)
{
	const struct wanted *w = ctx;

	return !w->cpus || !(cpu % w->cpus);
}

static bool event_wanted(void *ctx, const struct stk_event *e)
{
	const struct wanted *w = ctx;

	return !w->types || stk_event_type__index(stk_event__type(e)) % w->types == w->types - 1;
}

static bool is_wanted(struct wanted *w, const struct stk_event *e)
{
	return stk_event__ts(e) >= w->from && stk_event__ts(e) <= w->to &&
	       cpu_wanted(w, stk_event__cpu(e)) && event_wanted(w, e);
}

static void read_all(struct stk_reader *r, struct wanted *w, struct sums *s)
{
	struct stk_select select = { .size = sizeof(select),
				     .from = w->from,
				     .to = w->to,
				     .cpu = cpu_wanted,
				     .event = event_wanted,
				     .ctx = w };
	const struct stk_event *e;
	uint64_t count = 1;

	if (w->by_reader && stk_reader__select(r, &select))
		errx(1, "the selection was refused");
	for (;;) {
		s->end = w->counted ? stk_reader__next_counted(r, &e, &count) :
				      stk_reader__next(r, &e);
		if (s->end != 1)
			break;
		if (w->by_reader && !is_wanted(w, e))
			errx(1, "an event was returned that is not selected");
		if (w->by_reader || is_wanted(w, e))
			add(s, e, count);
	}
	if ((w->counted ? stk_reader__next(r, &e) : stk_reader__next_counted(r, &e, &count)) !=
	    -EINVAL)
		errx(1, "one reader delivers both events and counts");
	if (stk_reader__select(r, &select) != -EINVAL)
		errx(1, "a selection came too late and was accepted");
	stk_reader__totals(r, &s->totals);
	merge(s);
}

/* The read end of a pipe that a child fills from the file. */
static int pipe_from(const char *path, pid_t *ret_child)
{
	int fds[2], fd, status = 0;
	char buf[4096];
	ssize_t n;

	if (pipe(fds))
		err(1, "pipe");
	*ret_child = fork();
	if (*ret_child < 0)
		err(1, "fork");
	if (*ret_child) {
		close(fds[1]);
		return fds[0];
	}
	close(fds[0]);
	fd = open(path, O_RDONLY);
	while ((n = read(fd, buf, sizeof(buf))) > 0 && !status)
		status = write(fds[1], buf, n) != n;
	_exit(status);
}

static struct sums read_path(const char *path, bool piped, struct wanted w)
{
	struct stk_reader_opts opts = { .size = sizeof(opts), .want = STK_WANT_EVENTS };
	struct stk_reader *r;
	struct sums s = { 0 };
	pid_t child = 0;
	char name[32];
	int fd;

	fd = piped ? pipe_from(path, &child) : -1;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (stk_reader__open(piped ? name : path, &opts, &r))
		errx(1, "open '%s'", path);
	read_all(r, &w, &s);
	stk_reader__free(r);
	if (piped) {
		close(fd);
		waitpid(child, NULL, 0);
	}
	return s;
}

/* Damage in blocks that a selection skips is not noticed. */
static bool same_totals(const struct stk_totals *a, const struct stk_totals *b)
{
	return a->clean_end == b->clean_end && a->stacks == b->stacks && a->bytes == b->bytes &&
	       b->bad_blocks <= a->bad_blocks &&
	       (a->bad_blocks > b->bad_blocks ||
		(a->events == b->events && a->first_ts == b->first_ts && a->last_ts == b->last_ts));
}

static void compare(const char *path, const char *how, const struct sums *a, const struct sums *b)
{
	if (a->end != b->end || a->returned != b->returned || a->nr != b->nr ||
	    !same_totals(&a->totals, &b->totals))
		errx(1, "%s: %s: %" PRIu64 " events of %" PRIu64 ", not %" PRIu64 " of %" PRIu64,
		     path, how, b->returned, b->totals.events, a->returned, a->totals.events);
	for (size_t i = 0; i < a->nr; i++)
		if (memcmp(&a->v[i], &b->v[i], sizeof(a->v[i])))
			errx(1, "%s: %s: other sums", path, how);
}

static void check(const char *path, bool piped, struct wanted w, struct sums *ret_events)
{
	struct wanted how = w;
	struct sums other;

	how.by_reader = how.counted = false;
	*ret_events = read_path(path, piped, how);
	how.by_reader = true;
	other = read_path(path, piped, how);
	compare(path, piped ? "selected events from a pipe" : "selected events", ret_events,
		&other);
	free(other.v);
	how.counted = true;
	other = read_path(path, piped, how);
	compare(path, piped ? "counts from a pipe" : "counts", ret_events, &other);
	free(other.v);
}

/* All events, some CPUs, some types, and times around the first, the middle and the last event. */
static void check_all(const char *path)
{
	struct sums all, some;

	check(path, true, (struct wanted){ .to = UINT64_MAX }, &all);
	free(all.v);
	check(path, false, (struct wanted){ .to = UINT64_MAX }, &all);
	for (uint32_t n = 1; n <= 3; n++) {
		uint64_t first = all.totals.first_ts, last = all.totals.last_ts;
		uint64_t step = (last - first) / 7, from = first + n * step;

		check(path, false, (struct wanted){ .to = UINT64_MAX, .cpus = n + 1 }, &some);
		free(some.v);
		check(path, false, (struct wanted){ .to = UINT64_MAX, .types = n }, &some);
		free(some.v);
		check(path, n == 2, (struct wanted){ .from = from, .to = from + step }, &some);
		free(some.v);
		check(path, false, (struct wanted){ .from = from, .to = last, .types = n }, &some);
		free(some.v);
	}
	check(path, false, (struct wanted){ .to = all.totals.first_ts }, &some);
	free(some.v);
	check(path, false, (struct wanted){ .from = all.totals.last_ts, .to = UINT64_MAX }, &some);
	free(some.v);
	printf("%s: %" PRIu64 " events, %zu sums\n", path, all.returned, all.nr);
	free(all.v);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		check_all(argv[i]);
	return 0;
}
