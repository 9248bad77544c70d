// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Losses written and read back: which events may be missing where, compared with a plain list. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cleanup.h"
#include "gen.h"
#include "stackonce.h"
#include "trace/stk.h"
#include "trace/bytes.h"

#define NR_TYPES 4u
#define NR_CPUS 3u
#define NOWHERE 1000000000ull

static struct stk_writer *begin(struct gen_file *f)
{
	struct stk_writer_opts opts = { .nr_cpus = NR_CPUS };
	struct stk_writer *w = gen_open(f, &opts);

	for (unsigned int i = 0; i < NR_TYPES; i++)
		assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", ""), (int)i);
	return w;
}

static void add_marked(struct stk_writer *w, uint32_t type, uint32_t cpu, uint64_t ts,
		       unsigned int marks)
{
	uint64_t rec[2] = { 0, ts };
	struct stk_writer_event e = { .ts = ts,
				      .cpu = cpu,
				      .event = type,
				      .marks = marks,
				      .record = rec,
				      .record_len = marks ? 8 : 16 };

	assert_int_equal(stk_writer__event(w, &e), 0);
}

static void add(struct stk_writer *w, uint32_t cpu, uint64_t ts)
{
	add_marked(w, 0, cpu, ts, 0);
}

static void lose(struct stk_writer *w, uint32_t event, uint32_t cpu, uint64_t first, uint64_t last,
		 uint64_t count)
{
	struct stk_writer_loss loss = { first, last, event, cpu, count };

	assert_int_equal(stk_writer__loss(w, &loss), 0);
}

static void end_round(struct stk_writer *w, uint64_t end_ts)
{
	assert_int_equal(stk_writer__end_round(w, end_ts, end_ts + 1), 0);
}

static void end(struct stk_writer *w, struct gen_file *f)
{
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(f);
}

static struct stk_reader *open_mem(const struct gen_file *f)
{
	struct stk_reader *r;

	assert_int_equal(stk_reader__open_mem(f->p, f->len, NULL, &r), 0);
	return r;
}

/* The reader cannot seek in a pipe. */
static struct stk_reader *open_pipe(const struct gen_file *f, int *ret_write_end)
{
	struct stk_reader *r;
	char path[32];
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_true(f->len < 65536);
	assert_int_equal(write(fds[1], f->p, f->len), f->len);
	close(fds[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	assert_int_equal(stk_reader__open(path, NULL, &r), 0);
	*ret_write_end = fds[0];
	return r;
}

static bool may_miss(struct stk_reader *r, uint32_t type, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct stk_span s = {
		.type = type == STK_WRITER_ANY ? NULL : stk_reader__type(r, type),
		.cpu = cpu,
		.tid = STK_ANY_TASK,
		.from = from,
		.to = to,
	};

	assert_true(type == STK_WRITER_ANY || s.type);
	return stk_reader__may_miss(r, &s);
}

static uint64_t read_one(struct stk_reader *r)
{
	const struct stk_event *e;
	int got = stk_reader__next(r, &e);

	assert_true(got >= 0);
	return got ? stk_event__ts(e) : 0;
}

/* ---- compared with a list -------------------------------------------------------------------- */

static struct stk_writer_loss list[600];

static bool listed(uint32_t type, uint32_t cpu, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		const struct stk_writer_loss *l = &list[i];

		if (l->first_ts <= to && l->last_ts >= from &&
		    (l->event == STK_WRITER_ANY || type == STK_WRITER_ANY || l->event == type) &&
		    (l->cpu == STK_WRITER_ANY || cpu == STK_ANY_CPU || l->cpu == cpu))
			return true;
	}
	return false;
}

/* Sparse enough for both answers; in time order except for some of each hundred. */
static void fill_list(struct stk_writer *w, uint64_t seed)
{
	uint64_t at = 1000;

	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		struct stk_writer_loss *l = &list[i];

		at += gen_random(&seed) % 1000;
		l->first_ts = at - gen_random(&seed) % 900;
		l->last_ts = l->first_ts + gen_random(&seed) % 200;
		l->event = gen_random(&seed) % (NR_TYPES + 1);
		l->cpu = gen_random(&seed) % (NR_CPUS + 1);
		if (l->event == NR_TYPES)
			l->event = i % 20 ? 1 : STK_WRITER_ANY;
		if (l->cpu == NR_CPUS)
			l->cpu = i % 10 ? 1 : STK_WRITER_ANY;
		l->count = 1 + gen_random(&seed) % 9;
		assert_int_equal(stk_writer__loss(w, l), 0);
	}
	end_round(w, at + 1);
}

