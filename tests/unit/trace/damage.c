// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Files that are truncated, damaged or inconsistent. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "frame.h"
#include "gen.h"
#include "trace/stk.h"
#include "trace/bytes.h"
#include "written.h"

#define NR_ROUNDS 4
#define ROUND_EVENTS 30

/* A new file, or the first one by another name. */
static void add_named_file(struct stk_writer *w, uint32_t i)
{
	struct stk_file file = { .path = "/usr/bin/some",
				 .host_path = "/usr/bin/some",
				 .inode = i,
				 .id_kind = STK_ID_BUILD_ID,
				 .id = (const uint8_t *)"0123456789",
				 .id_len = 10 };
	uint32_t number;

	assert_int_equal(stk_writer__file(w, &file, &number), 0);
	assert_int_equal(number, i + 1);
	file.number = 1;
	file.path = "/bin/other";
	assert_int_equal(stk_writer__file(w, &file, &number), 0);
}

/* Some rounds of two event types on two CPUs, with all kinds of tables. */
static void make_file(struct gen_file *f)
{
	struct stk_writer_opts opts = { .nr_cpus = 2 };
	const struct stk_user_symbol symbols[] = { { "main", 0x100, 0x40 }, { "work", 0x200, 0 } };
	struct stk_writer *w = gen_open(f, &opts);
	uint64_t counters[2][STK_NR_COUNTERS] = { { 1, 2 }, { 3 } }, seed = 11, ts = 1000;

	assert_int_equal(stk_writer__meta(w, "clock", "mono"), 0);
	stk_writer__type(w, STK_KIND_TRACEPOINT, "sched", "sched_switch", "", GEN_FORMAT_SWITCH);
	stk_writer__type(w, STK_KIND_TRACEPOINT, "x", "all", "", GEN_FORMAT_ALL);
	for (int round = 0; round < NR_ROUNDS; round++) {
		const uint64_t user[] = { FRAME_USER(round + 1, 0x210),
					  FRAME_MARKER(FRAME_GUESS, 0), FRAME_USER(1, 0x120) };
		uint32_t ustack = 0;

		add_named_file(w, round);
		stk_writer__stack(w, user, 3, &ustack);
		for (int i = 0; i < ROUND_EVENTS; i++) {
			uint64_t rec[8] = { 0 }, frames[3];
			struct stk_writer_event e = { .ts = ts += 10,
						      .event = i % 2,
						      .cpu = i / 2 % 2,
						      .ustack = ustack,
						      .record = rec,
						      .record_len = 64 };

			for (int k = 0; k < 8; k++)
				rec[k] = gen_random(&seed) % (k < 4 ? 2 : UINT64_MAX);
			for (uint64_t k = 0; k < 3; k++)
				frames[k] = 0xffffffff81000000 + 4096 * k + (i + round) % 3;
			stk_writer__task(w, i % 5, round, "task", 4, &e.task);
			stk_writer__stack(w, frames, 3, &e.kstack);
			assert_int_equal(stk_writer__event(w, &e), 0);
		}
		stk_writer__symbol(w, 0xffffffff81000000 + 4096 * round, 16, "symbol", "");
		stk_writer__user_symbols(w, round + 1, symbols, 2);
		assert_int_equal(stk_writer__end_round(w, ts, 5), 0);
		assert_int_equal(stk_writer__accounting(w, counters, 2), 0);
	}
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(f);
}

static size_t block_len(const uint8_t *p, size_t pos)
{
	return sizeof(struct stk_block_header) + header_at(p, pos).stored_len;
}

static uint32_t events_of(const uint8_t *p, size_t pos)
{
	struct stk_events_header eh;

	if (header_at(p, pos).type != STK_BLOCK_EVENTS)
		return 0;
	memcpy(&eh, p + pos + sizeof(struct stk_block_header), sizeof(eh));
	return eh.count;
}

