/* SPDX-License-Identifier: GPL-2.0-only */
/* Strings behind pointers: the evaluator with the test's own reader. */
#include <stdint.h>

static long read_string(void *dst, uint64_t addr, int user);

#define FILTER_READ_STR(dst, addr, user) read_string((dst), (addr), (user))
#include "events/filter_eval.h"
#include "filter_test.h"

enum { KERNEL_HELLO = 0x1000, USER_HELLO = 0x2000, LONG = 0x3000 };

/* As bpf_probe_read_kernel_str() and bpf_probe_read_user_str(). */
static long read_string(void *dst, uint64_t addr, int user)
{
	memset(dst, '#', FILTER_STR_MAX);
	if (addr == (user ? USER_HELLO : KERNEL_HELLO)) {
		memcpy(dst, "hello", 6);
		return 6;
	}
	if (addr != LONG)
		return -14;
	memset(dst, 'x', FILTER_STR_MAX - 1);
	((char *)dst)[FILTER_STR_MAX - 1] = '\0';
	return FILTER_STR_MAX;
}

static void want(const char *expr, uint64_t pointer, bool selected)
{
	static struct filter_prog prog;
	static struct filter_input in;
	struct filter_record r = filter_record();
	char why[256];

	r.kptr = pointer;
	r.cptr = pointer;
	if (filter__compile(fmt, expr, &all_features, &prog, why, sizeof(why)))
		fail_msg("%s: %s", expr, why);
	in.len = sizeof(r);
	memcpy(in.rec, &r, sizeof(r));
	if (filter_eval(&prog, &in) != selected)
		fail_msg("%s of %#llx", expr, (unsigned long long)pointer);
}

static void test_kernel(void **state)
{
	want("kptr == 'hello'", KERNEL_HELLO, true);
	want("kptr == 'hell'", KERNEL_HELLO, false);
	want("kptr == 'hello#'", KERNEL_HELLO, false);
	want("kptr != 'hell'", KERNEL_HELLO, true);
	want("kptr ~ '*llo'", KERNEL_HELLO, true);
	want("kptr ~ '*#*'", KERNEL_HELLO, false);
	want("cptr ~ 'h[aeiou]l*o'", KERNEL_HELLO, true);
	want("cptr ~ '!*ell*'", KERNEL_HELLO, false);
	want("cptr ~ '!*elp*'", KERNEL_HELLO, true);
}

static void test_user(void **state)
{
	want("kptr.ustring == 'hello'", USER_HELLO, true);
	want("kptr.ustring != 'hello'", USER_HELLO, false);
	want("kptr.ustring ~ 'hel*'", USER_HELLO, true);
	want("kptr.ustring == 'hello'", KERNEL_HELLO, false);
	want("kptr == 'hello'", USER_HELLO, false);
}

/* An unreadable string is neither equal nor unequal. */
static void test_unreadable(void **state)
{
	want("kptr == 'hello'", 0, false);
	want("kptr != 'hello'", 0, false);
	want("kptr ~ '!*'", 0, false);
	want("!kptr == 'hello'", 0, true);
	want("!kptr != 'hello'", 0, true);
	want("kptr.ustring != 'x' || u8 == 0", 0, true);
}

/* The kernel, too, reads at most this many bytes. */
static void test_long(void **state)
{
	want("kptr ~ '*xxx'", LONG, true);
	want("kptr ~ '*xy*'", LONG, false);
	want("kptr ~ '*x[x]x*'", LONG, true);
	want("kptr ~ 'x*[y]'", LONG, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_user),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, filter_format__parse, filter_format__free);
}