static unsigned int ask_all(struct stk_reader *r, uint64_t *seed)
{
	unsigned int yes = 0;

	for (int i = 0; i < 4000; i++) {
		uint32_t type = gen_random(seed) % (NR_TYPES + 1);
		uint32_t cpu = gen_random(seed) % (NR_CPUS + 1);
		uint64_t from = gen_random(seed) % 310000, to = from + gen_random(seed) % 300;
		bool got;

		type = type == NR_TYPES ? STK_WRITER_ANY : type;
		cpu = cpu == NR_CPUS ? STK_ANY_CPU : cpu;
		got = may_miss(r, type, cpu, from, to);
		assert_int_equal(got, listed(type, cpu, from, to));
		yes += got;
	}
	return yes;
}

static void test_as_listed(void **state)
{
	for (uint64_t seed = 1; seed < 12; seed++) {
		struct gen_file f;
		struct stk_writer *w = begin(&f);
		uint64_t random = seed;
		struct stk_reader *r;
		unsigned int yes;

		fill_list(w, seed);
		end(w, &f);
		r = open_mem(&f);
		while (read_one(r))
			;
		yes = ask_all(r, &random);
		assert_in_range(yes, 200, 3800);
		stk_reader__free(r);
		gen_close(&f);
	}
}

static void test_returned(void **state)
{
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_loss loss;
	struct stk_reader *r;
	uint64_t sum = 0, want = 0, last = 0;
	unsigned int nr = 0;

	fill_list(w, 77);
	end(w, &f);
	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		want += list[i].count;
	r = open_mem(&f);
	assert_int_equal(stk_reader__next_loss(r, 50, &loss), 0);
	for (uint64_t until = 50; until < 400000; until += 5000) {
		while (stk_reader__next_loss(r, until, &loss)) {
			assert_true(loss.first_ts >= last && loss.first_ts <= until);
			last = loss.first_ts;
			sum += loss.count;
			nr++;
		}
	}
	assert_int_equal(nr, ARRAY_SIZE(list));
	assert_int_equal(sum, want);
	stk_reader__free(r);
	gen_close(&f);
}

/* ---- when losses are known ------------------------------------------------------------------- */

/* Three rounds; a loss in the second one becomes known in the third. */
static void write_rounds(struct stk_writer *w)
{
	add(w, 0, 100);
	add(w, 1, 150);
	end_round(w, 200);
	add(w, 0, 210);
	end_round(w, 300);
	lose(w, 0, 1, 250, 260, 3);
	add(w, 0, 310);
	end_round(w, 400);
	add(w, 1, 450);
	end_round(w, 500);
}

