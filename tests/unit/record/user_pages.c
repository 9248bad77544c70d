// SPDX-License-Identifier: GPL-2.0-only
/* Where the RAM ends, beyond which no entry of a page table leads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cleanup.h"
#include "record/bpf/user_pages.h"

static uint64_t end_of(const char *text)
{
	_cleanup_fclose_ FILE *f = fmemopen((void *)text, strlen(text), "r");

	assert_non_null(f);
	return user_pages__ram_end(f);
}

static void test_ram_end(void **state)
{
	assert_int_equal(end_of("00001000-0009fbff : System RAM\n"
				"000a0000-000bffff : PCI Bus 0000:00\n"
				"00100000-bfffffff : System RAM\n"
				"  01000000-01ffffff : Kernel code\n"
				"c0000000-febfffff : PCI Bus 0000:00\n"
				"100000000-23fffffff : System RAM\n"
				"380000000000-3807ffffffff : PCI Bus 0000:00\n"),
			 0x240000000);
}

/* Part of another resource, and a name that only begins like it. */
static void test_others(void **state)
{
	assert_int_equal(end_of("00001000-00001fff : System RAM\n"
				"00002000-00002fff : System RAM (kmem)\n"
				"00003000-0000ffff : CXL Window 0\n"
				"  00004000-00007fff : System RAM\n"),
			 0x8000);
}

/* Who may not see addresses reads zeroes. */
static void test_hidden(void **state)
{
	assert_int_equal(end_of("00000000-00000000 : System RAM\n"
				"00000000-00000000 : System RAM\n"),
			 0);
	assert_int_equal(end_of("no list of resources\n"), 0);
	assert_int_equal(end_of("\n"), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ram_end),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
