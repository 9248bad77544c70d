// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Generated code that is replaced by other code while it is recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <errno.h>

#include "cleanup.h"
#include "frame.h"
#include "written.h"

#define EXACT FRAME_MARKER(FRAME_EXACT, 0)

static uint32_t add_jit(struct stk_writer *w, const char *name, uint64_t start)
{
	struct stk_user_symbol symbol = { name, start, 0x20 };
	uint32_t n = add_file(w, (struct stk_file){ .kind = STK_FILE_JIT, .path = "[jit]" });

	assert_int_equal(stk_writer__user_symbols(w, n, &symbol, 1), 0);
	return n;
}

static void replace(struct stk_writer *w, uint64_t offset, uint64_t ts, uint32_t by)
{
	struct stk_writer_replaced r = { .file = 1, .by = by, .offset = offset, .ts = ts };

	assert_int_equal(stk_writer__replaced(w, &r), 0);
}

enum { CALLER, CALLEE, OTHER, LAST, NR_STACKS };

/* The code at 0x100 is "first", from 100 on "second", from 200 on "third", just after "second". */
static void write_all(struct gen_file *f, uint32_t *stacks)
{
	const uint64_t caller[] = { FRAME_USER(2, 0x10), FRAME_USER(1, 0x110) };
	const uint64_t callee[] = { EXACT, FRAME_USER(1, 0x10f), FRAME_USER(2, 0x10) };
	const uint64_t other[] = { EXACT, FRAME_USER(1, 0x110), FRAME_USER(2, 0x10) };
	const uint64_t last[] = { FRAME_USER(2, 0x10) };
	struct stk_writer_opts opts = { .nr_cpus = 1 };
	struct stk_writer *w = gen_open(f, &opts);
	uint32_t second, third;

	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", ""), 0);
	assert_int_equal(add_jit(w, "first", 0x100), 1);
	assert_int_equal(add_path(w, "/bin/program"), 2);
	stacks[CALLER] = add_stack(w, caller, ARRAY_SIZE(caller));
	stacks[CALLEE] = add_stack(w, callee, ARRAY_SIZE(callee));
	stacks[OTHER] = add_stack(w, other, ARRAY_SIZE(other));
	for (uint64_t ts = 50; ts <= 250; ts += 50) {
		add_event(w, ts, stacks[CALLER]);
		add_event(w, ts, stacks[OTHER]);
	}
	assert_int_equal(stk_writer__end_round(w, 250, 250), 0);
	add_event(w, 251, stacks[CALLEE]);
	stacks[LAST] = add_stack(w, last, ARRAY_SIZE(last));
	add_event(w, 252, stacks[LAST]);
	assert_int_equal(stk_writer__end_round(w, 260, 260), 0);
	second = add_jit(w, "second", 0x100);
	third = add_jit(w, "third", 0xf0);
	/* in any order */
	replace(w, 0x10f, 200, third);
	replace(w, 0x10f, 200, second);
	replace(w, 0x10f, 100, second);
	replace(w, 0x200, 100, second);
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(f);
}

static uint32_t next_stack(struct stk_reader *r)
{
	const struct stk_event *e;
	uint32_t number;

	assert_int_equal(stk_reader__next(r, &e), 1);
	number = stk_event__ustack(e);
	assert_int_equal(stk_event__ustack(e), number);
	return number;
}

static void expect_frame(struct stk_reader *r, uint32_t stack, unsigned int i, const char *sym,
			 uint64_t off)
{
	struct stk_frame out[2];

	assert_int_equal(stk_reader__frames(r, stack, out, 2), 2);
	assert_non_null(out[i].sym);
	assert_string_equal(out[i].sym, sym);
	assert_int_equal(out[i].off, off);
	assert_string_equal(out[i].mod, "[jit]");
}

static uint32_t alias_of(struct stk_reader *r, uint32_t number)
{
	struct stk_stack s;

	assert_int_equal(stk_reader__stack(r, number, &s), 0);
	assert_int_equal(s.id, number);
	return s.alias_of;
}

static void read_all(struct stk_reader *r, const uint32_t *stacks)
{
	static const struct {
		const char *name;
		uint64_t off;
	} want[] = { { "first", 0x10 },
		     { "second", 0x10 },
		     { "second", 0x10 },
		     { "third", 0x20 },
		     { "third", 0x20 } };
	uint32_t numbers[ARRAY_SIZE(want)], callee;

	for (unsigned int i = 0; i < ARRAY_SIZE(want); i++) {
		numbers[i] = next_stack(r);
		expect_frame(r, numbers[i], 1, want[i].name, want[i].off);
		/* an interrupted instruction is at its own offset */
		assert_int_equal(next_stack(r), stacks[OTHER]);
		expect_frame(r, stacks[OTHER], 0, "first", 0x10);
	}
	assert_int_equal(numbers[0], stacks[CALLER]);
	assert_int_equal(numbers[1], numbers[2]);
	assert_int_equal(numbers[3], numbers[4]);
	assert_int_not_equal(numbers[0], numbers[1]);
	assert_int_not_equal(numbers[1], numbers[3]);
	callee = next_stack(r);
	expect_frame(r, callee, 0, "third", 0x1f);
	/* stacks have the numbers of the file, and what was added comes after all of them */
	assert_int_equal(next_stack(r), stacks[LAST]);
	assert_int_equal(numbers[1], NR_STACKS + 1);
	assert_int_equal(numbers[3], NR_STACKS + 2);
	assert_int_equal(callee, NR_STACKS + 3);
	assert_int_equal(stk_reader__nr_stacks(r), NR_STACKS + 3);
	assert_int_equal(alias_of(r, stacks[CALLER]), stacks[CALLER]);
	assert_int_equal(alias_of(r, numbers[1]), numbers[1]);
	/* no event has this one as it was stored */
	assert_int_equal(alias_of(r, stacks[CALLEE]), callee);
}

static void test_replaced(void **state)
{
	uint32_t stacks[NR_STACKS];
	const struct stk_event *e;
	struct stk_reader *r;
	struct gen_file f;

	write_all(&f, stacks);
	assert_int_equal(stk_reader__open_mem(f.p, f.len, NULL, &r), 0);
	read_all(r, stacks);
	assert_int_equal(stk_reader__next(r, &e), 0);
	assert_int_equal(stk_reader__nr_files(r), 4);
	done(r, &f);
}

/* Who does not ask for the stacks of events sees the stored ones. */
static void test_without_events(void **state)
{
	struct stk_reader_opts opts = { .size = sizeof(opts), .want = STK_WANT_FIELDS };
	uint32_t stacks[NR_STACKS];
	const struct stk_event *e;
	struct stk_reader *r;
	struct gen_file f;

	write_all(&f, stacks);
	assert_int_equal(stk_reader__open_mem(f.p, f.len, &opts, &r), 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	assert_int_equal(stk_reader__nr_stacks(r), NR_STACKS);
	expect_frame(r, stacks[CALLER], 1, "first", 0x10);
	done(r, &f);
}

static void test_bad(void **state)
{
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_writer_replaced r = { .file = 1, .by = 1 };

	assert_int_equal(stk_writer__replaced(w, &r), -EINVAL);
	add_jit(w, "one", 1);
	assert_int_equal(stk_writer__replaced(w, &r), 0);
	r.by = 2;
	assert_int_equal(stk_writer__replaced(w, &r), -EINVAL);
	r = (struct stk_writer_replaced){ .file = 2, .by = 1 };
	assert_int_equal(stk_writer__replaced(w, &r), -EINVAL);
	done(read_back(w, &f), &f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_without_events),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