static void test_known_before(void **state)
{
	struct stk_loss loss;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_reader *r;
	int fd;

	write_rounds(w);
	end(w, &f);
	r = open_pipe(&f, &fd);
	assert_int_equal(read_one(r), 100);
	assert_int_equal(read_one(r), 150);
	assert_int_equal(stk_reader__next_loss(r, 150, &loss), 0);
	assert_int_equal(read_one(r), 210);
	assert_false(may_miss(r, 0, STK_ANY_CPU, 100, 210));
	/* the first event after the start of the loss: the loss is known */
	assert_int_equal(read_one(r), 310);
	assert_int_equal(stk_reader__next_loss(r, 310, &loss), 1);
	assert_int_equal(loss.first_ts, 250);
	assert_int_equal(loss.last_ts, 260);
	assert_int_equal(loss.cpu, 1);
	assert_int_equal(loss.count, 3);
	assert_ptr_equal(loss.type, stk_reader__type(r, 0));
	assert_int_equal(stk_reader__next_loss(r, UINT64_MAX, &loss), 0);
	assert_true(may_miss(r, 0, STK_ANY_CPU, 210, 310));
	assert_true(may_miss(r, 0, 1, 210, 310));
	assert_false(may_miss(r, 0, 0, 210, 310));
	assert_false(may_miss(r, 1, STK_ANY_CPU, 210, 310));
	assert_true(may_miss(r, STK_WRITER_ANY, STK_ANY_CPU, 210, 310));
	assert_int_equal(read_one(r), 450);
	assert_false(may_miss(r, 0, 1, 261, 450));
	stk_reader__free(r);
	close(fd);
	gen_close(&f);
}

static void test_late_is_missing(void **state)
{
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_reader *r;

	add(w, 0, 100);
	end_round(w, 200);
	add(w, 0, 250);
	end_round(w, 300);
	add(w, 1, 150); /* events up to the end of the first round were returned */
	add(w, 0, 350);
	end_round(w, 400);
	end(w, &f);
	r = open_mem(&f);
	assert_int_equal(read_one(r), 100);
	assert_false(may_miss(r, 0, STK_ANY_CPU, 50, 100));
	assert_int_equal(read_one(r), 250 - 100); /* late, but returned in order by chance */
	assert_int_equal(read_one(r), 250);
	assert_true(may_miss(r, 0, STK_ANY_CPU, 100, 250));
	assert_false(may_miss(r, 0, 0, 100, 250));
	assert_int_equal(read_one(r), 350);
	assert_false(may_miss(r, 0, STK_ANY_CPU, 250, 350));
	stk_reader__free(r);
	gen_close(&f);
}

/* ---- other missing events -------------------------------------------------------------------- */

static void test_bad_block(void **state)
{
	struct stk_loss loss;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_reader *r;
	size_t at;

	add(w, 0, 100);
	end_round(w, 110);
	end_round(w, 120);
	at = f.len;
	gen_load(&f);
	at = f.len;
	add(w, 1, 150);
	end_round(w, 200);
	add(w, 0, 250);
	end_round(w, 300);
	add(w, 0, 350);
	end_round(w, 400);
	add(w, 0, 450);
	end_round(w, 500);
	end(w, &f);
	f.p[at + sizeof(struct stk_block_header) + 70] ^= 1;
	r = open_mem(&f);
	assert_int_equal(read_one(r), 100);
	assert_int_equal(read_one(r), 250);
	assert_true(may_miss(r, 0, STK_ANY_CPU, 100, 250));
	assert_true(may_miss(r, 0, 1, 100, 250));
	assert_false(may_miss(r, 0, 0, 100, 250));
	assert_int_equal(read_one(r), 350);
	assert_int_equal(read_one(r), 450);
	assert_false(may_miss(r, 0, STK_ANY_CPU, 401, 450));
	assert_int_equal(stk_reader__next_loss(r, 450, &loss), 1);
	assert_null(loss.type);
	assert_int_equal(loss.cpu, 1);
	assert_int_equal(loss.count, 0);
	stk_reader__free(r);
	gen_close(&f);
}

