// SPDX-License-Identifier: GPL-2.0-only
/* Cells are compared with sums that a table of all bins and keys has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "view/cells.h"

#define BINS 64
#define KEYS 16

static uint64_t sums[BINS][KEYS];

static void check_cells(const struct view_cells *c)
{
	uint64_t got[BINS][KEYS] = { 0 };
	uint32_t i;

	for (i = 0; i < c->nr; i++) {
		assert_true(c->v[i].bin < BINS && c->v[i].key < KEYS);
		got[c->v[i].bin][c->v[i].key] += c->v[i].n;
		if (!i)
			continue;
		assert_true(c->v[i - 1].bin < c->v[i].bin ||
			    (c->v[i - 1].bin == c->v[i].bin && c->v[i - 1].key < c->v[i].key));
	}
	assert_memory_equal(got, sums, sizeof(got));
}

/* Mostly in the order of bins, as events come, some late. */
static void add_some(struct view_cells *c, unsigned int nr, unsigned int late)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		uint32_t bin = i * BINS / nr, key = rand() % KEYS, n = rand() % 9 + 1;

		if (late && !(rand() % late))
			bin = rand() % (bin + 1);
		sums[bin][key] += n;
		assert_int_equal(view_cells__add(c, bin, key, n), 0);
	}
}

static void widen(struct view_cells *c, unsigned int shift)
{
	uint64_t wide[BINS][KEYS] = { 0 };
	unsigned int bin, key;

	view_cells__widen(c, shift);
	for (bin = 0; bin < BINS; bin++)
		for (key = 0; key < KEYS; key++)
			wide[shift < 32 ? bin >> shift : 0][key] += sums[bin][key];
	memcpy(sums, wide, sizeof(sums));
}

static void renumber(struct view_cells *c)
{
	uint64_t merged[BINS][KEYS] = { 0 };
	uint32_t numbers[KEYS];
	unsigned int bin, key;

	for (key = 0; key < KEYS; key++)
		numbers[key] = key * 7 % 5;
	assert_int_equal(view_cells__renumber(c, numbers, 5), 0);
	for (bin = 0; bin < BINS; bin++)
		for (key = 0; key < KEYS; key++)
			merged[bin][numbers[key]] += sums[bin][key];
	memcpy(sums, merged, sizeof(sums));
}

static void test_sums(void **state)
{
	unsigned int late, shift;

	for (late = 0; late < 20; late += 5) {
		for (shift = 0; shift < 40; shift += 3) {
			struct view_cells c = { 0 };

			memset(sums, 0, sizeof(sums));
			add_some(&c, 5000, late);
			widen(&c, shift);
			add_some(&c, 500, late);
			renumber(&c);
			add_some(&c, 500, late);
			view_cells__finish(&c);
			check_cells(&c);
			view_cells__clear(&c);
		}
	}
}

/* Without late events, there are never more cells than bins and keys. */
static void test_memory(void **state)
{
	struct view_cells c = { 0 };

	memset(sums, 0, sizeof(sums));
	add_some(&c, 100000, 0);
	assert_true(c.nr <= BINS * KEYS);
	view_cells__clear(&c);
}

/* As without pairs: the undefined behaviour sanitizer watches. */
static void test_empty(void **state)
{
	struct view_cells c = { 0 };

	view_cells__widen(&c, 1);
	assert_int_equal(view_cells__renumber(&c, NULL, 0), 0);
	view_cells__finish(&c);
	assert_int_equal(c.nr, 0);
	view_cells__clear(&c);
}

static void test_overflow(void **state)
{
	struct view_cells c = { 0 };

	assert_int_equal(view_cells__add(&c, 1, 0, UINT64_MAX), 0);
	assert_int_equal(view_cells__add(&c, 1, 0, 2), 0);
	assert_int_equal(view_cells__add(&c, 2, 0, UINT64_MAX - 1), 0);
	view_cells__widen(&c, 4);
	assert_int_equal(c.nr, 1);
	assert_true(c.v[0].n == UINT64_MAX);
	view_cells__clear(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_overflow),
	};

	srand(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
