// SPDX-License-Identifier: GPL-2.0-only
/* The parts of a phase add up to the whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "log.h"
#include "record/phases.h"

#define LINES 16

static char lines[LINES][128];
static unsigned int nr_lines;

static void keep_line(void *ctx, enum stk_log_level level, const char *message)
{
	assert_int_equal(level, STK_LOG_DEBUG);
	assert_true(nr_lines < LINES);
	snprintf(lines[nr_lines++], sizeof(lines[0]), "%s", message);
}

/* The number behind a text in a line, without its commas. */
static unsigned long long number_after(const char *line, const char *text)
{
	const char *at = strstr(line, text);
	unsigned long long n = 0;

	assert_non_null(at);
	for (at += strlen(text); *at != ' '; at++)
		if (*at != ',')
			n = n * 10 + (*at - '0');
	return n;
}

static void use_cpu(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 100 + 1; /* clock() rounds down */

	while (clock() < end)
		;
}

static void test_sum(void **state)
{
	struct timespec nap = { .tv_nsec = 10000000 };
	unsigned long long wall = 0, cpu = 0;
	struct phases p = { 0 };
	unsigned int i;

	nr_lines = 0;
	phases__begin(&p, "start");
	use_cpu();
	phases__part(&p, "busy");
	nanosleep(&nap, NULL);
	phases__part(&p, "asleep");
	phases__end(&p, "nothing");
	assert_int_equal(nr_lines, 4);
	for (i = 0; i < 3; i++) {
		wall += number_after(lines[i], "start: ");
		cpu += number_after(lines[i], "CPU ");
	}
	assert_int_equal(wall, number_after(lines[3], "start: "));
	assert_int_equal(cpu, number_after(lines[3], "CPU "));
	assert_non_null(strstr(lines[0], " ns: busy"));
	assert_non_null(strstr(lines[1], " ns: asleep"));
	assert_non_null(strstr(lines[3], " ns: in all"));
	assert_true(number_after(lines[0], "CPU ") >= 10000000);
	assert_true(number_after(lines[1], "start: ") >= 10000000);
	assert_true(number_after(lines[1], "CPU ") < number_after(lines[1], "start: "));
}

static void test_next_phase(void **state)
{
	struct phases p = { 0 };

	nr_lines = 0;
	phases__part(&p, "before any phase");
	phases__begin(&p, "start");
	phases__end(&p, "all of it");
	phases__part(&p, "between phases");
	phases__end(&p, "between phases");
	assert_int_equal(nr_lines, 2);
	phases__begin(&p, "end");
	phases__end(&p, "all of it");
	assert_int_equal(nr_lines, 4);
	assert_memory_equal(lines[3], "end: ", 5);
	phases__begin(NULL, "start");
	phases__part(NULL, "a part");
	phases__end(NULL, "a part");
	assert_int_equal(nr_lines, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_next_phase),
	};

	log_set_sink(keep_line, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
