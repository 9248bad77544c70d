// SPDX-License-Identifier: GPL-2.0-only
/* Numbers and clocks of metadata that is not what a recorder writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "cleanup.h"
#include "query/metadata.h"
#include "stackonce.h"
#include "trace/write/writer.h"

static struct stk_reader *recording_with(const char *clock, const char *ts, const char *wall)
{
	const struct stk_writer_opts opts = { .nr_cpus = 1 };
	char path[] = "/tmp/metadata-XXXXXX";
	const struct stk_event *none;
	struct stk_reader *r;
	struct stk_writer *w;

	assert_int_equal(stk_writer__new(mkstemp(path), &opts, &w), 0);
	assert_int_equal(stk_writer__meta(w, "clock", clock), 0);
	assert_int_equal(stk_writer__meta(w, "clock.ts", ts), 0);
	assert_int_equal(stk_writer__meta(w, "clock.wall_ns", wall), 0);
	assert_int_equal(stk_writer__end_round(w, UINT64_MAX, 0), 0);
	assert_int_equal(stk_writer__finish(w, "test", 0), 0);
	stk_writer__free(w);
	assert_int_equal(stk_reader__open(path, NULL, &r), 0);
	unlink(path);
	assert_int_equal(stk_reader__next(r, &none), 0);
	return r;
}

static const struct {
	const char *clock, *ts, *wall;
	bool is_known;
	uint64_t want_ts, want_wall;
} clocks[] = {
	{ "mono", "5", "1790000000000000000", true, 5, 1790000000000000000 },
	{ "mono", "0x10", "32", true, 16, 32 },
	{ "wall", "?", "?", true, 0, 0 },
	{ "mono", "", "32", false, 0, 0 },
	{ "mono", "-1", "32", false, 0, 0 },
	{ "mono", " 1", "32", false, 0, 0 },
	{ "mono", "1x", "32", false, 0, 0 },
	{ "mono", "18446744073709551616", "32", false, 0, 0 },
	{ "mono", "18446744073709551615", "9223372036854775807", true, UINT64_MAX, INT64_MAX },
	{ "mono", "1", "9223372036854775808", false, 0, 0 },
};

static void test_clocks(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		struct stk_reader *r =
			recording_with(clocks[i].clock, clocks[i].ts, clocks[i].wall);
		struct wall_clock clock = { 0 };

		assert_int_equal(wall_clock__of(r, &clock), clocks[i].is_known);
		assert_int_equal(clock.ts, clocks[i].want_ts);
		assert_int_equal(clock.wall_ns, clocks[i].want_wall);
		stk_reader__free(r);
	}
}

static void test_numbers(void **state)
{
	struct stk_reader *r = recording_with("mono", "7", "8 9");
	uint64_t value = 1;

	assert_true(metadata__u64(r, "clock.ts", &value));
	assert_int_equal(value, 7);
	assert_false(metadata__u64(r, "clock.wall_ns", &value));
	assert_false(metadata__u64(r, "nosuch", &value));
	assert_int_equal(value, 7);
	stk_reader__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
