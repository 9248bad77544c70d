// SPDX-License-Identifier: GPL-2.0-only
/* Rows of hand-made call frame information. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "frames.h"
#include "arch_regs.h"

/* One FDE of 64 bytes at 0x100 with these instructions, of a common CIE. */
static void one(const uint8_t *insns, size_t len)
{
	section->len = 0;
	common_cie();
	fde(0x100, 64, insns, len);
	make_eh();
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void prologue_and_epilogue(void **state)
{
	one(BYTES(0x41, 0x0e, 16, 0x86, 2, /* 1: push rbp */
		  0x43, 0x0d, 6, /* 4: mov rbp, rsp */
		  0x41, 0x83, 3, /* 5: push rbx */
		  0x48, 0x0a, 0x0c, 7, 8, 0xc6, 0xc3, /* 13: leave etc. */
		  0x41, 0x0b /* 14: as before */));
	assert_rule(0x100, 0x101, SP(1, 0, 0));
	assert_rule(0x101, 0x104, SP(2, 2, 0));
	assert_rule(0x104, 0x105, FP(2, 2, 0));
	assert_rule(0x105, 0x10d, FP(2, 2, 3));
	assert_rule(0x10d, 0x10e, SP(1, 0, 0));
	assert_rule(0x10e, 0x140, FP(2, 2, 3));
	assert_int_equal(table->nr_rules, 0);
	assert_int_equal(table->unknown, 0);
	assert_int_equal(table->nr_pages, 1);
	assert_int_equal(table->first_page, IMAGE_CODE_OFFSET >> UNW_PAGE_SHIFT);
}

static void advances(void **state)
{
	static const uint8_t insns[] = { 0x02, 0xff, 0x0e, 16, 0x03, 0, 1, 0x0e, 24, 0x04, 0, 0x10,
					 0,    0,    0x0e, 32, 0x01, 0, 0, 0,	 0,  0x0e, 40 };
	uint32_t at, rel;

	common_cie();
	fde(0, 0x6000, insns, sizeof(insns));
	/* set_loc's address has the CIE's encoding: here relative to its own place */
	at = (uint32_t)(section->cie + 24 + 17 + 17); /* CIE, first FDE, instructions before */
	rel = (uint32_t)(IMAGE_CODE + 0x4321 - (section_addr() + at));
	memcpy(section->v + at, &rel, 4);
	make_eh();
	assert_int_equal(rule_at(0xfe), SP(1, 0, 0));
	assert_rule(0xff, 0x1ff, SP(2, 0, 0));
	assert_rule(0x1ff, 0x11ff, SP(3, 0, 0));
	assert_rule(0x11ff, 0x4321, SP(4, 0, 0));
	assert_rule(0x4321, 0x6000, SP(5, 0, 0));
	assert_int_equal(table->nr_pages, 6);
}

static void offsets(void **state)
{
	one(BYTES(0x05, 6, 2, 0x41, 0x11, 6, 3, 0x41, 0x2f, 6, 4, 0x41, 0x12, 7, 0x7e, 0x41, 0x13,
		  0x7d, 0x41, 0x06, 6, 0x41, 0x2e, 5, 0x16, 3, 0, 0x41, 0x08, 3));
	assert_int_equal(rule_at(0x100), SP(1, 2, 0));
	assert_int_equal(rule_at(0x101), SP(1, 3, 0));
	/* an offset above the CFA does not fit into a row */
	assert_int_equal(wide_at(0x102), UNW_RULE(UNW_CFA_REG, 7, UNW_SAVED_CFA, 4, 0, 0, 0, 0, 8));
	assert_int_equal(wide_at(0x103),
			 UNW_RULE(UNW_CFA_REG, 7, UNW_SAVED_CFA, 4, 0, 0, 0, 0, 16));
	assert_int_equal(wide_at(0x104),
			 UNW_RULE(UNW_CFA_REG, 7, UNW_SAVED_CFA, 4, 0, 0, 0, 0, 24));
	assert_int_equal(rule_at(0x105), SP(3, 0, 0));
	assert_int_equal(wide_at(0x106),
			 UNW_RULE(UNW_CFA_REG, 7, 0, 0, UNW_SAVED_LOST, 0, 0, 0, 24));
	assert_int_equal(rule_at(0x107), SP(3, 0, 0));
}

static void lost_registers(void **state)
{
	static const uint8_t ways[][3] = {
		{ 0x09, 6, 9 }, { 0x14, 6, 1 }, { 0x15, 6, 1 }, { 0x07, 6, 0 }
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		one(ways[i], sizeof(ways[i]));
		assert_int_equal(wide_at(0x100),
				 UNW_RULE(UNW_CFA_REG, 7, UNW_SAVED_LOST, 0, 0, 0, 0, 0, 8));
	}
	one(BYTES(0x05, 6, 15, 0x05, 3, 14));
	assert_int_equal(rule_at(0x100), SP(1, 15, 14));
	one(BYTES(0x05, 6, 16));
	assert_int_equal(wide_at(0x100),
			 UNW_RULE(UNW_CFA_REG, 7, UNW_SAVED_CFA, -16, 0, 0, 0, 0, 8));
	one(BYTES(0x05, 6, 0x81, 1)); /* CFA - 1032 */
	assert_int_equal(wide_at(0x100),
			 UNW_RULE(UNW_CFA_REG, 7, UNW_SAVED_LOST, 0, 0, 0, 0, 0, 8));
	one(BYTES(0x14, 7, 0)); /* the stack pointer is the CFA: the default */
	assert_int_equal(rule_at(0x100), SP(1, 0, 0));
	one(BYTES(0x14, 7, 1));
	assert_int_equal(rule_at(0x100), NONE);
	one(BYTES(0x08, 7)); /* it is not: the caller's is still in the register */
	assert_int_equal(rule_at(0x100), NONE);
	assert_int_equal(table->unknown, 1);
}

static void other_cfas(void **state)
{
	one(BYTES(0x0c, 10, 0, 0x41, 0x0c, 3, 16, 0x41, 0x0c, 7, 12, 0x41, 0x0c, 7, 0x88, 0x40,
		  0x41, 0x0c, 16, 8, 0x41, 0x0c, 7, 0x80, 0x80, 0x80, 4, 0x41, 0x0e, 0xf8, 0x3f));
	assert_int_equal(wide_at(0x100), UNW_RULE(UNW_CFA_REG, 10, 0, 0, 0, 0, 0, 0, 0));
	assert_int_equal(wide_at(0x101), UNW_RULE(UNW_CFA_REG, 3, 0, 0, 0, 0, 0, 0, 16));
	assert_int_equal(wide_at(0x102), UNW_RULE(UNW_CFA_REG, 7, 0, 0, 0, 0, 0, 0, 12));
	assert_int_equal(wide_at(0x103), UNW_RULE(UNW_CFA_REG, 7, 0, 0, 0, 0, 0, 0, 8200));
	assert_int_equal(rule_at(0x104), NONE); /* of the return address */
	assert_int_equal(rule_at(0x105), NONE); /* too far */
	assert_int_equal(rule_at(0x106), SP(1023, 0, 0));
	assert_int_equal(table->unknown, 2);
	one(BYTES(0x0e, 0x80, 0x40));
	assert_int_equal(wide_at(0x100), UNW_RULE(UNW_CFA_REG, 7, 0, 0, 0, 0, 0, 0, 8192));
}

static void return_addresses(void **state)
{
	one(BYTES(0x07, 16, 0x41, 0x90, 2, 0x41, 0x09, 16, 2, 0x41, 0xd0, 0x41, 0x90, 16));
	assert_rule(0x100, 0x101, END);
	assert_int_equal(wide_at(0x101), UNW_RULE(UNW_CFA_REG, 7, 0, 0, 0, 0, 2, 0, 8));
	assert_int_equal(wide_at(0x102), UNW_RULE(UNW_CFA_RA_REG, 7, 0, 0, 0, 0, 0, 2, 8));
	assert_rule(0x103, 0x104, SP(1, 0, 0));
	assert_int_equal(rule_at(0x104), NONE);
}

static void expressions(void **state)
{
	static const struct {
		uint8_t len, ops[12];
		uint64_t rule; /* 0: none */
	} forms[] = {
		{ 11,
		  { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 },
		  UNW_RULE(UNW_CFA_PLT, 7, 0, 0, 0, 0, 0, 11, 8) },
		{ 11,
		  { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x22 },
		  UNW_RULE(UNW_CFA_PLT, 7, 0, 0, 0, 0, 0, 10, 8) },
		{ 11, { 0x76, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x22 }, 0 },
		{ 11, { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x1c }, 0 },
		{ 3, { 0x76, 0x58, 0x06 }, UNW_RULE(UNW_CFA_DEREF, 6, 0, 0, 0, 0, 0, 0, -40) },
		{ 5,
		  { 0x77, 0x28, 0x06, 0x23, 8 },
		  UNW_RULE(UNW_CFA_DEREF, 7, 0, 0, 0, 0, 0, 8, 40) },
		{ 5,
		  { 0x73, 0, 0x06, 0x38, 0x22 },
		  UNW_RULE(UNW_CFA_DEREF, 3, 0, 0, 0, 0, 0, 8, 0) },
		{ 6,
		  { 0x7a, 0, 0x06, 0x08, 8, 0x22 },
		  UNW_RULE(UNW_CFA_DEREF, 10, 0, 0, 0, 0, 0, 8, 0) },
		{ 6,
		  { 0x77, 0, 0x06, 0x09, 0xf8, 0x22 },
		  UNW_RULE(UNW_CFA_DEREF, 7, 0, 0, 0, 0, 0, -8, 0) },
		{ 6, { 0x77, 0, 0x06, 0x23, 0x80, 1 }, 0 }, /* plus 128 */
		{ 5, { 0x77, 0, 0x06, 0x38, 0x1c }, 0 }, /* minus */
		{ 4, { 0x77, 0, 0x06, 0x06 }, 0 },
		{ 5, { 0x92, 0x0c, 8, 0x23, 8 }, UNW_RULE(UNW_CFA_REG, 12, 0, 0, 0, 0, 0, 0, 16) },
		{ 1, { 0x77 }, 0 },
		{ 2, { 0x9c, 0x06 }, 0 },
	};
	uint8_t insns[32] = { 0x41, 0x0f };

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		insns[2] = forms[i].len;
		memcpy(insns + 3, forms[i].ops, forms[i].len);
		memcpy(insns + 3 + forms[i].len, (const uint8_t[]){ 0x41, 0x0c, 7, 8 }, 4);
		one(insns, 3u + forms[i].len + 4);
		if (forms[i].rule)
			assert_int_equal(wide_at(0x101), forms[i].rule);
		else
			assert_int_equal(rule_at(0x101), NONE);
		assert_int_equal(rule_at(0x100), SP(1, 0, 0));
		assert_rule(0x102, 0x140, SP(1, 0, 0));
	}
	one(BYTES(0x0f, 2, 0x77, 16));
	assert_int_equal(rule_at(0x100), SP(2, 0, 0)); /* equivalent to a rule without expression */
	one(BYTES(0x0f, 3, 0x77, 16, 0x06, 0x0e, 8));
	assert_int_equal(rule_at(0x100), NONE); /* an offset without a register */
}

