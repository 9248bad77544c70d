// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Time order over CPUs, rounds, late events, following a growing file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "gen.h"
#include "trace/stk.h"
#include "trace/bytes.h"

static struct stk_writer *begin(struct gen_file *f, unsigned int nr_cpus)
{
	struct stk_writer_opts opts = { .nr_cpus = nr_cpus };
	struct stk_writer *w = gen_open(f, &opts);

	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", ""), 0);
	return w;
}

static void add(struct stk_writer *w, uint32_t cpu, uint64_t ts)
{
	/* the sample has no stack, and its record has its time */
	uint64_t rec[2] = { 0, ts };
	struct stk_writer_event e = { .ts = ts, .cpu = cpu, .record = rec, .record_len = 16 };

	assert_int_equal(stk_writer__event(w, &e), 0);
}

static void end_round(struct stk_writer *w, uint64_t end_ts)
{
	assert_int_equal(stk_writer__end_round(w, end_ts, end_ts + 1), 0);
}

static struct stk_reader *open_file(const struct gen_file *f, bool follow)
{
	struct stk_reader_opts opts = { .size = sizeof(opts), .follow = follow };
	struct stk_reader *r;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	assert_int_equal(stk_reader__open(path, &opts, &r), 0);
	return r;
}

static void assert_next(struct stk_reader *r, uint64_t ts, unsigned int marks)
{
	const struct stk_event *e;
	uint64_t in_record;
	size_t len;

	assert_int_equal(stk_reader__next(r, &e), 1);
	assert_int_equal(stk_event__ts(e), ts);
	assert_int_equal(stk_event__marks(e), marks);
	memcpy(&in_record, (const char *)stk_event__record(e, &len) + 8, 8);
	assert_int_equal(in_record, ts);
}

/* Many CPUs with many blocks each, at interleaved times. */
static void test_merge(void **state)
{
	struct gen_file f;
	struct stk_writer *w = begin(&f, 70);
	uint64_t seed = 5, ts = 1, prev = 0, n = 200000;
	const struct stk_event *e;
	struct stk_reader *r;
	uint64_t got = 0, sum = 0, want_sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		ts += gen_random(&seed) % 50;
		add(w, gen_random(&seed) % 70, ts);
		want_sum += ts;
		if (i % 30000 == 29999)
			end_round(w, ts + 1);
	}
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	r = open_file(&f, false);
	while (stk_reader__next(r, &e) == 1) {
		assert_true(stk_event__ts(e) >= prev);
		assert_int_equal(stk_event__marks(e), 0);
		prev = stk_event__ts(e);
		sum += prev;
		got++;
	}
	assert_int_equal(got, n);
	assert_int_equal(sum, want_sum);
	stk_reader__free(r);
	gen_close(&f);
}

/* Interrupts nest: their events are complete, and stored, before the event they interrupted. */
static void test_nested(void **state)
{
	struct gen_file f;
	struct stk_writer *w = begin(&f, 1);
	struct stk_reader *r;

	for (uint64_t i = 0; i < 1000; i++) {
		add(w, 0, 10 * i + 3);
		add(w, 0, 10 * i + 2);
		add(w, 0, 10 * i + 5);
	}
	/* and far out of order, beyond the simple way of sorting */
	for (uint64_t i = 1000; i > 0; i--)
		add(w, 0, 20000 + i);
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	r = open_file(&f, false);
	for (uint64_t i = 0; i < 1000; i++) {
		assert_next(r, 10 * i + 2, 0);
		assert_next(r, 10 * i + 3, 0);
		assert_next(r, 10 * i + 5, 0);
	}
	for (uint64_t i = 1; i <= 1000; i++)
		assert_next(r, 20000 + i, 0);
	stk_reader__free(r);
	gen_close(&f);
}