/* Reads everything; returns the number of events, and *ret_end says what ended them. */
static uint32_t read_all(const uint8_t *p, size_t len, int *ret_end, struct stk_totals *ret_totals)
{
	const struct stk_event *e;
	struct stk_frame frames[16];
	struct stk_reader *r;
	uint32_t n = 0;
	size_t rec_len;

	assert_int_equal(stk_reader__open_mem(p, len, NULL, &r), 0);
	while ((*ret_end = stk_reader__next(r, &e)) == 1) {
		stk_event__record(e, &rec_len);
		if (stk_event__kstack(e))
			assert_true(stk_reader__frames(r, stk_event__kstack(e), frames, 16) >= 0);
		if (stk_event__ustack(e))
			assert_true(stk_reader__frames(r, stk_event__ustack(e), frames, 16) >= 0);
		assert_non_null(stk_event__comm(e));
		n++;
	}
	stk_reader__totals(r, ret_totals);
	assert_int_equal(ret_totals->events, n);
	stk_reader__free(r);
	return n;
}

static void test_truncated(void **state)
{
	struct stk_totals totals;
	struct stk_reader *r;
	struct gen_file f;
	size_t block = STK_HEADER_SIZE;
	uint32_t want = 0;
	int end;

	make_file(&f);
	for (size_t len = 0; len <= f.len; len++) {
		uint8_t *cut = malloc(len + 1);

		memcpy(cut, f.p, len); /* exact: detects reads beyond it */
		if (len < STK_HEADER_SIZE) {
			assert_int_equal(stk_reader__open_mem(cut, len, NULL, &r), -EINVAL);
			free(cut);
			continue;
		}
		if (block < f.len && len == block + block_len(f.p, block)) {
			want += events_of(f.p, block);
			block = len;
		}
		assert_int_equal(read_all(cut, len, &end, &totals), want);
		assert_int_equal(end, 0);
		assert_int_equal(totals.bad_blocks, 0);
		assert_int_equal(totals.clean_end, len == f.len);
		free(cut);
	}
	assert_int_equal(want, NR_ROUNDS * ROUND_EVENTS);
	gen_close(&f);
}

/* A file system may have extended the file without writing its contents. */
static void test_zero_tail(void **state)
{
	struct stk_totals totals;
	struct gen_file f;
	size_t last = STK_HEADER_SIZE;
	uint8_t *p;
	int end;

	make_file(&f);
	while (last + block_len(f.p, last) < f.len)
		last += block_len(f.p, last);
	p = calloc(1, f.len + 4096);
	memcpy(p, f.p, last);
	assert_int_equal(read_all(p, f.len + 4096, &end, &totals), NR_ROUNDS * ROUND_EVENTS);
	assert_int_equal(end, 0);
	assert_false(totals.clean_end);
	free(p);
	gen_close(&f);
}

/* A flipped bit in every block: in the payload only this block is lost, in the header the rest. */
static void test_flipped(void **state)
{
	struct stk_totals totals;
	struct gen_file f;
	uint32_t before = 0, seen = 0;
	int end;

	make_file(&f);
	for (size_t pos = STK_HEADER_SIZE; pos < f.len; pos += block_len(f.p, pos)) {
		struct stk_block_header h = header_at(f.p, pos);
		size_t payload = pos + sizeof(h) + h.stored_len / 2;

		f.p[payload] ^= 4;
		seen |= 1u << h.type;
		if (h.type == STK_BLOCK_TYPES)
			assert_int_equal(read_all(f.p, f.len, &end, &totals), 0);
		else
			assert_int_equal(read_all(f.p, f.len, &end, &totals),
					 NR_ROUNDS * ROUND_EVENTS - events_of(f.p, pos));
		assert_int_equal(end, 0);
		assert_true(totals.bad_blocks >= 1);
		assert_int_equal(totals.clean_end, h.type != STK_BLOCK_END);
		f.p[payload] ^= 4;

		f.p[pos + 9] ^= 1;
		assert_int_equal(read_all(f.p, f.len, &end, &totals), before);
		assert_int_equal(end, -EBADMSG);
		assert_false(totals.clean_end);
		f.p[pos + 9] ^= 1;
		before += events_of(f.p, pos);
	}
	for (int type = STK_BLOCK_META; type <= STK_BLOCK_USER_SYMBOLS; type++)
		assert_true(seen & 1u << type || type == STK_BLOCK_INDEX);
	assert_int_equal(read_all(f.p, f.len, &end, &totals), NR_ROUNDS * ROUND_EVENTS);
	assert_int_equal(totals.bad_blocks, 0);
	gen_close(&f);
}

