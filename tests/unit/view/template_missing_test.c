// SPDX-License-Identifier: GPL-2.0-only
/* A build without the page says so, and what it needs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "../last_message.h"
#include "view/template.h"

static void test_missing(void **state)
{
	const char *text = "untouched";
	size_t len = 1;

	log_set_sink(keep_message, NULL);
	assert_int_equal(view_template__get(&text, &len), -ENOSYS);
	assert_string_equal(text, "untouched");
	assert_int_equal(len, 1);
	assert_string_equal(last_message,
			    "this stackonce was built without the page of 'view', which needs a "
			    "thing: install that, then build again");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_missing) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