static void test_no_fields(void **state)
{
	struct stk_span s = { .cpu = STK_ANY_CPU, .tid = STK_ANY_TASK, .fields = true };
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_reader *r;

	add(w, 0, 100);
	add_marked(w, 0, 1, 150, STK_MARK_NO_FIELDS);
	add(w, 0, 200);
	add(w, 0, 300);
	end_round(w, 400);
	end(w, &f);
	r = open_mem(&f);
	assert_int_equal(read_one(r), 100);
	assert_int_equal(read_one(r), 150);
	assert_int_equal(read_one(r), 200);
	s.type = stk_reader__type(r, 0);
	s.from = 100;
	s.to = 200;
	assert_true(stk_reader__may_miss(r, &s));
	s.cpu = 0;
	assert_false(stk_reader__may_miss(r, &s));
	s.cpu = 1;
	s.tid = 4711;
	assert_false(stk_reader__may_miss(r, &s));
	s.tid = 0;
	assert_true(stk_reader__may_miss(r, &s));
	s.fields = false;
	assert_false(stk_reader__may_miss(r, &s));
	assert_int_equal(read_one(r), 300);
	s = (struct stk_span){ s.type, STK_ANY_CPU, STK_ANY_TASK, true, 200, 300 };
	assert_false(stk_reader__may_miss(r, &s));
	stk_reader__free(r);
	gen_close(&f);
}

/* Also asked at the end, for types and times whose answer never changes in between. */
static void test_no_fields_elsewhere(void **state)
{
	struct stk_span s = { .cpu = STK_ANY_CPU, .tid = STK_ANY_TASK, .fields = true };
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_reader *r;
	uint64_t seed = 7;

	for (uint64_t ts = 1000; ts < 5000; ts++) {
		struct stk_writer_event e = { .ts = ts,
					      .event = 1,
					      .cpu = ts % NR_CPUS,
					      .marks = STK_MARK_NO_FIELDS,
					      .record = &seed,
					      .record_len = 8 };

		assert_int_equal(stk_writer__task(w, gen_random(&seed) % 30000, 1, "t", 1, &e.task),
				 0);
		if (ts < 2000 || ts >= 3000)
			assert_int_equal(stk_writer__event(w, &e), 0);
	}
	end_round(w, 5000);
	end(w, &f);
	r = open_mem(&f);
	while (read_one(r))
		;
	for (uint64_t from = 900; from < 4900; from += 100) {
		bool is_bare = from + 99 >= 1000 && (from < 2000 || from >= 3000);

		s.from = from;
		s.to = from + 99;
		for (unsigned int i = 0; i < NR_TYPES; i++) {
			s.type = stk_reader__type(r, i);
			assert_int_equal(stk_reader__may_miss(r, &s), i == 1 && is_bare);
		}
		s.type = NULL;
		assert_int_equal(stk_reader__may_miss(r, &s), is_bare);
	}
	stk_reader__free(r);
	gen_close(&f);
}

/* ---- recordings that only count -------------------------------------------------------------- */

static void account(struct stk_writer *w, uint64_t lost)
{
	uint64_t counters[NR_TYPES][STK_NR_COUNTERS] = { 0 };

	counters[2][STK_C_LOST_RING] = lost;
	counters[2][STK_C_LOST_EDGE] = 7;
	assert_int_equal(stk_writer__accounting(w, (const uint64_t(*)[STK_NR_COUNTERS])counters,
						NR_TYPES),
			 0);
}

/* As written by a writer before version 1.2. */
static void make_old(struct gen_file *f)
{
	uint16_t minor = 1;
	uint32_t crc;

	memcpy(f->p + 10, &minor, sizeof(minor));
	crc = crc32c(0, f->p, 60);
	memcpy(f->p + 60, &crc, sizeof(crc));
}

