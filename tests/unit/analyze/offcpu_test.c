// SPDX-License-Identifier: GPL-2.0-only
/* Times off the CPU: blocked and waiting to run, by state, and what is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "analyze/waits/offcpu.h"
#include "waits_recording.h"

struct result {
	struct stk_reader *r;
	struct offcpu_analysis *a;
	const struct offcpu_result *result;
};

static struct result analyze(struct recording *rec, enum offcpu_by by, uint64_t min)
{
	struct result an = { .r = recording__open(rec, 1000000) };
	struct offcpu_opts opts = { .by = by, .min = min };
	const struct stk_event *e;

	assert_int_equal(offcpu_analysis__new(an.r, &opts, &an.a), 0);
	while (stk_reader__next(an.r, &e) == 1)
		assert_int_equal(offcpu_analysis__add(an.a, e), 0);
	assert_int_equal(offcpu_analysis__finish(an.a, &an.result), 0);
	return an;
}

static void done(struct result *an)
{
	offcpu_analysis__free(an->a);
	stk_reader__free(an->r);
}

static void swtch(struct recording *rec, uint64_t ts, uint32_t prev, uint64_t prev_state,
		  uint32_t next)
{
	recording__put(rec, (struct ev){ .ts = ts,
					 .type = SWITCH,
					 .tid = prev,
					 .f = { prev_state, next },
					 .stack = prev });
}

/* The same in a task that is not selected. */
static void swtch_marked(struct recording *rec, uint64_t ts, uint32_t prev, uint64_t prev_state,
			 uint32_t next)
{
	recording__put(rec, (struct ev){ .ts = ts,
					 .type = SWITCH,
					 .tid = prev,
					 .f = { prev_state, next },
					 .marks = STK_MARK_NOT_SELECTED,
					 .stack = prev });
}

static void wake(struct recording *rec, uint64_t ts, unsigned int type, uint32_t by,
		 uint32_t target, uint8_t flags)
{
	recording__put(rec, (struct ev){ .ts = ts,
					 .type = type,
					 .tid = by,
					 .flags = flags,
					 .f = { target },
					 .stack = by });
}

/* One CPU: 1 sleeps, 2 wakes it and is preempted, 1 blocks in D until an interrupt, 2 exits. */
static void record_switches(struct recording *rec)
{
	recording__begin(rec);
	swtch(rec, 100, 1, 1, 2);
	wake(rec, 150, WAKING, 2, 1, 0);
	swtch(rec, 180, 2, 0x100, 1);
	swtch(rec, 200, 1, 2, 0);
	wake(rec, 260, WAKING, 0, 1, HARDIRQ);
	swtch(rec, 300, 0, 0, 1);
	wake(rec, 310, WAKEUP_NEW, 1, 3, 0);
	swtch(rec, 330, 1, 4, 3);
	swtch(rec, 350, 3, 0x20, 2);
	swtch(rec, 400, 2, 1, 0);
}

static void test_states(void **state)
{
	struct recording rec;
	struct result an;
	const struct offcpu_sums *s;

	(void)state;
	record_switches(&rec);
	an = analyze(&rec, OFFCPU_BY_TID, 0);
	s = &an.result->sums;
	assert_int_equal(s->states[SWITCH_SLEEP].count, 1);
	assert_int_equal(s->states[SWITCH_SLEEP].blocked, 50);
	assert_int_equal(s->states[SWITCH_SLEEP].queued, 30);
	assert_int_equal(s->states[SWITCH_DISK].blocked, 60);
	assert_int_equal(s->states[SWITCH_DISK].queued, 40);
	assert_int_equal(s->states[SWITCH_PREEMPTED].count, 1);
	assert_int_equal(s->states[SWITCH_PREEMPTED].blocked, 0);
	assert_int_equal(s->states[SWITCH_PREEMPTED].queued, 170);
	assert_int_equal(s->states[SWITCH_NEW].queued, 20);
	assert_int_equal(s->time.count, 4);
	assert_int_equal(s->dead, 1);
	assert_int_equal(s->before, 1);
	assert_int_equal(s->no_return, 0);
	assert_int_equal(an.result->nr_open, 2);
	assert_int_equal(an.result->open[0].task.tid, 1);
	assert_int_equal(an.result->open[0].state, SWITCH_STOPPED);
	assert_int_equal(an.result->open[1].task.tid, 2);
	assert_int_equal(an.result->groups[0].task.tid, 1);
	assert_int_equal(an.result->groups[0].time.count, 2);
	done(&an);
}

