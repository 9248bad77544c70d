// SPDX-License-Identifier: GPL-2.0-only
/* The view of report --follow and record --live: sizes, clipping, titles. */
#include "live/live_view.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cleanup.h"
#include "strbuf.h"

#define MANY 200u /* rows */

static char *copy(const char *s)
{
	char *text = strdup(s);

	assert_non_null(text);
	return text;
}

static void fill(struct live_view *v, unsigned int nr, const char *text)
{
	*v = (struct live_view){
		.file = "trace.stk", .events = 1000, .window_ns = 2500000000, .nr_all = nr
	};
	while (v->nr_rows < nr) {
		const struct live_row row = { .self = 100 - v->nr_rows,
					      .all = 500,
					      .now = { 2, 5000, 2000, 3000, 3000 },
					      .since = { 40, 1000000, 2500, 9000, 99999 },
					      .text = copy(text) };

		assert_int_equal(live_view__add(v, row), 0);
	}
}

/* Checks the size of a page; returns the number of its lines. */
static unsigned int check_size(const struct strbuf *b, unsigned int width, unsigned int height)
{
	const char *line = b->s;
	unsigned int nr = 0, columns, i;
	size_t len;

	for (; *line; line += len + 1, nr++) {
		len = strcspn(line, "\n");
		assert_int_equal(line[len], '\n');
		for (i = columns = 0; i < len; i++)
			columns += ((unsigned char)line[i] & 0xc0) != 0x80;
		assert_true(columns <= width);
	}
	assert_true(nr <= height);
	return nr;
}

static void test_sizes(void **state)
{
	static const unsigned int widths[] = { 1, 20, 79, 80, 81, 132, 300 };
	static const unsigned int heights[] = { 5, 6, 7, 24, 100, 1000 };
	static struct live_view v;
	size_t i, k;

	fill(&v, MANY,
	     "caf\xc3\xa9_with_a_name_that_is_rather_long_and_goes_on_and_on "
	     "[a_file_whose_name_is_long.so.1.2.3]");
	for (i = 0; i < ARRAY_SIZE(widths); i++) {
		for (k = 0; k < ARRAY_SIZE(heights); k++) {
			_cleanup_(strbuf__free) struct strbuf b = { 0 };

			v.key = (i + k) % NR_LIVE_KEYS;
			v.interval_ns = (i + k) / NR_LIVE_KEYS % 2;
			live_view__text(&v, widths[i], heights[k], true, &b);
			assert_false(strbuf__failed(&b));
			assert_int_equal(check_size(&b, widths[i], heights[k]), heights[k]);
		}
	}
	live_view__clear(&v);
}

static void test_functions(void **state)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	static struct live_view v;

	fill(&v, 2, "do_futex");
	v.rate = 12345;
	v.lost = 7;
	live_view__text(&v, 80, 24, false, &b);
	assert_string_equal(b.s, "1,000 events in 2.50 s, 12,345/s now, 7 lost: trace.stk\n"
				 "2 functions of all events, since the start\n"
				 "      self*                 all          function\n"
				 "        100  10.00%         500  50.00%  do_futex\n"
				 "         99   9.90%         500  50.00%  do_futex\n");
	live_view__clear(&v);
}

static void test_stacks(void **state)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	static struct live_view v;

	fill(&v, 1, "schedule < futex_wait");
	v.key = LIVE_STACKS;
	v.event = copy("sched:sched_switch");
	v.zeroed = true;
	live_view__text(&v, 40, 6, true, &b);
	assert_string_equal(b.s, "1,000 events in 2.50 s: trace.stk\n"
				 "1 stack of sched:sched_switch, since z w\n"
				 "      count          stack, innermost fu\n"
				 "        500  50.00%  schedule < futex_wa\n"
				 "\n"
				 "k functions or stacks  e event  z set to\n");
	live_view__clear(&v);
	assert_null(v.event);
}

