// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_corpus -u FILE... NEW: writes these recordings uncompressed, one after the other, each with
 * another uuid, for the targets of tests/fuzz/recordings.h.  Their text is to be appended.
 *
 * trace_corpus DIR: writes small recordings for tests/fuzz/fuzz_reader.c, one for each element of
 * the format.  All blocks are uncompressed, so that mutations hit their contents.
 */
#undef NDEBUG /* assert() has side effects here */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "frame.h"
#include "gen.h"
#include "trace/stk.h"
#include "trace/bytes.h"

/* ---- recordings without compression ---------------------------------------------------------- */

static void unpack(struct bytes_buf *out, uint32_t codec, const uint8_t *p, size_t n, size_t raw)
{
	uint8_t *to = bytes_buf__room(out, raw + 1);

	assert(to);
	if (codec == STK_CODEC_NONE) {
		bytes_put(out, p, n);
		return;
	}
	assert(ZSTD_decompress(to, raw, p, n) == raw);
	out->len += raw;
}

static void copy_block(struct bytes_buf *out, struct stk_block_header h, const uint8_t *p)
{
	struct stk_events_header eh;
	size_t at = out->len;

	bytes_put(out, &h, sizeof(h));
	if (h.type == STK_BLOCK_EVENTS) {
		memcpy(&eh, p, sizeof(eh));
		bytes_put(out, &eh, sizeof(eh));
		unpack(out, eh.heads_codec, p + sizeof(eh), eh.heads_stored, eh.heads_raw);
		unpack(out, eh.body_codec, p + sizeof(eh) + eh.heads_stored, eh.body_stored,
		       eh.body_raw);
		eh.heads_stored = eh.heads_raw;
		eh.body_stored = eh.body_raw;
		eh.heads_codec = eh.body_codec = STK_CODEC_NONE;
		memcpy(out->p + at + sizeof(h), &eh, sizeof(eh));
		h.events_crc = crc32c(0, &eh, sizeof(eh));
	} else {
		unpack(out, h.codec, p, h.stored_len, h.raw_len);
	}
	if (h.type == STK_BLOCK_ROUND) /* the wall clock: keeps the files reproducible */
		memset(out->p + at + sizeof(h) + 24, 0, 8);
	h.codec = STK_CODEC_NONE;
	h.stored_len = h.raw_len = out->len - at - sizeof(h);
	h.payload_crc = crc32c(0, out->p + at + sizeof(h), h.stored_len);
	h.header_crc = crc32c(0, &h, offsetof(struct stk_block_header, header_crc));
	memcpy(out->p + at, &h, sizeof(h));
}

static void unpack_file(struct bytes_buf *out, const uint8_t *p, size_t len)
{
	for (size_t pos = STK_HEADER_SIZE; pos < len;) {
		struct stk_block_header h;

		memcpy(&h, p + pos, sizeof(h));
		copy_block(out, h, p + pos + sizeof(h));
		pos += sizeof(h) + h.stored_len;
	}
}

/* The uuid gets two bytes. */
static void put_header(struct bytes_buf *out, const uint8_t *header, uint8_t options,
		       uint8_t number)
{
	uint8_t *h;
	uint32_t crc;

	bytes_put(out, header, STK_HEADER_SIZE);
	h = out->p + out->len - STK_HEADER_SIZE;
	memset(h + 16, 0, 24);
	h[16] = options;
	h[17] = number;
	crc = crc32c(0, h, 60);
	memcpy(h + 60, &crc, 4);
}

static void write_file(const char *path, struct bytes_buf *out)
{
	FILE *file = fopen(path, "w");

	assert(file && !out->failed && fwrite(out->p, 1, out->len, file) == out->len &&
	       !fclose(file));
	bytes_buf__free(out);
}

/* options: the fuzz target reads them from the first byte of the uuid. */
static void save(const char *dir, const char *name, struct gen_file *f, uint8_t options, bool pack)
{
	struct bytes_buf out = { 0 };
	char path[512];

	gen_load(f);
	put_header(&out, f->p, options, 0);
	if (pack)
		bytes_put(&out, f->p + STK_HEADER_SIZE, f->len - STK_HEADER_SIZE);
	else
		unpack_file(&out, f->p, f->len);
	snprintf(path, sizeof(path), "%s/%s.stk", dir, name);
	write_file(path, &out);
	gen_close(f);
}

