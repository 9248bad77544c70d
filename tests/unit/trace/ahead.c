// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* When files and their symbols become known: at once in a file, when they arrive in a pipe. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "frame.h"
#include "trace/stk.h"
#include "written.h"

/* Two events with a stack in file 1; the details of the file come after them. */
static void make_late(struct gen_file *f, bool finish)
{
	const struct stk_user_symbol s = { "late", 0x100, 0x100 };
	struct stk_writer_event e = { .ts = 5, .record_len = 0 };
	struct stk_writer *w = begin(f);

	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", ""), 0);
	add_path(w, "/a");
	e.ustack = add_stack(w, &(uint64_t){ FRAME_USER(1, 0x110) }, 1);
	assert_int_equal(stk_writer__event(w, &e), 0);
	assert_int_equal(stk_writer__end_round(w, 10, 0), 0);
	assert_int_equal(stk_writer__end_round(w, 20, 0), 0);
	add_file(w, (struct stk_file){ .number = 1, .path = "/other", .size = 98 });
	e.ts = 25;
	assert_int_equal(stk_writer__event(w, &e), 0);
	assert_int_equal(stk_writer__end_round(w, 30, 0), 0);
	assert_int_equal(stk_writer__end_round(w, 35, 0), 0);
	add_file(w, (struct stk_file){ .number = 1, .path = "/other", .size = 99 });
	assert_int_equal(stk_writer__user_symbols(w, 1, &s, 1), 0);
	if (finish)
		assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	else
		assert_int_equal(stk_writer__end_round(w, 40, 0), 0);
	stk_writer__free(w);
	gen_load(f);
}

static void first_late(struct stk_reader *r, bool seekable)
{
	const struct stk_event *e;
	struct stk_frame out;

	assert_int_equal(stk_reader__next(r, &e), 1);
	out = first_frame(r, stk_event__ustack(e));
	assert_int_equal(get_file(r, 1).nr_names, seekable ? 2 : 1);
	assert_int_equal(get_file(r, 1).size, seekable ? 99 : 0);
	if (seekable)
		assert_string_equal(out.sym, "late");
	else
		assert_null(out.sym);
	assert_int_equal(stk_reader__has_symbols(r, 1), seekable);
}

static void rest_late(struct stk_reader *r, bool seekable)
{
	const struct stk_event *e;
	struct stk_totals totals;

	assert_int_equal(stk_reader__next(r, &e), 1);
	assert_int_equal(get_file(r, 1).size, seekable ? 99 : 98);
	assert_int_equal(stk_reader__next(r, &e), 0);
	assert_string_equal(first_frame(r, 1).sym, "late");
	assert_int_equal(get_file(r, 1).nr_names, 2);
	assert_int_equal(get_file(r, 1).size, 99);
	stk_reader__totals(r, &totals);
	assert_int_equal(totals.bad_blocks, 0);
	stk_reader__free(r);
}

/* In a file, the details are known with the first frame; from a pipe, when they arrive. */
static void test_ahead(void **state)
{
	for (int finish = 0; finish < 2; finish++) {
		size_t part = STK_HEADER_SIZE;
		struct stk_block_header h = { 0 };
		struct stk_reader *r;
		struct gen_file f;
		char path[64];
		int fds[2];

		make_late(&f, finish);
		assert_int_equal(stk_reader__open_mem(f.p, f.len, NULL, &r), 0);
		first_late(r, true);
		rest_late(r, true);

		snprintf(path, sizeof(path), "/proc/self/fd/%d", f.fd);
		assert_int_equal(stk_reader__open(path, NULL, &r), 0);
		first_late(r, true);
		rest_late(r, true);

		for (int rounds = 0; rounds < 2; rounds += h.type == STK_BLOCK_ROUND) {
			memcpy(&h, f.p + part, sizeof(h));
			part += sizeof(h) + h.stored_len;
		}
		assert_int_equal(pipe(fds), 0);
		assert_int_equal(write(fds[1], f.p, part), part);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
		assert_int_equal(stk_reader__open(path, NULL, &r), 0);
		first_late(r, false);
		assert_int_equal(write(fds[1], f.p + part, f.len - part), f.len - part);
		close(fds[1]);
		rest_late(r, false);
		close(fds[0]);
		gen_close(&f);
	}
}

