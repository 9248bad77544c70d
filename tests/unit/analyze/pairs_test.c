// SPDX-License-Identifier: GPL-2.0-only
/* Recordings with known pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "pairs_recording.h"
#include "strbuf.h"

static struct recording rec;
static struct pairs *pairs;
static struct pairs_result result;
static struct stk_reader *reader;

static void put(uint64_t ts, unsigned int type, uint32_t tid)
{
	recording__put(&rec, (struct ev){ .ts = ts, .type = type, .tid = tid, .cpu = tid % 4 });
}

static void run(struct pairs_opts opts)
{
	opts.top = opts.top ?: 100;
	reader = recording__pair(&rec, &opts, &pairs, &result);
}

static void end_and_run(struct pairs_opts opts)
{
	recording__end(&rec, true);
	run(opts);
}

static void done(void)
{
	pairs__free(pairs);
	stk_reader__free(reader);
	pairs = NULL;
}

static bool has_pair(const struct pairs_group *g, uint64_t start, uint64_t end)
{
	unsigned int i;

	for (i = 0; i < g->nr_slowest; i++)
		if (g->slowest[i].start.ts == start && g->slowest[i].end.ts == end)
			return true;
	return false;
}

static void expect_pairs(const struct pairs_group *g, unsigned int nr, const uint64_t (*want)[2])
{
	unsigned int i;

	assert_int_equal(g->nr_slowest, nr);
	assert_int_equal(g->durations.count, nr);
	for (i = 0; i < nr; i++)
		assert_true(has_pair(g, want[i][0], want[i][1]));
	for (i = 1; i < nr; i++)
		assert_true(g->slowest[i - 1].end.ts - g->slowest[i - 1].start.ts >=
			    g->slowest[i].end.ts - g->slowest[i].start.ts);
}
#define EXPECT_PAIRS(g, ...)                                              \
	do {                                                              \
		static const uint64_t _want[][2] = { __VA_ARGS__ };       \
		expect_pairs((g), sizeof(_want) / sizeof(*_want), _want); \
	} while (0)

static void test_nested(void **state)
{
	(void)state;
	recording__begin(&rec);
	put(10, BEGIN, 1);
	put(20, BEGIN, 1);
	put(25, FINISH, 1);
	put(30, BEGIN, 1);
	put(31, BEGIN, 1);
	put(39, FINISH, 1);
	put(50, FINISH, 1);
	put(90, FINISH, 1);
	end_and_run((struct pairs_opts){ 0 });
	assert_int_equal(result.nr_groups, 1);
	EXPECT_PAIRS(result.groups[0], { 10, 90 }, { 20, 25 }, { 30, 50 }, { 31, 39 });
	assert_int_equal(result.counts.paired, 4);
	assert_int_equal(result.counts.max_open, 3);
	done();
}

/* Interleaved threads; the idle tasks of two CPUs are two threads. */
static void test_interleaved(void **state)
{
	(void)state;
	recording__begin(&rec);
	put(10, BEGIN, 1);
	put(11, BEGIN, 2);
	recording__put(&rec, (struct ev){ .ts = 12, .type = BEGIN, .cpu = 0 });
	recording__put(&rec, (struct ev){ .ts = 13, .type = BEGIN, .cpu = 1 });
	put(20, FINISH, 1);
	recording__put(&rec, (struct ev){ .ts = 22, .type = FINISH, .cpu = 0 });
	recording__put(&rec, (struct ev){ .ts = 24, .type = FINISH, .cpu = 1 });
	put(40, FINISH, 2);
	end_and_run((struct pairs_opts){ 0 });
	EXPECT_PAIRS(result.groups[0], { 10, 20 }, { 11, 40 }, { 12, 22 }, { 13, 24 });
	done();
}

static void put_in(uint64_t ts, unsigned int type, uint8_t flags)
{
	recording__put(&rec, (struct ev){ .ts = ts, .type = type, .tid = 7, .flags = flags });
}

