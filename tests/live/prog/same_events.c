// SPDX-License-Identifier: GPL-2.0-only
/*
 * same_events MS A B: compares two recordings of the same events that were made at the same time.
 * Both must have every event of the time that both cover, with the same task, fields, stacks, flags
 * and preempt count; the programs of the two recorders ran one after the other, so an event has two
 * times, at most MS apart, and an interrupt between them changes the order.  Prints for each event
 * type how many events are in both, in how many another CPU may have asked for a new task in
 * between (other_flags), and how many are in only one of them; those without fields, or with a user
 * stack that ends where the recorder stopped copying it, are left out (bare).
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stackonce.h"

#define MAX_TYPES 64
#define MAX_DEPTH 127 /* frames of a stack that is recorded without --max-depth */
#define IRQS_OFF 1u /* a common flag, TRACE_FLAG_IRQS_OFF */
#define RESCHED 0x26u /* TRACE_FLAG_NEED_RESCHED, its kinds: another CPU sets them at any time */
#define SHOWN 3 /* events of a type that are printed if they are in only one recording */

struct seen {
	uint64_t hash, ts;
	size_t at; /* in the recording, where late events are out of order */
	uint32_t type, cpu;
	uint32_t count; /* flags and preempt count */
	uint32_t unknown; /* what of these the recorder cannot know */
	uint32_t matched;
};

struct recording {
	const char *path;
	struct seen *v;
	size_t nr, cap;
	uint64_t first, last;
};

static uint64_t most; /* ns between the two times of an event */
static char *names[MAX_TYPES];
static struct result {
	uint64_t same, flags, only[2], bare[2];
} results[MAX_TYPES];

static uint32_t type_of(const struct stk_event *e)
{
	const struct stk_event_type *t = stk_event__type(e);
	char name[256];

	snprintf(name, sizeof(name), "%s:%s", stk_event_type__system(t), stk_event_type__name(t));
	for (uint32_t i = 0; i < MAX_TYPES; i++) {
		if (!names[i])
			names[i] = strdup(name);
		if (!strcmp(names[i], name))
			return i;
	}
	errx(1, "more than %d event types", MAX_TYPES);
}

static uint64_t add(uint64_t hash, const void *bytes, size_t len)
{
	const unsigned char *b = bytes;

	while (len--)
		hash = (hash ^ *b++) * 0x100000001b3ull;
	return hash;
}

/* File numbers differ between recordings, so a user frame is its file's name and offset. */
static uint64_t add_stack(uint64_t hash, struct stk_reader *r, uint32_t number)
{
	static struct stk_frame frames[STK_MAX_DEPTH];
	int nr = number ? stk_reader__frames(r, number, frames, STK_MAX_DEPTH) : 0;

	for (int i = 0; i < nr; i++) {
		hash = add(hash, &frames[i].ip, sizeof(frames[i].ip));
		hash = add(hash, &frames[i].exact, 1);
		if (frames[i].kind != STK_FRAME_KERNEL && frames[i].mod)
			hash = add(hash, frames[i].mod, strlen(frames[i].mod));
	}
	return add(hash, &nr, sizeof(nr));
}

/* Whether an event lacks its fields, or frames of its user stack. */
static bool is_bare(struct stk_reader *r, const struct stk_event *e)
{
	struct stk_stack s;

	if (stk_event__marks(e) & STK_MARK_NO_FIELDS)
		return true;
	return stk_event__ustack(e) && !stk_reader__stack(r, stk_event__ustack(e), &s) &&
	       s.end == STK_END_TRUNCATED && s.depth < MAX_DEPTH;
}

/* What the event says, without the common flags. */
static uint64_t hash_of(struct stk_reader *r, const struct stk_event *e)
{
	uint32_t ids[2] = { stk_event__tid(e), stk_event__pid(e) };
	unsigned int marks = stk_event__marks(e) & ~(STK_MARK_LATE | STK_MARK_NO_IRQFLAG);
	const char *comm = stk_event__comm(e);
	uint64_t hash = 0xcbf29ce484222325ull;
	const char *rec;
	size_t len;

	rec = stk_event__record(e, &len);
	while (len > 8 && !rec[len - 1]) /* padding, where stack words followed in the ring */
		len--;
	hash = add(hash, ids, sizeof(ids));
	hash = add(hash, &marks, sizeof(marks));
	hash = add(hash, comm, strlen(comm));
	if (len > 8)
		hash = add(hash, rec + 8, len - 8);
	hash = add(hash, &len, sizeof(len));
	return add_stack(add_stack(hash, r, stk_event__kstack(e)), r, stk_event__ustack(e));
}

static void print_event(struct stk_reader *r, const struct stk_event *e)
{
	static struct stk_frame frames[STK_MAX_DEPTH];
	const unsigned char *rec;
	size_t len;
	int nr;

	rec = stk_event__record(e, &len);
	printf("  %" PRIu64 " cpu %u %s-%u marks %x:", stk_event__ts(e), stk_event__cpu(e),
	       stk_event__comm(e), stk_event__tid(e), stk_event__marks(e));
	for (size_t i = 0; i < len; i++)
		printf("%s%02x", i % 8 ? "" : " ", rec[i]);
	nr = stk_reader__frames(r, stk_event__kstack(e), frames, STK_MAX_DEPTH);
	for (int i = 0; i < nr; i++)
		printf(" %s", frames[i].sym ?: "?");
	printf("\n");
}