static void test_wakers(void **state)
{
	const struct offcpu_group *g;
	struct recording rec;
	struct result an;
	uint32_t i;

	(void)state;
	record_switches(&rec);
	an = analyze(&rec, OFFCPU_BY_STATE, 0);
	assert_int_equal(an.result->nr_groups, 4);
	for (i = 0; i < an.result->nr_groups; i++) {
		g = &an.result->groups[i];
		assert_int_equal(g->nr_stacks, 1);
		assert_int_equal(g->stacks[0].woken, g->state != SWITCH_PREEMPTED);
		assert_int_equal(g->stacks[0].interrupt, g->state == SWITCH_DISK);
		assert_int_equal(g->stacks[0].waker.tid, g->state == SWITCH_SLEEP ? 2 :
							 g->state == SWITCH_NEW	  ? 1 :
										    0);
	}
	done(&an);
	record_switches(&rec);
	an = analyze(&rec, OFFCPU_BY_STACK, 90);
	assert_int_equal(an.result->sums.time.count, 2);
	assert_int_equal(an.result->sums.too_short, 2);
	done(&an);
}

/* Tasks that are not selected have only some of their switches: no times are counted. */
static void test_chosen(void **state)
{
	struct recording rec;
	struct result an;

	(void)state;
	recording__begin(&rec);
	assert_int_equal(stk_writer__meta(rec.w, "target", "1"), 0);
	swtch(&rec, 100, 7, 1, 1);
	swtch(&rec, 200, 1, 1, 0);
	wake(&rec, 250, WAKING, 0, 1, HARDIRQ);
	swtch(&rec, 300, 0, 0, 1);
	swtch(&rec, 400, 1, 1, 7);
	an = analyze(&rec, OFFCPU_BY_TID, 0);
	assert_int_equal(an.result->nr_groups, 1);
	assert_int_equal(an.result->groups[0].task.tid, 1);
	assert_int_equal(an.result->sums.time.count, 1);
	assert_int_equal(an.result->sums.others, 1);
	assert_int_equal(an.result->nr_open, 1);
	done(&an);
}

/* Task 1 leaves the cgroup at 500: what follows would make wrong pairs.  Task 7 is never in it. */
static void test_marked(void **state)
{
	struct recording rec;
	struct result an;

	(void)state;
	recording__begin(&rec);
	assert_int_equal(stk_writer__meta(rec.w, "target", "selected"), 0);
	assert_int_equal(stk_writer__meta(rec.w, "selected.cgroups", "/a"), 0);
	swtch_marked(&rec, 100, 7, 1, 1);
	swtch(&rec, 200, 1, 1, 0);
	swtch_marked(&rec, 300, 0, 0, 1);
	swtch_marked(&rec, 500, 1, 1, 2);
	swtch(&rec, 600, 2, 1, 1);
	swtch_marked(&rec, 700, 7, 1, 2);
	swtch(&rec, 800, 2, 1, 7);
	an = analyze(&rec, OFFCPU_BY_TID, 0);
	assert_int_equal(an.result->sums.time.count, 2);
	assert_int_equal(an.result->sums.others, 3);
	assert_int_equal(an.result->nr_groups, 2);
	assert_int_equal(an.result->nr_open, 1);
	assert_int_equal(an.result->open[0].task.tid, 2);
	done(&an);
}

static void test_unmatched(void **state)
{
	struct recording rec;
	struct result an;

	(void)state;
	recording__begin(&rec);
	swtch(&rec, 100, 1, 1, 0);
	/* no switch back, and no waker */
	swtch(&rec, 200, 1, 1, 0);
	swtch(&rec, 300, 0, 0, 1);
	/* an unknown state */
	swtch(&rec, 400, 1, 0x4000, 0);
	recording__put(
		&rec,
		(struct ev){ .ts = 500, .type = SWITCH, .tid = 2, .marks = STK_MARK_NO_FIELDS });
	an = analyze(&rec, OFFCPU_BY_STACK, 0);
	assert_int_equal(an.result->sums.no_return, 1);
	assert_int_equal(an.result->sums.no_waking, 1);
	assert_int_equal(an.result->sums.time.count, 1);
	assert_int_equal(an.result->sums.time.blocked, 100);
	assert_int_equal(an.result->sums.no_fields, 1);
	done(&an);
}

static void test_lost(void **state)
{
	struct recording rec;
	struct result an;

	(void)state;
	recording__begin(&rec);
	swtch(&rec, 100, 1, 1, 0);
	recording__lose(&rec, SWITCH, 2, 1000);
	swtch(&rec, 1500, 0, 0, 1);
	an = analyze(&rec, OFFCPU_BY_STACK, 0);
	assert_int_equal(an.result->sums.lost, 2);
	assert_int_equal(an.result->sums.gaps, 1);
	assert_int_equal(an.result->sums.time.count, 0);
	done(&an);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),	  cmocka_unit_test(test_wakers),
		cmocka_unit_test(test_chosen),	  cmocka_unit_test(test_marked),
		cmocka_unit_test(test_unmatched), cmocka_unit_test(test_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
