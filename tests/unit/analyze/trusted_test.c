// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two analyses of one recording, times off the CPU and pairs of switches, must trust the same
 * intervals for each way of losing events, and none of these may be across a loss.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/waits/offcpu.h"
#include "analyze/pairs/pairs.h"
#include "cleanup.h"
#include "trace/stk.h"
#include "waits_recording.h"

#define CPUS 3u
#define TASKS 7u
#define SWITCHES 1500u
#define ROUND 100u /* ns: about five switches */
#define NEVER UINT64_MAX

enum how {
	SEEN,
	LOST_CPU, /* the loss names the CPU */
	LOST_ANY_CPU,
	LOST_ANY_TYPE,
	LATE,
	BARE,
	BAD_BLOCK,
	NR_HOWS
};

struct swtch {
	uint64_t ts, back; /* back: when prev runs again; NEVER: not in the recording */
	uint32_t cpu, prev, next;
	enum how how;
};

struct interval {
	uint64_t from, to;
	uint32_t tid;
};

struct set {
	struct interval *v;
	size_t nr;
};

static struct swtch all[SWITCHES];
static uint32_t by_stack[SWITCHES + 1]; /* switch by stack id */

static uint32_t below(uint32_t max)
{
	return random() % max;
}

/* Tasks 1 to TASKS on any CPU; 0 is the idle task of each. */
static void make_switches(enum how how)
{
	uint32_t running[CPUS] = { 0 }, waiting[TASKS], nr = TASKS, i, k;
	uint64_t ts = 1000;

	for (i = 0; i < TASKS; i++)
		waiting[i] = i + 1;
	for (i = 0; i < SWITCHES; i++) {
		struct swtch *s = &all[i];

		*s = (struct swtch){ .ts = ts += 1 + below(40), .back = NEVER, .cpu = below(CPUS) };
		s->prev = running[s->cpu];
		k = below(nr);
		s->next = s->prev && !below(4) ? 0 : waiting[k];
		if (s->next)
			waiting[k] = waiting[--nr];
		if (s->prev)
			waiting[nr++] = s->prev;
		running[s->cpu] = s->next;
		for (k = i; s->next && k--;) {
			if (all[k].prev == s->next) {
				all[k].back = ts;
				break;
			}
		}
		/* Losses come in bursts with long pauses. */
		if (how != SEEN && i > 20 && i < SWITCHES - 40)
			s->how = (all[i - 1].how != SEEN ? below(2) : !below(60)) ? how : SEEN;
	}
}

static bool is_lost(const struct swtch *s)
{
	return s->how >= LOST_CPU && s->how <= LOST_ANY_TYPE;
}

static void put(struct recording *rec, uint32_t i)
{
	const struct swtch *s = &all[i];

	recording__put(rec, (struct ev){ .ts = s->ts,
					 .type = SWITCH,
					 .cpu = s->cpu,
					 .tid = s->prev,
					 .marks = s->how == BARE ? STK_MARK_NO_FIELDS : 0,
					 .f = { 1, s->next },
					 .stack = i + 1 });
	assert_in_range(rec->last_stack, 1, SWITCHES);
	by_stack[rec->last_stack] = i;
}

static void lose(struct recording *rec, const struct swtch *s)
{
	recording__loss(rec, (struct stk_writer_loss){
				     .first_ts = s->ts,
				     .last_ts = s->ts,
				     .event = s->how == LOST_ANY_TYPE ? STK_WRITER_ANY : SWITCH,
				     .cpu = s->how == LOST_ANY_CPU ? STK_WRITER_ANY : s->cpu,
				     .count = s->how == LOST_ANY_TYPE ? 0 : 1 });
}

/* Late events come three rounds late. */
static void record(struct recording *rec)
{
	uint64_t end = all[0].ts + ROUND;
	uint32_t i, late = 0;

	recording__begin(rec);
	rec->is_new = true;
	rec->counters[SWITCH][STK_C_LOST_EDGE] = 2; /* before or after the recording */
	for (i = 0; i < SWITCHES; i++) {
		for (; all[i].ts >= end; end += ROUND) {
			assert_int_equal(stk_writer__end_round(rec->w, end, 0), 0);
			for (; late < i && all[late].ts + 3 * ROUND < end; late++)
				if (all[late].how == LATE)
					put(rec, late);
		}
		if (is_lost(&all[i]))
			lose(rec, &all[i]);
		else if (all[i].how != LATE)
			put(rec, i);
	}
	recording__close(rec, end);
}