/* A function that realigns its stack keeps the CFA in the frame, and saves relative to rbp. */
static void realigned(void **state)
{
	one(BYTES(0x10, 6, 2, 0x76, 0, 0x0f, 3, 0x76, 0x70, 0x06, 0x10, 3, 2, 0x76, 0x58));
	assert_int_equal(wide_at(0x100),
			 UNW_RULE(UNW_CFA_DEREF, 6, UNW_SAVED_FP, 0, UNW_SAVED_FP, -5, 0, 0, -16));
	/* relative to the CFA if that is also based on the frame pointer */
	one(BYTES(0x0c, 6, 16, 0x10, 6, 2, 0x76, 0, 0x10, 3, 2, 0x76, 0x78));
	assert_int_equal(rule_at(0x100), FP(2, 2, 3));
	one(BYTES(0x0e, 32, 0x10, 6, 2, 0x77, 8, 0x10, 3, 3, 0x77, 0, 0x06));
	assert_int_equal(wide_at(0x100),
			 UNW_RULE(UNW_CFA_REG, 7, UNW_SAVED_CFA, -3, UNW_SAVED_LOST, 0, 0, 0, 32));
}

static void broken_programs(void **state)
{
	uint8_t many[40];

	one(BYTES(0x41, 0x0e, 16, 0x41, 0x3f, 0x0e, 24)); /* invalid instruction */
	assert_rule(0x101, 0x102, SP(2, 0, 0));
	assert_rule(0x102, 0x140, NONE);
	one(BYTES(0x41, 0x0b)); /* restore_state without remember_state */
	assert_rule(0x101, 0x140, NONE);
	memset(many, 0x0a, sizeof(many));
	one(many, sizeof(many)); /* too many remember_state */
	assert_int_equal(rule_at(0x100), NONE);
	one(BYTES(0x41, 0x0e, 16, 0x0f, 0x60)); /* beyond the end */
	assert_int_equal(rule_at(0x101), NONE);
	one(BYTES(0x41, 0x0e, 16, 0x01, 0, 0, 0xfe, 0xff)); /* set_loc backwards */
	assert_rule(0x101, 0x140, NONE);
	one(BYTES(0x0e, 16, 0x7f, 0x7f, 0x0e, 24)); /* instructions after the end have no effect */
	assert_rule(0x100, 0x140, SP(2, 0, 0));
}

