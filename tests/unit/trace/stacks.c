// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Stacks: frames, symbols, exact addresses, ends, merging and aliases. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cleanup.h"
#include "frame.h"
#include "written.h"

#define K(x) (0xffffffff81000000ULL + (x))

static struct stk_writer *begin_budget(struct gen_file *f, size_t budget)
{
	struct stk_writer_opts opts = { .nr_cpus = 1, .stack_budget = budget };

	return gen_open(f, &opts);
}

static void assert_frame(const struct stk_frame *f, uint64_t ip, bool exact, const char *sym,
			 uint64_t off, const char *mod)
{
	assert_int_equal(f->ip, ip);
	assert_int_equal(f->exact, exact);
	if (sym)
		assert_string_equal(f->sym, sym);
	else
		assert_null(f->sym);
	assert_int_equal(f->off, off);
	if (mod)
		assert_string_equal(f->mod, mod);
	else
		assert_null(f->mod);
}

/*
 * first() ends where second() starts: a return address there is one of first(), which never
 * returns, but an interrupted address there is one of second().
 */
static void test_symbols(void **state)
{
	const uint64_t frames[] = { K(0x110), K(0x200), K(0x310), K(0x200), K(0x5000), K(0x900) };
	struct stk_frame out[6], one;
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	uint32_t n = add_stack(w, frames, 6);

	stk_writer__symbol(w, K(0x900), 0x10, "behind", "");
	stk_writer__symbol(w, K(0x100), 0x100, "old_name", "");
	stk_writer__symbol(w, K(0x200), 0x100, "second", "mod");
	stk_writer__symbol(w, K(0x300), 0x100, "asm_sysvec_apic_timer_interrupt", "");
	stk_writer__symbol(w, K(0x100), 0x100, "first", NULL);
	r = read_back(w, &f);
	assert_int_equal(stk_reader__frames(r, n, out, 6), 6);
	assert_frame(&out[0], K(0x110), false, "first", 0x10, NULL);
	assert_frame(&out[1], K(0x200), false, "first", 0x100, NULL);
	assert_frame(&out[2], K(0x310), false, "asm_sysvec_apic_timer_interrupt", 0x10, NULL);
	assert_frame(&out[3], K(0x200), true, "second", 0, "mod");
	assert_int_equal(out[3].size, 0x100);
	assert_frame(&out[4], K(0x5000), false, NULL, 0, NULL);
	assert_frame(&out[5], K(0x900), false, NULL, 0, NULL);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(out[i].kind, STK_FRAME_KERNEL);
		assert_int_equal(out[i].parent, i < 5 ? out[i + 1].node : 0);
	}
	/* fewer than the stack has: the depth is still returned */
	assert_int_equal(stk_reader__frames(r, n, out, 2), 6);
	assert_int_equal(stk_reader__frames(r, n, NULL, 0), 6);
	assert_int_equal(stk_reader__frames(r, n + 1, out, 6), -ENOENT);
	assert_int_equal(stk_reader__frames(r, 0, out, 6), -ENOENT);
	assert_int_equal(stk_reader__kernel_symbol(r, K(0x200), &one), 0);
	assert_frame(&one, K(0x200), true, "second", 0, "mod");
	assert_int_equal(stk_reader__kernel_symbol(r, K(0), &one), 0);
	assert_null(one.sym);
	done(r, &f);
}

/*
 * The padding before a function has a symbol and calls nothing: its end is no return address, but
 * where an interrupted retpoline was going.  An address inside of it stays what it is.
 */
static void test_behind_padding(void **state)
{
	const uint64_t frames[] = { K(0x110), K(0x210), K(0x208), K(0x310), K(0x410) };
	struct stk_frame out[5];
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	uint32_t n = add_stack(w, frames, 5);

	stk_writer__symbol(w, K(0x100), 0x100, "__x86_indirect_thunk_rax", "");
	stk_writer__symbol(w, K(0x200), 0x10, "__pfx_anon_pipe_read", "");
	stk_writer__symbol(w, K(0x210), 0x80, "anon_pipe_read", "");
	stk_writer__symbol(w, K(0x300), 0x10, "never_returns", "");
	stk_writer__symbol(w, K(0x310), 0x80, "another", "");
	stk_writer__symbol(w, K(0x400), 0x10, "__pfx_unknown", "");
	r = read_back(w, &f);
	assert_int_equal(stk_reader__frames(r, n, out, 5), 5);
	assert_frame(&out[0], K(0x110), false, "__x86_indirect_thunk_rax", 0x10, NULL);
	assert_frame(&out[1], K(0x210), true, "anon_pipe_read", 0, NULL);
	assert_frame(&out[2], K(0x208), false, "__pfx_anon_pipe_read", 8, NULL);
	assert_frame(&out[3], K(0x310), false, "never_returns", 0x10, NULL);
	assert_frame(&out[4], K(0x410), false, "__pfx_unknown", 0x10, NULL);
	done(r, &f);
}