static void test_interrupt(void **state)
{
	(void)state;
	recording__begin(&rec);
	put_in(10, BEGIN, 0);
	put_in(20, BEGIN, HARDIRQ); /* in an interrupt, without an end */
	put_in(30, BEGIN, SOFTIRQ);
	put_in(33, BEGIN, SOFTIRQ | HARDIRQ);
	put_in(34, FINISH, SOFTIRQ | HARDIRQ);
	put_in(36, FINISH, SOFTIRQ);
	put_in(37, FINISH, SOFTIRQ); /* without a start */
	put_in(50, FINISH, 0x01); /* disabled interrupts are no context */
	end_and_run((struct pairs_opts){ 0 });
	EXPECT_PAIRS(result.groups[0], { 10, 50 }, { 30, 36 }, { 33, 34 });
	assert_int_equal(result.counts.open, 1);
	assert_int_equal(result.counts.without_start, 1);
	assert_int_equal(result.nr_open, 1);
	assert_int_equal(result.open[0].ts, 20);
	done();
}

static void test_open(void **state)
{
	unsigned int i;

	(void)state;
	recording__begin(&rec);
	put(5, FINISH, 1);
	for (i = 0; i < 50; i++)
		put(10 + i, BEGIN, 100 + i % 10);
	put(100, FINISH, 109);
	end_and_run((struct pairs_opts){ .top = 3 });
	EXPECT_PAIRS(result.groups[0], { 59, 100 });
	assert_int_equal(result.counts.open, 49);
	assert_int_equal(result.counts.open_gap, 0);
	assert_int_equal(result.counts.without_start, 1);
	assert_int_equal(result.nr_open, 3);
	for (i = 0; i < 3; i++)
		assert_int_equal(result.open[i].ts, 10 + i);
	assert_string_equal(pairs__comm(pairs, result.open[0].comm), "task");
	done();
}

/* Keys of fields: numbers, strings, and different fields at start and end. */
static void test_match(void **state)
{
	(void)state;
	recording__begin(&rec);
	recording__put(&rec, (struct ev){ 10, BEGIN, .tid = 1, .a = 5, .b = 1, .s = "x" });
	recording__put(&rec, (struct ev){ 11, BEGIN, .tid = 1, .a = 6, .b = 1, .s = "x" });
	recording__put(&rec, (struct ev){ 12, BEGIN, .tid = 1, .a = 5, .b = 1, .s = "xy" });
	recording__put(&rec, (struct ev){ 20, FINISH, .tid = 2, .a = 5, .b = 1, .s = "x" });
	recording__put(&rec, (struct ev){ 30, FINISH, .tid = 3, .a = 5, .b = 1, .s = "xy" });
	recording__put(&rec, (struct ev){ 40, FINISH, .tid = 4, .a = 6, .b = 1, .s = "x" });
	recording__put(&rec, (struct ev){ 50, FINISH, .tid = 4, .a = 6, .b = 2, .s = "x" });
	end_and_run((struct pairs_opts){ .match = "nosuch|a=c,b,s" });
	EXPECT_PAIRS(result.groups[0], { 10, 20 }, { 12, 30 }, { 11, 40 });
	assert_int_equal(result.counts.without_start, 1);
	done();
}

/* Without nesting the last start counts: an end never matches an earlier one. */
static void test_single(void **state)
{
	(void)state;
	recording__begin(&rec);
	put(10, BEGIN, 1);
	put(20, BEGIN, 1);
	put(30, FINISH, 1);
	put(40, FINISH, 1);
	end_and_run((struct pairs_opts){ .single = true });
	EXPECT_PAIRS(result.groups[0], { 20, 30 });
	assert_int_equal(result.counts.replaced, 1);
	assert_int_equal(result.counts.without_start, 1);
	done();
}

static unsigned int both(void *ctx, const struct stk_event_type *t)
{
	(void)ctx;
	return stk_event_type__index(t) == BEGIN ? PAIRS_START | PAIRS_END : 0;
}

/* Each event ends the pair that the one before it began. */
static void test_both(void **state)
{
	(void)state;
	recording__begin(&rec);
	put(10, BEGIN, 1);
	put(20, BEGIN, 1);
	put(40, BEGIN, 1);
	end_and_run((struct pairs_opts){ .role = both });
	EXPECT_PAIRS(result.groups[0], { 10, 20 }, { 20, 40 });
	done();
}

