// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Files and user frames: their details. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cleanup.h"
#include "file_hash.h"
#include "frame.h"
#include "trace/stk.h"
#include "written.h"

/* ---- details of a file ----------------------------------------------------------------------- */

static void test_roundtrip(void **state)
{
	uint8_t id[64];
	struct stk_file file = { .flags = STK_FILE_DELETED | STK_FILE_GONE,
				 .path = "/a/file",
				 .host_path = "/mnt/a/file",
				 .dev_major = UINT32_MAX,
				 .dev_minor = 7,
				 .inode = UINT64_MAX,
				 .size = 1ULL << 50,
				 .mtime_ns = UINT64_MAX - 1,
				 .id_kind = STK_ID_CONTENT,
				 .id = id,
				 .id_len = 64 };
	struct stk_file jit = { .kind = STK_FILE_JIT,
				.path = "[jit]",
				.id = id,
				.id_len = 5, /* without a kind it is not an id */
				.pid = UINT32_MAX,
				.start_ns = UINT64_MAX,
				.base = 0xffffff0000000000ULL };
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_file got;

	for (unsigned int i = 0; i < sizeof(id); i++)
		id[i] = i * 5;
	assert_int_equal(add_file(w, file), 1);
	assert_int_equal(add_file(w, jit), 2);
	r = read_back(w, &f);

	assert_int_equal(stk_reader__nr_files(r), 2);
	got = get_file(r, 1);
	assert_int_equal(got.kind, STK_FILE_FILE);
	assert_int_equal(got.flags, file.flags);
	assert_int_equal(got.hash, file_hash(id, 64, "", 0, 0));
	assert_string_equal(got.path, file.path);
	assert_string_equal(got.host_path, file.host_path);
	assert_int_equal(got.dev_major, UINT32_MAX);
	assert_int_equal(got.dev_minor, 7);
	assert_true(got.inode == UINT64_MAX && got.size == 1ULL << 50);
	assert_true(got.mtime_ns == UINT64_MAX - 1);
	assert_int_equal(got.id_kind, STK_ID_CONTENT);
	assert_int_equal(got.id_len, 64);
	assert_memory_equal(got.id, id, 64);
	assert_int_equal(got.nr_names, 1);
	got = get_file(r, 2);
	assert_int_equal(got.kind, STK_FILE_JIT);
	assert_string_equal(got.path, "[jit]");
	assert_string_equal(got.host_path, "");
	assert_int_equal(got.id_kind, STK_ID_NONE);
	assert_int_equal(got.id_len, 0);
	assert_int_equal(got.pid, UINT32_MAX);
	assert_true(got.start_ns == UINT64_MAX && got.base == jit.base);
	assert_int_equal(got.hash, file_hash(NULL, 0, "[jit]", 0, 0));
	expect_path(r, 1, 0, "/a/file", "/mnt/a/file");

	assert_int_equal(stk_reader__file(r, 0, &got), -ENOENT);
	assert_int_equal(stk_reader__file(r, 3, &got), -ENOENT);
	assert_int_equal(stk_reader__file_name(r, 1, 1, &got.path, &got.host_path), -ENOENT);
	assert_int_equal(stk_reader__file_name(r, 3, 0, &got.path, &got.host_path), -ENOENT);
	assert_false(stk_reader__has_symbols(r, 1));
	assert_false(stk_reader__has_symbols(r, 0));
	assert_false(stk_reader__has_symbols(r, 3));
	done(r, &f);
}

/*
 * The same file again: names are added and details replaced.  The hash stays, except when the first
 * id replaces one made without an id.
 */
