// SPDX-License-Identifier: GPL-2.0-only
/* Call frame instructions (DWARF 5, 6.4.2, and GNU's). */
#include "cfi.h"

#include "arch_regs.h"
#include "expr.h"

#define MAX_REMEMBERED 16 /* compilers nest one or two levels */

enum {
	CFA_ADVANCE_LOC = 0x40, /* these three have an operand in the low six bits */
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

struct run {
	const struct unw_cfi *cfi;
	const struct unw_cie *cie;
	struct cursor c;
	struct unw_state state;
	uint64_t loc, end;
	unsigned int nr_remembered;
	bool changed; /* the state has changed since the last row */
	struct unw_state remembered[MAX_REMEMBERED];
	/* not used in the run of a CIE */
	struct unw_rules *rules;
	struct unw_builder *b;
	uint64_t delta, *unknown;
	int err;
};

static int reg_index(const struct run *r, uint64_t reg)
{
	if (reg == r->cie->ra_reg)
		return UNW_OF_RA;
	switch (reg) {
	case UNW_REG_BX:
		return UNW_OF_BX;
	case UNW_REG_FP:
		return UNW_OF_FP;
	case UNW_REG_SP:
		return UNW_OF_SP;
	}
	return -1;
}

static void set_place(struct run *r, uint64_t reg, enum unw_how how, int64_t off)
{
	int i = reg_index(r, reg);

	if (i < 0)
		return;
	r->state.regs[i] = (struct unw_place){ how, off };
	r->changed = true;
}

static void restore(struct run *r, uint64_t reg)
{
	int i = reg_index(r, reg);

	if (i < 0)
		return;
	r->state.regs[i] = r->cie->initial.regs[i];
	r->changed = true;
}

/* The signed product wraps as in the assembler; a wrong one is out of range later. */
static int64_t factored(const struct run *r, uint64_t v)
{
	return (int64_t)(v * (uint64_t)r->cie->data_align);
}

static void put_row(struct run *r)
{
	uint32_t rule;

	if (!r->b || !r->changed)
		return;
	r->changed = false;
	r->err = unw_rules__encode(r->rules, &r->state, &rule);
	if (r->err)
		return;
	*r->unknown += rule == (UNW_ESCAPE | UNW_NONE);
	unw_builder__row(r->b, r->loc + r->delta, rule);
}

enum outcome { GO_ON, DONE, BROKEN };

/* The following instructions apply to a later address. */
static enum outcome advance_to(struct run *r, uint64_t loc)
{
	if (r->c.bad || loc < r->loc)
		return BROKEN;
	put_row(r);
	if (r->err || loc >= r->end)
		return DONE;
	r->loc = loc;
	return GO_ON;
}

static enum outcome advance(struct run *r, uint64_t by)
{
	uint64_t loc;

	if (__builtin_mul_overflow(by, r->cie->code_align, &by) ||
	    __builtin_add_overflow(r->loc, by, &loc))
		loc = UINT64_MAX;
	return advance_to(r, loc);
}

static enum outcome set_loc(struct run *r)
{
	uint64_t loc;

