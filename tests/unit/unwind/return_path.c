// SPDX-License-Identifier: GPL-2.0-only
/* The way from a return address to the function's own return. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch_regs.h"
#include "unwind/return_path.h"

#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
#define RET 0xc3

static struct unw_state state;
static size_t used;
static uint8_t cfa = UNW_CFA_REG; /* as expected */

static bool find(const uint8_t *code, size_t len)
{
	return return_path__find(code, len, &state, &used);
}

static void expect(uint8_t reg, int64_t off, struct unw_place fp, struct unw_place bx)
{
	assert_int_equal(state.cfa, cfa);
	assert_int_equal(state.cfa_reg, reg);
	assert_int_equal(state.cfa_off, off);
	assert_int_equal(state.regs[UNW_OF_RA].how, UNW_AT_CFA);
	assert_int_equal(state.regs[UNW_OF_RA].off, -8);
	assert_int_equal(state.regs[UNW_OF_FP].how, fp.how);
	assert_int_equal(state.regs[UNW_OF_FP].off, fp.off);
	assert_int_equal(state.regs[UNW_OF_BX].how, bx.how);
	assert_int_equal(state.regs[UNW_OF_BX].off, bx.off);
}

static const struct unw_place same = { UNW_SAME, 0 }, lost = { UNW_LOST, 0 };

static struct unw_place at(int64_t off)
{
	return (struct unw_place){ UNW_AT_CFA, off };
}

static void by_stack_pointer(void **test)
{
	/* add $8,%rsp; ret: CPython's trampoline */
	assert_true(find(BYTES(0x48, 0x83, 0xc4, 8, RET, 0x90)));
	expect(UNW_REG_SP, 16, same, same);
	assert_int_equal(used, 5);
	/* add $24,%rsp; pop %rbx; pop %rbp; ret */
	assert_true(find(BYTES(0x48, 0x83, 0xc4, 24, 0x5b, 0x5d, RET)));
	expect(UNW_REG_SP, 48, at(-16), at(-24));
}

static void by_frame_pointer(void **test)
{
	/* leave; ret */
	assert_true(find(BYTES(0xc9, RET)));
	expect(UNW_REG_FP, 16, at(-16), same);
	/* mov %rbp,%rsp; pop %rbp; ret $16 */
	assert_true(find(BYTES(0x48, 0x89, 0xec, 0x5d, 0xc2, 16, 0)));
	expect(UNW_REG_FP, 16, at(-16), same);
	/* lea -8(%rbp),%rsp; pop %rbx; pop %rbp; ret */
	assert_true(find(BYTES(0x48, 0x8d, 0x65, 0xf8, 0x5b, 0x5d, RET)));
	expect(UNW_REG_FP, 16, at(-16), at(-24));
}

/* Code that may be that of another function: what is found is a guess. */
static void through_other_code(void **test)
{
	cfa = UNW_CFA_GUESS;
	assert_true(find(BYTES(RET)));
	expect(UNW_REG_SP, 8, same, same);
	assert_int_equal(used, 1);
	/* mov %rax,%rbp, which nothing restores */
	assert_true(find(BYTES(0x48, 0x89, 0xc5, RET)));
	expect(UNW_REG_SP, 8, lost, same);
	/* interrupted at the start: push %rbp; mov %rsp,%rbp; leave; ret */
	assert_true(find(BYTES(0x55, 0x48, 0x89, 0xe5, 0xc9, RET)));
	expect(UNW_REG_SP, 8, same, same);
	/* call, jz +1, nop, add $8,%rsp, ret */
	assert_true(find(BYTES(0xe8, 1, 2, 3, 4, 0x74, 1, 0x90, 0x48, 0x83, 0xc4, 8, RET)));
	expect(UNW_REG_SP, 16, same, same);
	/* jmp over an instruction that stops */
	assert_true(find(BYTES(0xeb, 1, 0xcc, RET)));
	expect(UNW_REG_SP, 8, same, same);
	/* push %rax; call: who removes that word? */
	assert_false(find(BYTES(0x50, 0xe8, 1, 2, 3, 4, 0x58, RET)));
}

static void not_found(void **test)
{
	uint8_t nops[2 * RETURN_PATH_MAX];

	assert_false(find(BYTES(0x90)));
	assert_false(find(BYTES(0xcc, RET)));
	assert_false(find(BYTES(0x59, 0xff, 0xe1))); /* pop %rcx; jmp *%rcx */
	assert_false(find(BYTES(0xeb, 0xfe))); /* jmp . */
	assert_false(find(BYTES(0xeb, 0x7f, RET)));
	assert_false(find(BYTES(0x50, RET))); /* push %rax: no return address there */
	assert_false(find(BYTES(0x48, 0x83, 0xc4, 4, RET))); /* not aligned */
	assert_false(find(BYTES(0x48, 0x89, 0xc4, RET))); /* mov %rax,%rsp */
	assert_false(find(BYTES(0x31, 0xed, 0xc9, RET))); /* xor %ebp,%ebp; leave */
	memset(nops, 0x90, sizeof(nops));
	nops[sizeof(nops) - 1] = RET;
	assert_false(find(nops, sizeof(nops)));
}

/* The rule says whether what it leads to is a guess. */
static void rule(void **test)
{
	struct unw_rules rules = { 0 };
	uint32_t short_rule;

	assert_true(find(BYTES(0x48, 0x83, 0xc4, 8, 0x5d, RET)));
	assert_int_equal(unw_rules__encode(&rules, &state, &short_rule), 0);
	assert_int_equal(short_rule, UNW_SIMPLE(0, 3, 2, 0));
	assert_true(find(BYTES(0x90, 0x48, 0x83, 0xc4, 8, 0x5d, RET)));
	assert_int_equal(unw_rules__encode(&rules, &state, &short_rule), 0);
	assert_int_equal(short_rule, UNW_ESCAPE | UNW_ESCAPE_RULES);
	assert_int_equal(rules.nr, 1);
	assert_true(rules.v[0] == UNW_RULE(UNW_CFA_GUESS, UNW_REG_SP, UNW_SAVED_CFA, -2,
					   UNW_SAVED_NOT, 0, 0, 0, 24));
	unw_rules__free(&rules);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_stack_pointer),
		cmocka_unit_test(by_frame_pointer),
		cmocka_unit_test(through_other_code),
		cmocka_unit_test(not_found),
		cmocka_unit_test(rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