/* Damages some blocks of events, whose events are lost. */
static void damage(const char *path)
{
	struct stk_block_header h;
	FILE *f = fopen(path, "r+");
	uint64_t first, last;
	uint32_t i, nr = 0;
	long at = STK_HEADER_SIZE;

	assert_non_null(f);
	while (!fseek(f, at, SEEK_SET) && fread(&h, sizeof(h), 1, f) == 1) {
		if (h.type == STK_BLOCK_EVENTS && ++nr % 40 == 39) {
			struct stk_events_header eh;

			assert_int_equal(fread(&eh, sizeof(eh), 1, f), 1);
			first = eh.min_ts;
			last = eh.max_ts;
			for (i = 0; i < SWITCHES; i++)
				if (all[i].cpu == h.aux && all[i].ts >= first && all[i].ts <= last)
					all[i].how = BAD_BLOCK;
			assert_int_equal(fseek(f, at + (long)sizeof(h), SEEK_SET), 0);
			assert_int_equal(fwrite("damage", 6, 1, f), 1);
		}
		at += (long)sizeof(h) + h.stored_len;
	}
	fclose(f);
}

/* ---- trusted intervals ----------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static struct set set__new(size_t nr)
{
	struct set s = { calloc(nr + 1, sizeof(struct interval)), nr };

	assert_non_null(s.v);
	return s;
}

static struct stk_reader *open_file(const struct recording *rec)
{
	struct stk_reader *r;

	assert_int_equal(stk_reader__open(rec->path, NULL, &r), 0);
	return r;
}

/* Each switch has its own stack, so each group is one interval. */
static struct set read_offcpu(const struct recording *rec)
{
	struct stk_reader *r = open_file(rec);
	struct offcpu_opts opts = { .by = OFFCPU_BY_STACK };
	const struct offcpu_result *result;
	struct offcpu_analysis *a;
	const struct stk_event *e;
	struct set s;
	uint32_t i;

	assert_int_equal(offcpu_analysis__new(r, &opts, &a), 0);
	while (stk_reader__next(r, &e) == 1)
		assert_int_equal(offcpu_analysis__add(a, e), 0);
	assert_int_equal(offcpu_analysis__finish(a, &result), 0);
	s = set__new(result->nr_groups);
	for (i = 0; i < result->nr_groups; i++) {
		const struct offcpu_group *g = &result->groups[i];
		const struct swtch *from;

		assert_int_equal(g->time.count, 1);
		assert_in_range(g->ustack, 1, SWITCHES);
		from = &all[by_stack[g->ustack]];
		s.v[i].from = from->ts;
		s.v[i].tid = from->prev;
		s.v[i].to = from->ts + g->time.blocked + g->time.queued;
	}
	qsort(s.v, s.nr, sizeof(*s.v), by_start);
	offcpu_analysis__free(a);
	stk_reader__free(r);
	return s;
}

static unsigned int switches(void *ctx, const struct stk_event_type *t)
{
	(void)ctx;
	return stk_event_type__index(t) == SWITCH ? PAIRS_START | PAIRS_END : 0;
}

static struct set read_pairs(const struct recording *rec)
{
	const struct pairs_opts opts = { .role = switches,
					 .match = "prev_pid=next_pid",
					 .top = SWITCHES };
	struct stk_reader *r = open_file(rec);
	struct pairs_result result;
	const struct stk_event *e;
	struct pairs *p;
	struct set s;
	uint32_t i;

	assert_int_equal(pairs__new(&opts, &p), 0);
	while (stk_reader__next(r, &e) == 1)
		assert_int_equal(pairs__add(p, r, e), 0);
	assert_int_equal(pairs__finish(p, r, &result), 0);
	s = set__new(result.nr_groups ? result.groups[0]->nr_slowest : 0);
	for (i = 0; i < s.nr; i++) {
		const struct pairs_pair *pair = &result.groups[0]->slowest[i];

		s.v[i] = (struct interval){ pair->start.ts, pair->end.ts, pair->start.tid };
	}
	qsort(s.v, s.nr, sizeof(*s.v), by_start);
	pairs__free(p);
	stk_reader__free(r);
	return s;
}