static void put_unpacked(struct bytes_buf *out, const char *path, uint8_t number)
{
	struct bytes_buf in = { 0 };
	FILE *file = fopen(path, "r");

	assert(file && bytes_buf__room(&in, 1 << 20));
	in.len = fread(in.p, 1, 1 << 20, file);
	fclose(file);
	put_header(out, in.p, 0, number);
	unpack_file(out, in.p, in.len);
	bytes_buf__free(&in);
}

static void save_unpacked(char *const *paths, int nr)
{
	struct bytes_buf out = { 0 };

	for (int i = 0; i < nr - 1; i++)
		put_unpacked(&out, paths[i], i);
	write_file(paths[nr - 1], &out);
}

/* The shortest text with columns of 16, 4, 4, 8, 16 bytes and of 4, 1, 8 (after a gap) and 2. */
#define FORMAT_NARROW                                                       \
	"ID: 1\nfield:a; offset:8; size:16;\nfield:b; offset:24; size:4;\n" \
	"field:c; offset:28; size:4;\nfield:d; offset:32; size:8;\nfield:e; offset:40; size:16;\n"
#define FORMAT_WIDE                                                        \
	"ID: 2\nfield:a; offset:8; size:4;\nfield:b; offset:12; size:1;\n" \
	"field:c; offset:32; size:8;\nfield:d; offset:40; size:2;\n"

/* ---- recordings ----------------------------------------------------------------------------- */

static struct stk_writer *begin(struct gen_file *f)
{
	struct stk_writer_opts opts = { .nr_cpus = 2 };
	struct stk_writer *w = gen_open(f, &opts);
	uint32_t task;

	stk_writer__meta(w, "clock", "mono");
	stk_writer__type(w, STK_KIND_TRACEPOINT, "s", "narrow", "", FORMAT_NARROW);
	stk_writer__type(w, STK_KIND_SYSCALL, "s", "wide", "a > 1", FORMAT_WIDE);
	stk_writer__type(w, STK_KIND_SAMPLE, "s", "timer", "", "");
	for (uint32_t i = 1; i <= 3; i++)
		stk_writer__task(w, i, i, "comm", 4, &task);
	return w;
}

static void add_stacks(struct stk_writer *w)
{
	uint64_t deep[200], frames[] = {
		FRAME_MARKER(FRAME_EXACT, 0),
		0xffffffff81001010,
		0xffffffff81002020,
		0xffffffff81003030,
		0x0000010000001234,
		0x0000020000005678,
		FRAME_MARKER(FRAME_END, STK_END_TRUNCATED),
	};
	uint32_t nr;

	for (uint32_t i = 0; i < 2; i++)
		stk_writer__file(w, &(struct stk_file){ .path = "f" }, &nr);
	for (uint32_t i = 0; i < 200; i++)
		deep[i] = 0xffffffff81000000 + 16 * (i % 17);
	stk_writer__stack(w, frames, 7, &nr);
	stk_writer__stack(w, frames + 2, 5, &nr);
	stk_writer__stack(w, frames, 0, &nr);
	stk_writer__stack(w, deep, 200, &nr);
	stk_writer__symbol(w, 0xffffffff81001000, 0x100, "first", "");
	stk_writer__symbol(w, 0xffffffff81002000, 0x100, "asm_exc_page_fault", "");
	stk_writer__symbol(w, 0xffffffff81003000, 0, "third", "mod");
	stk_writer__symbol(w, 0xffffffff81002000, 0x100, "asm_sysvec_x", "bpf");
}

/* n events; random: columns that do not repeat, tails of all lengths, truncated records. */
static void add_events(struct stk_writer *w, uint32_t n, bool random, uint64_t ts)
{
	uint64_t seed = 3, count = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t x = gen_random(&seed), rec[12];
		struct stk_writer_event e = {
			.ts = ts += x % 300,
			.cpu = i & 1,
			.event = random ? 1 : i % 3,
			.task = 1 + x % 3,
			.kstack = x % 5,
			.ustack = x % 7 ? 0 : 2,
			.flags = x & 1,
			.preempt_count = x & 3,
			.marks = x % 11 ? 0 : STK_MARK_NO_FIELDS,
			.record = rec,
		};

		for (uint32_t k = 0; k < 12; k++)
			rec[k] = random ? gen_random(&seed) : i % 2;
		rec[4] = count += 64;
		e.record_len = e.event == 0 ? 64 : e.event == 2 ? 8 : random ? 8 + x % 80 : 64;
		if (x % 13 == 0)
			e.ts -= 500;
		assert(!stk_writer__event(w, &e));
	}
}