	if (!unw_cfi__address(r->cfi, r->cie->encoding, &r->c, &loc))
		return BROKEN;
	return advance_to(r, loc);
}

static void def_cfa(struct run *r, uint64_t reg, int64_t off)
{
	r->state.cfa = reg < UNW_NR_REGS ? UNW_CFA_REG : UNW_CFA_UNKNOWN;
	r->state.cfa_reg = (uint8_t)reg;
	r->state.cfa_off = off;
	r->state.cfa_add = 0;
	r->changed = true;
}

/* def_cfa_register and def_cfa_offset change either half of "register and offset". */
static void redefine_cfa(struct run *r, uint64_t reg, int64_t off)
{
	if (r->state.cfa == UNW_CFA_REG)
		def_cfa(r, reg, off);
	else
		def_cfa(r, UNW_NR_REGS, 0);
}

static void cfa_expression(struct run *r)
{
	uint64_t len = cursor__uleb(&r->c);
	const uint8_t *p = cursor__take(&r->c, len);

	if (p)
		unw_expr__cfa(p, len, &r->state);
	r->changed = true;
}

static void expression(struct run *r, bool is_address)
{
	uint64_t reg = cursor__uleb(&r->c), len = cursor__uleb(&r->c);
	const uint8_t *p = cursor__take(&r->c, len);
	struct unw_place place = { UNW_LOST, 0 };

	if (p && is_address)
		place = unw_expr__place(p, len);
	set_place(r, reg, place.how, place.off);
}

/* The register's value is CFA + off, which is the default for the stack pointer. */
static void val_offset(struct run *r, uint64_t reg, int64_t off)
{
	set_place(r, reg, reg == UNW_REG_SP && !off ? UNW_SAME : UNW_LOST, 0);
}

static bool remember(struct run *r)
{
	if (r->nr_remembered == MAX_REMEMBERED)
		return false;
	r->remembered[r->nr_remembered++] = r->state;
	return true;
}

static bool recall(struct run *r)
{
	if (!r->nr_remembered)
		return false;
	r->state = r->remembered[--r->nr_remembered];
	r->changed = true;
	return true;
}

/* Instructions that describe a register; false: op is not one. */
static bool run_register(struct run *r, uint8_t op)
{
	struct cursor *c = &r->c;
	uint64_t reg;

	switch (op) {
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		expression(r, op == CFA_EXPRESSION);
		return true;
	case CFA_OFFSET_EXTENDED ... CFA_REGISTER:
	case CFA_OFFSET_EXTENDED_SF:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		break;
	default:
		return false;
	}
	reg = cursor__uleb(c);
	if (op == CFA_RESTORE_EXTENDED)
		restore(r, reg);
	else if (op == CFA_UNDEFINED)
		set_place(r, reg, UNW_UNDEFINED, 0);
	else if (op == CFA_SAME_VALUE)
		set_place(r, reg, reg == UNW_REG_SP ? UNW_LOST : UNW_SAME, 0);
	else if (op == CFA_REGISTER)
		set_place(r, reg, UNW_IN_REG, (int64_t)cursor__uleb(c));
	else if (op == CFA_OFFSET_EXTENDED)
		set_place(r, reg, UNW_AT_CFA, factored(r, cursor__uleb(c)));
	else if (op == CFA_OFFSET_EXTENDED_SF)
		set_place(r, reg, UNW_AT_CFA, factored(r, (uint64_t)cursor__sleb(c)));
	else if (op == CFA_GNU_NEGATIVE_OFFSET_EXTENDED)
		set_place(r, reg, UNW_AT_CFA, factored(r, -cursor__uleb(c)));
	else if (op == CFA_VAL_OFFSET)
		val_offset(r, reg, factored(r, cursor__uleb(c)));
	else
		val_offset(r, reg, factored(r, (uint64_t)cursor__sleb(c)));
	return true;
}

/* Instructions that define the CFA; false: op is not one. */
static bool run_cfa(struct run *r, uint8_t op)
{
	struct cursor *c = &r->c;
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = cursor__uleb(c);
		def_cfa(r, reg, (int64_t)cursor__uleb(c));
		return true;
	case CFA_DEF_CFA_SF:
		reg = cursor__uleb(c);
		def_cfa(r, reg, factored(r, (uint64_t)cursor__sleb(c)));
		return true;
	case CFA_DEF_CFA_REGISTER:
		redefine_cfa(r, cursor__uleb(c), r->state.cfa_off);
		return true;
	case CFA_DEF_CFA_OFFSET:
		redefine_cfa(r, r->state.cfa_reg, (int64_t)cursor__uleb(c));
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		redefine_cfa(r, r->state.cfa_reg, factored(r, (uint64_t)cursor__sleb(c)));
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		cfa_expression(r);
		return true;
	}
	return false;
}

static enum outcome run_one(struct run *r)
{
	uint8_t op = cursor__u8(&r->c), low = op & 0x3f;
	bool ok = true;

	switch (op & 0xc0) {
	case CFA_ADVANCE_LOC:
		return advance(r, low);
	case CFA_OFFSET:
		set_place(r, low, UNW_AT_CFA, factored(r, cursor__uleb(&r->c)));
		return GO_ON;
	case CFA_RESTORE:
		restore(r, low);
		return GO_ON;
	}
	switch (op) {
	case CFA_NOP:
		break;
	case CFA_SET_LOC:
		return set_loc(r);
	case CFA_ADVANCE_LOC1:
		return advance(r, cursor__uint(&r->c, 1));
	case CFA_ADVANCE_LOC2:
		return advance(r, cursor__uint(&r->c, 2));
	case CFA_ADVANCE_LOC4:
		return advance(r, cursor__uint(&r->c, 4));
	case CFA_REMEMBER_STATE:
		ok = remember(r);
		break;
	case CFA_RESTORE_STATE:
		ok = recall(r);
		break;
	case CFA_GNU_ARGS_SIZE:
		cursor__uleb(&r->c);
		break;
	default:
		ok = run_cfa(r, op) || run_register(r, op);
	}
	return ok ? GO_ON : BROKEN;
}

static enum outcome run_all(struct run *r)
{
	enum outcome o = GO_ON;

	while (o == GO_ON && cursor__left(&r->c))
		o = run_one(r);
	return r->c.bad ? BROKEN : o;
}

bool unw_cfi__initial(const struct unw_cfi *cfi, struct unw_cie *cie, struct cursor insns)
{
	struct run r = { .cfi = cfi, .cie = cie, .c = insns, .end = 1, .state = cie->initial };
	enum outcome o;

	r.state.cfa = UNW_CFA_UNKNOWN;
	r.state.regs[UNW_OF_RA].how = UNW_LOST;
	o = run_all(&r);
	cie->initial = r.state;
	return o == GO_ON;
}

int unw_cfi__run(struct unw_cfi *cfi, const struct unw_fde *fde, uint64_t delta,
		 struct unw_rules *rules, struct unw_builder *b, uint64_t *unknown)
{
	struct run r;

	/* remembered[] is most of the struct and seldom used, so it is not initialised */
	r.cfi = cfi;
	r.cie = fde->cie;
	r.c = fde->insns;
	r.state = fde->cie->initial;
	r.loc = fde->start;
	r.end = fde->end;
	r.nr_remembered = 0;
	r.changed = true;
	r.rules = rules;
	r.b = b;
	r.delta = delta;
	r.unknown = unknown;
	r.err = 0;
	if (run_all(&r) == BROKEN) {
		/* the rows before the error stay valid */
		r.state.cfa = UNW_CFA_UNKNOWN;
		r.state.signal = false;
		r.state.regs[UNW_OF_RA].how = UNW_LOST;
		r.changed = true;
	}
	if (!r.err)
		put_row(&r);
	return r.err;
}