static void round_end(struct stk_writer *w)
{
	static uint64_t ts;

	assert_int_equal(stk_writer__end_round(w, ++ts, 0), 0);
}

/* Code is loaded and unloaded at one address: each stack has the name of its time. */
static void test_renamed(void **state)
{
	static const char *const names[] = { "one", "two", NULL, "one", "after" };
	const uint64_t offs[] = { 0x10, 0x90, 0, 0x10, 0x10 };
	uint64_t frames[5][3];
	struct stk_frame out[3];
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);

	for (int i = 0; i < 5; i++) {
		frames[i][0] = K(i < 4 ? 0x110 : 0x910);
		frames[i][1] = K(0x2000 + i);
		frames[i][2] = K(0x400);
	}
	add_stack(w, frames[0], 3);
	stk_writer__symbol(w, K(0x100), 0x100, "one", "bpf");
	stk_writer__symbol(w, K(0x3f0), 0x100, "root", "");
	round_end(w);
	add_stack(w, frames[1], 3);
	stk_writer__symbol(w, K(0x80), 0x100, "two", "bpf");
	round_end(w);
	stk_writer__symbol(w, K(0x10f), 1, "", "");
	add_stack(w, frames[2], 3);
	round_end(w);
	stk_writer__symbol(w, K(0x100), 0x100, "one", "bpf");
	add_stack(w, frames[3], 3);
	round_end(w);
	/* of later names, the first one is used */
	add_stack(w, frames[4], 3);
	round_end(w);
	stk_writer__symbol(w, K(0x908), 0x100, "replaced", "bpf");
	stk_writer__symbol(w, K(0x900), 0x100, "after", "bpf");
	round_end(w);
	stk_writer__symbol(w, K(0x900), 0x100, "long after", "bpf");
	round_end(w);
	stk_writer__symbol(w, K(0x80), 0x100, "three", "bpf");
	r = read_back(w, &f);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(stk_reader__frames(r, i + 1, out, 3), 3);
		assert_frame(&out[0], frames[i][0], false, names[i], offs[i],
			     names[i] ? "bpf" : NULL);
		assert_frame(&out[2], K(0x400), false, "root", 0x10, NULL);
	}
	/* an address that is no frame has no time: the last name */
	assert_int_equal(stk_reader__kernel_symbol(r, K(0x110), &out[0]), 0);
	assert_frame(&out[0], K(0x110), true, "three", 0x90, "bpf");
	done(r, &f);
}

/* When its memory is used up, the writer restarts its tree: symbols are still written first. */
static void test_renamed_budget(void **state)
{
	const uint64_t frames[2][2] = { { K(0x110), K(0x2000) }, { K(0x110), K(0x3000) } };
	struct stk_frame out[2];
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin_budget(&f, 1);

	add_stack(w, frames[0], 2);
	stk_writer__symbol(w, K(0x100), 0x100, "one", "");
	add_stack(w, frames[1], 2);
	round_end(w);
	stk_writer__symbol(w, K(0x80), 0x100, "two", "");
	r = read_back(w, &f);
	for (uint32_t i = 1; i <= 2; i++) {
		assert_int_equal(stk_reader__frames(r, i, out, 2), 2);
		assert_frame(&out[0], K(0x110), false, "one", 0x10, NULL);
	}
	done(r, &f);
}

static void test_entries(void **state)
{
	static const struct {
		const char *name;
		bool entry;
	} names[] = {
		{ "asm_common_interrupt", true },
		{ "asm_exc_page_fault", true },
		{ "asm_sysvec_call_function", true },
		{ "asm_fred_entrypoint_kernel", true },
		{ "end_repeat_nmi", true },
		{ "apic_timer_interrupt", true },
		{ "page_fault", true },
		{ "common_interrupt", false },
		{ "exc_page_fault", false },
		{ "sysvec_call_function", false },
		{ "entry_SYSCALL_64_after_hwframe", false },
		{ "page_fault_oops", false },
	};
	struct stk_frame out[3];
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		const uint64_t frames[] = { K(0x1000 * i + 8), K(0x100000), K(0x200000) };

		assert_int_equal(add_stack(w, frames, 3), i + 1);
		stk_writer__symbol(w, K(0x1000 * i), 0x20, names[i].name, "");
	}
	r = read_back(w, &f);
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(stk_reader__frames(r, i + 1, out, 3), 3);
		assert_false(out[0].exact);
		assert_int_equal(out[1].exact, names[i].entry);
		assert_false(out[2].exact);
	}
	done(r, &f);
}