static void test_no_fields(void **state)
{
	(void)state;
	recording__begin(&rec);
	recording__put(&rec, (struct ev){ 10, BEGIN, .tid = 1, .b = 1 });
	recording__put(&rec, (struct ev){ 20, FINISH, .tid = 1, .marks = STK_MARK_NO_FIELDS });
	recording__put(&rec, (struct ev){ 25, BEGIN, .tid = 2, .b = 1 });
	recording__put(&rec, (struct ev){ 30, BEGIN, .tid = 1, .marks = STK_MARK_NO_FIELDS });
	recording__put(&rec, (struct ev){ 40, FINISH, .tid = 1, .b = 1 });
	recording__put(&rec, (struct ev){ 45, FINISH, .tid = 2, .b = 1 });
	recording__put(&rec, (struct ev){ 50, BEGIN, .tid = 1, .b = 1 });
	recording__put(&rec, (struct ev){ 60, FINISH, .tid = 1, .b = 1 });
	recording__end(&rec, true);
	run((struct pairs_opts){ .match = "tid,b" });
	/* 10 and 40 may belong to events without fields; thread 2 had no such event. */
	EXPECT_PAIRS(result.groups[0], { 25, 45 }, { 50, 60 });
	assert_int_equal(result.counts.start_unknown, 1);
	assert_int_equal(result.counts.end_unknown, 1);
	assert_int_equal(result.counts.gap, 1);
	done();
}

/* A key of header values needs no fields. */
static void test_no_fields_needed(void **state)
{
	(void)state;
	recording__begin(&rec);
	recording__put(&rec, (struct ev){ 10, BEGIN, .tid = 1, .marks = STK_MARK_NO_FIELDS });
	recording__put(&rec, (struct ev){ 20, FINISH, .tid = 1, .marks = STK_MARK_NO_FIELDS });
	end_and_run((struct pairs_opts){ 0 });
	EXPECT_PAIRS(result.groups[0], { 10, 20 });
	done();
}

static void test_late(void **state)
{
	(void)state;
	recording__begin(&rec);
	put(10, BEGIN, 1);
	recording__round(&rec, 100);
	put(150, OTHER, 9);
	recording__round(&rec, 200);
	put(30, FINISH, 1); /* late, and so is the start of the next pair */
	put(40, BEGIN, 1);
	put(250, FINISH, 1);
	put(260, BEGIN, 1);
	recording__round(&rec, 300);
	put(350, OTHER, 9);
	recording__end(&rec, true);
	run((struct pairs_opts){ 0 });
	assert_int_equal(result.counts.start_late, 1);
	assert_int_equal(result.counts.end_late, 1);
	assert_int_equal(result.counts.gap, 1);
	assert_int_equal(result.counts.paired, 0);
	assert_int_equal(result.counts.open_gap, 0);
	done();
}

static void test_thread_ends(void **state)
{
	(void)state;
	recording__begin(&rec);
	put(10, BEGIN, 50);
	put(12, EXIT, 50);
	recording__put(&rec, (struct ev){ 20, FORK, .tid = 1, .b = 50 });
	put(25, FINISH, 50); /* of the new thread, which has no start */
	put(30, BEGIN, 51);
	recording__put(&rec, (struct ev){ 35, FINISH, .tid = 51, .pid = 49 }); /* tid reused */
	put(40, BEGIN, 60); /* a leader whose thread executes a program */
	recording__put(&rec, (struct ev){ 42, BEGIN, .tid = 61, .pid = 60 });
	recording__put(&rec, (struct ev){ 45, EXEC, .tid = 60, .a = 61, .b = 60 });
	put(50, FINISH, 60);
	put(60, BEGIN, 62);
	recording__put(&rec, (struct ev){ 65, EXEC, .tid = 62, .a = 62, .b = 62 });
	put(70, FINISH, 62);
	put(80, BEGIN, 63);
	put(81, EXIT, 63);
	end_and_run((struct pairs_opts){ 0 });
	EXPECT_PAIRS(result.groups[0], { 60, 70 });
	assert_int_equal(result.counts.gone, 4);
	assert_int_equal(result.counts.without_start, 3);
	assert_int_equal(result.counts.open, 1);
	done();
}

