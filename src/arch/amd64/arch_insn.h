/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decodes one amd64 instruction, as far as it changes the stack pointer or the callee-saved
 * registers, or transfers control.  Intel SDM volume 2: chapter 2 (formats), appendix A (opcode
 * maps).
 */
#ifndef ARCH_INSN_H
#define ARCH_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arch_insn_kind {
	INSN_OTHER,
	INSN_PUSH, /* reg, or 255 */
	INSN_POP,
	INSN_ADD_SP, /* value */
	INSN_LEA_SP, /* value(base) */
	INSN_FP_FROM_SP,
	INSN_SP_FROM_FP,
	INSN_CLEAR_FP,
	INSN_LEAVE,
	INSN_STORE, /* reg, to value(base) */
	INSN_LOAD,
	INSN_LEA_CODE, /* the address of value from its own start */
	INSN_CALL, /* to value */
	INSN_CALL_AWAY, /* to an unknown address, or hlt: execution may end here */
	INSN_JUMP,
	INSN_JUMP_IF,
	INSN_JUMP_AWAY, /* to an unknown address */
	INSN_RETURN,
	INSN_STOP, /* nothing follows */
};

enum { /* numbers as encoded in instructions */
       INSN_REG_BX = 3,
       INSN_REG_SP = 4,
       INSN_REG_BP = 5,
       INSN_NO_REG = 255,
};

struct arch_insn {
	uint8_t len;
	uint8_t reg;
	uint8_t base; /* of memory: INSN_REG_SP or INSN_REG_BP */
	uint8_t writes; /* a bit per register number: written, beside those implied by kind */
	enum arch_insn_kind kind;
	int64_t value;
};

/* False if the instruction is unknown or truncated. */
bool arch_insn__decode(const uint8_t *p, size_t len, struct arch_insn *ret_insn);

#endif /* ARCH_INSN_H */