/* Without an interval the totals are alone in a line, with one they are above it or behind it. */
static void test_pairs(void **state)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	static struct live_view v;

	fill(&v, 1, "id=sched_get_priority_max");
	v.key = LIVE_PAIRS;
	v.nr_queries = 1;
	v.nr_pairs = 40;
	v.gaps = 3;
	v.lost = 1;
	v.pairs = copy("syscalls");
	live_view__text(&v, 80, 24, false, &b);
	assert_string_equal(
		b.s,
		"40 pairs in 2.50 s, 3 across a gap, 1 event lost: trace.stk\n"
		"1 group of syscalls, since the start\n"
		"     count  rate/s     sum*      p50      p99      max  group\n"
		"        40    16.0  1.00 ms  2.50 us  9.00 us   100 us  id=sched_get_priority_ma\n");
	strbuf__reset(&b);
	v.pair_order = LIVE_BY_P99;
	v.interval_ns = 500000000;
	v.rate = 4;
	live_view__text(&v, 80, 7, true, &b);
	assert_string_equal(
		b.s,
		"40 pairs in 2.50 s, 4/s now, 3 across a gap, 1 event lost: trace.stk\n"
		"1 group of syscalls, now: the last 500 ms, all: since the start\n"
		"        count  rate/s      sum      p50     p99*      max  group\n"
		"all        40    16.0  1.00 ms  2.50 us  9.00 us   100 us  id=sched_get_priority\n"
		"now         2    4.00  5.00 us  2.00 us  3.00 us  3.00 us  _max\n"
		"\n"
		"k functions, stacks or pairs  o order  z set to zero  q quit\n");
	strbuf__reset(&b);
	v.nr_queries = 2;
	live_view__text(&v, 137, 5, true, &b);
	assert_non_null(
		strstr(b.s, "\n        40    16.0  1.00 ms  2.50 us  9.00 us   100 us  id"));
	strbuf__reset(&b);
	live_view__text(&v, 137, 6, true, &b);
	assert_non_null(strstr(
		b.s, "\n now count  rate/s      sum      p50      p99      max   all count  rate/s"
		     "      sum      p50     p99*      max  group\n"
		     "         2    4.00  5.00 us  2.00 us  3.00 us  3.00 us          40    16.0"
		     "  1.00 ms  2.50 us  9.00 us   100 us  id=sched_get_priority_max\n"));
	assert_non_null(strstr(b.s, "\nk functions, stacks or pairs  e pairs  o order  z"));
	strbuf__reset(&b);
	v.pair_order = LIVE_BY_COUNT;
	live_view__text(&v, 137, 6, false, &b);
	assert_non_null(strstr(
		b.s, "\n now count  rate/s      sum      p50      p99      max  all count*  rate/s"
		     "      sum      p50      p99      max  group\n"
		     "         2    4.00  5.00 us  2.00 us  3.00 us  3.00 us          40    16.0"));
	live_view__clear(&v);
	assert_null(v.pairs);
}

/* As text, which has as many lines as are asked for: two for each group with an interval. */
static void test_many_rows(void **state)
{
	static const enum live_key keys[] = { LIVE_FUNCTIONS, LIVE_STACKS, LIVE_PAIRS };
	static struct live_view v;
	size_t i;

	fill(&v, MANY, "name");
	v.interval_ns = 500000000;
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		unsigned int lines = keys[i] == LIVE_PAIRS ? 2 * MANY : MANY;
		_cleanup_(strbuf__free) struct strbuf b = { 0 };

		v.key = keys[i];
		live_view__text(&v, 80, LIVE_OTHER_LINES + lines, false, &b);
		assert_int_equal(check_size(&b, 80, UINT_MAX), 3 + lines);
	}
	live_view__clear(&v);
}

/* A name that is too long for its line continues in the next one, by words. */
static void test_long_names(void **state)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	static struct live_view v;

	fill(&v, 1, "page_type=anon locked=1");
	v.key = LIVE_PAIRS;
	v.interval_ns = 1;
	v.rows[0].now = (struct live_times){ 0 };
	live_view__text(&v, 80, 24, false, &b);
	assert_non_null(strstr(b.s, "  page_type=anon \nnow         0       0        -        -  "
				    "      -        -  locked=1\n"));
	assert_int_equal(check_size(&b, 80, 24), 5);
	live_view__clear(&v);
}

/* Before the first event there are neither rows nor a whole. */
static void test_empty(void **state)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	static struct live_view v;

	fill(&v, 0, "");
	v.events = v.window_ns = 0;
	v.file = "evil\033[31m\n";
	live_view__text(&v, 80, 24, false, &b);
	assert_non_null(strstr(b.s, "0 events in 0 ns: evil\\x1b[31m\\x0a\n"));
	assert_int_equal(check_size(&b, 80, 24), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),	  cmocka_unit_test(test_functions),
		cmocka_unit_test(test_stacks),	  cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_many_rows), cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