static unsigned int like_a_switch(void *ctx, const struct stk_event_type *t)
{
	(void)ctx;
	switch (stk_event_type__index(t)) {
	case BEGIN:
		return PAIRS_START;
	case EXEC:
		return PAIRS_START | PAIRS_END;
	default:
		return 0;
	}
}

/* Like sched events: woken (b of BEGIN), switched out (old_pid), switched in (pid). */
static void put_switch(uint64_t ts, uint32_t from, uint32_t to)
{
	recording__put(&rec, (struct ev){ ts, EXEC, .tid = from, .a = from, .b = to });
}

static void test_tasks(void **state)
{
	(void)state;
	recording__begin(&rec);
	put_switch(5, 7, 0);
	recording__put(&rec, (struct ev){ 10, BEGIN, .tid = 9, .b = 7 }); /* was asleep */
	recording__put(&rec, (struct ev){ 12, BEGIN, .tid = 9, .b = 8 });
	put_switch(20, 0, 7);
	put_switch(30, 7, 8); /* 7 is preempted */
	recording__put(&rec, (struct ev){ 35, BEGIN, .tid = 9, .b = 8 }); /* runs already */
	put_switch(50, 8, 7);
	put_switch(60, 7, 8);
	put(65, EXIT, 8);
	put_switch(70, 8, 0);
	end_and_run((struct pairs_opts){
		.role = like_a_switch, .match = "b|old_pid=nosuch|pid", .single = true });
	EXPECT_PAIRS(result.groups[0], { 10, 20 }, { 12, 30 }, { 30, 50 }, { 50, 60 });
	assert_int_equal(result.counts.replaced, 2);
	assert_int_equal(result.counts.start_idle, 1);
	assert_int_equal(result.counts.end_idle, 2);
	assert_int_equal(result.counts.open, 2);
	done();
}

