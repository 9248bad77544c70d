// SPDX-License-Identifier: GPL-2.0-only
/* Each range of time has its slowest pairs, however often the bins became wider. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "view/slowest.h"

#define PAIRS 20000
#define BINS (VIEW_RANGES * VIEW_RANGE_BINS)

static uint64_t ends[PAIRS], durations[PAIRS];

static int slower_first(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

static void check_range(const struct view_slowest *s, uint32_t range, uint64_t width)
{
	const struct view_range *r = &s->ranges[VIEW_RANGES + range];
	static uint64_t want[PAIRS], got[VIEW_SLOWEST];
	uint32_t i, nr = 0;

	for (i = 0; i < PAIRS; i++)
		if (ends[i] / width / VIEW_RANGE_BINS == range)
			want[nr++] = durations[i];
	qsort(want, nr, sizeof(*want), slower_first);
	nr = nr < VIEW_SLOWEST ? nr : VIEW_SLOWEST;
	assert_int_equal(r->nr, nr);
	for (i = 0; i < nr; i++)
		got[i] = r->v[i].duration;
	qsort(got, nr, sizeof(*got), slower_first);
	assert_memory_equal(got, want, nr * sizeof(*got));
}

/* Bins have a width of 1, then of 2 and so on, as the pairs end later. */
static void test_slowest(void **state)
{
	struct view_slowest s = { 0 };
	uint64_t width = 1;
	uint32_t i;

	assert_int_equal(view_slowest__reach(&s, 1), 0);
	for (i = 0; i < PAIRS; i++) {
		struct view_slow slow = { 0 };

		ends[i] = i + (i ? rand() % 100 : 0);
		durations[i] = rand() % 100000;
		slow.duration = durations[i];
		while (ends[i] / width >= BINS) {
			view_slowest__widen(&s, 1);
			width *= 2;
		}
		if (view_slowest__has_room(&s, 1, ends[i] / width, slow.duration))
			view_slowest__add(&s, 1, ends[i] / width, &slow);
	}
	assert_true(width > 4);
	for (i = 0; i < VIEW_RANGES; i++)
		check_range(&s, i, width);
	assert_int_equal(s.ranges[0].nr, 0);
	view_slowest__widen(&s, 40);
	check_range(&s, 0, UINT64_MAX);
	view_slowest__clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_slowest) };

	srand(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