static void encodings(void **state)
{
	static const uint8_t encs[] = {
		0x00, 0x03, 0x04, 0x0b, 0x0c, 0x10, 0x14, 0x1b, 0x1c, 0x50
	};

	for (size_t i = 0; i < sizeof(encs); i++) {
		section->len = 0;
		cie_full("zR", &encs[i], 1, BYTES(COMMON));
		fde_enc(encs[i], 0x100, 64, BYTES(0x41, 0x0e, 16));
		make_eh();
		assert_rule(0x101, 0x140, SP(2, 0, 0));
	}
	section->len = 0; /* an indirect address is not supported */
	cie_full("zR", BYTES(0x9b), BYTES(COMMON));
	fde_enc(0x1b, 0x100, 64, BYTES(0x0e, 16));
	common_cie();
	fde(0x200, 64, BYTES(0x0e, 24));
	make_eh();
	assert_int_equal(rule_at(0x100), NONE);
	assert_rule(0x200, 0x240, SP(3, 0, 0));
}

static void augmentations(void **state)
{
	static const uint8_t sigreturn[] = { 0x0f, 4,  0x77, 0xa0, 1,	 0x06,
					     0x10, 16, 3,    0x77, 0xa8, 1 };

	cie_full("zPLR", BYTES(0x9b, 1, 2, 3, 4, 0x1b, 0x1b), BYTES(COMMON));
	fde(0x100, 64, BYTES(0x0e, 16));
	cie_full("zPLR", BYTES(0x50, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8),
		 BYTES(COMMON));
	fde(0x180, 64, BYTES(0x0e, 16)); /* the encoding follows an invalid personality pointer */
	cie_full("zRX", BYTES(0x1b, 0), BYTES(COMMON));
	fde(0x200, 64, BYTES(0x0e, 16));
	cie_full("eh", BYTES(0x1b), BYTES(COMMON));
	fde(0x280, 64, BYTES(0x0e, 16));
	cie_full("", BYTES(0), BYTES(COMMON));
	fde_enc(0x00, 0x300, 64, BYTES(0x0e, 24));
	cie_full("zRS", BYTES(0x1b), BYTES(COMMON));
	fde(0x37f, 65, sigreturn, sizeof(sigreturn));
	fde(0x400, 64, BYTES(0x0e, 32)); /* another kind of interrupted frame */
	common_cie();
	fde(0x480, 64, BYTES(0x0f, 4, 0x77, 0xa0, 1, 0x06)); /* not an interrupted frame */
	make_eh();
	assert_rule(0x100, 0x140, SP(2, 0, 0));
	assert_int_equal(rule_at(0x200), NONE);
	assert_int_equal(rule_at(0x280), NONE);
	assert_rule(0x37f, 0x3c0, SIGNAL);
	assert_rule(0x400, 0x440, SP(4, 0, 0));
	assert_int_equal(wide_at(0x480), UNW_RULE(UNW_CFA_DEREF, 7, 0, 0, 0, 0, 0, 0, 160));
}