static void test_markers(void **state)
{
	const uint64_t sample[] = { FRAME_MARKER(FRAME_EXACT, 0), K(0x100), K(0x200) };
	const uint64_t cut[] = { K(0x100), K(0x200), FRAME_MARKER(FRAME_END, STK_END_TRUNCATED) };
	const uint64_t user[] = { FRAME_USER(0, 0x1234), FRAME_USER(0, 0x5678) };
	const uint64_t odd[] = { 0x8000010000000000ULL };
	struct stk_frame out[4];
	struct stk_stack s;
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);

	assert_int_equal(add_stack(w, sample, 3), 1);
	assert_int_equal(add_stack(w, cut, 3), 2);
	assert_int_equal(add_stack(w, user, 2), 3);
	assert_int_equal(add_stack(w, NULL, 0), 4);
	assert_int_equal(add_stack(w, odd, 1), 5);
	assert_int_equal(add_stack(w, sample + 1, 2), 6);
	assert_int_equal(add_stack(w, NULL, 0), 4);
	stk_writer__symbol(w, K(0x100), 0x100, "first", "");
	r = read_back(w, &f);

	assert_int_equal(stk_reader__frames(r, 1, out, 4), 2);
	assert_frame(&out[0], K(0x100), true, "first", 0, NULL);
	assert_frame(&out[1], K(0x200), false, "first", 0x100, NULL);
	assert_int_equal(stk_reader__stack(r, 1, &s), 0);
	assert_int_equal(s.depth, 2);
	assert_int_equal(s.end, STK_END_COMPLETE);

	assert_int_equal(stk_reader__frames(r, 2, out, 4), 2);
	assert_false(out[0].exact);
	assert_int_equal(stk_reader__stack(r, 2, &s), 0);
	assert_int_equal(s.depth, 2);
	assert_int_equal(s.end, STK_END_TRUNCATED);

	assert_int_equal(stk_reader__frames(r, 3, out, 4), 2);
	assert_int_equal(out[0].kind, STK_FRAME_USER);
	assert_int_equal(out[0].ip, 0x1234);
	assert_int_equal(out[1].ip, 0x5678);

	assert_int_equal(stk_reader__frames(r, 4, out, 4), 0);
	assert_int_equal(stk_reader__stack(r, 4, &s), 0);
	assert_int_equal(s.depth, 0);
	assert_int_equal(stk_reader__frames(r, 5, out, 4), 1);
	assert_int_equal(out[0].kind, STK_FRAME_UNKNOWN);
	/* without the marker, the same frames are another stack */
	assert_int_equal(stk_reader__stack(r, 6, &s), 0);
	assert_int_equal(s.alias_of, 6);
	assert_int_equal(stk_reader__frames(r, 6, out, 4), 2);
	assert_false(out[0].exact);
	done(r, &f);
}

static void test_aliases(void **state)
{
	const uint64_t a[] = { K(1), K(2), K(3) }, b[] = { K(1), K(2), K(4) };
	struct stk_totals totals;
	struct stk_stack s;
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	uint32_t n[5];

	assert_int_equal(stk_writer__stack_imported(w, a, 3, 77, 5, &n[0]), 0);
	assert_int_equal(stk_writer__stack_imported(w, b, 3, 76, 6, &n[1]), 0);
	assert_int_equal(stk_writer__stack_imported(w, a, 3, 75, 1ULL << 40, &n[2]), 0);
	assert_int_equal(stk_writer__generation(w, 9), 0);
	assert_int_equal(stk_writer__stack_imported(w, a, 2, 0, 0, &n[3]), 0);
	assert_int_equal(stk_writer__stack_imported(w, a, 2, 0, 0, &n[4]), 0);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(n[i], i + 1);
	r = read_back(w, &f);
	assert_int_equal(stk_reader__nr_stacks(r), 5);
	stk_reader__totals(r, &totals);
	assert_int_equal(totals.stacks, 5);
	assert_int_equal(totals.duplicates, 2);
	assert_int_equal(stk_reader__stack(r, 1, &s), 0);
	assert_int_equal(s.id, 77);
	assert_int_equal(s.refs, 5);
	assert_int_equal(s.alias_of, 1);
	assert_int_equal(s.generation, 0);
	assert_int_equal(stk_reader__stack(r, 2, &s), 0);
	assert_int_equal(s.alias_of, 2);
	assert_int_equal(stk_reader__stack(r, 3, &s), 0);
	assert_int_equal(s.id, 75);
	assert_int_equal(s.refs, 1ULL << 40);
	assert_int_equal(s.alias_of, 1);
	assert_int_equal(stk_reader__stack(r, 5, &s), 0);
	assert_int_equal(s.id, 0);
	assert_int_equal(s.alias_of, 4);
	assert_int_equal(s.generation, 9);
	done(r, &f);
}