static void test_counted(void **state)
{
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_loss loss;
	struct stk_reader *r;

	for (uint64_t ts = 100; ts < 1000; ts += 100) {
		add(w, 0, ts + 50);
		end_round(w, ts + 100);
		account(w, ts > 500 ? 5 : 0);
	}
	end(w, &f);
	make_old(&f);
	r = open_mem(&f);
	while (read_one(r) != 950)
		;
	assert_false(may_miss(r, 2, STK_ANY_CPU, 100, 599));
	assert_true(may_miss(r, 2, STK_ANY_CPU, 100, 600));
	assert_true(may_miss(r, 2, 1, 650, 651));
	assert_true(may_miss(r, 2, 1, 800, 900));
	assert_false(may_miss(r, 2, STK_ANY_CPU, 801, 1000));
	assert_false(may_miss(r, 0, STK_ANY_CPU, 0, 1000));
	assert_int_equal(stk_reader__next_loss(r, UINT64_MAX, &loss), 1);
	assert_int_equal(loss.count, 5);
	assert_ptr_equal(loss.type, stk_reader__type(r, 2));
	assert_int_equal(stk_reader__next_loss(r, UINT64_MAX, &loss), 0);
	stk_reader__free(r);
	gen_close(&f);
}

/* With several events, ftrace had one row for losses of any of them. */
static void test_counted_for_all(void **state)
{
	uint64_t counters[2][STK_NR_COUNTERS] = { 0 };
	struct stk_writer_opts opts = { .nr_cpus = 1 };
	struct gen_file f;
	struct stk_writer *w = gen_open(&f, &opts);
	struct stk_loss loss;
	struct stk_reader *r;

	stk_writer__type(w, STK_KIND_TRACEPOINT, "sched", "sched_switch", "", "");
	stk_writer__type(w, STK_KIND_TRACEPOINT, "ftrace", "lost_events", "", "");
	for (uint64_t ts = 100; ts < 600; ts += 100) {
		add(w, 0, ts + 50);
		end_round(w, ts + 100);
		counters[1][STK_C_LOST_RING] = ts > 200 ? 5 : 0;
		assert_int_equal(
			stk_writer__accounting(w, (const uint64_t(*)[STK_NR_COUNTERS])counters, 2),
			0);
	}
	end(w, &f);
	make_old(&f);
	r = open_mem(&f);
	while (read_one(r) != 550)
		;
	assert_true(may_miss(r, 0, STK_ANY_CPU, 320, 340));
	assert_false(may_miss(r, 0, STK_ANY_CPU, 100, 299));
	assert_int_equal(stk_reader__next_loss(r, UINT64_MAX, &loss), 1);
	assert_null(loss.type);
	assert_int_equal(loss.count, 5);
	stk_reader__free(r);
	gen_close(&f);
}

/* ---- recordings that are cut short ----------------------------------------------------------- */

static void write_accounted(struct stk_writer *w, uint64_t start, uint64_t end)
{
	for (uint64_t ts = start; ts < end; ts += 100) {
		add(w, 0, ts + 50);
		end_round(w, ts + 100);
		account(w, 0);
	}
}

/* Losses of the last rounds would have become known in rounds that are missing. */
static void test_cut(void **state)
{
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_reader *r;

	write_accounted(w, 100, 1000);
	add(w, 0, 1050);
	end_round(w, 1100);
	stk_writer__free(w);
	gen_load(&f);
	for (int old = 0; old < 2; old++) {
		if (old)
			make_old(&f);
		r = open_mem(&f);
		while (read_one(r) != 950)
			;
		assert_false(may_miss(r, 0, STK_ANY_CPU, 750, 950));
		assert_int_equal(read_one(r), 1050);
		assert_true(may_miss(r, 0, STK_ANY_CPU, 950, 1050));
		assert_false(may_miss(r, 0, STK_ANY_CPU, 750, 950));
		stk_reader__free(r);
	}
	gen_close(&f);
}