static void finish(struct stk_writer *w)
{
	uint64_t counters[3][STK_NR_COUNTERS] = { { 3, 2, 1 }, { 1u << 30 } };

	assert(!stk_writer__accounting(w, counters, 3));
	assert(!stk_writer__finish(w, "done", 0));
	stk_writer__free(w);
}

static void save_imported(const char *dir)
{
	uint64_t frames[] = { 0xffffffff81001010, 0xffffffff81002020 };
	struct stk_writer *w;
	struct gen_file f;
	uint32_t nr;

	w = begin(&f);
	for (uint32_t i = 0; i < 4; i++)
		stk_writer__stack_imported(w, frames, 1 + i % 2, 7 * i, i, &nr);
	stk_writer__generation(w, 3);
	stk_writer__stack(w, frames, 2, &nr);
	add_events(w, 8, false, 1000);
	finish(w);
	save(dir, "imported", &f, 0, false);
}

static void save_rounds(const char *dir, const char *name, uint8_t options, bool pack)
{
	struct gen_file f;
	struct stk_writer *w = begin(&f);

	for (uint32_t i = 0; i < 5; i++) {
		add_events(w, 6, false, 100000 * (i == 3 ? 0 : i));
		assert(!stk_writer__end_round(w, 100000 * i, i));
	}
	finish(w);
	save(dir, name, &f, options, pack);
}

/* Files of all kinds, frames in them, some symbols, and all of it written again. */
static void save_files(const char *dir, const char *name, uint8_t options, bool pack)
{
	const struct stk_user_symbol symbols[] = { { "main", 0x100, 0x40 },
						   { "inner", 0x110, 8 },
						   { "start", 0x80, 0 },
						   { "", 0x200, 16 } };
	const uint8_t id[] = { 1, 2, 3, 4, 5 };
	const uint64_t user[] = {
		FRAME_MARKER(FRAME_EXACT, 0),
		FRAME_USER(1, 0x112),
		FRAME_USER(1, 0x130),
		FRAME_MARKER(FRAME_GUESS, 0),
		FRAME_USER(2, 0x90),
		FRAME_USER(3, 0x1234),
		FRAME_USER(4, 0),
		FRAME_USER(0, 0x99),
		FRAME_MARKER(FRAME_END, 6),
	};
	struct stk_file file = { .path = "/bin/a",
				 .host_path = "/box/bin/a",
				 .size = 100,
				 .id_kind = STK_ID_BUILD_ID,
				 .id = id,
				 .id_len = 5 };
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_writer_event e = { .event = 2 };
	uint32_t nr;

	stk_writer__file(w, &file, &nr);
	file.kind = STK_FILE_VDSO; /* with the same identity */
	stk_writer__file(w, &file, &nr);
	for (uint32_t i = 0; i < 3; i++)
		stk_writer__file(w, &(struct stk_file){ .kind = STK_FILE_JIT, .path = "[jit]" },
				 &nr);
	stk_writer__stack(w, user, 9, &e.ustack);
	assert(!stk_writer__event(w, &e));
	stk_writer__end_round(w, 1, 0);
	stk_writer__stack(w, user + 4, 4, &e.ustack);
	e.ts = 10;
	assert(!stk_writer__event(w, &e));
	stk_writer__end_round(w, 10, 0);
	for (uint32_t i = 0; i < 5; i++) {
		char path[] = "/lib/0";

		path[5] += i;
		file.number = 1 + i % 2;
		file.path = path;
		file.id_len = i;
		stk_writer__file(w, &file, &nr);
		stk_writer__user_symbols(w, 1 + i % 3, symbols, 4 - i % 2);
		stk_writer__end_round(w, 20 + i, 0);
	}
	stk_writer__user_symbols(w, 4, NULL, 0);
	finish(w);
	save(dir, name, &f, options, pack);
}

