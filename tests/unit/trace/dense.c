// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The densest recordings of the writer: they exceed the budget of a small file, and are still read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "trace/budget.h"
#include "written.h"

static void read_all(struct gen_file *f, uint64_t events, uint32_t stacks)
{
	const struct stk_event *e;
	struct stk_reader *r;
	uint64_t n = 0;
	int got;

	gen_load(f);
	assert_int_equal(stk_reader__open_mem(f->p, f->len, NULL, &r), 0);
	while ((got = stk_reader__next(r, &e)) == 1)
		n++;
	assert_int_equal(got, 0);
	assert_int_equal(n, events);
	assert_int_equal(stk_reader__nr_stacks(r), stacks);
	stk_reader__free(r);
	gen_close(f);
}

/* The clock stands still, and all events are the same. */
static void test_events(void **state)
{
	const uint64_t nr = 2 * BUDGET_WORK / BUDGET_WORK_EVENT;
	const struct stk_writer_event e = { .ts = 1000 };
	struct gen_file f;
	struct stk_writer *w = begin(&f);

	stk_writer__type(w, STK_KIND_SAMPLE, "s", "timer", "", "");
	for (uint64_t i = 0; i < nr; i++)
		assert_int_equal(stk_writer__event(w, &e), 0);
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	read_all(&f, nr, 0);
}

/* Two functions that call each other in all ways; each stack occurs once. */
static void test_stacks(void **state)
{
	const uint32_t depth = 20, nr = 1u << depth;
	struct stk_writer_event e = { 0 };
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	uint64_t frames[32];

	stk_writer__type(w, STK_KIND_SAMPLE, "s", "timer", "", "");
	for (uint32_t i = 0; i < nr; i++) {
		for (uint32_t k = 0; k < depth; k++)
			frames[k] = i >> k & 1 ? 0xffffffff81000100 : 0xffffffff81000200;
		stk_writer__stack(w, frames, depth, &e.kstack);
		e.ts += 1000;
		assert_int_equal(stk_writer__event(w, &e), 0);
	}
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	read_all(&f, nr, nr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