/* The accounting of the events that are returned is still to come. */
static void test_old_pipe(void **state)
{
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_reader *r;
	char path[32];
	size_t part;
	int fds[2];

	add(w, 0, 150);
	end_round(w, 200);
	account(w, 0);
	add(w, 0, 250);
	end_round(w, 300);
	add(w, 0, 350);
	end_round(w, 400);
	gen_load(&f);
	part = f.len;
	account(w, 5);
	end(w, &f);
	make_old(&f);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], f.p, part), part);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	assert_int_equal(stk_reader__open(path, NULL, &r), 0);
	assert_int_equal(read_one(r), 150);
	assert_false(may_miss(r, 2, STK_ANY_CPU, 100, 150));
	assert_int_equal(read_one(r), 250);
	assert_true(may_miss(r, 2, STK_ANY_CPU, 150, 250));
	assert_int_equal(write(fds[1], f.p + part, f.len - part), f.len - part);
	close(fds[1]);
	while (read_one(r))
		;
	assert_true(may_miss(r, 2, STK_ANY_CPU, 150, 250));
	assert_false(may_miss(r, 0, STK_ANY_CPU, 150, 350));
	stk_reader__free(r);
	close(fds[0]);
	gen_close(&f);
}

/* Of a file that may grow, what is there counts, and what is appended when it has been read. */
static void test_old_follow(void **state)
{
	struct stk_reader_opts opts = { .size = sizeof(opts), .follow = true };
	char path[] = "/tmp/losses-XXXXXX";
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	const struct stk_event *e;
	struct stk_reader *r;
	int fd = mkstemp(path);
	size_t part;

	write_accounted(w, 100, 500);
	gen_load(&f);
	part = f.len;
	write_accounted(w, 500, 1000);
	end(w, &f);
	make_old(&f);
	for (int grows = 0; grows < 2; grows++) {
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, f.p, grows ? part : f.len, 0), grows ? part : f.len);
		assert_int_equal(stk_reader__open(path, &opts, &r), 0);
		assert_int_equal(read_one(r), 150);
		assert_int_equal(read_one(r), 250);
		assert_false(may_miss(r, 0, STK_ANY_CPU, 150, 250));
		assert_int_equal(may_miss(r, 0, STK_ANY_CPU, 450, 550), grows);
		assert_int_equal(pwrite(fd, f.p, f.len, 0), f.len);
		while (stk_reader__next(r, &e) == 1)
			;
		assert_false(may_miss(r, 0, STK_ANY_CPU, 450, 550));
		stk_reader__free(r);
	}
	close(fd);
	unlink(path);
	gen_close(&f);
}

/* A file of the current version: counters alone say nothing about time. */
static void test_counters_alone(void **state)
{
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_loss loss;
	struct stk_reader *r;

	add(w, 0, 50);
	end_round(w, 100);
	account(w, 5);
	end(w, &f);
	r = open_mem(&f);
	assert_int_equal(read_one(r), 50);
	assert_int_equal(stk_reader__next_loss(r, UINT64_MAX, &loss), 0);
	stk_reader__free(r);
	gen_close(&f);
}

static void test_refused(void **state)
{
	struct stk_writer_loss backwards = { 10, 9, 0, 0, 1 }, type = { 1, 2, NR_TYPES, 0, 1 },
			       cpu = { 1, 2, 0, STK_MAX_CPUS, 1 };
	struct gen_file f;
	struct stk_writer *w = begin(&f);

	assert_int_equal(stk_writer__loss(w, &backwards), -EINVAL);
	assert_int_equal(stk_writer__loss(w, &type), -EINVAL);
	assert_int_equal(stk_writer__loss(w, &cpu), -EINVAL);
	end(w, &f);
	gen_close(&f);
}

/* ---- many losses ----------------------------------------------------------------------------- */

/* In any order of losses, a missing event is never reported as present. */
static void many(uint64_t (*at)(uint64_t i), uint64_t n)
{
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_reader *r;

	for (uint64_t i = 0; i < n; i++)
		lose(w, i % 2, 0, at(i) * 10, at(i) * 10 + 3, 1);
	end_round(w, NOWHERE);
	end(w, &f);
	r = open_mem(&f);
	read_one(r);
	for (uint64_t i = 0; i < n; i++)
		assert_true(may_miss(r, i % 2, 0, at(i) * 10 + 1, at(i) * 10 + 1));
	assert_false(may_miss(r, 0, 0, NOWHERE, 2 * NOWHERE));
	assert_false(may_miss(r, 2, 0, 0, NOWHERE));
	stk_reader__free(r);
	gen_close(&f);
}