/* Later events first: more than the reader sorts by moving a few. */
static void save_reversed(const char *dir)
{
	struct gen_file f;
	struct stk_writer *w = begin(&f);

	for (uint64_t i = 0; i < 40; i++) {
		struct stk_writer_event e = { .ts = 1000 - 7 * i, .event = 2 };

		assert(!stk_writer__event(w, &e));
	}
	finish(w);
	save(dir, "reversed", &f, 0, false);
}

/* Generated code that is replaced twice, below another frame. */
static void save_replaced(const char *dir)
{
	const uint64_t frames[] = { FRAME_USER(1, 0x110), FRAME_USER(2, 0x110) };
	const struct stk_user_symbol symbol = { "code", 0x100, 0x20 };
	struct stk_file file = { .kind = STK_FILE_JIT, .path = "[jit]" };
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_writer_event e = { .event = 2 };
	uint32_t nr;

	for (uint32_t i = 1; i <= 4; i++) {
		stk_writer__file(w, &file, &nr);
		stk_writer__user_symbols(w, nr, &symbol, 1);
	}
	stk_writer__stack(w, frames, 2, &e.ustack);
	for (e.ts = 1; e.ts <= 30; e.ts++)
		assert(!stk_writer__event(w, &e));
	for (uint32_t i = 0; i < 4; i++) {
		struct stk_writer_replaced r = { 1 + i % 2, 3 + i / 2, 0x10f, 10 + 5 * i };

		assert(!stk_writer__replaced(w, &r));
	}
	finish(w);
	save(dir, "replaced", &f, 0, false);
}

static void append(struct bytes_buf *out, const char *dir, const char *name)
{
	char path[256];
	uint8_t data[4096];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.stk", dir, name);
	f = fopen(path, "re");
	assert(f);
	while ((n = fread(data, 1, sizeof(data), f)))
		bytes_put(out, data, n);
	fclose(f);
}

/* Two recordings in one file, which the fuzz target reads as several. */
static void save_two(const char *dir)
{
	struct bytes_buf first = { 0 }, out = { 0 };
	char path[256];

	append(&first, dir, "rounds");
	put_header(&out, first.p, 128, 0);
	bytes_put(&out, first.p + STK_HEADER_SIZE, first.len - STK_HEADER_SIZE);
	append(&out, dir, "files");
	assert(!out.failed);
	snprintf(path, sizeof(path), "%s/two.stk", dir);
	write_file(path, &out);
	bytes_buf__free(&first);
}

int main(int argc, char **argv)
{
	struct stk_writer *w;
	struct gen_file f;

	if (argc >= 4 && !strcmp(argv[1], "-u")) {
		save_unpacked(argv + 2, argc - 2);
		return 0;
	}
	if (argc != 2) {
		fprintf(stderr, "usage: trace_corpus DIR, or trace_corpus -u FILE... NEW\n");
		return 2;
	}
	w = begin(&f);
	add_stacks(w);
	finish(w);
	save(argv[1], "stacks", &f, 0, false);

	w = begin(&f);
	add_stacks(w);
	add_events(w, 40, false, 1000);
	finish(w);
	save(argv[1], "events", &f, 0, false);

	save_reversed(argv[1]);
	save_replaced(argv[1]);

	w = begin(&f);
	add_events(w, 150, true, 1000);
	finish(w);
	save(argv[1], "columns", &f, 0, false);

	w = begin(&f);
	add_events(w, 150, true, 1000);
	finish(w);
	save(argv[1], "packed", &f, 0, true);

	save_imported(argv[1]);
	save_files(argv[1], "files", 0, false);
	save_files(argv[1], "files_asked", 32, false);
	save_files(argv[1], "files_sought", 4 | 32, true);
	save_rounds(argv[1], "rounds", 0, false);
	save_rounds(argv[1], "heads", 1, false);
	save_rounds(argv[1], "info", 2, false);
	save_rounds(argv[1], "file", 4, false);
	save_rounds(argv[1], "follow", 8, false);
	save_rounds(argv[1], "pipe", 16, true);
	save_rounds(argv[1], "compare", 64 + 3, false);
	save_two(argv[1]);
	return 0;
}
