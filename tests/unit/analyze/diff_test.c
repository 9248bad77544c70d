// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two recordings of the same load: hardly a stack is marked.  A function that was changed is marked
 * every time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/diff/diff.h"
#include "analyze/stacks/stack_counts.h"
#include "cleanup.h"
#include "diff_recording.h"

#define PAIRS 20
#define SECOND 1000000000ULL

struct pair {
	int fd[2];
	struct stk_reader *reader[2];
	struct side side[2];
	struct diff *diff;
};

static bool is_by(const struct stk_event *e, const struct diff_opts *opts)
{
	return opts->per == DIFF_PER_OTHER &&
	       !strcmp(stk_event_type__name(stk_event__type(e)), "done");
}

static void read_part(struct pair *p, unsigned int i, const struct diff_load *load,
		      const struct diff_opts *opts, uint64_t from, uint64_t to)
{
	const struct stk_event *e;
	char path[32];
	int n;

	p->fd[i] = memfd_create("diff", 0);
	diff_recording__write(dup(p->fd[i]), load);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", p->fd[i]);
	assert_int_equal(stk_reader__open(path, NULL, &p->reader[i]), 0);
	side__init(&p->side[i], p->reader[i], STACKS_KERNEL | STACKS_USER, from, to, SECOND);
	while ((n = stk_reader__next(p->reader[i], &e)) == 1) {
		bool in = stk_event__ts(e) >= from && stk_event__ts(e) <= to;

		assert_int_equal(side__add(&p->side[i], e, in, in && is_by(e, opts)), 0);
	}
	assert_int_equal(n, 0);
	side__finish(&p->side[i]);
}

static void compare(struct pair *p, const struct diff_load *a, const struct diff_load *b,
		    const struct diff_opts *opts)
{
	read_part(p, 0, a, opts, 0, UINT64_MAX);
	read_part(p, 1, b, opts, 0, UINT64_MAX);
	assert_int_equal(diff__new(&p->side[0], &p->side[1], opts, &p->diff), 0);
}

static void clear(struct pair *p)
{
	unsigned int i;

	diff__free(p->diff);
	for (i = 0; i < 2; i++) {
		side__clear(&p->side[i]);
		stk_reader__free(p->reader[i]);
		close(p->fd[i]);
	}
}

static const struct diff_row *find(const struct pair *p, const char *function)
{
	uint32_t nr, i;
	const struct diff_row *rows = diff__rows(p->diff, &nr);

	for (i = 0; i < nr; i++)
		if (!strcmp(stk_event_type__name(rows[i].type), "cpu_clock") && rows[i].frame.sym &&
		    !strcmp(rows[i].frame.sym, function))
			return &rows[i];
	fail_msg("no row of %s", function);
	return NULL;
}

/* Marked rows of pairs of the same load, and of all. */
static void same_load(bool bursty, enum diff_by by, enum diff_per per)
{
	const struct diff_opts opts = { .by = by, .per = per };
	unsigned int i, marked = 0, rows = 0, pairs_with_any = 0;
	uint32_t nr;

	for (i = 0; i < PAIRS; i++) {
		struct diff_load a = { .seed = 1000 + 2 * i, .seconds = 40, .bursty = bursty };
		struct diff_load b = { .seed = 1001 + 2 * i, .seconds = 40, .bursty = bursty };
		struct pair p = { 0 };

		compare(&p, &a, &b, &opts);
		assert_true(diff__is_judged(p.diff));
		diff__rows(p.diff, &nr);
		marked += diff__nr_significant(p.diff);
		pairs_with_any += diff__nr_significant(p.diff) > 0;
		rows += nr;
		clear(&p);
	}
	print_message("%s: %u of %u rows marked, in %u of %u pairs\n",
		      bursty ? "bursts" : "Poisson", marked, rows, pairs_with_any, PAIRS);
	assert_true(rows >= PAIRS * DIFF_STACKS);
	assert_true(marked <= rows * 5 / 100);
}

static void test_same_poisson(void **state)
{
	same_load(false, DIFF_BY_STACK, DIFF_PER_SECOND);
}

