// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Losses written and read back: which events may be missing where, compared with a plain list. */
#include "losses.h"

#include "cleanup.h"

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
		cmocka_unit_test(test_as_listed),	    cmocka_unit_test(test_returned),
		cmocka_unit_test(test_known_before),	    cmocka_unit_test(test_late_is_missing),
		cmocka_unit_test(test_bad_block),	    cmocka_unit_test(test_no_fields),
		cmocka_unit_test(test_no_fields_elsewhere), cmocka_unit_test(test_many),
		cmocka_unit_test(test_many_lanes),	    cmocka_unit_test(test_many_bad),
	};

	return cmocka_run_group_tests_name("losses", tests, NULL, NULL);
}
