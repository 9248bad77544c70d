// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Names of user frames: the recording's own symbols, and a symbolizer. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cleanup.h"
#include "frame.h"
#include "written.h"

/* ---- symbols of the recording ---------------------------------------------------------------- */

static const struct probe {
	uint64_t ip;
	bool exact;
	const char *sym;
	uint64_t off;
} probes[] = {
	{ 0x0, false, NULL, 0 }, /* nothing is before the first byte */
	{ 0x0, true, "zero", 0 },
	{ 0x1, false, "zero", 1 },
	{ 0xff, true, NULL, 0 },
	{ 0x100, false, NULL, 0 }, /* the call is before it */
	{ 0x100, true, "first", 0 },
	{ 0x101, false, "first", 1 },
	{ 0x140, false, "first", 0x40 }, /* a call that never returns, at its end */
	{ 0x140, true, "second", 0 },
	{ 0x180, false, "second", 0x40 },
	{ 0x180, true, NULL, 0 }, /* nothing crosses a function's end */
	{ 0x181, false, NULL, 0 },
	{ 0x200, true, "open", 0 }, /* of unknown size: to the next start */
	{ 0x2ff, true, "open", 0xff },
	{ 0x300, false, "open", 0x100 },
	{ 0x300, true, "outer", 0 },
	{ 0x320, true, "inner", 0 },
	{ 0x330, true, "outer", 0x30 }, /* after the function that lies in it */
	{ 0x3ff, true, "outer", 0xff },
	{ 0x400, true, NULL, 0 },
	{ 0x500, true, "twin", 0 }, /* the last of the symbols that start there */
	{ 0x520, true, "long twin", 0x20 },
	{ 0x58f, true, "blurred", 0xf },
	{ 0x590, true, "short", 0 },
	{ 0x5a0, true, NULL, 0 }, /* not extended again */
	{ 0x600, true, NULL, 0 }, /* known to have no name */
	{ 0x610, false, NULL, 0 },
	{ 0xfffffffff0, true, "last", 0x10 },
	{ 0xfffffffff8, true, "tiny", 0 },
	{ 0xffffffffff, true, "last", 0x1f },
};

static void test_symbols(void **state)
{
	const struct stk_user_symbol early[] = { { "stale", 0, UINT64_MAX } };
	const struct stk_user_symbol symbols[] = {
		{ "second", 0x140, 0x40 },    { "first", 0x100, 0x40 },
		{ "zero", 0, 0x10 },	      { "open", 0x200, 0 },
		{ "inner", 0x320, 0x10 },     { "outer", 0x300, 0x100 },
		{ "long twin", 0x500, 0x40 }, { "twin", 0x500, 0x20 },
		{ "blurred", 0x580, 0 },      { "short", 0x590, 0x10 },
		{ "", 0x600, 0x100 },	      { "last", 0xffffffffe0, UINT64_MAX },
		{ "tiny", 0xfffffffff8, 1 },  { "tinier", 0xfffffffffa, 1 },
	};
	uint64_t frames[2 * ARRAY_SIZE(probes)];
	struct stk_frame out[ARRAY_SIZE(probes)];
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	unsigned int nr = 0;
	uint32_t n;

	add_path(w, "/a");
	add_path(w, "/b");
	for (unsigned int i = 0; i < ARRAY_SIZE(probes); i++) {
		if (probes[i].exact)
			frames[nr++] = FRAME_MARKER(FRAME_EXACT, 0);
		frames[nr++] = FRAME_USER(1, probes[i].ip);
	}
	n = add_stack(w, frames, nr);
	assert_int_equal(stk_writer__user_symbols(w, 1, early, 1), 0);
	assert_int_equal(stk_writer__user_symbols(w, 2, early, 1), 0);
	assert_int_equal(stk_writer__end_round(w, 1, 0), 0);
	assert_int_equal(stk_writer__user_symbols(w, 1, symbols, ARRAY_SIZE(symbols)), 0);
	assert_int_equal(stk_writer__user_symbols(w, 2, NULL, 0), 0);
	r = read_back(w, &f);
	assert_int_equal(stk_reader__frames(r, n, out, ARRAY_SIZE(probes)), ARRAY_SIZE(probes));
	for (unsigned int i = 0; i < ARRAY_SIZE(probes); i++) {
		const struct probe *p = &probes[i];

		assert_int_equal(out[i].ip, p->ip);
		if (strcmp(out[i].sym ? out[i].sym : "-", p->sym ? p->sym : "-") != 0 ||
		    out[i].off != p->off)
			fail_msg("%#llx%s: %s+%#llx", (unsigned long long)p->ip,
				 p->exact ? "" : " returned to", out[i].sym,
				 (unsigned long long)out[i].off);
	}
	assert_int_equal(out[5].size, 0x40);
	assert_int_equal(out[12].size, 0);
	assert_true(stk_reader__has_symbols(r, 1));
	assert_true(stk_reader__has_symbols(r, 2)); /* there are none */
	done(r, &f);
}