static uint64_t forwards(uint64_t i)
{
	return i + 1;
}

static uint64_t backwards(uint64_t i)
{
	return 300000 - i;
}

static uint64_t scattered(uint64_t i)
{
	return 1 + i * 7919 % 300007;
}

static void test_many(void **state)
{
	many(forwards, 300000);
	many(backwards, 300000);
	many(scattered, 300000);
}

/*
 * With more types and CPUs than the reader distinguishes, every question about a loss is answered
 * yes.
 */
static void test_many_lanes(void **state)
{
	const uint32_t nr_cpus = 10000, cpu = nr_cpus - 1;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	struct stk_reader *r;

	for (uint32_t i = 0; i < nr_cpus; i++) {
		lose(w, 0, i, 10 * i + 1, 10 * i + 2, 1);
		lose(w, 1, i, 10 * i + 4, 10 * i + 5, 1);
	}
	lose(w, 2, cpu, 500000, 500001, 1);
	end_round(w, NOWHERE);
	end(w, &f);
	r = open_mem(&f);
	read_one(r);
	for (uint32_t type = 0; type < 3; type++) {
		uint64_t at = type < 2 ? 10 * cpu + 1 + 3 * type : 500000;

		assert_true(may_miss(r, type, cpu, at, at));
		assert_true(may_miss(r, type, STK_ANY_CPU, at, at));
		assert_true(may_miss(r, STK_WRITER_ANY, cpu, at, at));
		assert_true(may_miss(r, STK_WRITER_ANY, STK_ANY_CPU, at, at));
	}
	assert_false(may_miss(r, 2, STK_ANY_CPU, NOWHERE, 2 * NOWHERE));
	stk_reader__free(r);
	gen_close(&f);
}

/* Many bad blocks in a row: each question looks at all of them whose end is not known yet. */
static void test_many_bad(void **state)
{
	const unsigned int nr = 400;
	struct stk_block_header h;
	struct stk_loss loss;
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	unsigned int found = 0;
	size_t at;

	add(w, 0, 100);
	end_round(w, 200);
	gen_load(&f);
	at = f.len;
	for (unsigned int i = 0; i < nr; i++) {
		lose(w, 0, 0, 300, 300, 1);
		end_round(w, 210);
	}
	add(w, 0, 350);
	end_round(w, 400);
	end(w, &f);
	for (size_t i = 0; at < f.len && i < 2 * nr; i++) {
		memcpy(&h, f.p + at, sizeof(h));
		if (h.type == STK_BLOCK_LOSSES || h.type == STK_BLOCK_ROUND)
			f.p[at + sizeof(h)] ^= 1;
		at += sizeof(h) + h.stored_len;
	}
	r = open_mem(&f);
	assert_int_equal(read_one(r), 100);
	assert_int_equal(read_one(r), 350);
	assert_true(may_miss(r, 0, 0, 300, 300));
	while (stk_reader__next_loss(r, UINT64_MAX, &loss))
		found++;
	assert_in_range(found, 1, 256);
	stk_reader__free(r);
	gen_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_listed),
		cmocka_unit_test(test_returned),
		cmocka_unit_test(test_known_before),
		cmocka_unit_test(test_late_is_missing),
		cmocka_unit_test(test_bad_block),
		cmocka_unit_test(test_no_fields),
		cmocka_unit_test(test_no_fields_elsewhere),
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_counters_alone),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_counted_for_all),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_old_pipe),
		cmocka_unit_test(test_old_follow),
		cmocka_unit_test(test_many_lanes),
		cmocka_unit_test(test_many_bad),
	};

	return cmocka_run_group_tests_name("losses", tests, NULL, NULL);
}