static void test_header(void **state)
{
	struct stk_reader *r;
	struct gen_file f;
	uint32_t crc;

	make_file(&f);
	for (size_t i = 0; i < STK_HEADER_SIZE; i++) {
		int err;

		f.p[i] ^= 2;
		err = stk_reader__open_mem(f.p, f.len, NULL, &r);
		assert_int_equal(err, i == 8 || i == 9 ? -ENOTSUP : -EINVAL);
		f.p[i] ^= 2;
	}
	/* a newer minor version and a longer header are accepted */
	f.p[10]++;
	crc = crc32c(0, f.p, 60);
	memcpy(f.p + 60, &crc, 4);
	assert_int_equal(stk_reader__open_mem(f.p, f.len, NULL, &r), 0);
	stk_reader__free(r);
	assert_int_equal(stk_reader__open("/nonexistent", NULL, &r), -ENOENT);
	assert_int_equal(stk_reader__open("/", NULL, &r), -EISDIR);
	assert_int_equal(stk_reader__open("/dev/null", NULL, &r), -EINVAL);
	gen_close(&f);
}

static void put_block(struct bytes_buf *out, uint16_t type, const void *payload, size_t len)
{
	struct stk_block_header h = { .magic = STK_BLOCK_MAGIC,
				      .type = type,
				      .stored_len = len,
				      .raw_len = len,
				      .payload_crc = crc32c(0, payload, len) };

	h.header_crc = crc32c(0, &h, offsetof(struct stk_block_header, header_crc));
	bytes_put(out, &h, sizeof(h));
	bytes_put(out, payload, len);
}

/* Blocks of unknown type are skipped. */
static void test_unknown_block(void **state)
{
	static const uint8_t payload[1000];
	struct bytes_buf out = { 0 };
	struct stk_totals totals;
	struct gen_file f;
	int end;

	make_file(&f);
	bytes_put(&out, f.p, STK_HEADER_SIZE);
	put_block(&out, 77, "future", 6);
	for (size_t pos = STK_HEADER_SIZE; pos < f.len; pos += block_len(f.p, pos)) {
		bytes_put(&out, f.p + pos, block_len(f.p, pos));
		if (header_at(f.p, pos).type != STK_BLOCK_END)
			put_block(&out, STK_BLOCK_INDEX, payload, sizeof(payload));
	}
	assert_int_equal(read_all(out.p, out.len, &end, &totals), NR_ROUNDS * ROUND_EVENTS);
	assert_int_equal(end, 0);
	assert_int_equal(totals.bad_blocks, 0);
	assert_true(totals.clean_end);
	bytes_buf__free(&out);
	gen_close(&f);
}

