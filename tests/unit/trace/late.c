// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Stacks that become known after their events are written: placeholders and aliases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cleanup.h"
#include "frame.h"
#include "trace/stk.h"
#include "written.h"

#define FAILED FRAME_MARKER(FRAME_END, STK_END_FAILED)

static uint32_t add_placeholder(struct stk_writer *w, unsigned int n)
{
	const uint64_t frames[] = { FRAME_MARKER(FRAME_PENDING, n), FAILED };

	return add_stack(w, frames, ARRAY_SIZE(frames));
}

static void end_round(struct stk_writer *w, uint64_t end_ts)
{
	assert_int_equal(stk_writer__end_round(w, end_ts, end_ts), 0);
}

/* Events 1 and 2 have placeholders; the one of event 1 becomes known after both are in the file. */
static void write_late(struct gen_file *f, const char *late)
{
	const uint64_t frames[] = { FRAME_USER(1, 0x110), FRAME_USER(1, 0x220) };
	struct stk_writer_opts opts = { .nr_cpus = 1 };
	struct stk_writer *w = gen_open(f, &opts);
	struct stk_file file = { .path = "/bin/late", .host_path = "" };
	uint32_t number, first, second;

	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", ""), 0);
	assert_int_equal(stk_writer__meta(w, "stacks.late", late), 0);
	first = add_placeholder(w, 1);
	second = add_placeholder(w, 2);
	assert_int_not_equal(first, second);
	add_event(w, 1, first);
	add_event(w, 2, second);
	end_round(w, 10);
	end_round(w, 20);
	assert_int_equal(stk_writer__file(w, &file, &number), 0);
	assert_int_equal(number, 1);
	number = add_stack(w, frames, ARRAY_SIZE(frames));
	add_event(w, 21, number);
	assert_int_equal(stk_writer__stack_alias(w, first, number), 0);
	end_round(w, 30);
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(f);
}

static uint32_t next_ustack(struct stk_reader *r)
{
	const struct stk_event *e;

	assert_int_equal(stk_reader__next(r, &e), 1);
	return stk_event__ustack(e);
}

static void assert_unknown(struct stk_reader *r, uint32_t number)
{
	struct stk_stack s;

	assert_int_equal(stk_reader__stack(r, number, &s), 0);
	assert_int_equal(s.depth, 0);
	assert_int_equal(s.end, STK_END_FAILED);
}

static void assert_known(struct stk_reader *r, uint32_t number)
{
	struct stk_frame out[2];
	struct stk_stack s;

	assert_int_equal(stk_reader__stack(r, number, &s), 0);
	assert_int_equal(s.end, STK_END_COMPLETE);
	assert_int_equal(stk_reader__frames(r, number, out, 2), 2);
	assert_int_equal(out[0].ip, 0x110);
	assert_int_equal(out[1].ip, 0x220);
	assert_string_equal(out[0].mod, "late");
}

static struct stk_reader *open_path(const char *path)
{
	struct stk_reader_opts opts = { .size = sizeof(opts) };
	struct stk_reader *r;

	assert_int_equal(stk_reader__open(path, &opts, &r), 0);
	return r;
}

static void test_file(void **state)
{
	struct stk_reader *r;
	struct gen_file f;
	char path[32];
	uint32_t known;

	write_late(&f, "yes");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", f.fd);
	r = open_path(path);
	known = next_ustack(r);
	assert_known(r, known);
	assert_unknown(r, next_ustack(r));
	/* the same stack, not a new one that is equal */
	assert_int_equal(next_ustack(r), known);
	stk_reader__free(r);
	gen_close(&f);
}

/* Without seeking, an alias takes effect from its position on. */
static void test_not_ahead(void **state)
{
	struct stk_reader *r;
	struct gen_file f;

	write_late(&f, "no");
	assert_int_equal(stk_reader__open_mem(f.p, f.len, NULL, &r), 0);
	assert_unknown(r, next_ustack(r));
	assert_unknown(r, next_ustack(r));
	assert_known(r, next_ustack(r));
	stk_reader__free(r);
	gen_close(&f);
}

/* An alias of an unknown stack changes nothing. */
static void test_bad_alias(void **state)
{
	struct stk_writer_opts opts = { .nr_cpus = 1 };
	struct gen_file f;
	struct stk_writer *w = gen_open(&f, &opts);
	struct stk_reader *r;
	uint32_t number;

	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", ""), 0);
	assert_int_equal(stk_writer__meta(w, "stacks.late", "yes"), 0);
	number = add_placeholder(w, 1);
	assert_int_equal(stk_writer__stack_alias(w, number, 77), 0);
	assert_int_equal(stk_writer__stack_alias(w, 78, number), 0);
	assert_int_equal(stk_writer__stack_alias(w, UINT32_MAX, UINT32_MAX), 0);
	add_event(w, 1, number);
	end_round(w, 10);
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(&f);
	assert_int_equal(stk_reader__open_mem(f.p, f.len, NULL, &r), 0);
	assert_unknown(r, next_ustack(r));
	stk_reader__free(r);
	gen_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_not_ahead),
		cmocka_unit_test(test_bad_alias),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
