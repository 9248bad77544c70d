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
#define KEY ((uint64_t)7 << 32 | 1000 << 1)

struct plan {
	bool recorder_first;
	unsigned int taken_at; /* the number of programs called before */
	unsigned int dropped; /* by call: perf's program is */
};

/*
 * If the front finds that the kernel drops perf's program, it records the call and asks nothing.
 * If it is called first it may not find it; the next call must be recorded once nevertheless.
 */
static void run(const struct plan *p)
{
	volatile uint64_t mark = 0;
	unsigned int call, i, n = 0, recorded;
	bool is_recorder, old;

	for (call = 0; call < CALLS; call++) {
		if (p->dropped >> call & 1) {
			if (!p->recorder_first)
				call_mark_decide(&mark, KEY, n >= p->taken_at, CALL_MARK_FRONT);
			n += 2;
			continue;
		}
		for (i = 0, recorded = 0; i < 2; i++, n++) {
			is_recorder = p->recorder_first == (i == 0);
			old = call_mark_decide(&mark, KEY, n >= p->taken_at,
					       is_recorder ? CALL_MARK_RECORDER : CALL_MARK_FRONT);
			recorded += is_recorder ? old : !old;
		}
		assert_int_equal(recorded, 1);
	}
}

static void test_each_once(void **state)
{
	struct plan p = { 0 };

	for (p.dropped = 0; p.dropped < 1u << CALLS; p.dropped++)
		for (p.taken_at = 0; p.taken_at <= 2 * CALLS; p.taken_at++)
			for (int first = 0; first < 2; first++) {
				p.recorder_first = first;
				run(&p);
			}
}

/* The mark of another task or event is no mark of this one. */
static void test_others(void **state)
{
	volatile uint64_t mark = KEY + 2;

	assert_true(call_mark_decide(&mark, KEY, 1, CALL_MARK_RECORDER));
	assert_int_equal(mark, KEY + 2);
	mark = KEY + (1ull << 32) + 1;
	assert_true(call_mark_decide(&mark, KEY, 1, CALL_MARK_FRONT));
	assert_false(call_mark_decide(&mark, KEY, 0, CALL_MARK_FRONT));
	assert_int_equal(mark, KEY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_once),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