/* Reads a recording; with `only`, prints those events of it instead.  side: 0 or 1. */
static void read_all(struct recording *a, int side, const struct seen *only)
{
	unsigned int shown[MAX_TYPES] = { 0 };
	const struct stk_event *e;
	struct stk_reader *r;
	size_t i = 0;
	int got;

	if (stk_reader__open(a->path, NULL, &r))
		errx(1, "open '%s'", a->path);
	while ((got = stk_reader__next(r, &e)) > 0) {
		uint32_t type = type_of(e);

		if (is_bare(r, e)) {
			results[type].bare[side] += !only;
			continue;
		}
		if (only) {
			if (!only[i].matched && only[i].ts > a->first && only[i].ts < a->last &&
			    shown[type]++ < SHOWN) {
				printf("%s: only in %s:\n", names[type], a->path);
				print_event(r, e);
			}
			i++;
			continue;
		}
		if (a->nr == a->cap) {
			a->cap = a->cap ? a->cap * 2 : 4096;
			a->v = realloc(a->v, a->cap * sizeof(*a->v));
			if (!a->v)
				err(1, "memory for the events");
		}
		if (!a->nr || stk_event__ts(e) < a->first)
			a->first = stk_event__ts(e);
		if (!a->nr || stk_event__ts(e) > a->last)
			a->last = stk_event__ts(e);
		a->v[a->nr] = (struct seen){
			.hash = hash_of(r, e),
			.ts = stk_event__ts(e),
			.at = a->nr,
			.type = type,
			.cpu = stk_event__cpu(e),
			.count = stk_event__flags(e) | stk_event__preempt_count(e) << 8,
			.unknown = stk_event__marks(e) & STK_MARK_NO_IRQFLAG ? IRQS_OFF : 0,
		};
		a->nr++;
	}
	if (got < 0)
		errx(1, "read '%s': %s", a->path, strerror(-got));
	stk_reader__free(r);
}

static int by_time(const void *a, const void *b)
{
	const struct seen *l = a, *r = b;

	if (l->ts != r->ts)
		return l->ts < r->ts ? -1 : 1;
	return l->at < r->at ? -1 : 1;
}

static int by_place(const void *a, const void *b)
{
	const struct seen *l = a, *r = b;

	return l->at < r->at ? -1 : 1;
}

static void sort(struct recording *a, int (*compare)(const void *, const void *))
{
	qsort(a->v, a->nr, sizeof(*a->v), compare);
}

/* The flags and the preempt count in which they differ. */
static uint32_t other_flags(const struct seen *a, const struct seen *b)
{
	return (a->count ^ b->count) & ~(a->unknown | b->unknown);
}

/* Finds the event of b that is a's, by time; from: the first one that may be near enough. */
static struct seen *find(const struct seen *a, struct recording *b, size_t from)
{
	struct seen *nearest = NULL;
	uint64_t apart = most;

	for (size_t i = from; i < b->nr && b->v[i].ts < a->ts + apart; i++) {
		struct seen *s = &b->v[i];

		if (s->matched || s->hash != a->hash || s->type != a->type || s->cpu != a->cpu ||
		    other_flags(s, a) & ~RESCHED)
			continue;
		nearest = s;
		apart = s->ts < a->ts ? a->ts - s->ts : s->ts - a->ts;
	}
	return nearest;
}

static void match(struct recording *a, struct recording *b)
{
	size_t from = 0;

	for (size_t i = 0; i < a->nr; i++) {
		struct seen *s, *e = &a->v[i];

		while (from < b->nr && (b->v[from].matched || b->v[from].ts + most < e->ts))
			from++;
		s = find(e, b, from);
		if (!s)
			continue;
		e->matched = s->matched = 1;
		if (e->ts > a->first && e->ts < a->last) {
			results[e->type].same++;
			results[e->type].flags += other_flags(e, s) != 0;
		}
	}
}

static void count_unmatched(const struct recording *a, int side)
{
	for (size_t i = 0; i < a->nr; i++)
		if (!a->v[i].matched && a->v[i].ts > a->first && a->v[i].ts < a->last)
			results[a->v[i].type].only[side]++;
}

int main(int argc, char **argv)
{
	struct recording a = { 0 }, b = { 0 };
	uint64_t first, last;

	if (argc != 4)
		errx(2, "usage: same_events MS A B");
	most = strtoull(argv[1], NULL, 10) * 1000000;
	a.path = argv[2];
	b.path = argv[3];
	read_all(&a, 0, NULL);
	read_all(&b, 1, NULL);
	if (!a.nr || !b.nr)
		errx(1, "no events");
	first = a.first > b.first ? a.first : b.first;
	last = a.last < b.last ? a.last : b.last;
	if (first + 4 * most >= last)
		errx(1, "too little in common: %" PRIu64 " to %" PRIu64, first, last);
	a.first = b.first = first + 2 * most;
	a.last = b.last = last - 2 * most;
	sort(&a, by_time);
	sort(&b, by_time);
	match(&a, &b);
	count_unmatched(&a, 0);
	count_unmatched(&b, 1);
	for (uint32_t i = 0; i < MAX_TYPES && names[i]; i++)
		printf("%s same %" PRIu64 " other_flags %" PRIu64 " only_a %" PRIu64
		       " only_b %" PRIu64 " bare_a %" PRIu64 " bare_b %" PRIu64 "\n",
		       names[i], results[i].same, results[i].flags, results[i].only[0],
		       results[i].only[1], results[i].bare[0], results[i].bare[1]);
	sort(&a, by_place);
	sort(&b, by_place);
	read_all(&a, 0, a.v);
	read_all(&b, 1, b.v);
	return 0;
}
