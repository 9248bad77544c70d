// SPDX-License-Identifier: GPL-2.0-only
/* Each table that was full is named once, with the number of times over all event types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "log.h"
#include "record/full_tables.h"
#include "strbuf.h"

static struct strbuf messages;

static void keep(void *ctx, enum stk_log_level level, const char *msg)
{
	assert_int_equal(level, STK_LOG_WARN);
	strbuf__printf(&messages, "%s\n", msg);
}

static unsigned int nr_messages(void)
{
	unsigned int nr = 0;
	const char *s = messages.s ?: "";

	while ((s = strchr(s, '\n'))) {
		nr++;
		s++;
	}
	return nr;
}

static void nothing_was_full(void **state)
{
	uint64_t counters[2][STK_NR_COUNTERS] = { 0 };

	counters[0][STK_C_LOST_RING] = counters[1][STK_C_USTACK_FULL] = 7;
	full_tables__warn((const uint64_t(*)[STK_NR_COUNTERS])counters, 2);
	assert_int_equal(nr_messages(), 0);
}

static void each_table(void **state)
{
	static const enum stk_counter full[] = {
#define COUNTER(c, number, name, listed) STK_C_##c,
		STK_COUNTERS_FULL(COUNTER)
	};
	uint64_t counters[2][STK_NR_COUNTERS] = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(full); i++) {
		counters[0][full[i]] = 1000;
		counters[1][full[i]] = i + 1;
	}
	full_tables__warn((const uint64_t(*)[STK_NR_COUNTERS])counters, 2);
	assert_int_equal(nr_messages(), ARRAY_SIZE(full));
	assert_non_null(strstr(messages.s, "1,001 times a file found no room in the file map"));
	assert_non_null(strstr(messages.s, "1,002 times a name of a file found no room"));
	assert_non_null(strstr(messages.s, "1,006 events lack a stack"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_was_full),
		cmocka_unit_test(each_table),
	};

	log_set_sink(keep, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
