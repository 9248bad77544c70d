// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loses events and accounts for them as the recorder does: counters are read shortly after a round
 * began, then the events recorded until then are written, and the accounting after them.  No wrong
 * pair may result.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "pairs_recording.h"

#define MS 1000000ull
#define SECOND (1000 * MS)
#define THREADS 6
#define DEPTH 4
#define LENGTH (20 * SECOND)
#define MAX_EVENTS 40000
#define NEAR (4 * SECOND) /* distance to a loss within which pairs may be discarded */

struct happened {
	struct ev ev;
	bool is_lost;
	uint64_t partner; /* ts of its start or end; 0: none */
};

static struct happened all[MAX_EVENTS];
static unsigned int nr_all;
static uint64_t loss_from, loss_to; /* 0, 0: no loss */
static struct recording rec;
static struct pairs *pairs;
static struct pairs_result result;
static struct stk_reader *reader;

static uint64_t below(uint64_t max)
{
	return ((uint64_t)random() << 31 | random()) % max;
}

/* Nested short calls, and some that last for seconds. */
static void make_events(void)
{
	struct {
		unsigned int depth, at[DEPTH];
		uint64_t quiet; /* idle until then */
	} threads[THREADS] = { 0 };
	uint64_t ts = 1;

	for (nr_all = 0; ts < LENGTH && nr_all < MAX_EVENTS; ts += 1 + below(MS)) {
		unsigned int t = below(THREADS), open = threads[t].depth;
		struct happened *h = &all[nr_all];
		bool begins = !open || (open < DEPTH && below(2));

		if (ts < threads[t].quiet)
			continue;
		*h = (struct happened){ .ev = { .ts = ts,
						.type = begins ? BEGIN : FINISH,
						.cpu = below(4),
						.tid = 100 + t } };
		h->is_lost = ts >= loss_from && ts <= loss_to && below(2);
		if (begins) {
			threads[t].at[threads[t].depth++] = nr_all;
		} else {
			struct happened *start = &all[threads[t].at[--threads[t].depth]];

			h->partner = start->ev.ts;
			start->partner = ts;
		}
		if (!below(100))
			threads[t].quiet = ts + below(3 * SECOND);
		nr_all++;
	}
}

/* Rounds like those of the recorder, see src/record/recorder.c. */
static void record_events(uint64_t round)
{
	uint64_t start = 0, counted, drained, accounted = 0;
	unsigned int i = 0, k;

	recording__begin(&rec);
	while (i < nr_all) {
		bool account;

		start += round + below(100 * MS);
		counted = start + below(20 * MS);
		drained = counted + below(20 * MS);
		account = start - accounted >= 500 * MS;
		/* Events after reading the counters are in the file, but not counted yet. */
		for (k = i; k < nr_all && all[k].ev.ts <= counted; k++)
			if (all[k].is_lost)
				recording__lose(&rec, all[k].ev.type, 1);
		for (; i < k; i++)
			if (!all[i].is_lost)
				recording__put(&rec, all[i].ev);
		if (account) {
			uint64_t now[NR_TYPES][STK_NR_COUNTERS];

			memcpy(now, rec.counters, sizeof(now));
			for (; i < nr_all && all[i].ev.ts <= drained && !all[i].is_lost; i++)
				recording__put(&rec, all[i].ev);
			recording__round(&rec, start);
			assert_int_equal(stk_writer__accounting(rec.w, now, NR_TYPES), 0);
			accounted = start;
		} else {
			recording__round(&rec, start);
		}
	}
}

static const struct happened *event_at(uint64_t ts)
{
	unsigned int from = 0, to = nr_all, mid;

	while (to - from > 1) {
		mid = (from + to) / 2;
		if (all[mid].ev.ts <= ts)
			from = mid;
		else
			to = mid;
	}
	return &all[from];
}

/* Returns the number of pairs without a loss near them. */
static unsigned int check_pairs(void)
{
	const struct pairs_group *g = result.nr_groups ? result.groups[0] : NULL;
	uint64_t from = loss_from > NEAR ? loss_from - NEAR : 0, to = loss_to + NEAR;
	unsigned int i, nr = g ? g->nr_slowest : 0, far = 0, found = 0;

	for (i = 0; i < nr; i++) {
		const struct pairs_pair *p = &g->slowest[i];
		const struct happened *start = event_at(p->start.ts);

		assert_int_equal(start->ev.ts, p->start.ts);
		assert_int_equal(start->partner, p->end.ts);
		found += !loss_to || p->end.ts < from || p->start.ts > to;
	}
	for (i = 0; i < nr_all; i++)
		far += all[i].ev.type == BEGIN && all[i].partner &&
		       (!loss_to || all[i].partner < from || all[i].ev.ts > to);
	assert_int_equal(found, far);
	assert_int_equal(result.counts.paired, nr);
	return far;
}