static void test_same_bursts(void **state)
{
	same_load(true, DIFF_BY_STACK, DIFF_PER_SECOND);
}

/* The halves of a recording. */
static void test_same_halves(void **state)
{
	const struct diff_opts opts = { .by = DIFF_BY_STACK };
	unsigned int i, marked = 0, rows = 0;
	uint32_t nr;

	for (i = 0; i < PAIRS; i++) {
		struct diff_load load = { .seed = 2000 + i, .seconds = 80, .bursty = true };
		uint64_t middle = DIFF_START_NS + 40 * SECOND;
		struct pair p = { 0 };

		read_part(&p, 0, &load, &opts, 0, middle - 1);
		read_part(&p, 1, &load, &opts, middle, UINT64_MAX);
		assert_int_equal(side__nr_bins(&p.side[0]), 40);
		assert_int_equal(side__nr_bins(&p.side[1]), 40);
		assert_int_equal(diff__new(&p.side[0], &p.side[1], &opts, &p.diff), 0);
		diff__rows(p.diff, &nr);
		marked += diff__nr_significant(p.diff);
		rows += nr;
		clear(&p);
	}
	print_message("halves: %u of %u rows marked\n", marked, rows);
	assert_true(marked <= rows * 5 / 100);
}

static void test_same_functions(void **state)
{
	same_load(true, DIFF_BY_FUNCTION, DIFF_PER_EVENT);
}

/* 20 % more in one function. */
static void planted(bool bursty, enum diff_by by, unsigned int seconds)
{
	const struct diff_opts opts = { .by = by };
	unsigned int i, others = 0;
	char name[16];

	for (i = 0; i < PAIRS; i++) {
		struct diff_load a = { .seed = 3000 + 2 * i, .seconds = seconds, .bursty = bursty };
		struct diff_load b = a;
		const struct diff_row *row;
		struct pair p = { 0 };

		b.seed++;
		b.changed = i % 2;
		b.factor = i % 4 < 2 ? 1.2 : 0.8;
		snprintf(name, sizeof(name), "leaf_%u", b.changed);
		compare(&p, &a, &b, &opts);
		row = find(&p, name);
		if (!row->significant)
			fail_msg("%s in pair %u: change %.2f, noise %.2f, q %.3f", name, i,
				 row->verdict.change, row->verdict.noise, row->q);
		assert_true((row->verdict.change > 0) == (b.factor > 1));
		others += diff__nr_significant(p.diff) - 1;
		clear(&p);
	}
	print_message("%s: found in %u pairs; %u other rows marked\n",
		      bursty ? "bursts" : "Poisson", PAIRS, others);
}

static void test_planted_poisson(void **state)
{
	planted(false, DIFF_BY_SELF, 40);
}

static void test_planted_bursts(void **state)
{
	planted(true, DIFF_BY_FUNCTION, 180);
}

/* The frames of a stack from the outermost on, as a flame graph has them. */
static void test_paths(void **state)
{
	const struct diff_opts opts = { .by = DIFF_BY_PATH };
	struct diff_load a = { .seed = 1, .seconds = 40 }, b = { .seed = 2, .seconds = 40 };
	static const char *const names[] = { NULL, "leaf_1", "root", "middle_1", "leaf_1" };
	const struct diff_row *rows[DIFF_MAX_PATHS];
	struct pair p = { 0 };
	uint32_t i, k;

	b.version = 1;
	b.changed = 1;
	b.factor = 1.5;
	compare(&p, &a, &b, &opts);
	for (i = 0; i < p.side[1].stacks.nr; i++) {
		struct side_stack stack;

		memcpy(&stack, key_table__key(&p.side[1].stacks, i), sizeof(stack));
		if (stack.kstack != 2)
			continue;
		assert_int_equal(diff__path_rows(p.diff, &stack, rows), ARRAY_SIZE(names));
		for (k = 0; k < ARRAY_SIZE(names); k++) {
			assert_true(k ? !strcmp(rows[k]->frame.sym, names[k]) : rows[k]->no_frame);
			assert_true(rows[k]->significant || !k);
			assert_true(rows[k]->ratio[0].sum > 100);
		}
		assert_true(rows[0]->ratio[1].sum > 5 * rows[1]->ratio[1].sum);
	}
	clear(&p);
}

