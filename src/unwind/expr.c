// SPDX-License-Identifier: GPL-2.0-only
/* Recognises the DWARF expressions that become rules. */
#include "expr.h"

#include <string.h>

#include "arch_regs.h"
#include "cursor.h"

enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_AND = 0x1a,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
};

/* Parses register + offset. */
static bool base(struct cursor *c, uint8_t *ret_reg, int64_t *ret_off)
{
	uint8_t op = cursor__u8(c);
	uint64_t reg;

	if (op >= OP_BREG0 && op <= OP_BREG31)
		reg = op - OP_BREG0;
	else if (op == OP_BREGX)
		reg = cursor__uleb(c);
	else
		return false;
	*ret_off = cursor__sleb(c);
	*ret_reg = (uint8_t)reg;
	return !c->bad && reg <= UNW_REG_IP;
}

/* Parses a constant addend, after which nothing may follow. */
static bool addend(struct cursor *c, int64_t *ret_add)
{
	uint8_t op;

	*ret_add = 0;
	if (!cursor__left(c))
		return true;
	op = cursor__u8(c);
	if (op == OP_PLUS_UCONST)
		*ret_add = (int64_t)cursor__uleb(c);
	else if (op == OP_CONST1U)
		*ret_add = cursor__u8(c);
	else if (op == OP_CONST1S)
		*ret_add = cursor__int(c, 1);
	else if (op >= OP_LIT0 && op <= OP_LIT31)
		*ret_add = op - OP_LIT0;
	else
		return false;
	if (op != OP_PLUS_UCONST && cursor__u8(c) != OP_PLUS)
		return false;
	return !c->bad && !cursor__left(c);
}

/*
 * The form that linkers emit for a .plt: "+ ((ip & 15) >= n) << 3" after SP + off, because the
 * stub's push is n bytes into its 16.
 */
static bool plt(struct cursor c, struct unw_state *s)
{
	static const uint8_t head[] = { OP_BREG0 + UNW_REG_IP, 0, OP_LIT0 + 15, OP_AND };
	static const uint8_t tail[] = { OP_GE, OP_LIT0 + 3, OP_SHL, OP_PLUS };
	const uint8_t *p = cursor__take(&c, sizeof(head) + 1 + sizeof(tail));

	if (!p || cursor__left(&c) || s->cfa_reg != UNW_REG_SP || memcmp(p, head, sizeof(head)) ||
	    memcmp(p + sizeof(head) + 1, tail, sizeof(tail)))
		return false;
	p += sizeof(head);
	if (*p < OP_LIT0 || *p > OP_LIT0 + 15)
		return false;
	s->cfa = UNW_CFA_PLT;
	s->cfa_add = *p - OP_LIT0;
	return true;
}

void unw_expr__cfa(const uint8_t *p, size_t len, struct unw_state *s)
{
	struct cursor c = cursor__new(p, len);
	int64_t add;

	s->cfa = UNW_CFA_UNKNOWN;
	s->cfa_add = 0;
	if (!base(&c, &s->cfa_reg, &s->cfa_off) || plt(c, s))
		return;
	if (cursor__left(&c) && *c.p == OP_DEREF) {
		c.p++;
		if (addend(&c, &s->cfa_add))
			s->cfa = UNW_CFA_DEREF;
	} else if (addend(&c, &add) && !__builtin_add_overflow(s->cfa_off, add, &s->cfa_off)) {
		s->cfa = UNW_CFA_REG;
	}
}

struct unw_place unw_expr__place(const uint8_t *p, size_t len)
{
	struct cursor c = cursor__new(p, len);
	int64_t off, add;
	uint8_t reg;

	if (!base(&c, &reg, &off) || !addend(&c, &add) || __builtin_add_overflow(off, add, &off))
		return (struct unw_place){ UNW_LOST, 0 };
	if (reg == UNW_REG_FP)
		return (struct unw_place){ UNW_AT_FP, off };
	if (reg == UNW_REG_SP)
		return (struct unw_place){ UNW_AT_SP, off };
	return (struct unw_place){ UNW_LOST, 0 };
}
