// SPDX-License-Identifier: GPL-2.0-only
/* Where a walk ends: a return address or a frame pointer of 0, after guesses of both kinds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cleanup.h"

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#include "unwind/walk.h"

#define STACK 0x7000

static u64 stack[8];

static int unw_read(struct unw_walk *w, u64 addr, u64 *ret)
{
	u64 i = (addr - STACK) / 8;

	if (i >= ARRAY_SIZE(stack))
		return -1;
	*ret = stack[i];
	return 0;
}

static int unw_read_regs(struct unw_walk *w, u64 addr)
{
	return -1;
}

#include "unwind/step.h"

#define RULE(kind) \
	UNW_RULE(kind, UNW_REG_SP, UNW_SAVED_NOT, 0, UNW_SAVED_NOT, 0, 0, 0, 8) /* CFA = sp + 8 */

static struct unw_walk begin(u64 return_address)
{
	memset(stack, 0, sizeof(stack));
	stack[0] = return_address;
	return (struct unw_walk){ .ip = 0x1000, .sp = STACK, .flags = UNW_EXACT };
}

static void by_tables(void **state)
{
	struct unw_walk w = begin(0);

	(void)state;
	assert_int_equal(unw_wide(&w, RULE(UNW_CFA_REG)), UNW_COMPLETE);
	assert_int_equal(unw_stack_end(UNW_COMPLETE, w.flags), STK_END_COMPLETE);
}

/* With the code of another function than the one that ran, anything may be read as the return. */
static void guessed_from_code(void **state)
{
	struct unw_walk w = begin(0);

	(void)state;
	assert_int_equal(unw_wide(&w, RULE(UNW_CFA_GUESS)), UNW_NO_RULE);
	w = begin(0x2000);
	assert_int_equal(unw_wide(&w, RULE(UNW_CFA_GUESS)), UNW_GO);
	assert_int_equal(w.ip, 0x2000);
	/* stack[1] is 0 */
	assert_int_equal(unw_wide(&w, RULE(UNW_CFA_REG)), UNW_NO_RULE);
	w = begin(0x2000);
	assert_int_equal(unw_wide(&w, RULE(UNW_CFA_GUESS)), UNW_GO);
	assert_int_equal(unw_guess(&w), UNW_NO_RULE); /* the frame pointer is 0 */
}

static void by_frame_pointers(void **state)
{
	struct unw_walk w = begin(0);

	(void)state;
	w.fp = STACK;
	stack[1] = 0x2000;
	assert_int_equal(unw_guess(&w), UNW_GO);
	assert_int_equal(w.ip, 0x2000);
	assert_int_equal(unw_guess(&w), UNW_COMPLETE);
	assert_int_equal(unw_stack_end(UNW_COMPLETE, w.flags), STK_END_FALLBACK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_tables),
		cmocka_unit_test(guessed_from_code),
		cmocka_unit_test(by_frame_pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