/* What is the same although addresses and offsets differ, and the counts add up. */
static void test_other_build(void **state)
{
	const struct diff_opts opts = { .by = DIFF_BY_STACK, .per = DIFF_PER_EVENT };
	struct diff_load a = { .seed = 1, .seconds = 20 }, b = a;
	struct pair p = { 0 };
	const struct diff_row *rows;
	uint32_t nr, i, at = 0, sum = 0;
	unsigned int side;
	const char *path;

	b.version = 1;
	b.extra = true;
	compare(&p, &a, &b, &opts);
	rows = diff__rows(p.diff, &nr);
	assert_int_equal(nr, DIFF_STACKS + 1);
	for (i = 0; i < nr; i++) {
		assert_true(rows[i].ratio[0].sum == rows[i].ratio[1].sum);
		assert_true(rows[i].verdict.change == 0);
		sum += rows[i].ratio[0].sum;
	}
	assert_int_equal(sum, series__sum(&p.side[0].types[0]) + series__sum(&p.side[0].types[1]));
	assert_false(same_code__same_kernel(diff__code(p.diff)));
	assert_int_equal(same_code__by_name(diff__code(p.diff), &path), 1);
	assert_string_equal(path, "/usr/bin/app");
	assert_string_equal(diff__one_sided(p.diff, &at, &side), "work:extra");
	assert_int_equal(side, 1);
	assert_null(diff__one_sided(p.diff, &at, &side));
	clear(&p);
}

/* A long recording has as many bins as a short one: they are wider, and nothing is lost. */
static void test_long(void **state)
{
	const struct diff_opts opts = { 0 };
	struct diff_load load = { .seed = 1, .seconds = 600, .rate = 20 };
	struct pair p = { 0 };
	uint64_t was = 0;
	uint32_t i;

	compare(&p, &load, &load, &opts);
	assert_int_equal(p.side[0].bin_ns, 4 * SECOND);
	assert_int_equal(side__nr_bins(&p.side[0]), 150);
	for (i = 0; i < p.side[0].stacks.nr; i++) {
		const struct series *s = key_table__value(&p.side[0].stacks, i);

		assert_true(s->nr <= 150);
		was += series__sum(s);
	}
	assert_in_range(was, 600 * 65, 600 * 75);
	clear(&p);
}

/* Against an array of counts, whatever the order of adding, merging and halving is. */
static void test_series(void **state)
{
	uint64_t counts[SERIES_BINS] = { 0 }, other[SERIES_BINS] = { 0 };
	struct series a = { 0 }, b = { 0 };
	double bins[SERIES_BINS];
	unsigned int i, round;

	srandom(7);
	for (round = 0; round < 40; round++) {
		for (i = 0; i < 200; i++) {
			unsigned int bin = random() % SERIES_BINS, count = random() % 9 + 1;
			bool first = random() % 2;

			assert_int_equal(series__add(first ? &a : &b, bin, count), 0);
			(first ? counts : other)[bin] += count;
		}
		assert_int_equal(series__merge(&a, &b), 0);
		for (i = 0; i < SERIES_BINS; i++)
			counts[i] += other[i];
		if (round % 3 == 0) {
			series__halve(&a);
			for (i = 0; i < SERIES_BINS / 2; i++)
				counts[i] = counts[2 * i] + counts[2 * i + 1];
			memset(counts + i, 0, i * sizeof(*counts));
		}
		series__expand(&a, bins);
		for (i = 0; i < SERIES_BINS; i++)
			assert_true(bins[i] == counts[i]);
	}
	series__clear(&a);
	series__clear(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_poisson),
		cmocka_unit_test(test_same_bursts),
		cmocka_unit_test(test_same_halves),
		cmocka_unit_test(test_same_functions),
		cmocka_unit_test(test_planted_poisson),
		cmocka_unit_test(test_planted_bursts),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_other_build),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
