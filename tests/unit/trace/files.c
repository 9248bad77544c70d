// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Files and user frames: what is said of them, their symbols, who else is asked. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "cleanup.h"
#include "file_hash.h"
#include "frame.h"
#include "gen.h"
#include "trace/stk.h"
#include "trace/wire.h"

static struct stk_writer *begin(struct gen_file *f)
{
	struct stk_writer_opts opts = { .nr_cpus = 1 };

	return gen_open(f, &opts);
}

/* Open what the writer wrote and read all of it. */
static struct stk_reader *read_back(struct stk_writer *w, struct gen_file *f)
{
	const struct stk_event *e;
	struct stk_reader *r;

	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(f);
	assert_int_equal(stk_reader__open_mem(f->p, f->len, NULL, &r), 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	return r;
}

static void done(struct stk_reader *r, struct gen_file *f)
{
	stk_reader__free(r);
	gen_close(f);
}

static uint32_t add_file(struct stk_writer *w, struct stk_file file)
{
	uint32_t number = 0;

	assert_int_equal(stk_writer__file(w, &file, &number), 0);
	return number;
}

static uint32_t add_path(struct stk_writer *w, const char *path)
{
	return add_file(w, (struct stk_file){ .path = path, .host_path = "" });
}

static uint32_t add_stack(struct stk_writer *w, const uint64_t *frames, unsigned int nr)
{
	uint32_t number = 0;

	assert_int_equal(stk_writer__stack(w, frames, nr, &number), 0);
	return number;
}

static struct stk_file get_file(const struct stk_reader *r, uint32_t number)
{
	struct stk_file f = { 0 };

	assert_int_equal(stk_reader__file(r, number, &f), 0);
	assert_int_equal(f.number, number);
	return f;
}

static void assert_name(const struct stk_reader *r, uint32_t number, unsigned int i,
			const char *path, const char *host_path)
{
	const char *p, *h;

	assert_int_equal(stk_reader__file_name(r, number, i, &p, &h), 0);
	assert_string_equal(p, path);
	assert_string_equal(h, host_path);
}

/* ---- what is said of a file ----------------------------------------------------------------- */

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
				.id_len = 5, /* of no kind: not an id */
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
	assert_name(r, 1, 0, "/a/file", "/mnt/a/file");

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
 * The same file again: names are added, the rest is replaced; the short identifier stays, but for
 * the first id that it can be made of.
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
	a.host_path = "/box/usr/bin/a"; /* says more of that name */
	assert_int_equal(add_file(w, a), 1);
	assert_int_equal(add_file(w, a), 1);
	a.host_path = "/box2/usr/bin/a"; /* there, it is another one */
	assert_int_equal(add_file(w, a), 1);
	a.host_path = ""; /* says less */
	assert_int_equal(add_file(w, a), 1);
	a.path = ""; /* tells nothing without a path */
	a.host_path = "/nowhere";
	a.id = (const uint8_t *)"\1\2\3\5"; /* is not another file for that */
	assert_int_equal(add_file(w, a), 1);
	for (int i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "/many/%d", i);
		assert_int_equal(
			add_file(w, (struct stk_file){ .number = 2, .path = path, .size = i }), 2);
	}
	/* the name comes later, and is the first one then */
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
	assert_name(r, 1, 1, "/usr/bin/a", "/box/usr/bin/a");
	assert_name(r, 1, 2, "/usr/bin/a", "/box2/usr/bin/a");
	got = get_file(r, 2);
	assert_int_equal(got.nr_names, 64);
	assert_int_equal(got.size, 99);
	assert_name(r, 2, 63, "/many/62", "");
	got = get_file(r, 3);
	assert_int_equal(got.nr_names, 1);
	assert_string_equal(got.path, "/c");
	assert_string_equal(got.host_path, "/d");
	assert_int_equal(got.hash, file_hash(NULL, 0, "", 0, 0));
	done(r, &f);
}

/* Files that have the same to tell from still differ, and the same way every time. */
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
	/* none of it is for ever */
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

/* ---- frames --------------------------------------------------------------------------------- */

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
	static const char *const names[] = { "complete", "truncated",  "at_limit", "failed",
					     "no_table", "unreadable", "fallback", "unknown" };
	struct stk_stack s;
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);

	for (unsigned int i = 0; i < 9; i++) {
		const uint64_t frames[] = { FRAME_USER(0, 16), FRAME_MARKER(FRAME_END, i) };

		assert_int_equal(add_stack(w, frames, i == 8 ? 1 : 2), i + 1);
	}
	r = read_back(w, &f);
	for (unsigned int i = 0; i < 9; i++) {
		assert_int_equal(stk_reader__stack(r, i + 1, &s), 0);
		assert_int_equal(s.depth, 1);
		assert_int_equal(s.end, i == 8 ? 0 : i);
		assert_string_equal(stk_stack_end_name(s.end), names[i % 8]);
	}
	done(r, &f);
}

