// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Selections on recordings whose block headers are damaged or lie, and what a selection must not
 * change.  tests/unit/trace/counted.c compares selections on whole recordings.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cleanup.h"
#include "gen.h"
#include "stackonce.h"
#include "trace/bytes.h"
#include "trace/stk.h"

#define NR_BLOCKS 10u /* one a round; block n has the times from 1000 * n */
#define NR_EVENTS 8u /* of a block */

/* bare: the block in which an event of type a has no fields; NR_BLOCKS: none. */
static void write_bare(struct gen_file *f, unsigned int bare)
{
	struct stk_writer_opts opts = { .nr_cpus = 2 };
	struct stk_writer *w = gen_open(f, &opts);
	uint64_t rec[2] = { 0 };

	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "a", "", ""), 0);
	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "b", "", ""), 1);
	for (uint64_t n = 0; n < NR_BLOCKS; n++) {
		struct stk_writer_loss loss = {
			.first_ts = 1000 * n, .last_ts = 1000 * n + 1, .cpu = 1, .count = 1 + n
		};

		assert_int_equal(stk_writer__loss(w, &loss), 0);
		for (uint64_t i = 0; i < NR_EVENTS; i++) {
			struct stk_writer_event e = { .ts = 1000 * n + 10 * i,
						      .cpu = n % 2,
						      .event = i % 2,
						      .record = rec,
						      .record_len = 16 };

			if (n == bare && i == 2) {
				e.marks = STK_MARK_NO_FIELDS;
				e.record_len = 8;
			}
			assert_int_equal(stk_writer__event(w, &e), 0);
		}
		assert_int_equal(stk_writer__end_round(w, 1000 * n + 999, n + 1), 0);
	}
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(f);
}

static void write_blocks(struct gen_file *f)
{
	write_bare(f, NR_BLOCKS);
}

/* The nth block of events. */
static uint8_t *events_block(struct gen_file *f, unsigned int n)
{
	struct stk_block_header h;

	for (size_t at = STK_HEADER_SIZE; at < f->len; at += sizeof(h) + h.stored_len) {
		memcpy(&h, f->p + at, sizeof(h));
		if (h.type == STK_BLOCK_EVENTS && !n--)
			return f->p + at;
	}
	fail();
	return NULL;
}

enum seal { DAMAGED, OLD, LYING }; /* checksums: as before, those of 1.3, all right */

/* Changes the latest time that the header of the block's events states. */
static void set_max(struct gen_file *f, unsigned int n, uint64_t max_ts, enum seal seal)
{
	uint8_t *block = events_block(f, n), *payload = block + sizeof(struct stk_block_header);
	struct stk_events_header eh;
	struct stk_block_header h;

	memcpy(&h, block, sizeof(h));
	memcpy(&eh, payload, sizeof(eh));
	assert_int_equal(h.events_crc, crc32c(0, &eh, sizeof(eh)));
	eh.max_ts = max_ts;
	memcpy(payload, &eh, sizeof(eh));
	if (seal == LYING) {
		h.events_crc = crc32c(0, &eh, sizeof(eh));
		h.payload_crc = crc32c(0, payload, h.stored_len);
	}
	if (seal == OLD)
		h.events_crc = 0;
	h.header_crc = crc32c(0, &h, offsetof(struct stk_block_header, header_crc));
	memcpy(block, &h, sizeof(h));
}

static bool type_b(void *ctx, const struct stk_event *e)
{
	return stk_event_type__index(stk_event__type(e)) == 1;
}

/* Reads the events within these times; returns their number. */
static unsigned int read_times(struct gen_file *f, uint64_t from, uint64_t to, bool b_only,
			       struct stk_totals *ret_totals)
{
	struct stk_select select = { .size = sizeof(select), .from = from, .to = to };
	const struct stk_event *e;
	struct stk_reader *r;
	unsigned int nr = 0;
	uint64_t last = 0;
	int got;

	if (b_only)
		select.event = type_b;
	assert_int_equal(stk_reader__open_mem(f->p, f->len, NULL, &r), 0);
	assert_int_equal(stk_reader__select(r, &select), 0);
	while ((got = stk_reader__next(r, &e)) == 1) {
		assert_true(stk_event__ts(e) >= from && stk_event__ts(e) <= to);
		assert_true(stk_event__ts(e) >= last);
		assert_true(!b_only || type_b(NULL, e));
		last = stk_event__ts(e);
		nr++;
	}
	assert_int_equal(got, 0);
	stk_reader__totals(r, ret_totals);
	stk_reader__free(r);
	return nr;
}