/* Many small functions within a large one: the large one is found, and fast. */
static void test_overlap(void **state)
{
	enum { NR = 1000 };
	struct stk_user_symbol *symbols = calloc(NR + 1, sizeof(*symbols));
	const uint64_t frames[] = { FRAME_USER(1, 16 * NR + 100), FRAME_USER(1, 1 << 24) };
	struct stk_frame out[2];
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);

	assert_non_null(symbols);
	for (unsigned int i = 0; i < NR; i++)
		symbols[i] = (struct stk_user_symbol){ "small", 16 * i + 8, 4 };
	symbols[NR] = (struct stk_user_symbol){ "large", 0, 1 << 20 };
	add_path(w, "/a");
	add_stack(w, frames, 2);
	assert_int_equal(stk_writer__user_symbols(w, 1, symbols, NR + 1), 0);
	r = read_back(w, &f);
	assert_int_equal(stk_reader__frames(r, 1, out, 2), 2);
	assert_string_equal(out[0].sym, "large");
	assert_null(out[1].sym);
	done(r, &f);
	free(symbols);
}

/* ---- a symbolizer ---------------------------------------------------------------------------- */

struct asked {
	unsigned int calls;
	uint32_t file;
	uint64_t offset;
	char name[32]; /* changes with every call */
};

static int symbolize(void *ctx, const struct stk_file *file, uint64_t offset,
		     struct stk_user_symbol *ret_symbol)
{
	struct asked *a = ctx;

	a->calls++;
	a->file = file->number;
	a->offset = offset;
	snprintf(a->name, sizeof(a->name), "%s_%llx", file->path,
		 (unsigned long long)offset & ~0xffULL);
	switch (offset & 0xf00) {
	case 0x100:
		return -ENOENT;
	case 0x200:
		*ret_symbol = (struct stk_user_symbol){ a->name, offset & ~0xffULL, 0 };
		return 0;
	case 0x300: /* ends before it */
		*ret_symbol = (struct stk_user_symbol){ a->name, offset - 16, 16 };
		return 0;
	case 0x400: /* starts after it */
		*ret_symbol = (struct stk_user_symbol){ a->name, offset + 1, 16 };
		return 0;
	case 0x500:
		*ret_symbol = (struct stk_user_symbol){ "", offset, 16 };
		return 0;
	case 0x600:
		*ret_symbol = (struct stk_user_symbol){ a->name, offset + 1, 0 };
		return 0;
	}
	*ret_symbol = (struct stk_user_symbol){ a->name, offset & ~0xffULL, 0x100 };
	return 0;
}