/* ---- symbols of the recording --------------------------------------------------------------- */

static const struct probe {
	uint64_t ip;
	bool exact;
	const char *sym;
	uint64_t off;
} probes[] = {
	{ 0x0, false, NULL, 0 }, /* there is nothing before the first byte */
	{ 0x0, true, "zero", 0 },
	{ 0x1, false, "zero", 1 },
	{ 0xff, true, NULL, 0 },
	{ 0x100, false, NULL, 0 }, /* the call is in front of it */
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
	{ 0x330, true, "outer", 0x30 }, /* behind what lies in it */
	{ 0x3ff, true, "outer", 0xff },
	{ 0x400, true, NULL, 0 },
	{ 0x500, true, "twin", 0 }, /* the last of those that begin there */
	{ 0x520, true, "long twin", 0x20 },
	{ 0x58f, true, "blurred", 0xf },
	{ 0x590, true, "short", 0 },
	{ 0x5a0, true, NULL, 0 }, /* not blurred again */
	{ 0x600, true, NULL, 0 }, /* known to be nameless */
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

/* Many small functions in a large one: still found, and in time. */
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

/* ---- who else is asked ---------------------------------------------------------------------- */

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
	case 0x400: /* begins behind it */
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

static struct stk_frame first_frame(struct stk_reader *r, uint32_t stack)
{
	struct stk_frame out;

	assert_true(stk_reader__frames(r, stack, &out, 1) >= 1);
	return out;
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
	/* the recording knows the file, and nobody knows file 0 */
	assert_null(first_frame(r, n + 1).sym);
	assert_null(first_frame(r, n + 2).sym);
	/* the same byte, though the frame is another */
	assert_string_equal(first_frame(r, n + 3).sym, "a_1000");
	assert_int_equal(first_frame(r, n + 3).off, 0x1f);
	assert_int_equal(a.calls, n);
	/* one function, one name */
	name = first_frame(r, 1).sym;
	assert_ptr_equal(name, first_frame(r, 2).sym);
	/* another one is asked anew; what was handed out stays */
	stk_reader__set_symbolizer(r, NULL, NULL);
	assert_null(first_frame(r, 1).sym);
	a.calls = 0;
	stk_reader__set_symbolizer(r, symbolize, &a);
	assert_string_equal(first_frame(r, 1).sym, "a_1000");
	assert_int_equal(a.calls, 1);
	assert_string_equal(name, "a_1000");
	done(r, &f);
}

/* ---- when it is known ----------------------------------------------------------------------- */

/* Two events with a stack in file 1, of which more is told behind each. */
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

static void first_late(struct stk_reader *r, bool sought)
{
	const struct stk_event *e;
	struct stk_frame out;

	assert_int_equal(stk_reader__next(r, &e), 1);
	out = first_frame(r, stk_event__ustack(e));
	assert_int_equal(get_file(r, 1).nr_names, sought ? 2 : 1);
	assert_int_equal(get_file(r, 1).size, sought ? 99 : 0);
	if (sought)
		assert_string_equal(out.sym, "late");
	else
		assert_null(out.sym);
	assert_int_equal(stk_reader__has_symbols(r, 1), sought);
}

static void rest_late(struct stk_reader *r, bool sought)
{
	const struct stk_event *e;
	struct stk_totals totals;

	assert_int_equal(stk_reader__next(r, &e), 1);
	assert_int_equal(get_file(r, 1).size, sought ? 99 : 98);
	assert_int_equal(stk_reader__next(r, &e), 0);
	assert_string_equal(first_frame(r, 1).sym, "late");
	assert_int_equal(get_file(r, 1).nr_names, 2);
	assert_int_equal(get_file(r, 1).size, 99);
	stk_reader__totals(r, &totals);
	assert_int_equal(totals.bad_blocks, 0);
	stk_reader__free(r);
}

/* In a file it is known with the first frame, from a pipe when it comes. */
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

/* The file is larger than what is read at once: the rest is looked at where it lies. */
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

/* Without the block that told of them, files are unknown, and nothing else is. */
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

/* ---- counters ------------------------------------------------------------------------------- */

static void put_block(struct wire_buf *out, uint16_t type, const struct wire_buf *payload)
{
	struct stk_block_header h = { .magic = STK_BLOCK_MAGIC,
				      .type = type,
				      .stored_len = payload->len,
				      .raw_len = payload->len,
				      .payload_crc = crc32c(0, payload->p, payload->len) };

	h.header_crc = crc32c(0, &h, offsetof(struct stk_block_header, header_crc));
	wire_put(out, &h, sizeof(h));
	wire_put(out, payload->p, payload->len);
}

/* What no writer of ours writes. */
static void test_odd_entries(void **state)
{
	static const uint8_t no_kind[] = { 1, 0, 0, 1, 'a', 0,	 0, 0, 0,
					   0, 0, 0, 2, 'i', 'd', 0, 0, 0 };
	static const uint8_t no_id[] = { 2, 0, 0, 1, 'b', 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0 };
	struct wire_buf payload = { 0 }, all = { 0 };
	const struct stk_event *e;
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);

	stk_writer__free(w);
	gen_load(&f);
	wire_put(&all, f.p, f.len);
	wire_put(&payload, no_kind, sizeof(no_kind));
	wire_put(&payload, no_id, sizeof(no_id));
	put_block(&all, STK_BLOCK_FILES, &payload);
	assert_int_equal(stk_reader__open_mem(all.p, all.len, NULL, &r), 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	assert_int_equal(stk_reader__nr_files(r), 2);
	for (uint32_t i = 1; i <= 2; i++) {
		assert_int_equal(get_file(r, i).id_kind, STK_ID_NONE);
		assert_int_equal(get_file(r, i).id_len, 0);
		assert_int_equal(get_file(r, i).hash, file_hash(NULL, 0, i == 1 ? "a" : "b", 0, 0));
	}
	wire_buf__free(&payload);
	wire_buf__free(&all);
	done(r, &f);
}

/* A recorder that knew fewer counters, or more, than this reader. */
static void test_counters(void **state)
{
	for (unsigned int nr = 1; nr <= STK_NR_COUNTERS + 3; nr++) {
		struct wire_buf payload = { 0 }, all = { 0 };
		const struct stk_event *e;
		struct stk_totals totals;
		struct stk_reader *r;
		struct gen_file f;
		struct stk_writer *w = begin(&f);

		assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", ""), 0);
		assert_int_equal(stk_writer__end_round(w, 1, 0), 0);
		stk_writer__free(w);
		gen_load(&f);
		wire_put(&all, f.p, f.len);
		wire_put_varint(&payload, nr);
		wire_put_varint(&payload, 0);
		for (unsigned int c = 0; c < nr; c++)
			wire_put_varint(&payload, 1000 + c);
		put_block(&all, STK_BLOCK_ACCOUNTING, &payload);
		assert_int_equal(stk_reader__open_mem(all.p, all.len, NULL, &r), 0);
		assert_int_equal(stk_reader__next(r, &e), 0);
		stk_reader__totals(r, &totals);
		assert_int_equal(totals.bad_blocks, 0);
		for (unsigned int c = 0; c < STK_NR_COUNTERS + 2; c++)
			assert_int_equal(stk_reader__counter(r, stk_reader__type(r, 0), c),
					 c < nr && c < STK_NR_COUNTERS ? 1000 + c : 0);
		wire_buf__free(&payload);
		wire_buf__free(&all);
		done(r, &f);
	}
}

static void test_counter_names(void **state)
{
	assert_string_equal(stk_counter_name(STK_C_USTACK_HIT), "ustack_hit");
	assert_string_equal(stk_counter_name(STK_C_USTACK_FAILED), "ustack_failed");
	assert_string_equal(stk_counter_name(STK_NR_COUNTERS), "unknown");
	for (int c = 0; c < STK_NR_COUNTERS; c++) {
		assert_non_null(stk_counter_name(c));
		for (int k = 0; k < c; k++)
			assert_string_not_equal(stk_counter_name(c), stk_counter_name(k));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roundtrip),     cmocka_unit_test(test_again),
		cmocka_unit_test(test_hashes),	      cmocka_unit_test(test_refused),
		cmocka_unit_test(test_frames),	      cmocka_unit_test(test_ends),
		cmocka_unit_test(test_symbols),	      cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_symbolizer),    cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_ahead_far),     cmocka_unit_test(test_lost),
		cmocka_unit_test(test_odd_entries),   cmocka_unit_test(test_counters),
		cmocka_unit_test(test_counter_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