/* Round r may have events older than the end of round r-1, but not older than that of round r-2. */
static void test_late(void **state)
{
	struct gen_file f;
	struct stk_writer *w = begin(&f, 2);
	const struct stk_event *e;
	struct stk_totals totals;
	struct stk_reader *r;

	add(w, 0, 10);
	end_round(w, 100);
	add(w, 0, 90); /* late for its round, but not for the reader */
	add(w, 1, 110);
	end_round(w, 200);
	add(w, 0, 95); /* too late: at this marker all events up to 100 were returned */
	add(w, 0, 210);
	add(w, 1, 150);
	end_round(w, 300);
	add(w, 1, 205);
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	r = open_file(&f, false);
	assert_next(r, 10, 0);
	assert_next(r, 90, 0);
	assert_next(r, 95, STK_MARK_LATE);
	assert_next(r, 110, 0);
	assert_next(r, 150, 0);
	assert_next(r, 205, 0);
	assert_next(r, 210, 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	stk_reader__totals(r, &totals);
	assert_int_equal(totals.late, 1);
	stk_reader__free(r);
	gen_close(&f);
}

static void assert_again(struct stk_reader *r)
{
	const struct stk_event *e;

	assert_int_equal(stk_reader__next(r, &e), -EAGAIN);
	assert_int_equal(stk_reader__next(r, &e), -EAGAIN);
}

static void test_follow(void **state)
{
	struct gen_file f;
	struct stk_writer *w = begin(&f, 1);
	struct stk_reader *r = open_file(&f, true);
	const struct stk_event *e;
	struct stk_totals totals;
	struct stk_stack s;
	uint64_t frame = 0xffffffff81000000;
	uint32_t nr;

	assert_again(r);
	add(w, 0, 10);
	assert_again(r);
	end_round(w, 100);
	assert_again(r); /* an older event may still come */
	add(w, 0, 110);
	assert_int_equal(stk_writer__stack(w, &frame, 1, &nr), 0);
	end_round(w, 200);
	assert_next(r, 10, 0);
	assert_again(r);
	assert_int_equal(stk_reader__stack(r, 1, &s), 0); /* tables are available at once */
	stk_reader__totals(r, &totals);
	assert_int_equal(totals.last_wall_ns, 201);
	assert_false(totals.clean_end);
	end_round(w, 300);
	assert_next(r, 110, 0);
	assert_again(r);
	add(w, 0, 310);
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	assert_next(r, 310, 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	stk_reader__totals(r, &totals);
	assert_true(totals.clean_end);
	stk_writer__free(w);
	stk_reader__free(r);
	gen_close(&f);
}

/* A follower that reads after every byte sees the same as one that reads the finished file. */
static void follow_bytes(const struct gen_file *whole, unsigned int want)
{
	struct stk_reader_opts opts = { .size = sizeof(opts), .follow = true, .want = want };
	char path[] = "/tmp/stk-test-XXXXXX", fd_path[32];
	uint64_t ts = 100;
	int got = -EAGAIN, fd = mkstemp(path);
	const struct stk_event *e;
	struct stk_totals totals;
	struct stk_reader *r;

	assert_true(fd >= 0 && !unlink(path));
	snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", fd);
	assert_int_equal(stk_reader__open(fd_path, &opts, &r), -EINVAL);
	assert_int_equal(pwrite(fd, whole->p, STK_HEADER_SIZE, 0), STK_HEADER_SIZE);
	assert_int_equal(stk_reader__open(fd_path, &opts, &r), 0);
	for (size_t at = STK_HEADER_SIZE; at <= whole->len; at++) {
		while ((got = stk_reader__next(r, &e)) == 1)
			assert_int_equal(stk_event__ts(e), ts++);
		if (at == whole->len)
			break;
		assert_int_equal(got, -EAGAIN);
		assert_int_equal(pwrite(fd, whole->p + at, 1, at), 1);
	}
	assert_int_equal(got, 0);
	assert_int_equal(ts, want & STK_WANT_EVENTS ? 110 : 100);
	stk_reader__totals(r, &totals);
	assert_int_equal(totals.events, 10);
	assert_int_equal(totals.bytes, whole->len);
	assert_int_equal(totals.last_ts, 109);
	assert_true(totals.clean_end);
	stk_reader__free(r);
	close(fd);
}

static void test_follow_bytes(void **state)
{
	struct gen_file whole;
	struct stk_writer *w = begin(&whole, 2);

	for (uint64_t i = 0; i < 10; i++) {
		add(w, i % 2, 100 + i);
		end_round(w, 101 + i);
	}
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(&whole);
	follow_bytes(&whole, STK_WANT_EVENTS | STK_WANT_FIELDS);
	follow_bytes(&whole, STK_WANT_EVENTS);
	follow_bytes(&whole, STK_WANT_FIELDS);
	gen_close(&whole);
}

/* An incomplete event block is not counted, even if its events are not wanted. */
static void test_cut(void **state)
{
	struct stk_reader_opts tables = { .size = sizeof(tables), .want = STK_WANT_FIELDS };
	const struct stk_event *e;
	struct stk_totals totals;
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f, 1);
	char path[32];
	size_t last = STK_HEADER_SIZE;

	add(w, 0, 1);
	end_round(w, 10);
	add(w, 0, 11);
	end_round(w, 20);
	stk_writer__free(w);
	gen_load(&f);
	for (size_t pos = STK_HEADER_SIZE; pos < f.len;) {
		struct stk_block_header h;

		memcpy(&h, f.p + pos, sizeof(h));
		last = h.type == STK_BLOCK_EVENTS ? pos : last;
		pos += sizeof(h) + h.stored_len;
	}
	assert_int_equal(ftruncate(f.fd, last + sizeof(struct stk_block_header) +
						 sizeof(struct stk_events_header) + 1),
			 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", f.fd);
	assert_int_equal(stk_reader__open(path, &tables, &r), 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	stk_reader__totals(r, &totals);
	assert_int_equal(totals.events, 1);
	assert_int_equal(totals.last_ts, 1);
	assert_false(totals.clean_end);
	stk_reader__free(r);
	gen_close(&f);
}

/* Parts that are not wanted are not read. */
static void test_want(void **state)
{
	struct stk_reader_opts heads = { .size = sizeof(heads), .want = STK_WANT_EVENTS };
	struct stk_reader_opts tables = { .size = sizeof(tables), .want = STK_WANT_FIELDS };
	const struct stk_event *e;
	struct stk_totals totals;
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f, 2);
	size_t len = 1;

	for (uint64_t i = 0; i < 100; i++)
		add(w, i % 2, 1000 + i);
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(&f);

	assert_int_equal(stk_reader__open_mem(f.p, f.len, &heads, &r), 0);
	for (uint64_t i = 0; i < 100; i++) {
		assert_int_equal(stk_reader__next(r, &e), 1);
		assert_int_equal(stk_event__ts(e), 1000 + i);
		assert_null(stk_event__record(e, &len));
		assert_int_equal(len, 0);
	}
	assert_int_equal(stk_reader__next(r, &e), 0);
	stk_reader__free(r);

	/* without events their blocks are skipped unread: damage in them goes unnoticed */
	for (size_t pos = STK_HEADER_SIZE; pos < f.len;) {
		struct stk_block_header h;

		memcpy(&h, f.p + pos, sizeof(h));
		if (h.type == STK_BLOCK_EVENTS)
			f.p[pos + sizeof(h) + h.stored_len - 1] ^= 1;
		pos += sizeof(h) + h.stored_len;
	}
	assert_int_equal(stk_reader__open_mem(f.p, f.len, &tables, &r), 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	stk_reader__totals(r, &totals);
	assert_int_equal(totals.events, 100);
	assert_int_equal(totals.first_ts, 1000);
	assert_int_equal(totals.last_ts, 1099);
	assert_int_equal(totals.bad_blocks, 0);
	assert_true(totals.clean_end && totals.event_bytes);
	stk_reader__free(r);
	gen_close(&f);
}

/* The number of events up to the end; 0 if it is not a recording. */
static int count_events(struct stk_reader *r, int err)
{
	const struct stk_event *e;
	int nr = 0;

	if (err)
		return err;
	while (stk_reader__next(r, &e) == 1)
		nr++;
	stk_reader__free(r);
	return nr;
}

/* With an end, a file reads like its first bytes, also where blocks are skipped. */
static void test_end(void **state)
{
	struct stk_reader_opts opts = { .size = sizeof(opts), .want = STK_WANT_EVENTS };
	struct gen_file f;
	struct stk_writer *w = begin(&f, 2);
	struct stk_reader *r;
	char path[32];

	for (uint64_t i = 0; i < 60; i++) {
		add(w, i % 2, 1000 + i);
		if (i % 20 == 19)
			end_round(w, 1001 + i);
	}
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(&f);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", f.fd);
	for (size_t end = 1; end <= f.len + 2; end++) {
		int want, got;

		opts.want = end % 3 ? STK_WANT_EVENTS : STK_WANT_FIELDS;
		opts.end = 0;
		want = stk_reader__open_mem(f.p, end < f.len ? end : f.len, &opts, &r);
		want = count_events(r, want);
		opts.end = end;
		got = stk_reader__open(path, &opts, &r);
		assert_int_equal(count_events(r, got), want);
		assert_true(opts.want != STK_WANT_EVENTS || end < f.len || got || want == 60);
	}
	gen_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge),	     cmocka_unit_test(test_nested),
		cmocka_unit_test(test_late),	     cmocka_unit_test(test_follow),
		cmocka_unit_test(test_follow_bytes), cmocka_unit_test(test_want),
		cmocka_unit_test(test_cut),	     cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