/* Contents with a valid checksum that violate the format. */
static void test_invalid_contents(void **state)
{
	static const struct {
		const char *what;
		uint16_t type;
		uint8_t len, bytes[24];
	} invalid[] = {
		{ "half a pair", STK_BLOCK_META, 3, { 2, 'a', 'b' } },
		{ "string beyond the end", STK_BLOCK_META, 4, { 1, 'a', 9, 'b' } },
		{ "endless varint",
		  STK_BLOCK_META,
		  11,
		  { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1 } },
		{ "part without bytes", STK_BLOCK_META_PART, 4, { 1, 'a', 9, 0 } },
		{ "part beyond the value", STK_BLOCK_META_PART, 6, { 1, 'a', 1, 0, 'b', 'c' } },
		{ "offset beyond the value", STK_BLOCK_META_PART, 5, { 1, 'a', 1, 2, 'b' } },
		{ "part without a first one", STK_BLOCK_META_PART, 5, { 1, 'a', 2, 1, 'b' } },
		{ "value too long",
		  STK_BLOCK_META_PART,
		  9,
		  { 1, 'a', 129, 128, 128, 128, 1, 0, 'b' } },
		{ "type out of order", STK_BLOCK_TYPES, 8, { 5, 0, 0, 0, 0, 0, 0, 0 } },
		{ "column of size 0", STK_BLOCK_TYPES, 10, { 0, 0, 0, 0, 0, 0, 0, 1, 0, 0 } },
		{ "column too far",
		  STK_BLOCK_TYPES,
		  12,
		  { 0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 3, 1 } },
		{ "task 0", STK_BLOCK_TASKS, 4, { 0, 1, 1, 0 } },
		{ "task far away", STK_BLOCK_TASKS, 8, { 255, 255, 255, 255, 15, 1, 1, 0 } },
		{ "node 0", STK_BLOCK_NODES, 4, { 0, 1, 2, 0 } },
		{ "more nodes than bytes", STK_BLOCK_NODES, 4, { 1, 200, 2, 0 } },
		{ "parent before the first", STK_BLOCK_NODES, 4, { 1, 1, 2, 2 } },
		{ "node far away", STK_BLOCK_NODES, 8, { 255, 255, 255, 255, 15, 1, 2, 0 } },
		{ "bytes left over", STK_BLOCK_NODES, 3, { 1, 0, 0 } },
		{ "stack 0", STK_BLOCK_STACKS, 5, { 0, 1, 0, 0, 0 } },
		{ "stack far away", STK_BLOCK_STACKS, 9, { 255, 255, 255, 255, 15, 1, 0, 0, 0 } },
		{ "half a round", STK_BLOCK_ROUND, 8, { 1 } },
		{ "no counters", STK_BLOCK_ACCOUNTING, 2, { 0, 0 } },
		{ "counters cut", STK_BLOCK_ACCOUNTING, 4, { 3, 0, 1, 2 } },
		{ "file 0", STK_BLOCK_FILES, 15, { 0 } },
		{ "file of no kind", STK_BLOCK_FILES, 15, { 1, 3 } },
		{ "id of no kind", STK_BLOCK_FILES, 15, { 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3 } },
		{ "half a file", STK_BLOCK_FILES, 14, { 1 } },
		{ "file far away", STK_BLOCK_FILES, 18, { 255, 255, 255, 3 } },
		{ "file too far", STK_BLOCK_FILES, 18, { 128, 128, 128, 4 } },
		{ "path beyond the end", STK_BLOCK_FILES, 15, { 1, 0, 0, 12 } },
		{ "more symbols than bytes", STK_BLOCK_USER_SYMBOLS, 7, { 1, 2, 0, 0, 0, 0, 0 } },
		{ "symbol beyond the end", STK_BLOCK_USER_SYMBOLS, 6, { 1, 1, 0, 0, 2, 'x' } },
		{ "half a symbol", STK_BLOCK_USER_SYMBOLS, 1, { 1 } },
		{ "no header", STK_BLOCK_EVENTS, 24, { 1 } },
	};
	struct stk_totals totals;
	struct gen_file f;
	int end;

	make_file(&f);
	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
		struct bytes_buf out = { 0 };

		bytes_put(&out, f.p, STK_HEADER_SIZE);
		put_block(&out, invalid[i].type, invalid[i].bytes, invalid[i].len);
		bytes_put(&out, f.p + STK_HEADER_SIZE, f.len - STK_HEADER_SIZE);
		read_all(out.p, out.len, &end, &totals);
		if (totals.bad_blocks != 1)
			fail_msg("%s: %u bad blocks", invalid[i].what,
				 (unsigned int)totals.bad_blocks);
		assert_int_equal(totals.events, NR_ROUNDS * ROUND_EVENTS);
		bytes_buf__free(&out);
	}
	gen_close(&f);
}

/* Numbers may be missing, as blocks may have been lost, but only up to a limit. */
static void test_gaps(void **state)
{
	struct bytes_buf out = { 0 }, task = { 0 };
	struct stk_totals totals;
	struct gen_file f;
	int end;

	make_file(&f);
	bytes_put(&out, f.p, STK_HEADER_SIZE);
	for (uint64_t i = 1; i <= 4; i++) {
		task.len = 0;
		bytes_put_varint(&task, i * 400000);
		bytes_put(&task, "\1\1\0", 3);
		put_block(&out, STK_BLOCK_TASKS, task.p, task.len);
	}
	read_all(out.p, out.len, &end, &totals);
	assert_int_equal(totals.bad_blocks, 2);
	bytes_buf__free(&task);
	bytes_buf__free(&out);
	gen_close(&f);
}