#define NR_DISTINCT 3000u
#define BUDGET (64u << 10)

static void budget_frames(uint64_t i, uint64_t *frames)
{
	for (uint64_t k = 0; k < 10; k++)
		frames[k] = K(0x1000 * k) + (k < 4 ? i * 16 : 0);
}

/* Every stack twice, with memory for a few hundred: the reader still merges them. */
static void test_budget(void **state)
{
	const struct stk_event *e;
	struct stk_writer_stats stats;
	struct stk_totals totals;
	struct stk_frame out[10];
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin_budget(&f, BUDGET);
	uint64_t frames[10];

	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", ""), 0);
	for (uint32_t i = 0; i < 2 * NR_DISTINCT; i++) {
		struct stk_writer_event ev = { .ts = i };

		budget_frames(i % NR_DISTINCT, frames);
		ev.kstack = add_stack(w, frames, 10);
		assert_int_equal(stk_writer__event(w, &ev), 0);
		stk_writer__stats(w, &stats);
		assert_true(stats.merged_bytes < 2 * BUDGET);
		if (i % 1000 == 999)
			assert_int_equal(stk_writer__end_round(w, i, 0), 0);
	}
	assert_int_equal(stats.stacks, 2 * NR_DISTINCT);
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(&f);
	assert_int_equal(stk_reader__open_mem(f.p, f.len, NULL, &r), 0);
	for (uint32_t i = 0; i < 2 * NR_DISTINCT; i++) {
		assert_int_equal(stk_reader__next(r, &e), 1);
		assert_int_equal(stk_event__kstack(e), 1 + i % NR_DISTINCT);
		budget_frames(i % NR_DISTINCT, frames);
		assert_int_equal(stk_reader__frames(r, stk_event__kstack(e), out, 10), 10);
		for (int k = 0; k < 10; k++)
			assert_int_equal(out[k].ip, frames[k]);
	}
	assert_int_equal(stk_reader__next(r, &e), 0);
	stk_reader__totals(r, &totals);
	assert_int_equal(totals.stacks, NR_DISTINCT);
	assert_int_equal(totals.duplicates, 0);
	assert_int_equal(totals.nodes, 4 * NR_DISTINCT + 6);
	done(r, &f);
}

static void test_depth(void **state)
{
	uint64_t frames[2 * STK_MAX_DEPTH + 1];
	struct stk_frame out[STK_MAX_DEPTH];
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	uint32_t n;

	for (uint64_t i = 0; i <= 2 * STK_MAX_DEPTH; i++)
		frames[i] = K(i * 16);
	assert_int_equal(add_stack(w, frames, STK_MAX_DEPTH), 1);
	assert_int_equal(stk_writer__stack(w, frames, STK_MAX_DEPTH + 1, &n), -E2BIG);
	assert_int_equal(add_stack(w, frames, 3), 2); /* not a sticky error */
	r = read_back(w, &f);
	assert_int_equal(stk_reader__frames(r, 1, out, STK_MAX_DEPTH), STK_MAX_DEPTH);
	assert_int_equal(out[STK_MAX_DEPTH - 1].ip, K(16 * (STK_MAX_DEPTH - 1)));
	assert_int_equal(stk_reader__nr_stacks(r), 2);
	done(r, &f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols), cmocka_unit_test(test_behind_padding),
		cmocka_unit_test(test_renamed), cmocka_unit_test(test_renamed_budget),
		cmocka_unit_test(test_entries), cmocka_unit_test(test_markers),
		cmocka_unit_test(test_aliases), cmocka_unit_test(test_budget),
		cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