static void run(void)
{
	const struct pairs_opts opts = { .top = MAX_EVENTS };

	reader = recording__pair(&rec, &opts, &pairs, &result);
}

static void done(void)
{
	pairs__free(pairs);
	stk_reader__free(reader);
}

static void test_nothing_lost(void **state)
{
	(void)state;
	srandom(1);
	loss_from = loss_to = 0;
	make_events();
	record_events(150 * MS);
	recording__end(&rec, true);
	run();
	assert_true(check_pairs() > 1000);
	assert_int_equal(result.counts.gap, 0);
	assert_int_equal(result.counts.without_start, 0);
	assert_int_equal(result.counts.open_gap, 0);
	done();
}

static void test_lost(void **state)
{
	uint64_t gaps = 0, wrong = 0;
	unsigned int seed;

	(void)state;
	for (seed = 1; seed <= 100; seed++) {
		srandom(seed);
		loss_from = below(LENGTH);
		loss_to = loss_from + (seed % 3 ? below(2 * SECOND) : below(20 * MS));
		make_events();
		/* Rounds of 500 ms all have an accounting, shorter ones do not. */
		record_events(seed % 2 ? 150 * MS : 500 * MS);
		recording__end(&rec, true);
		run();
		check_pairs();
		gaps += result.counts.gap;
		wrong += result.counts.without_start;
		done();
	}
	/* The losses must affect some pairs, else the test shows nothing. */
	assert_true(gaps > 1000 && wrong > 100);
}

/* Ended abruptly: the last losses are not in the file, so the last pairs are not trusted. */
static void test_abrupt(void **state)
{
	(void)state;
	srandom(3);
	loss_from = loss_to = 0;
	make_events();
	record_events(150 * MS);
	recording__end(&rec, false);
	loss_from = loss_to = LENGTH;
	run();
	assert_true(check_pairs() > 1000);
	assert_true(result.counts.gap > 0);
	assert_true(result.counts.gap < result.counts.paired / 4);
	done();
}

/* Losses at the edges and filtered events are no gaps, but are counted. */
static void test_no_gap(void **state)
{
	(void)state;
	recording__begin(&rec);
	recording__put(&rec, (struct ev){ 10, BEGIN, .tid = 1 });
	recording__put(&rec, (struct ev){ 20, FINISH, .tid = 1 });
	rec.counters[BEGIN][STK_C_HAPPENED] += 3;
	rec.counters[BEGIN][STK_C_LOST_EDGE] += 1;
	rec.counters[BEGIN][STK_C_FILTERED_EXPR] += 2;
	rec.counters[FINISH][STK_C_HAPPENED] += 10;
	rec.counters[FINISH][STK_C_FILTERED_PID] += 4;
	rec.counters[FINISH][STK_C_FILTERED_CGROUP] += 3;
	rec.counters[FINISH][STK_C_FILTERED_CPU] += 2;
	rec.counters[FINISH][STK_C_FILTERED_UID] += 1;
	recording__end(&rec, true);
	run();
	assert_int_equal(result.counts.paired, 1);
	assert_int_equal(result.counts.filtered_starts, 2);
	assert_int_equal(result.counts.filtered_ends, 10);
	done();
}

/* Each reason for missing events. */
static void test_reasons(void **state)
{
	static const enum stk_counter reasons[] = { STK_C_LOST_RING, STK_C_LOST_NESTED,
						    STK_C_LOST_SCRATCH, STK_C_LOST_WRITE,
						    STK_C_LOST_UNKNOWN };
	unsigned int i, type;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		for (type = BEGIN; type <= OTHER; type++) {
			recording__begin(&rec);
			recording__put(&rec, (struct ev){ 10, BEGIN, .tid = 1 });
			recording__put(&rec, (struct ev){ 20, FINISH, .tid = 1 });
			rec.counters[type][reasons[i]]++;
			recording__end(&rec, true);
			run();
			assert_int_equal(result.counts.gap, type != OTHER);
			assert_int_equal(result.counts.paired, type == OTHER);
			assert_int_equal(result.counts.lost_starts, type == BEGIN);
			assert_int_equal(result.counts.lost_ends, type == FINISH);
			done();
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_lost), cmocka_unit_test(test_lost),
		cmocka_unit_test(test_abrupt),	     cmocka_unit_test(test_no_gap),
		cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