/* A thread that ended leaves no start open, not even one after its exit event. */
static void test_task_ends(void **state)
{
	(void)state;
	recording__begin(&rec);
	put_switch(60, 7, 8);
	put(65, EXIT, 8);
	put_switch(70, 8, 0);
	end_and_run((struct pairs_opts){ .role = like_a_switch, .match = "old_pid=pid" });
	assert_int_equal(result.counts.gone, 1);
	assert_int_equal(result.counts.open, 1);
	done();
	recording__begin(&rec);
	put(10, EXIT, 7);
	put(20, BEGIN, 7);
	put(30, FINISH, 7);
	put(40, BEGIN, 7);
	put(50, BEGIN, 8);
	end_and_run((struct pairs_opts){ 0 });
	EXPECT_PAIRS(result.groups[0], { 20, 30 });
	assert_int_equal(result.counts.gone, 1);
	assert_int_equal(result.counts.open, 1);
	done();
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void describe(void *ctx, const struct pairs_value *v, struct strbuf *ret_text)
{
	unsigned int *asked = ctx;

	(*asked)++;
	if (!v->string && v->number == 2)
		strbuf__puts(ret_text, "two");
}

static void test_groups(void **state)
{
	unsigned int asked = 0;

	(void)state;
	recording__begin(&rec);
	recording__put(&rec, (struct ev){ 10, BEGIN, .tid = 1, .b = 2, .comm = "x" });
	recording__put(&rec, (struct ev){ 110, FINISH, .tid = 1, .a = 9 });
	recording__put(&rec, (struct ev){ 120, BEGIN, .tid = 1, .b = 1, .comm = "x" });
	recording__put(&rec, (struct ev){ 130, FINISH, .tid = 1, .a = 9 });
	recording__put(&rec, (struct ev){ 140, BEGIN, .tid = 1, .b = 2, .comm = "y" });
	recording__put(&rec, (struct ev){ 150, FINISH, .tid = 1, .a = 9 });
	recording__put(&rec, (struct ev){ 160, BEGIN, .tid = 1, .b = 2, .comm = "x" });
	recording__put(&rec, (struct ev){ 180, FINISH, .tid = 1, .a = 9 });
	end_and_run((struct pairs_opts){ .by = "b,comm,c", .describe = describe, .ctx = &asked });
	assert_int_equal(result.nr_groups, 3);
	EXPECT_PAIRS(result.groups[0], { 10, 110 }, { 160, 180 });
	assert_string_equal(result.groups[0]->by[0].text, "two");
	assert_int_equal(result.groups[0]->by[0].number, 2);
	assert_string_equal(result.groups[0]->by[1].text, "x");
	assert_string_equal(result.groups[0]->by[2].text, "9");
	EXPECT_PAIRS(result.groups[1], { 120, 130 });
	assert_string_equal(result.groups[1]->by[0].text, "1");
	EXPECT_PAIRS(result.groups[2], { 140, 150 });
	assert_int_equal(asked, 5);
	assert_int_equal(pairs__nr_by(pairs), 3);
	assert_string_equal(pairs__by_name(pairs, 2), "c");
	done();
}

/* Groups beyond the limit share one group and are counted. */
static void test_many_groups(void **state)
{
	unsigned int i, nr = PAIRS_MAX_GROUPS + 100;

	(void)state;
	recording__begin(&rec);
	for (i = 0; i < nr; i++) {
		recording__put(&rec, (struct ev){ 10 * i, BEGIN, .tid = 1, .b = i });
		recording__put(&rec, (struct ev){ 10 * i + 5, FINISH, .tid = 1, .b = i });
	}
	end_and_run((struct pairs_opts){ .by = "b", .top = 1 });
	assert_int_equal(result.nr_groups, PAIRS_MAX_GROUPS + 1);
	assert_true(result.groups[PAIRS_MAX_GROUPS]->others);
	assert_int_equal(result.groups[PAIRS_MAX_GROUPS]->durations.count, 100);
	assert_int_equal(result.counts.others, 100);
	assert_int_equal(result.counts.paired, nr);
	done();
}

static void test_slowest(void **state)
{
	uint64_t ts = 0, lengths[] = { 5, 9, 1, 7, 9, 3, 8, 2, 9, 4 };
	unsigned int i;

	(void)state;
	recording__begin(&rec);
	for (i = 0; i < ARRAY_SIZE(lengths); i++, ts += 100) {
		put(ts, BEGIN, 1);
		put(ts + lengths[i], FINISH, 1);
	}
	end_and_run((struct pairs_opts){ .top = 4 });
	assert_int_equal(result.groups[0]->nr_slowest, 4);
	assert_int_equal(result.groups[0]->slowest[0].start.ts, 100);
	assert_int_equal(result.groups[0]->slowest[1].start.ts, 400);
	assert_int_equal(result.groups[0]->slowest[2].start.ts, 800);
	assert_int_equal(result.groups[0]->slowest[3].start.ts, 600);
	done();
}

/* Each start has its own stack; all ends have the same one. */
static void put_weights(void)
{
	unsigned int i;

	recording__begin(&rec);
	for (i = 0; i < 3000; i++) {
		recording__put(&rec, (struct ev){ .ts = 2000 * i,
						  .type = BEGIN,
						  .tid = 1,
						  .stack = recording__stack(&rec, i % 1000) });
		recording__put(&rec, (struct ev){ .ts = 2000 * i + 10 + i % 1000,
						  .type = FINISH,
						  .tid = 1,
						  .stack = recording__stack(&rec, 5000) });
	}
}

static uint64_t weight_of(uint32_t stack)
{
	struct pairs_weight w;
	size_t i;

	for (i = 0; i < pairs__nr_weights(pairs); i++) {
		pairs__weight(pairs, i, &w);
		assert_ptr_equal(w.group, result.groups[0]);
		if (w.kstack == stack)
			return w.ns;
	}
	return 0;
}

static void test_weights(void **state)
{
	uint32_t i;

	(void)state;
	put_weights();
	end_and_run((struct pairs_opts){ .weigh = PAIRS_START_STACKS });
	assert_int_equal(pairs__nr_weights(pairs), 1000);
	/* Stack id 2 is that of all ends; the others are in the order of their first event. */
	for (i = 0; i < 1000; i++)
		assert_int_equal(weight_of(i ? i + 2 : 1), 3 * (10 + i));
	done();
	put_weights();
	end_and_run((struct pairs_opts){ .weigh = PAIRS_END_STACKS });
	assert_int_equal(pairs__nr_weights(pairs), 1);
	assert_true(weight_of(2) == result.groups[0]->durations.sum);
	done();
}

static bool of_tid(void *ctx, const struct stk_event *e)
{
	return stk_event__tid(e) == *(unsigned int *)ctx;
}

/* Events that are not selected are paired all the same, or they would disturb other pairs. */
static void test_selected(void **state)
{
	unsigned int tid = 2;

	(void)state;
	recording__begin(&rec);
	recording__put(&rec, (struct ev){ 10, BEGIN, .tid = 2, .b = 1 });
	recording__put(&rec, (struct ev){ 20, BEGIN, .tid = 1, .b = 1 });
	recording__put(&rec, (struct ev){ 30, FINISH, .tid = 2, .b = 1 });
	recording__put(&rec, (struct ev){ 40, FINISH, .tid = 1, .b = 1 });
	recording__put(&rec, (struct ev){ 50, FINISH, .tid = 1, .b = 1 });
	recording__put(&rec, (struct ev){ 60, FINISH, .tid = 2, .b = 1 });
	recording__put(&rec, (struct ev){ 70, BEGIN, .tid = 2, .b = 1 });
	recording__put(&rec, (struct ev){ 80, BEGIN, .tid = 1, .b = 1 });
	end_and_run((struct pairs_opts){ .match = "b", .selected = of_tid, .ctx = &tid });
	EXPECT_PAIRS(result.groups[0], { 10, 40 });
	assert_int_equal(result.counts.start_unselected, 2);
	assert_int_equal(result.counts.end_unselected, 2);
	assert_int_equal(result.counts.without_start, 1);
	assert_int_equal(result.counts.open, 1);
	done();
}

/* An event rejected by --start-if discards the open start of its key and starts nothing. */
static void test_start_if(void **state)
{
	(void)state;
	recording__begin(&rec);
	recording__put(&rec, (struct ev){ 10, BEGIN, .tid = 1, .b = 0x105 });
	recording__put(&rec, (struct ev){ 20, FINISH, .tid = 1 });
	recording__put(&rec, (struct ev){ 30, BEGIN, .tid = 1, .b = 5 });
	recording__put(&rec, (struct ev){ 40, BEGIN, .tid = 1, .b = 4 });
	recording__put(&rec, (struct ev){ 50, FINISH, .tid = 1 });
	end_and_run((struct pairs_opts){ .start_if = "b&0xff=5", .single = true });
	EXPECT_PAIRS(result.groups[0], { 10, 20 });
	assert_int_equal(result.counts.starts, 2);
	assert_int_equal(result.counts.replaced, 1);
	assert_int_equal(result.counts.without_start, 1);
	done();
}

static void test_specs(void **state)
{
	(void)state;
	assert_null(pairs__check(NULL, NULL, NULL));
	assert_null(pairs__check("a|b=c,tid", "x,y", NULL));
	assert_non_null(pairs__check("", NULL, NULL));
	assert_non_null(pairs__check("a,", NULL, NULL));
	assert_non_null(pairs__check("a=", NULL, NULL));
	assert_non_null(pairs__check("=a", NULL, NULL));
	assert_non_null(pairs__check("a=b=c", NULL, NULL));
	assert_non_null(pairs__check("a||b", NULL, NULL));
	assert_non_null(pairs__check("a,b,c,d,e", NULL, NULL));
	assert_non_null(pairs__check("a|b|c|d|e", NULL, NULL));
	assert_non_null(pairs__check(NULL, "", NULL));
	assert_non_null(pairs__check(NULL, "a,,b", NULL));
	assert_null(pairs__check(NULL, NULL, "a&0xff=010"));
	assert_null(pairs__check(NULL, NULL, "a=1"));
	assert_non_null(pairs__check(NULL, NULL, "a"));
	assert_non_null(pairs__check(NULL, NULL, "a="));
	assert_non_null(pairs__check(NULL, NULL, "=1"));
	assert_non_null(pairs__check(NULL, NULL, "a&=1"));
	assert_non_null(pairs__check(NULL, NULL, "a&b=1"));
	assert_non_null(pairs__check(NULL, NULL, "a=b"));
}

static void expect_enoent(const char *match, const char *by)
{
	const struct pairs_opts opts = { .match = match, .by = by, .role = both };
	const struct stk_event *e;
	int err = 0;

	recording__begin(&rec);
	put(10, BEGIN, 1);
	put(20, BEGIN, 1);
	recording__end(&rec, true);
	assert_int_equal(stk_reader__open(rec.path, NULL, &reader), 0);
	assert_int_equal(pairs__new(&opts, &pairs), 0);
	while (!err && stk_reader__next(reader, &e) == 1)
		err = pairs__add(pairs, reader, e);
	assert_int_equal(err, -2);
	remove(rec.path);
	done();
}

static void test_no_such_field(void **state)
{
	(void)state;
	expect_enoent("nosuch", NULL);
	expect_enoent("b,a=nosuch|none", NULL);
	expect_enoent(NULL, "nosuch");
}

/* Starts beyond the limit are counted; their ends do not end other starts. */
static unsigned int fork_and_exit(void *ctx, const struct stk_event_type *type)
{
	const char *name = stk_event_type__name(type);

	return !strcmp(name, "sched_process_fork") ? PAIRS_START :
	       !strcmp(name, "sched_process_exit") ? PAIRS_END :
						     0;
}

/* The exit of a thread may be the end of a pair, too. */
static void test_whole_life(void **state)
{
	(void)state;
	recording__begin(&rec);
	recording__put(&rec, (struct ev){ 10, FORK, .tid = 1, .b = 50 });
	put(30, EXIT, 50);
	recording__put(&rec, (struct ev){ 40, FORK, .tid = 1, .b = 50 });
	put(45, EXIT, 50);
	end_and_run((struct pairs_opts){ .role = fork_and_exit, .match = "child_pid=tid" });
	EXPECT_PAIRS(result.groups[0], { 10, 30 }, { 40, 45 });
	assert_int_equal(result.counts.gone, 0);
	done();
}

static void test_too_many_open(void **state)
{
	uint32_t i;

	(void)state;
	recording__begin(&rec);
	for (i = 0; i < PAIRS_MAX_OPEN + 10; i++)
		put(10 + i, BEGIN, 1 + i % PAIRS_MAX_OPEN);
	put(20 + i, FINISH, 1); /* of the second start, */
	put(20 + i, FINISH, 1); /* and of the first */
	put(21 + i, FINISH, 5000);
	put(22 + i, BEGIN, 5000);
	put(23 + i, FINISH, 5000);
	end_and_run((struct pairs_opts){ 0 });
	assert_int_equal(result.counts.start_over, 10);
	assert_int_equal(result.counts.max_open, PAIRS_MAX_OPEN);
	assert_int_equal(result.counts.gap, 0);
	assert_int_equal(result.counts.without_start, 1);
	assert_int_equal(result.counts.paired, 3);
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_interleaved),
		cmocka_unit_test(test_interrupt),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_both),
		cmocka_unit_test(test_no_fields),
		cmocka_unit_test(test_no_fields_needed),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_thread_ends),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_whole_life),
		cmocka_unit_test(test_task_ends),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_many_groups),
		cmocka_unit_test(test_slowest),
		cmocka_unit_test(test_selected),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_specs),
		cmocka_unit_test(test_start_if),
		cmocka_unit_test(test_no_such_field),
		cmocka_unit_test(test_too_many_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
