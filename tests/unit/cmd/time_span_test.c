// SPDX-License-Identifier: GPL-2.0-only
/* Spans of time: their forms, rounding, and what they are in a recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "strbuf.h"
#include "ui/time_span.h"

#define S UINT64_C(1000000000)
#define MIDNIGHT (1790035200 * S) /* 2026-09-22 00:00:00 UTC */

static void check(const char *text, uint64_t from, uint64_t to)
{
	/* From 100 s to 200 s; at 100 s it is 23:59:00. */
	const struct time_base base = { .first_ts = 100 * S,
					.last_ts = 200 * S,
					.has_wall = true,
					.ts = 90 * S,
					.wall_ns = MIDNIGHT - 70 * S };
	struct time_span s;

	assert_int_equal(time_span__parse(text, &s), 0);
	assert_int_equal(time_span__resolve(&s, &base), 0);
	if (s.from != from || s.to != to)
		fail_msg("%s: %llu to %llu", text, (unsigned long long)s.from,
			 (unsigned long long)s.to);
}

static void test_spans(void **state)
{
	check("1,2", S - 500, 2 * S + 499);
	check("1.5,", 3 * S / 2 - 500, UINT64_MAX);
	check(",0.0000001", 0, 100);
	check("0,0", 0, 499);
	check("18446744073.709551,", UINT64_C(18446744073709550500), UINT64_MAX);
	check("+1.5,+2", 100 * S + 3 * S / 2, 102 * S);
	check("+18446744000,", UINT64_MAX, UINT64_MAX);
	check("20%,30.5%", 120 * S, 130 * S + S / 2);
	check("0%,100%", 100 * S, 200 * S);
	check("101,50%", 101 * S - 500, 150 * S);
	check("23:59:30,00:00:20.5", 130 * S, 180 * S + S / 2);
	check("0:0,0:0:20", 160 * S, 180 * S);
	check("23:59,", 100 * S, UINT64_MAX);
	check("23:50:00,", 0, UINT64_MAX); /* before time 0 of the clock */
	check("12:00,", 0, UINT64_MAX);
	check("11:00,", 160 * S + 11 * 3600 * S, UINT64_MAX); /* of the next day */
}

static void test_refused(void **state)
{
	static const char *const wrong[] = {
		"",	  ",",	     "1",     "2,1",	       "1,2,3", "x,",	    "+,",
		"++1,",	  "-1,",     "%,",    "101%,",	       "3%,2%", "+2,+1",    "24:00,",
		"1:60,",  "1:2:61,", ":,",    "1:,",	       "1:2:,", "1:2:3:4,", "1:234,",
		"1:2.5,", "+1:2,",   "1:2%,", "1.0000000001,", "0x1,",	"1,,",
	};
	struct time_span s = { .from = 77 };
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (!time_span__parse(wrong[i], &s))
			fail_msg("accepted: %s", wrong[i]);
	assert_int_equal(s.from, 77);
}

static void test_resolve_errors(void **state)
{
	const struct time_base base = { .first_ts = 100 * S };
	struct time_span s;

	assert_int_equal(time_span__parse("1:00,", &s), 0);
	assert_int_equal(time_span__resolve(&s, &base), -ENODATA);
	assert_int_equal(time_span__parse("200,+1", &s), 0);
	assert_int_equal(time_span__resolve(&s, &base), -EINVAL);
}

static void test_extremes(void **state)
{
	/* A hostile recording: what is printed is some day. */
	const struct time_base base = {
		.first_ts = UINT64_MAX, .has_wall = true, .ts = 0, .wall_ns = INT64_MAX
	};
	struct strbuf b = { 0 };
	struct time_span s;

	assert_int_equal(time_span__parse("1:00,", &s), 0);
	if (!time_span__resolve(&s, &base))
		time_span__put(&s, &base, &b);
	assert_int_equal(time_span__parse("50%,+9", &s), 0);
	assert_int_equal(time_span__resolve(&s, &base), 0);
	strbuf__free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_resolve_errors),
		cmocka_unit_test(test_extremes),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
