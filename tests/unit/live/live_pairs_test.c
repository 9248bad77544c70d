// SPDX-License-Identifier: GPL-2.0-only
/* Pairs in the last interval and since the start, on recordings that are written here. */
#include "live/live_pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "../analyze/pairs_recording.h"
#include "cleanup.h"
#include "strbuf.h"
#include "ui/pairs/pair_query.h"

#define US 1000ull
#define MANY 10000u /* more than are kept one by one */

static struct reading rd;
static struct live_pairs *pairs;

static void start(struct recording *rec, struct pair_query *queries, unsigned int nr)
{
	unsigned int i;

	rd = (struct reading){ .command = "report", .path = rec->path, .every = true };
	assert_int_equal(stk_reader__open(rec->path, NULL, &rd.reader), 0);
	unlink(rec->path);
	for (i = 0; i < nr; i++)
		assert_int_equal(pair_query__complete(&queries[i], "report"), 0);
	assert_int_equal(live_pairs__new(&rd, queries, nr, &pairs), 0);
}

static void end(struct pair_query *queries, unsigned int nr)
{
	unsigned int i;

	live_pairs__free(pairs);
	for (i = 0; i < nr; i++)
		pair_query__free(&queries[i]);
	reading__free(&rd);
}

/* Takes the events before this time; the next one is taken later. */
static void take_until(uint64_t ts)
{
	static const struct stk_event *next;

	if (next && stk_event__ts(next) >= ts)
		return;
	if (next)
		assert_int_equal(live_pairs__add(pairs, next), 0);
	next = NULL;
	while (stk_reader__next(rd.reader, &next) == 1) {
		if (stk_event__ts(next) >= ts)
			return;
		assert_int_equal(live_pairs__add(pairs, next), 0);
	}
	next = NULL;
}

/* A pair of thread tid that takes this long. */
static void put_pair(struct recording *rec, uint64_t ts, uint32_t tid, uint32_t b, uint64_t ns)
{
	recording__put(rec, (struct ev){ .ts = ts, .type = BEGIN, .tid = tid, .b = b });
	recording__put(rec, (struct ev){ .ts = ts + ns, .type = FINISH, .tid = tid, .b = b });
}

static void check_times(const struct live_times *t, uint64_t count, uint64_t sum, uint64_t p50,
			uint64_t p99, uint64_t max)
{
	assert_int_equal(t->count, count);
	assert_int_equal(t->sum, sum);
	assert_int_equal(t->p50, p50);
	assert_int_equal(t->p99, p99);
	assert_int_equal(t->max, max);
}

static void check_name(const struct live_group *g, const char *name)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };

	live_pairs__put_group(pairs, g, &b);
	assert_string_equal(b.s, name);
}

static void test_intervals(void **state)
{
	struct pair_query q = { .start = "begin", .end = "finish", .by = "b" };
	struct live_group g[4];
	struct recording rec;
	unsigned int nr, i;
	uint64_t now, all;

	recording__begin(&rec);
	for (i = 0; i < 3; i++)
		put_pair(&rec, (10 + i) * 1000 * US, 7, 1, (i + 1) * 10 * US);
	put_pair(&rec, 20000 * US, 7, 2, 100 * US);
	put_pair(&rec, 50000 * US, 7, 1, 200 * US);
	recording__end(&rec, true);
	start(&rec, &q, 1);

	/* before an interval ends there is no last one */
	take_until(30000 * US);
	assert_int_equal(live_pairs__groups(pairs, LIVE_BY_SUM, g, 4, &nr), 2);
	assert_int_equal(nr, 2);
	check_name(&g[0], "b=2");
	check_times(&g[0].all, 1, 100 * US, 100 * US, 100 * US, 100 * US);
	check_times(&g[0].now, 0, 0, 0, 0, 0);
	check_times(&g[1].all, 3, 60 * US, 20 * US, 30 * US, 30 * US);

	live_pairs__end_interval(pairs);
	assert_int_equal(live_pairs__groups(pairs, LIVE_BY_COUNT, g, 4, &nr), 2);
	check_name(&g[0], "b=1");
	check_times(&g[0].now, 3, 60 * US, 20 * US, 30 * US, 30 * US);

	take_until(UINT64_MAX);
	live_pairs__end_interval(pairs);
	assert_int_equal(live_pairs__groups(pairs, LIVE_BY_COUNT, g, 1, &nr), 1);
	assert_int_equal(nr, 2);
	check_times(&g[0].now, 1, 200 * US, 200 * US, 200 * US, 200 * US);
	check_times(&g[0].all, 4, 260 * US, 20 * US, 200 * US, 200 * US);
	live_pairs__sum(pairs, &now, &all);
	assert_int_equal(now, 1);
	assert_int_equal(all, 5);
	end(&q, 1);
}

static void test_order(void **state)
{
	static const char *const first[NR_LIVE_PAIR_ORDERS] = {
		[LIVE_BY_SUM] = "b=1", [LIVE_BY_COUNT] = "b=1", [LIVE_BY_P50] = "b=2",
		[LIVE_BY_P99] = "b=3", [LIVE_BY_MAX] = "b=3",
	};
	struct pair_query q = { .start = "begin", .end = "finish", .by = "b" };
	struct live_group g[3];
	struct recording rec;
	unsigned int nr, i;

	recording__begin(&rec);
	for (i = 0; i < 200; i++)
		put_pair(&rec, (1000 + 100 * i) * US, 7, 1, 10 * US);
	for (i = 0; i < 10; i++)
		put_pair(&rec, (30000 + 100 * i) * US, 7, 2, 20 * US);
	for (i = 0; i < 10; i++)
		put_pair(&rec, (40000 + 100 * i) * US, 7, 3, i ? 1 * US : 99 * US);
	recording__end(&rec, true);
	start(&rec, &q, 1);
	take_until(UINT64_MAX);
	for (i = 0; i < NR_LIVE_PAIR_ORDERS; i++) {
		assert_int_equal(live_pairs__groups(pairs, i, g, 3, &nr), 3);
		check_name(&g[0], first[i]);
	}
	end(&q, 1);
}