/* The file is larger than the read-ahead: the reader seeks for the rest. */
static void test_ahead_far(void **state)
{
	const struct stk_user_symbol s = { "far", 0x100, 0x100 };
	struct stk_writer_event e = { .record_len = 4096 };
	uint8_t *noise = malloc(4096);
	const struct stk_event *event;
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	uint64_t seed = 5, v;
	char path[64];

	assert_non_null(noise);
	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", ""), 0);
	add_path(w, "/a");
	e.ustack = add_stack(w, &(uint64_t){ FRAME_USER(1, 0x110) }, 1);
	e.record = noise;
	for (uint64_t i = 0; i < 500; i++) {
		for (int k = 0; k < 512; k++) {
			v = gen_random(&seed);
			memcpy(noise + 8 * k, &v, 8);
		}
		e.ts = i;
		assert_int_equal(stk_writer__event(w, &e), 0);
		if (i % 10 == 9)
			assert_int_equal(stk_writer__end_round(w, i, 0), 0);
	}
	assert_int_equal(stk_writer__user_symbols(w, 1, &s, 1), 0);
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(&f);
	assert_true(f.len > 1 << 20);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", f.fd);
	assert_int_equal(stk_reader__open(path, NULL, &r), 0);
	for (int i = 0; i < 500; i++) {
		assert_int_equal(stk_reader__next(r, &event), 1);
		assert_int_equal(stk_event__ts(event), i);
		assert_string_equal(first_frame(r, stk_event__ustack(event)).sym, "far");
	}
	assert_int_equal(stk_reader__next(r, &event), 0);
	done(r, &f);
	free(noise);
}

/* Without the block that describes them, files are unknown, and everything else is read. */
static void test_lost(void **state)
{
	const struct stk_user_symbol s = { "late", 0x100, 0x100 };
	struct stk_block_header h;
	const struct stk_event *e;
	struct stk_totals totals;
	struct stk_file file;
	struct stk_frame out[2];
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	size_t pos = STK_HEADER_SIZE;

	add_path(w, "/lost");
	assert_int_equal(stk_writer__end_round(w, 1, 0), 0);
	add_path(w, "/there");
	add_stack(w, (uint64_t[]){ FRAME_USER(1, 0x110), FRAME_USER(2, 0x110) }, 2);
	assert_int_equal(stk_writer__user_symbols(w, 1, &s, 1), 0);
	assert_int_equal(stk_writer__user_symbols(w, 2, &s, 1), 0);
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(&f);
	for (;; pos += sizeof(h) + h.stored_len) {
		memcpy(&h, f.p + pos, sizeof(h));
		if (h.type == STK_BLOCK_FILES)
			break;
	}
	f.p[pos + sizeof(h) + 4] ^= 1;
	assert_int_equal(stk_reader__open_mem(f.p, f.len, NULL, &r), 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	stk_reader__totals(r, &totals);
	assert_int_equal(totals.bad_blocks, 1);
	assert_int_equal(stk_reader__nr_files(r), 2);
	assert_int_equal(stk_reader__file(r, 1, &file), -ENOENT);
	assert_false(stk_reader__has_symbols(r, 1));
	assert_string_equal(get_file(r, 2).path, "/there");
	assert_int_equal(stk_reader__frames(r, 1, out, 2), 2);
	assert_int_equal(out[0].file, 0);
	assert_int_equal(out[0].ip, 0x110);
	assert_null(out[0].sym);
	assert_string_equal(out[0].mod, "[unknown]");
	assert_string_equal(out[1].sym, "late");
	done(r, &f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_ahead_far),
		cmocka_unit_test(test_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
