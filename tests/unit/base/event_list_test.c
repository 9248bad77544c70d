// SPDX-License-Identifier: GPL-2.0-only
/* Lists of events are split at commas, but not at those of a function's name. */
#include "event_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

/* want: the items, each followed by '|'. */
static void expect(const char *list, const char *want)
{
	_cleanup_free_ char *copy = strdup(list);
	char got[256] = "", *rest = copy, *item;

	assert_non_null(copy);
	while ((item = event_list__next(&rest)))
		strcat(strcat(got, item), "|");
	assert_string_equal(got, want);
	assert_null(rest);
}

static void test_items(void **state)
{
	expect("sched_switch", "sched_switch|");
	expect("sched:*,sys_enter_*", "sched:*|sys_enter_*|");
	expect(",a,,b,", "|a||b||");
	expect("", "|");
	expect("u:p:f(int, int),sched", "u:p:f(int, int)|sched|");
	expect("a,u:p:g<int, h<1, 2> >(void (*)(int, char)),b",
	       "a|u:p:g<int, h<1, 2> >(void (*)(int, char))|b|");
}

/* Operators have no brackets in their names, and a name may be cut anywhere. */
static void test_operators(void **state)
{
	expect("u:p:operator<,a>b,c", "u:p:operator<|a>b|c|");
	expect("u:p:A::operator<<(B, C),d", "u:p:A::operator<<(B, C)|d|");
	expect("u:p:operator()(int, int),d", "u:p:operator()(int, int)|d|");
	expect("u:p:operator->,u:p:operator<=>,d", "u:p:operator->|u:p:operator<=>|d|");
	expect("u:p:my_operator<int, int>,d", "u:p:my_operator<int, int>|d|");
	expect("u:p:f(int,b", "u:p:f(int|b|");
	expect("a),b", "a)|b|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_items),
		cmocka_unit_test(test_operators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