/* An open start survives that the pairs so far are forgotten. */
static void test_zero(void **state)
{
	struct pair_query q = { .start = "begin", .end = "finish" };
	struct live_group g[2];
	struct recording rec;
	unsigned int nr;

	recording__begin(&rec);
	put_pair(&rec, 1000 * US, 7, 1, 10 * US);
	recording__put(&rec, (struct ev){ .ts = 2000 * US, .type = BEGIN, .tid = 7 });
	recording__put(&rec, (struct ev){ .ts = 4000 * US, .type = FINISH, .tid = 7 });
	recording__end(&rec, true);
	start(&rec, &q, 1);
	take_until(3000 * US);
	live_pairs__end_interval(pairs);
	live_pairs__zero(pairs);
	assert_int_equal(live_pairs__groups(pairs, LIVE_BY_SUM, g, 2, &nr), 0);
	assert_int_equal(nr, 0);
	take_until(UINT64_MAX);
	live_pairs__end_interval(pairs);
	assert_int_equal(live_pairs__groups(pairs, LIVE_BY_SUM, g, 2, &nr), 1);
	check_name(&g[0], "all");
	check_times(&g[0].all, 1, 2000 * US, 2000 * US, 2000 * US, 2000 * US);
	check_times(&g[0].now, 1, 2000 * US, 2000 * US, 2000 * US, 2000 * US);
	end(&q, 1);
}

/* Pairs during which events were lost are counted, until they are forgotten, and not measured. */
static void test_gap(void **state)
{
	struct pair_query q = { .start = "begin", .end = "finish" };
	struct live_group g[1];
	struct recording rec;
	unsigned int nr;

	recording__begin(&rec);
	put_pair(&rec, 1000 * US, 7, 1, 10 * US);
	recording__round(&rec, 2000 * US);
	recording__account(&rec);
	recording__put(&rec, (struct ev){ .ts = 3000 * US, .type = BEGIN, .tid = 7 });
	recording__lose(&rec, FINISH, 2);
	recording__put(&rec, (struct ev){ .ts = 4000 * US, .type = FINISH, .tid = 7 });
	recording__round(&rec, 5000 * US);
	recording__account(&rec);
	recording__end(&rec, true);
	start(&rec, &q, 1);
	take_until(UINT64_MAX);
	assert_int_equal(live_pairs__groups(pairs, LIVE_BY_SUM, g, 1, &nr), 1);
	assert_int_equal(g[0].all.count, 1);
	assert_int_equal(live_pairs__gaps(pairs), 1);
	live_pairs__zero(pairs);
	assert_int_equal(live_pairs__gaps(pairs), 0);
	end(&q, 1);
}

static void test_queries(void **state)
{
	struct pair_query q[] = { { .start = "begin", .end = "finish", .by = "b" },
				  { .start = "t:begin", .end = "t:finish" } };
	_cleanup_(strbuf__free) struct strbuf name = { 0 };
	struct live_group g[4];
	struct recording rec;
	unsigned int nr;
	uint64_t now, all;

	recording__begin(&rec);
	put_pair(&rec, 1000 * US, 7, 1, 10 * US);
	put_pair(&rec, 2000 * US, 7, 2, 30 * US);
	recording__end(&rec, true);
	start(&rec, q, 2);
	take_until(UINT64_MAX);
	live_pairs__sum(pairs, &now, &all);
	assert_int_equal(all, 4);
	assert_int_equal(live_pairs__groups(pairs, LIVE_BY_SUM, g, 4, &nr), 3);
	check_name(&g[0], "t:begin to t:finish");
	check_name(&g[1], "begin to finish b=2");
	live_pairs__select(pairs, 0);
	live_pairs__sum(pairs, &now, &all);
	assert_int_equal(all, 2);
	assert_int_equal(live_pairs__groups(pairs, LIVE_BY_SUM, g, 4, &nr), 2);
	check_name(&g[0], "b=2");
	live_pairs__put_name(pairs, 1, &name);
	assert_string_equal(name.s, "t:begin to t:finish");
	end(q, 2);
}

/* An interval with more pairs than are kept one by one, and what it costs. */
static void test_many(void **state)
{
	struct pair_query q = { .start = "begin", .end = "finish" };
	struct live_group g[1];
	struct recording rec;
	unsigned int nr, i;

	recording__begin(&rec);
	for (i = 0; i < MANY; i++)
		put_pair(&rec, (i + 1) * 10 * US, 7, 1, US + i % 100);
	recording__end(&rec, true);
	start(&rec, &q, 1);
	take_until(UINT64_MAX);
	live_pairs__end_interval(pairs);
	assert_int_equal(live_pairs__groups(pairs, LIVE_BY_SUM, g, 1, &nr), 1);
	assert_int_equal(g[0].now.count, MANY);
	assert_int_equal(g[0].now.max, US + 99);
	assert_true(g[0].now.sum == g[0].all.sum && g[0].now.p99 == g[0].all.p99);
	live_pairs__end_interval(pairs);
	assert_int_equal(live_pairs__groups(pairs, LIVE_BY_SUM, g, 1, &nr), 1);
	assert_int_equal(g[0].now.count, 0);
	assert_int_equal(g[0].all.count, MANY);
	end(&q, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intervals), cmocka_unit_test(test_order),
		cmocka_unit_test(test_zero),	  cmocka_unit_test(test_gap),
		cmocka_unit_test(test_queries),	  cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
