// SPDX-License-Identifier: GPL-2.0-only
/* Compares distributions with the sorted values, within the error that the header promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "analyze/durations.h"
#include "cleanup.h"

#define MANY 50000

static const unsigned int per_mille[] = { 0, 1, 10, 500, 501, 900, 990, 999, 1000 };

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The nearest-rank percentile by its definition. */
static uint64_t nearest_rank(const uint64_t *sorted, uint64_t nr, unsigned int p)
{
	uint64_t i;

	for (i = 0; i < nr; i++)
		if ((i + 1) * 1000 >= nr * p)
			return sorted[i];
	return sorted[nr - 1];
}

/* Sorts the values. */
static void check(const struct durations *d, uint64_t *v, uint64_t nr)
{
	unsigned __int128 sum = 0;
	uint64_t i, want, got;

	qsort(v, nr, sizeof(*v), by_value);
	for (i = 0; i < nr; i++)
		sum += v[i];
	assert_int_equal(d->count, nr);
	assert_int_equal(d->min, v[0]);
	assert_int_equal(d->max, v[nr - 1]);
	assert_true(d->sum == sum);
	for (i = 0; i < ARRAY_SIZE(per_mille); i++) {
		want = nearest_rank(v, nr, per_mille[i]);
		got = durations__percentile(d, per_mille[i]);
		if (durations__is_exact(d)) {
			assert_int_equal(got, want);
		} else {
			assert_true(got >= want && got <= d->max);
			assert_true(got - want <= want / DURATIONS_ERROR);
		}
	}
	assert_int_equal(durations__between(d, 0, UINT64_MAX), nr);
}

/* Small values, large values, and UINT64_MAX. */
static uint64_t some_value(unsigned int i)
{
	uint64_t r = (uint64_t)random() << 31 ^ (uint64_t)random() << 62 ^ random();

	return i % 1000 == 17 ? UINT64_MAX - i : r >> (i * 7 % 64);
}

static void test_empty(void **state)
{
	struct durations d = { 0 }, other = { 0 };

	(void)state;
	assert_int_equal(durations__percentile(&d, 500), 0);
	assert_int_equal(durations__between(&d, 0, UINT64_MAX), 0);
	assert_true(durations__is_exact(&d));
	assert_int_equal(durations__merge(&d, &other), 0);
	assert_int_equal(d.count, 0);
	durations__clear(&d);
}

static void test_values(void **state)
{
	static const uint64_t sizes[] = {
		1, 2, 15, 16, 17, 1000, 1001, DURATIONS_EXACT, DURATIONS_EXACT + 1, MANY
	};
	static uint64_t v[MANY];
	unsigned int s, i;

	(void)state;
	srandom(1);
	for (s = 0; s < ARRAY_SIZE(sizes); s++) {
		struct durations d = { 0 };

		for (i = 0; i < sizes[s]; i++) {
			v[i] = some_value(i);
			assert_int_equal(durations__add(&d, v[i]), 0);
		}
		assert_int_equal(durations__is_exact(&d), sizes[s] <= DURATIONS_EXACT);
		check(&d, v, sizes[s]);
		/* A query does not affect values that are added later. */
		assert_int_equal(durations__add(&d, 0), 0);
		assert_int_equal(d.min, 0);
		durations__clear(&d);
		assert_null(d.values);
		assert_null(d.buckets);
	}
}

/* Values around powers of two, where buckets change their width. */
static void test_borders(void **state)
{
	static uint64_t v[64 * 5 + DURATIONS_EXACT];
	struct durations d = { 0 };
	uint64_t nr = 0, i;

	(void)state;
	for (i = 0; i < 64; i++) {
		v[nr++] = 1ULL << i;
		v[nr++] = (1ULL << i) - 1;
		v[nr++] = (1ULL << i) + 1;
		v[nr++] = (1ULL << i) + ((1ULL << i) >> 7);
		v[nr++] = (1ULL << i) + ((1ULL << i) >> 7) - 1;
	}
	for (i = 0; i < DURATIONS_EXACT; i++)
		v[nr++] = i;
	for (i = 0; i < nr; i++)
		assert_int_equal(durations__add(&d, v[i]), 0);
	assert_false(durations__is_exact(&d));
	for (i = 0; i < 64; i++) {
		uint64_t from = i ? 1ULL << i : 0, to = (2ULL << i) - 1, want = 0, k;

		for (k = 0; k < nr; k++)
			want += v[k] >= from && v[k] <= to;
		assert_int_equal(durations__between(&d, from, to), want);
	}
	check(&d, v, nr);
	durations__clear(&d);
}

static void check_merge(uint64_t nr_a, uint64_t nr_b)
{
	static uint64_t v[2 * 9000], w[9000];
	struct durations d = { 0 }, other = { 0 };
	uint64_t i;

	for (i = 0; i < nr_a; i++) {
		v[i] = some_value(i);
		assert_int_equal(durations__add(&d, v[i]), 0);
	}
	for (i = 0; i < nr_b; i++) {
		v[nr_a + i] = w[i] = some_value(i);
		assert_int_equal(durations__add(&other, w[i]), 0);
	}
	assert_int_equal(durations__merge(&d, &other), 0);
	assert_int_equal(durations__is_exact(&d), nr_a + nr_b <= DURATIONS_EXACT);
	check(&d, v, nr_a + nr_b);
	durations__clear(&d);
	assert_int_equal(durations__merge(&d, &other), 0);
	check(&d, w, nr_b);
	assert_int_equal(other.count, nr_b);
	durations__clear(&d);
	durations__clear(&other);
}

static void test_merge(void **state)
{
	static const uint64_t sizes[] = { 1, 40, 3000, 4096, 4097, 9000 };
	unsigned int a, b;

	(void)state;
	for (a = 0; a < ARRAY_SIZE(sizes); a++)
		for (b = 0; b < ARRAY_SIZE(sizes); b++)
			check_merge(sizes[a], sizes[b]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_borders),
		cmocka_unit_test(test_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