static void wide_lengths(void **state)
{
	struct image im = { 0 };

	section->wide = true;
	common_cie();
	fde(0x100, 64, BYTES(0x41, 0x0e, 16));
	make_eh();
	assert_rule(0x101, 0x140, SP(2, 0, 0));

	section->len = 0;
	section->debug = true;
	cie_full("", BYTES(0), BYTES(COMMON));
	fde(0x100, 64, BYTES(0x41, 0x0e, 16));
	image__add(&im, ".debug_frame", SHT_PROGBITS, 0, section->v, section->len);
	assert_int_equal(make(&im), 0);
	assert_rule(0x101, 0x140, SP(2, 0, 0));
}

/* A hand-made clone(): no CFI from its system call to the child's code. */
static void hand_made_clone(void **state)
{
	static const uint8_t code[] = {
		0x0f, 0x05, 0x48, 0x85, 0xc0, 0x7c, 0x13, 0x74, 0x01, 0xc3
	};
	uint8_t text[CODE_LEN] = { 0 };
	struct image im = { .code = text };
	uint64_t rule =
		UNW_RULE(UNW_CFA_FORK, UNW_REG_SP, UNW_SAVED_NOT, 0, UNW_SAVED_NOT, 0, 0, 0, 8);

	common_cie();
	fde(0x100, 0x30, BYTES(0));
	fde(0x13a, 0x10, BYTES(0x07, 16)); /* the child: no return address */
	fde(0x200, 0x30, BYTES(0x41, 0x0e, 16)); /* not if rsp has moved */
	fde(0x23a, 0x10, BYTES(0x07, 16));
	memcpy(text + 0x130, code, sizeof(code));
	memcpy(text + 0x230, code, sizeof(code));
	image__add(&im, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, section->v, section->len);
	assert_int_equal(make(&im), 0);
	assert_rules(0x100, 0x130, SP(1, 0, 0));
	assert_int_equal(wide_at(0x130), rule);
	assert_int_equal(wide_at(0x139), rule);
	assert_rules(0x13a, 0x14a, END);
	assert_rules(0x230, 0x23a, NONE);
	/* another instruction instead of the system call */
	text[0x131] = 0x0b;
	assert_int_equal(make(&im), 0);
	assert_rules(0x130, 0x13a, NONE);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(prologue_and_epilogue),
		T(advances),
		T(offsets),
		T(lost_registers),
		T(other_cfas),
		T(return_addresses),
		T(expressions),
		T(realigned),
		T(broken_programs),
		T(encodings),
		T(augmentations),
		T(wide_lengths),
		T(hand_made_clone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