static void test_symbolizer(void **state)
{
	static const struct {
		uint64_t ip;
		const char *sym;
		uint64_t off;
	} frames[] = {
		{ 0x1010, "a_1000", 0x10 }, { 0x1020, "a_1000", 0x20 }, { 0x1110, NULL, 0 },
		{ 0x1210, "a_1200", 0x10 }, { 0x1310, NULL, 0 },	{ 0x1410, NULL, 0 },
		{ 0x1510, NULL, 0 },	    { 0x1610, NULL, 0 },	{ 0x2000, "a_1f00", 0x100 },
		{ 0x2001, "a_2000", 1 },
	};
	const struct stk_user_symbol own = { "own", 0x1000, 0x10 };
	const uint32_t n = ARRAY_SIZE(frames);
	struct asked a = { 0 };
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_frame out;
	const char *name;

	add_path(w, "a");
	add_path(w, "b");
	for (unsigned int i = 0; i < ARRAY_SIZE(frames); i++)
		add_stack(w, &(uint64_t){ FRAME_USER(1, frames[i].ip) }, 1);
	add_stack(w, &(uint64_t){ FRAME_USER(2, 0x1020) }, 1);
	add_stack(w, &(uint64_t){ FRAME_USER(0, 0x1020) }, 1);
	add_stack(w, (uint64_t[]){ FRAME_MARKER(FRAME_EXACT, 0), FRAME_USER(1, 0x101f) }, 2);
	assert_int_equal(stk_writer__user_symbols(w, 2, &own, 1), 0);
	r = read_back(w, &f);
	assert_null(first_frame(r, 1).sym);
	stk_reader__set_symbolizer(r, symbolize, &a);
	for (int again = 0; again < 3; again++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(frames); i++) {
			out = first_frame(r, i + 1);
			assert_int_equal(!out.sym, !frames[i].sym);
			if (out.sym)
				assert_string_equal(out.sym, frames[i].sym);
			assert_int_equal(out.off, frames[i].off);
		}
		assert_int_equal(a.calls, n);
	}
	assert_int_equal(a.file, 1);
	assert_int_equal(a.offset, 0x2000); /* where the call is */
	assert_int_equal(first_frame(r, 4).size, 0);
	assert_int_equal(first_frame(r, 1).size, 0x100);
	/* the recording knows the file, and there is no file 0 */
	assert_null(first_frame(r, n + 1).sym);
	assert_null(first_frame(r, n + 2).sym);
	/* the same byte in another frame */
	assert_string_equal(first_frame(r, n + 3).sym, "a_1000");
	assert_int_equal(first_frame(r, n + 3).off, 0x1f);
	assert_int_equal(a.calls, n);
	/* names are cached per function */
	name = first_frame(r, 1).sym;
	assert_ptr_equal(name, first_frame(r, 2).sym);
	/* a new symbolizer is asked again; names returned earlier stay valid */
	stk_reader__set_symbolizer(r, NULL, NULL);
	assert_null(first_frame(r, 1).sym);
	a.calls = 0;
	stk_reader__set_symbolizer(r, symbolize, &a);
	assert_string_equal(first_frame(r, 1).sym, "a_1000");
	assert_int_equal(a.calls, 1);
	assert_string_equal(name, "a_1000");
	done(r, &f);
}

/* The array of answers grows at any of the questions. */
static void test_many_answers(void **state)
{
	const unsigned int n = 3000;
	struct asked a = { 0 };
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_frame out;
	char name[32];

	add_path(w, "a");
	for (unsigned int i = 0; i < n; i++)
		add_stack(w, &(uint64_t){ FRAME_USER(1, 0x1010 + 0x100ull * i) }, 1);
	r = read_back(w, &f);
	stk_reader__set_symbolizer(r, symbolize, &a);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t ip = 0x1010 + 0x100ull * i, kind = ip >> 8 & 15;

		out = first_frame(r, i + 1);
		snprintf(name, sizeof(name), "a_%llx", (unsigned long long)ip & ~0xffull);
		if (kind == 1 || (kind >= 3 && kind <= 6))
			assert_null(out.sym);
		else
			assert_string_equal(out.sym, name);
	}
	assert_int_equal(a.calls, n);
	done(r, &f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_symbolizer),
		cmocka_unit_test(test_many_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
