// SPDX-License-Identifier: GPL-2.0-only
/* Parses user input: numbers, sizes, times, lists, globs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "ui/ui.h"

static void test_u64(void **state)
{
	uint64_t v = 77;

	assert_int_equal(parse__u64("0", 0, 10, &v), 0);
	assert_int_equal(v, 0);
	assert_int_equal(parse__u64("18446744073709551615", 0, UINT64_MAX, &v), 0);
	assert_true(v == UINT64_MAX);
	v = 77;
	assert_int_equal(parse__u64("18446744073709551616", 0, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(parse__u64("11", 0, 10, &v), -ERANGE);
	assert_int_equal(parse__u64("1", 2, 10, &v), -ERANGE);
	assert_int_equal(parse__u64("", 0, 10, &v), -EINVAL);
	assert_int_equal(parse__u64("-1", 0, 10, &v), -EINVAL);
	assert_int_equal(parse__u64("+1", 0, 10, &v), -EINVAL);
	assert_int_equal(parse__u64(" 1", 0, 10, &v), -EINVAL);
	assert_int_equal(parse__u64("1 ", 0, 10, &v), -EINVAL);
	assert_int_equal(parse__u64("1x", 0, 10, &v), -EINVAL);
	assert_int_equal(parse__u64("0x1", 0, 10, &v), -EINVAL);
	assert_int_equal(v, 77);
}

static void test_size(void **state)
{
	uint64_t v = 77;

	assert_int_equal(parse__size("64K", 0, UINT64_MAX, &v), 0);
	assert_int_equal(v, 65536);
	assert_int_equal(parse__size("8m", 0, UINT64_MAX, &v), 0);
	assert_int_equal(v, 8 << 20);
	assert_int_equal(parse__size("1G", 0, UINT64_MAX, &v), 0);
	assert_int_equal(v, 1 << 30);
	assert_int_equal(parse__size("4096", 0, UINT64_MAX, &v), 0);
	assert_int_equal(v, 4096);
	v = 77;
	assert_int_equal(parse__size("64KB", 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(parse__size("K", 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(parse__size("1.5M", 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(parse__size("17179869184G", 0, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(parse__size("65K", 0, 65536, &v), -ERANGE);
	assert_int_equal(v, 77);
}

static void test_seconds(void **state)
{
	uint64_t v = 77;

	assert_int_equal(parse__seconds("10", &v), 0);
	assert_true(v == 10000000000ULL);
	assert_int_equal(parse__seconds("0.5", &v), 0);
	assert_true(v == 500000000ULL);
	assert_int_equal(parse__seconds(".25", &v), 0);
	assert_true(v == 250000000ULL);
	assert_int_equal(parse__seconds("3.", &v), 0);
	assert_true(v == 3000000000ULL);
	assert_int_equal(parse__seconds("1.000000001", &v), 0);
	assert_true(v == 1000000001ULL);
	v = 77;
	assert_int_equal(parse__seconds("1.0000000001", &v), -EINVAL);
	assert_int_equal(parse__seconds(".", &v), -EINVAL);
	assert_int_equal(parse__seconds("", &v), -EINVAL);
	assert_int_equal(parse__seconds("-1", &v), -EINVAL);
	assert_int_equal(parse__seconds("1s", &v), -EINVAL);
	assert_int_equal(parse__seconds("1e3", &v), -EINVAL);
	assert_int_equal(parse__seconds("18446744074", &v), -ERANGE);
	assert_int_equal(v, 77);
}

static void test_num_set(void **state)
{
	_cleanup_(num_set__free) struct num_set set = { 0 };

	assert_int_equal(num_set__parse("0-3,8", 100, &set), 0);
	assert_int_equal(num_set__parse("50", 100, &set), 0);
	assert_true(num_set__has(&set, 0));
	assert_true(num_set__has(&set, 3));
	assert_false(num_set__has(&set, 4));
	assert_true(num_set__has(&set, 8));
	assert_true(num_set__has(&set, 50));
	assert_false(num_set__has(&set, 9));
	assert_int_equal(num_set__parse("3-1", 100, &set), -ERANGE);
	assert_int_equal(num_set__parse("101", 100, &set), -ERANGE);
	assert_int_equal(num_set__parse("1,", 100, &set), -EINVAL);
	assert_int_equal(num_set__parse(",1", 100, &set), -EINVAL);
	assert_int_equal(num_set__parse("1;2", 100, &set), -EINVAL);
	assert_int_equal(num_set__parse("", 100, &set), -EINVAL);
}

static void test_glob(void **state)
{
	assert_true(globs__match("sched:*", "sched:sched_switch"));
	assert_true(globs__match("irq:*,sched:*", "sched:sched_switch"));
	assert_false(globs__match("sched", "sched:sched_switch"));
	assert_false(globs__match("irq:*,", "sched:sched_switch"));
	assert_true(globs__match("[a-z]?hed:*", "sched:sched_switch"));
	assert_true(glob__matches("operator[]", "operator[]"));
	assert_false(glob__matches("a,b", "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_u64),	cmocka_unit_test(test_size),
		cmocka_unit_test(test_seconds), cmocka_unit_test(test_num_set),
		cmocka_unit_test(test_glob),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
