// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Recordings that only count what was lost, and those that are cut short. */
#include "losses.h"

#include "cleanup.h"
#include "trace/bytes.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_counted_for_all),
		cmocka_unit_test(test_counters_alone),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_old_pipe),
		cmocka_unit_test(test_old_follow),
	};

	return cmocka_run_group_tests_name("losses_counted", tests, NULL, NULL);
}