static void test_selected(void **state)
{
	struct stk_totals t;
	struct gen_file f;

	write_blocks(&f);
	assert_int_equal(read_times(&f, 0, UINT64_MAX, false, &t), NR_BLOCKS * NR_EVENTS);
	assert_int_equal(read_times(&f, 4000, 5020, false, &t), NR_EVENTS + 3);
	assert_int_equal(t.events, NR_BLOCKS * NR_EVENTS);
	assert_int_equal(t.last_ts, 1000 * (NR_BLOCKS - 1) + 10 * (NR_EVENTS - 1));
	assert_int_equal(read_times(&f, 4000, 5020, true, &t), NR_EVENTS / 2 + 1);
	assert_int_equal(t.events, NR_BLOCKS * NR_EVENTS);
	/* the first selected event of one block is after the first one of another */
	assert_int_equal(read_times(&f, 30, 2000, true, &t), NR_EVENTS / 2 - 1 + NR_EVENTS / 2);
	assert_int_equal(read_times(&f, 100, 900, false, &t), 0);
	gen_close(&f);
}

static void test_refused(void **state)
{
	struct stk_select select = { .size = sizeof(select), .from = 2, .to = 1 };
	const struct stk_event *e;
	struct stk_reader *r;
	struct gen_file f;

	write_blocks(&f);
	assert_int_equal(stk_reader__open_mem(f.p, f.len, NULL, &r), 0);
	assert_int_equal(stk_reader__select(r, &select), -EINVAL);
	assert_int_equal(stk_reader__next(r, &e), 1);
	select.to = 2;
	assert_int_equal(stk_reader__select(r, &select), -EINVAL);
	stk_reader__free(r);
	gen_close(&f);
}

/* What is skipped by a sound header is not read, and damage in it stays unnoticed. */
static void test_unread(void **state)
{
	struct stk_totals t;
	struct gen_file f;

	write_blocks(&f);
	events_block(&f, 7)[sizeof(struct stk_block_header) + sizeof(struct stk_events_header)] ^=
		1;
	assert_int_equal(read_times(&f, 0, UINT64_MAX, false, &t), (NR_BLOCKS - 1) * NR_EVENTS);
	assert_int_equal(t.bad_blocks, 1);
	assert_int_equal(read_times(&f, 0, 999, false, &t), NR_EVENTS);
	assert_int_equal(t.bad_blocks, 0);
	gen_close(&f);
}

/* A header that is damaged never hides that events of the selected time are unreadable. */
static void test_damaged(void **state)
{
	static const enum seal seals[] = { DAMAGED, OLD };
	struct stk_totals t;
	struct gen_file f;

	for (size_t i = 0; i < ARRAY_SIZE(seals); i++) {
		write_blocks(&f);
		set_max(&f, 5, 5010, seals[i]);
		assert_int_equal(read_times(&f, 5020, 6999, false, &t), NR_EVENTS);
		assert_int_equal(t.bad_blocks, 1);
		gen_close(&f);
	}
}

/* A header that lies makes its block unreadable, so no selection returns its events. */
static void test_lying(void **state)
{
	static const uint64_t lies[] = { 5000, 5010, 9999, UINT64_MAX };
	struct stk_totals t;
	struct gen_file f;

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		write_blocks(&f);
		set_max(&f, 5, lies[i], LYING);
		assert_int_equal(read_times(&f, 0, UINT64_MAX, false, &t),
				 (NR_BLOCKS - 1) * NR_EVENTS);
		assert_int_equal(read_times(&f, 5000, 5999, false, &t), 0);
		assert_int_equal(read_times(&f, 4000, 9999, false, &t), 5 * NR_EVENTS);
		gen_close(&f);
	}
}

/* Recordings before 1.4 have no checksum of the events' header. */
static void test_old(void **state)
{
	struct stk_totals t;
	struct gen_file f;

	write_blocks(&f);
	for (unsigned int n = 0; n < NR_BLOCKS; n++)
		set_max(&f, n, 1000 * n + 10 * (NR_EVENTS - 1), OLD);
	assert_int_equal(read_times(&f, 4000, 5020, false, &t), NR_EVENTS + 3);
	assert_int_equal(t.events, NR_BLOCKS * NR_EVENTS);
	assert_int_equal(t.bad_blocks, 0);
	gen_close(&f);
}

/* Losses are independent of the selection. */
static void test_losses(void **state)
{
	struct stk_select select = { .size = sizeof(select), .from = 3000, .to = 3999 };
	struct stk_span span = { .cpu = STK_ANY_CPU, .tid = STK_ANY_TASK };
	const struct stk_event *e;
	struct stk_loss loss;
	struct stk_reader *r;
	unsigned int nr = 0;
	struct gen_file f;

	write_blocks(&f);
	assert_int_equal(stk_reader__open_mem(f.p, f.len, NULL, &r), 0);
	assert_int_equal(stk_reader__select(r, &select), 0);
	while (stk_reader__next(r, &e) == 1)
		;
	for (; stk_reader__next_loss(r, UINT64_MAX, &loss); nr++)
		assert_int_equal(loss.count, 1 + nr);
	assert_int_equal(nr, NR_BLOCKS);
	span.from = span.to = 8001;
	assert_true(stk_reader__may_miss(r, &span));
	span.from = span.to = 8002;
	assert_false(stk_reader__may_miss(r, &span));
	stk_reader__free(r);
	gen_close(&f);
}