/* ---- true intervals -------------------------------------------------------------------------- */

static void expect_true(const struct set *s)
{
	size_t i = 0;
	uint32_t k;

	for (k = 0; k < SWITCHES && i < s->nr; k++) {
		if (all[k].ts != s->v[i].from)
			continue;
		assert_int_equal(all[k].how, SEEN);
		assert_int_equal(all[k].prev, s->v[i].tid);
		assert_int_equal(all[k].back, s->v[i].to);
		i++;
	}
	assert_int_equal(i, s->nr);
}

static size_t expect_none_across(const struct set *s)
{
	size_t missing = 0, i;
	uint32_t k;

	for (k = 0; k < SWITCHES; k++) {
		missing += all[k].how != SEEN;
		for (i = 0; i < s->nr && all[k].how != SEEN; i++)
			assert_false(s->v[i].from <= all[k].ts && s->v[i].to >= all[k].ts);
	}
	return missing;
}

/* Intervals with no loss within apart (ns) before and after them must be trusted. */
static size_t expect_others(const struct set *s, uint64_t apart)
{
	size_t nr = 0, i = 0;
	uint32_t k, m;

	for (k = 0; k < SWITCHES; k++) {
		bool is_far = all[k].prev && all[k].back != NEVER;

		for (m = 0; m < SWITCHES && is_far; m++)
			is_far = all[m].how == SEEN || all[m].ts + apart < all[k].ts ||
				 all[m].ts > all[k].back + apart;
		if (!is_far)
			continue;
		while (i < s->nr && s->v[i].from < all[k].ts)
			i++;
		assert_true(i < s->nr && s->v[i].from == all[k].ts);
		nr++;
	}
	return nr;
}

static void compare(enum how how, uint64_t apart)
{
	size_t missing = 0, trusted = 0, i;
	struct set off, pairs;

	for (unsigned int seed = 1; seed <= 20; seed++) {
		struct recording rec;

		srandom(seed);
		make_switches(how == BAD_BLOCK ? SEEN : how);
		record(&rec);
		if (how == BAD_BLOCK)
			damage(rec.path);
		off = read_offcpu(&rec);
		pairs = read_pairs(&rec);
		unlink(rec.path);
		assert_int_equal(off.nr, pairs.nr);
		for (i = 0; i < off.nr; i++) {
			assert_int_equal(off.v[i].from, pairs.v[i].from);
			assert_int_equal(off.v[i].to, pairs.v[i].to);
			assert_int_equal(off.v[i].tid, pairs.v[i].tid);
		}
		expect_true(&off);
		missing += expect_none_across(&off);
		trusted += expect_others(&off, apart);
		free(off.v);
		free(pairs.v);
	}
	/* Some intervals must be trusted and some not, else the test shows nothing. */
	assert_true((how == SEEN ? !missing : missing > 100) && trusted > 1000);
}

static void test_complete(void **state)
{
	(void)state;
	compare(SEEN, 0);
}

static void test_lost_on_a_cpu(void **state)
{
	(void)state;
	compare(LOST_CPU, 0);
}

static void test_lost_anywhere(void **state)
{
	(void)state;
	compare(LOST_ANY_CPU, 0);
}

static void test_lost_of_any_type(void **state)
{
	(void)state;
	compare(LOST_ANY_TYPE, 0);
}

static void test_late(void **state)
{
	(void)state;
	compare(LATE, 6 * ROUND);
}

static void test_bare(void **state)
{
	(void)state;
	compare(BARE, 0);
}

static void test_bad_block(void **state)
{
	(void)state;
	compare(BAD_BLOCK, 6 * ROUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_complete),      cmocka_unit_test(test_lost_on_a_cpu),
		cmocka_unit_test(test_lost_anywhere), cmocka_unit_test(test_lost_of_any_type),
		cmocka_unit_test(test_late),	      cmocka_unit_test(test_bare),
		cmocka_unit_test(test_bad_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
