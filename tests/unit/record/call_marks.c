// SPDX-License-Identifier: GPL-2.0-only
/*
 * A system call's event takes the old way at any time during some calls of a task: before one,
 * between its two programs, or after it, whichever is called first, and also if the kernel drops
 * perf's program at any of them.  Each call is recorded once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/call_marks.bpf.h"

#define CALLS 4
#define EVENT 7
#define TID 1000

struct plan {
	bool recorder_first;
	unsigned int taken_at; /* the number of programs called before */
	unsigned int dropped; /* by call: perf's program is */
	unsigned int ends_from; /* the call after which marks begin to be taken away */
	unsigned int aware_from; /* the number of programs called before these know of marks */
};

/*
 * If the front finds that the kernel drops perf's program, it records the call and asks nothing.
 * If it is called first it may not find it; the next call must be recorded once nevertheless.
 */
static bool goes_old_way(const struct plan *p, volatile uint64_t *mark, unsigned int n)
{
	return n >= p->aware_from && call_mark_decide(mark, EVENT, TID, n >= p->taken_at);
}

static void run(const struct plan *p)
{
	volatile uint64_t mark = 0;
	unsigned int call, i, n = 0, recorded;
	bool is_recorder, old;

	for (call = 0; call < CALLS; call++) {
		if (p->dropped >> call & 1) {
			if (!p->recorder_first)
				goes_old_way(p, &mark, n);
			n += 2;
		} else {
			for (i = 0, recorded = 0; i < 2; i++, n++) {
				is_recorder = p->recorder_first == (i == 0);
				old = goes_old_way(p, &mark, n);
				recorded += is_recorder ? old : !old;
			}
			assert_int_equal(recorded, 1);
		}
		if (call >= p->ends_from)
			call_mark_end(&mark, TID);
	}
	if (p->ends_from < CALLS)
		assert_int_equal(mark, 0);
}

/* An event takes the old way only some time after its programs know of marks. */
static void test_each_once(void **state)
{
	struct plan p = { 0 };

	for (p.dropped = 0; p.dropped < 1u << CALLS; p.dropped++)
		for (p.ends_from = 0; p.ends_from <= CALLS; p.ends_from++)
			for (p.aware_from = 0; p.aware_from <= 2 * CALLS; p.aware_from++)
				for (p.taken_at = p.aware_from ? p.aware_from + 2 : 0;
				     p.taken_at <= 2 * CALLS; p.taken_at++)
					for (int first = 0; first < 2; first++) {
						p.recorder_first = first;
						run(&p);
					}
}

/* The mark of another task or event is no mark of this one, and stays. */
static void test_others(void **state)
{
	volatile uint64_t mark = call_mark(EVENT, TID + 1024), before = mark;

	assert_true(call_mark_decide(&mark, EVENT, TID, 1));
	call_mark_end(&mark, TID);
	assert_int_equal(mark, before);
	mark = call_mark(EVENT + 1, TID);
	assert_true(call_mark_decide(&mark, EVENT, TID, 1));
	assert_false(call_mark_decide(&mark, EVENT, TID, 0));
	assert_int_equal(mark, call_mark(EVENT, TID));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_once),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