/* The first selected event of the block that begins first is after those of the other block. */
static void test_order(void **state)
{
	static const struct {
		uint64_t ts;
		uint32_t cpu, type;
	} events[] = { { 10, 0, 0 }, { 100, 0, 1 }, { 20, 1, 1 }, { 30, 1, 1 } };
	struct stk_writer_opts opts = { .nr_cpus = 2 };
	struct stk_totals t;
	struct gen_file f;
	struct stk_writer *w = gen_open(&f, &opts);
	uint64_t rec[2] = { 0 };

	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "a", "", ""), 0);
	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "b", "", ""), 1);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		struct stk_writer_event e = { .ts = events[i].ts,
					      .cpu = events[i].cpu,
					      .event = events[i].type,
					      .record = rec,
					      .record_len = 16 };

		assert_int_equal(stk_writer__event(w, &e), 0);
	}
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(&f);
	assert_int_equal(read_times(&f, 0, UINT64_MAX, true, &t), 3);
	assert_int_equal(t.events, ARRAY_SIZE(events));
	gen_close(&f);
}

static bool no_event(void *ctx, const struct stk_event *e)
{
	return false;
}

/* Events without fields may be missing even if they are not selected. */
static void test_bare(void **state)
{
	struct stk_select select = { .size = sizeof(select), .to = UINT64_MAX };
	struct stk_span span = { .cpu = STK_ANY_CPU, .tid = STK_ANY_TASK, .fields = true };
	const struct stk_event *e;
	struct stk_reader *r;
	struct gen_file f;
	uint64_t count;

	for (unsigned int i = 0; i < 4; i++) {
		bool counted = i & 1;

		select.event = i & 2 ? no_event : type_b;
		write_bare(&f, 5);
		assert_int_equal(stk_reader__open_mem(f.p, f.len, NULL, &r), 0);
		assert_int_equal(stk_reader__select(r, &select), 0);
		while ((counted ? stk_reader__next_counted(r, &e, &count) :
				  stk_reader__next(r, &e)) == 1)
			assert_int_not_equal(stk_event__marks(e), STK_MARK_NO_FIELDS);
		span.from = 4005;
		span.to = 4999;
		assert_false(stk_reader__may_miss(r, &span));
		span.from = 5010;
		span.to = 5030;
		assert_true(stk_reader__may_miss(r, &span));
		stk_reader__free(r);
		gen_close(&f);
	}
}

/* Blocks and rows of the selected events; each event of the file has its own in all readings. */
static void check_places(struct gen_file *f, const struct stk_select *select, bool *seen)
{
	struct stk_event_type const *t;
	const struct stk_event *e;
	struct stk_reader *r;
	uint64_t block;
	uint32_t row;

	assert_int_equal(stk_reader__open_mem(f->p, f->len, NULL, &r), 0);
	assert_int_equal(stk_reader__select(r, select), 0);
	while (stk_reader__next(r, &e) == 1) {
		t = stk_event__type(e);
		block = stk_event__block(e);
		row = stk_event__row(e);
		assert_int_equal(block, stk_event__ts(e) / 1000);
		/* the four of type a, those of type b, and those without fields */
		if (stk_event__marks(e) & STK_MARK_NO_FIELDS)
			assert_int_equal(row, NR_EVENTS - 1);
		else
			assert_in_range(row, stk_event_type__index(t) * 3, NR_EVENTS - 1);
		assert_in_range(row, 0, NR_EVENTS - 1);
		assert_false(seen[block * NR_EVENTS + row]);
		seen[block * NR_EVENTS + row] = true;
	}
	stk_reader__free(r);
}

static void test_places(void **state)
{
	struct stk_select all = { .size = sizeof(all), .to = UINT64_MAX };
	struct stk_select late = { .size = sizeof(late), .from = 3020, .to = UINT64_MAX };
	struct stk_select early = { .size = sizeof(early), .to = 3019 };
	bool once[NR_BLOCKS * NR_EVENTS] = { false }, twice[NR_BLOCKS * NR_EVENTS] = { false };
	struct gen_file f;

	write_bare(&f, 4);
	check_places(&f, &all, once);
	assert_memory_equal(memchr(once, false, sizeof(once)) ? "gap" : "all", "all", 3);
	/* the rest of a selection has the rest of the places, in whatever order they are read */
	check_places(&f, &late, twice);
	early.event = type_b;
	check_places(&f, &early, twice);
	for (uint64_t i = 0; i < sizeof(twice); i++)
		assert_true(twice[i] || i / NR_EVENTS <= 3);
	gen_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_selected), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_unread),	 cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_lying),	 cmocka_unit_test(test_old),
		cmocka_unit_test(test_losses),	 cmocka_unit_test(test_order),
		cmocka_unit_test(test_bare),	 cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