/* A block of events whose header does not match its contents is rejected as a whole. */
static void test_invalid_events(void **state)
{
	static const struct {
		size_t off, size;
		int64_t add;
	} invalid[] = {
		{ offsetof(struct stk_events_header, count), 4, 1 },
		{ offsetof(struct stk_events_header, count), 4, -1 },
		{ offsetof(struct stk_events_header, count), 4, 1 << 21 },
		{ offsetof(struct stk_events_header, first_ts), 8, 1 },
		{ offsetof(struct stk_events_header, min_ts), 8, -1 },
		{ offsetof(struct stk_events_header, min_ts), 8, 1 },
		{ offsetof(struct stk_events_header, max_ts), 8, 1 },
		{ offsetof(struct stk_events_header, max_ts), 8, -1 },
		{ offsetof(struct stk_events_header, heads_stored), 4, 1 },
		{ offsetof(struct stk_events_header, heads_raw), 4, 1 },
		{ offsetof(struct stk_events_header, heads_raw), 4, 1u << 30 },
		{ offsetof(struct stk_events_header, heads_codec), 4, 2 },
		{ offsetof(struct stk_events_header, body_stored), 4, -1 },
		{ offsetof(struct stk_events_header, body_raw), 4, -1 },
		{ offsetof(struct stk_events_header, body_codec), 4, 2 },
	};
	struct stk_block_header h = { 0 }, saved;
	struct stk_events_header eh;
	struct stk_totals totals;
	struct gen_file f;
	size_t pos = STK_HEADER_SIZE;
	int end;

	make_file(&f);
	while (!events_of(f.p, pos))
		pos += block_len(f.p, pos);
	h = saved = header_at(f.p, pos);
	memcpy(&eh, f.p + pos + sizeof(h), sizeof(eh));
	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
		uint8_t *field = f.p + pos + sizeof(h) + invalid[i].off;
		uint64_t v = 0;

		memcpy(&v, field, invalid[i].size);
		v += invalid[i].add;
		memcpy(field, &v, invalid[i].size);
		h.payload_crc = crc32c(0, f.p + pos + sizeof(h), h.stored_len);
		h.header_crc = crc32c(0, &h, offsetof(typeof(h), header_crc));
		memcpy(f.p + pos, &h, sizeof(h));
		assert_int_equal(read_all(f.p, f.len, &end, &totals),
				 NR_ROUNDS * ROUND_EVENTS - eh.count);
		assert_int_equal(end, 0);
		assert_int_equal(totals.bad_blocks, 1);
		memcpy(f.p + pos + sizeof(h), &eh, sizeof(eh));
	}
	memcpy(f.p + pos, &saved, sizeof(saved));
	gen_close(&f);
}

/*
 * Changes every byte of every block and corrects the checksums: reading must end without a crash.
 */
static void test_mutated(void **state)
{
	static const uint8_t values[] = { 0, 0x7f, 0xff };
	struct stk_totals totals;
	struct gen_file f;
	uint64_t bad = 0;
	int end;

	make_file(&f);
	for (size_t pos = STK_HEADER_SIZE; pos < f.len; pos += block_len(f.p, pos)) {
		struct stk_block_header h = header_at(f.p, pos), saved = h;
		uint8_t *payload = f.p + pos + sizeof(h);

		for (size_t i = 0; i < h.stored_len; i++) {
			uint8_t old = payload[i];

			for (size_t v = 0; v < sizeof(values); v++) {
				payload[i] = values[v];
				h.payload_crc = crc32c(0, payload, h.stored_len);
				h.header_crc = crc32c(0, &h, offsetof(typeof(h), header_crc));
				memcpy(f.p + pos, &h, sizeof(h));
				read_all(f.p, f.len, &end, &totals);
				assert_int_equal(end, 0);
				bad += totals.bad_blocks;
			}
			payload[i] = old;
		}
		memcpy(f.p + pos, &saved, sizeof(saved));
	}
	assert_true(bad > 500);
	assert_int_equal(read_all(f.p, f.len, &end, &totals), NR_ROUNDS * ROUND_EVENTS);
	gen_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truncated),     cmocka_unit_test(test_zero_tail),
		cmocka_unit_test(test_flipped),	      cmocka_unit_test(test_header),
		cmocka_unit_test(test_unknown_block), cmocka_unit_test(test_invalid_contents),
		cmocka_unit_test(test_gaps),	      cmocka_unit_test(test_invalid_events),
		cmocka_unit_test(test_mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