static void test_again(void **state)
{
	struct stk_file a = { .path = "/bin/a", .host_path = "", .size = 5 }, got;
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	char path[32];

	assert_int_equal(add_file(w, a), 1);
	assert_int_equal(add_path(w, "/bin/b"), 2);
	a.number = 1;
	a.id = (const uint8_t *)"\1\2\3\4";
	a.id_kind = STK_ID_BUILD_ID;
	a.id_len = 4;
	a.size = 6;
	a.flags = STK_FILE_DELETED;
	assert_int_equal(add_file(w, a), 1); /* no new name */
	a.path = a.host_path = "";
	assert_int_equal(add_file(w, a), 1); /* no name at all */
	a.path = "/usr/bin/a";
	assert_int_equal(add_file(w, a), 1);
	assert_int_equal(stk_writer__end_round(w, 1, 0), 0);
	a.host_path = "/box/usr/bin/a"; /* adds a host path to the name */
	assert_int_equal(add_file(w, a), 1);
	assert_int_equal(add_file(w, a), 1);
	a.host_path = "/box2/usr/bin/a"; /* another host path makes another name */
	assert_int_equal(add_file(w, a), 1);
	a.host_path = ""; /* no host path: no new name */
	assert_int_equal(add_file(w, a), 1);
	a.path = ""; /* ignored without a path */
	a.host_path = "/nowhere";
	a.id = (const uint8_t *)"\1\2\3\5"; /* a new id does not make another file */
	assert_int_equal(add_file(w, a), 1);
	for (int i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "/many/%d", i);
		assert_int_equal(
			add_file(w, (struct stk_file){ .number = 2, .path = path, .size = i }), 2);
	}
	/* a later name becomes the first one */
	assert_int_equal(add_path(w, ""), 3);
	assert_int_equal(
		add_file(w, (struct stk_file){ .number = 3, .path = "/c", .host_path = "/d" }), 3);
	r = read_back(w, &f);

	got = get_file(r, 1);
	assert_int_equal(got.nr_names, 3);
	assert_string_equal(got.path, "/bin/a");
	assert_string_equal(got.host_path, "");
	assert_int_equal(got.size, 6);
	assert_int_equal(got.flags, STK_FILE_DELETED);
	assert_int_equal(got.id_kind, STK_ID_BUILD_ID);
	assert_memory_equal(got.id, "\1\2\3\5", 4);
	assert_int_equal(got.hash, file_hash((const uint8_t *)"\1\2\3\4", 4, "", 0, 0));
	expect_path(r, 1, 1, "/usr/bin/a", "/box/usr/bin/a");
	expect_path(r, 1, 2, "/usr/bin/a", "/box2/usr/bin/a");
	got = get_file(r, 2);
	assert_int_equal(got.nr_names, 64);
	assert_int_equal(got.size, 99);
	expect_path(r, 2, 63, "/many/62", "");
	got = get_file(r, 3);
	assert_int_equal(got.nr_names, 1);
	assert_string_equal(got.path, "/c");
	assert_string_equal(got.host_path, "/d");
	assert_int_equal(got.hash, file_hash(NULL, 0, "", 0, 0));
	done(r, &f);
}

/* Files with the same identity have different hashes, and the same ones every time. */
static void test_hashes(void **state)
{
	uint32_t hash[2][50];

	for (int run = 0; run < 2; run++) {
		struct stk_reader *r;
		struct gen_file f;
		struct stk_writer *w = begin(&f);

		for (int i = 0; i < 50; i++)
			add_file(w, (struct stk_file){
					    .kind = STK_FILE_JIT, .path = "[jit]", .pid = i });
		r = read_back(w, &f);
		for (int i = 0; i < 50; i++) {
			hash[run][i] = get_file(r, i + 1).hash;
			for (int k = 0; k < i; k++)
				assert_int_not_equal(hash[run][i], hash[run][k]);
		}
		done(r, &f);
	}
	assert_int_equal(hash[0][0], file_hash(NULL, 0, "[jit]", 0, 0));
	assert_memory_equal(hash[0], hash[1], sizeof(hash[0]));
}

