// SPDX-License-Identifier: GPL-2.0-only
/* The set of user frames is limited; a warning says once that it is full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frame.h"
#include "log.h"
#include "record/files/user_frames.h"

static unsigned int warnings;

static void count_log(void *ctx, enum stk_log_level level, const char *msg)
{
	warnings += level == STK_LOG_WARN;
}

static void test_limit(void **state)
{
	struct user_frames u = { 0 };
	uint64_t i;

	log_set_sink(count_log, NULL);
	for (i = 0; i < USER_FRAMES_MAX; i++)
		assert_int_equal(user_frames__add(&u, FRAME_USER(1, i)), 0);
	assert_int_equal(user_frames__add(&u, FRAME_USER(1, 0)), 0);
	assert_int_equal(warnings, 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(user_frames__add(&u, FRAME_USER(2, i)), 0);
	assert_int_equal(u.nr, USER_FRAMES_MAX);
	assert_int_equal(warnings, 1);
	user_frames__clear(&u);
	assert_int_equal(u.nr, 0);
	log_set_sink(NULL, NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