static void test_refused(void **state)
{
	const struct stk_user_symbol one = { "f", 0, 1 };
	const uint64_t unknown_file[] = { FRAME_USER(1, 0x10), FRAME_USER(2, 0x10) };
	const uint64_t no_file[] = { FRAME_USER(0, 0x10) };
	char *huge = malloc(STK_MAX_STRING + 2);
	struct stk_file bad = { .path = "/x" };
	struct stk_totals totals;
	const struct stk_user_symbol long_name = { huge, 0, 1 };
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	uint32_t n = 77;

	assert_non_null(huge);
	memset(huge, 'x', STK_MAX_STRING + 1);
	huge[STK_MAX_STRING + 1] = '\0';
	assert_int_equal(add_path(w, "/x"), 1);
	bad.number = 2;
	assert_int_equal(stk_writer__file(w, &bad, &n), -EINVAL);
	bad = (struct stk_file){ .path = "/x", .kind = 3 };
	assert_int_equal(stk_writer__file(w, &bad, &n), -EINVAL);
	bad = (struct stk_file){ .path = "/x", .id_kind = 3 };
	assert_int_equal(stk_writer__file(w, &bad, &n), -EINVAL);
	bad = (struct stk_file){ .path = huge, .id_kind = STK_ID_CONTENT, .id_len = 65 };
	assert_int_equal(stk_writer__file(w, &bad, &n), -EINVAL);
	bad = (struct stk_file){ .path = huge };
	assert_int_equal(stk_writer__file(w, &bad, &n), -E2BIG);
	assert_int_equal(stk_writer__stack(w, unknown_file, 2, &n), -EINVAL);
	assert_int_equal(stk_writer__user_symbols(w, 0, &one, 1), -EINVAL);
	assert_int_equal(stk_writer__user_symbols(w, 2, &one, 1), -EINVAL);
	assert_int_equal(stk_writer__user_symbols(w, 1, &long_name, 1), -E2BIG);
	assert_int_equal(n, 77);
	/* errors are not sticky */
	add_stack(w, no_file, 1);
	add_stack(w, unknown_file, 1);
	assert_int_equal(stk_writer__user_symbols(w, 1, &one, 1), 0);
	assert_int_equal(add_path(w, "/y"), 2);
	add_stack(w, unknown_file, 2);
	r = read_back(w, &f);
	assert_int_equal(stk_reader__nr_files(r), 2);
	assert_int_equal(stk_reader__nr_stacks(r), 3);
	assert_true(stk_reader__has_symbols(r, 1));
	stk_reader__totals(r, &totals);
	assert_int_equal(totals.bad_blocks, 0);
	done(r, &f);
	free(huge);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void test_frames(void **state)
{
	const uint64_t frames[] = {
		FRAME_MARKER(FRAME_EXACT, 0),
		FRAME_USER(1, 0x100),
		FRAME_USER(2, (1ULL << 40) - 1),
		FRAME_MARKER(FRAME_GUESS, 0),
		FRAME_USER(3, 0x300),
		FRAME_MARKER(FRAME_EXACT, 0),
		FRAME_USER(4, 0x400),
		FRAME_USER(0, 0xfedcba9876ULL),
		FRAME_USER(5, 0),
		FRAME_MARKER(FRAME_END, STK_END_FALLBACK),
	};
	static const char *const mods[] = { "libc.so.6", "[vdso]",    "[jit]",
					    "/odd/",	 "[unknown]", "[unknown]" };
	static const uint32_t files[] = { 1, 2, 3, 4, 0, 5 };
	struct stk_frame out[6];
	struct stk_stack s;
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	uint32_t n;

	add_path(w, "/usr/lib/libc.so.6");
	add_file(w, (struct stk_file){ .kind = STK_FILE_VDSO, .path = "[vdso]" });
	add_file(w, (struct stk_file){ .kind = STK_FILE_JIT, .path = "/memfd:x" });
	add_path(w, "/odd/");
	add_path(w, "");
	n = add_stack(w, frames, ARRAY_SIZE(frames));
	r = read_back(w, &f);
	assert_int_equal(stk_reader__stack(r, n, &s), 0);
	assert_int_equal(s.depth, 6);
	assert_int_equal(s.end, STK_END_FALLBACK);
	assert_int_equal(stk_reader__frames(r, n, out, 6), 6);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(out[i].kind, STK_FRAME_USER);
		assert_string_equal(out[i].mod, mods[i]);
		assert_int_equal(out[i].file, files[i]);
		assert_int_equal(out[i].exact, i == 0 || i == 3);
		assert_int_equal(out[i].guessed, i >= 2);
		assert_null(out[i].sym);
		/* markers are nodes, too */
		assert_true(i == 5 || out[i].parent >= out[i + 1].node);
	}
	assert_int_equal(out[1].ip, (1ULL << 40) - 1);
	assert_int_equal(out[4].ip, 0xfedcba9876ULL);
	done(r, &f);
}

static void test_ends(void **state)
{
	static const char *const names[] = { "complete", "truncated",	 "at_limit",
					     "failed",	 "no_table",	 "unreadable",
					     "fallback", "not_recorded", "unknown" };
	struct stk_stack s;
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);

	for (unsigned int i = 0; i < 10; i++) {
		const uint64_t frames[] = { FRAME_USER(0, 16), FRAME_MARKER(FRAME_END, i) };

		assert_int_equal(add_stack(w, frames, i == 9 ? 1 : 2), i + 1);
	}
	r = read_back(w, &f);
	for (unsigned int i = 0; i < 10; i++) {
		assert_int_equal(stk_reader__stack(r, i + 1, &s), 0);
		assert_int_equal(s.depth, 1);
		assert_int_equal(s.end, i == 9 ? 0 : i);
		assert_string_equal(stk_stack_end_name(s.end), names[i % 9]);
	}
	done(r, &f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roundtrip), cmocka_unit_test(test_again),
		cmocka_unit_test(test_hashes),	  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_frames),	  cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
