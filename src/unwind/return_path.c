// SPDX-License-Identifier: GPL-2.0-only
/* Follows code from a return address to the function's own return. */
#include "return_path.h"

#include "arch_insn.h"
#include "arch_regs.h"

#define MAX_INSNS 128

/* A value that is known as a register's value at the start, plus an offset. */
struct value {
	bool known, of_fp; /* of_fp: of the frame pointer, else of the stack pointer */
	int64_t off;
};

/* A callee-saved register: where the value is that the caller will find in it. */
struct saved {
	uint8_t reg; /* as encoded in instructions */
	bool changed; /* it no longer has its value from the start */
	bool pushed; /* that value was pushed at pushed_at, below the stack pointer of the start */
	int64_t pushed_at;
	struct unw_place place; /* UNW_AT_SP and UNW_AT_FP: relative to the start */
};

struct path {
	struct value sp, fp;
	struct saved saved[2];
	bool other; /* it has instructions that are not of a function's end */
};

static struct value moved(struct value v, int64_t by)
{
	v.off += by;
	return v;
}

/* The register gets the word at an address. */
static void load(struct saved *s, struct value at)
{
	s->changed = true;
	s->place = (struct unw_place){ UNW_LOST, 0 };
	if (!at.known)
		return;
	if (at.of_fp) {
		s->place = (struct unw_place){ UNW_AT_FP, at.off };
	} else if (at.off >= 0) {
		s->place = (struct unw_place){ UNW_AT_SP, at.off };
	} else if (s->pushed && s->pushed_at == at.off) {
		s->place = (struct unw_place){ UNW_SAME, 0 };
		s->changed = false;
	}
}

static void load_register(struct path *p, uint8_t reg, struct value at)
{
	for (int i = 0; i < 2; i++) {
		if (p->saved[i].reg == reg)
			load(&p->saved[i], at);
	}
	if (reg == INSN_REG_BP)
		p->fp = (struct value){ !p->saved[0].changed, true, 0 };
}

/* The register gets a value that is no longer the caller's. */
static void overwrite(struct path *p, unsigned int regs)
{
	static const struct value unknown = { 0 };

	for (int i = 0; i < 2; i++) {
		if (regs & 1u << p->saved[i].reg)
			load(&p->saved[i], unknown);
	}
	if (regs & 1u << INSN_REG_BP)
		p->fp = unknown;
	if (regs & 1u << INSN_REG_SP)
		p->sp = unknown;
}

static void push(struct path *p, uint8_t reg)
{
	p->sp = moved(p->sp, -8);
	for (int i = 0; i < 2; i++) {
		struct saved *s = &p->saved[i];

		if (s->reg == reg && !s->changed && p->sp.known && !p->sp.of_fp) {
			s->pushed = true;
			s->pushed_at = p->sp.off;
		}
	}
}

static void pop(struct path *p, uint8_t reg)
{
	struct value at = p->sp;

	p->sp = moved(p->sp, 8);
	load_register(p, reg, at);
	if (reg == INSN_REG_SP)
		p->sp.known = false;
}

static struct value address(const struct path *p, const struct arch_insn *insn)
{
	return moved(insn->base == INSN_REG_SP ? p->sp : p->fp, insn->value);
}

static void run(struct path *p, const struct arch_insn *insn)
{
	switch (insn->kind) {
	case INSN_PUSH:
		push(p, insn->reg);
		return;
	case INSN_POP:
		pop(p, insn->reg);
		return;
	case INSN_ADD_SP:
		p->sp = moved(p->sp, insn->value);
		return;
	case INSN_LEA_SP:
		p->sp = address(p, insn);
		return;
	case INSN_SP_FROM_FP:
		p->sp = p->fp;
		return;
	case INSN_FP_FROM_SP:
		overwrite(p, 1u << INSN_REG_BP);
		p->fp = p->sp;
		return;
	case INSN_CLEAR_FP:
		overwrite(p, 1u << INSN_REG_BP);
		return;
	case INSN_LEAVE:
		p->sp = p->fp;
		pop(p, INSN_REG_BP);
		return;
	case INSN_LOAD:
		load_register(p, insn->reg, address(p, insn));
		return;
	default:
		overwrite(p, insn->writes);
	}
}

/* Instructions that take a frame down: no function begins with them. */
static bool is_of_end(enum arch_insn_kind kind)
{
	return kind == INSN_POP || kind == INSN_ADD_SP || kind == INSN_LEA_SP ||
	       kind == INSN_SP_FROM_FP || kind == INSN_LEAVE || kind == INSN_LOAD;
}

/* A place relative to the start becomes one relative to the CFA if both use the same register. */
static struct unw_place place_of(const struct saved *s, struct value cfa)
{
	if (s->place.how == (cfa.of_fp ? UNW_AT_FP : UNW_AT_SP))
		return (struct unw_place){ UNW_AT_CFA, s->place.off - cfa.off };
	if (s->place.how == UNW_AT_SP)
		return (struct unw_place){ UNW_LOST, 0 };
	return s->place;
}

/* The stack pointer is at the return address. */
static bool arrive(const struct path *p, struct unw_state *ret_state)
{
	struct value cfa = moved(p->sp, 8);

	if (!cfa.known || cfa.off % 8 || (!cfa.of_fp && cfa.off < 8))
		return false;
	*ret_state = (struct unw_state){
		.cfa = p->other ? UNW_CFA_GUESS : UNW_CFA_REG,
		.cfa_reg = cfa.of_fp ? UNW_REG_FP : UNW_REG_SP,
		.cfa_off = cfa.off,
		.regs[UNW_OF_RA] = { UNW_AT_CFA, -8 },
		.regs[UNW_OF_FP] = place_of(&p->saved[0], cfa),
		.regs[UNW_OF_BX] = place_of(&p->saved[1], cfa),
	};
	return true;
}

/* A function that is called with words on the stack may remove them when it returns. */
static bool may_call(const struct path *p)
{
	return !p->sp.known || p->sp.of_fp || p->sp.off >= 0;
}

bool return_path__find(const uint8_t *code, size_t len, struct unw_state *ret_state,
		       size_t *ret_len)
{
	struct path p = {
		.sp = { true, false, 0 },
		.fp = { true, true, 0 },
		.saved = { { .reg = INSN_REG_BP }, { .reg = INSN_REG_BX } },
	};
	struct arch_insn insn;
	size_t at = 0;

	len = len < RETURN_PATH_MAX ? len : RETURN_PATH_MAX;
	for (int i = 0; i < MAX_INSNS && at < len; i++) {
		if (!arch_insn__decode(code + at, len - at, &insn))
			return false;
		if (insn.kind == INSN_RETURN) {
			*ret_len = at + insn.len;
			p.other |= !at; /* a return alone may be a function of its own */
			return arrive(&p, ret_state);
		}
		p.other |= !is_of_end(insn.kind);
		if (insn.kind == INSN_STOP || insn.kind == INSN_JUMP_AWAY)
			return false;
		if (insn.kind == INSN_JUMP) {
			/* backwards it might never end */
			if (insn.value <= 0 || (uint64_t)insn.value >= len - at)
				return false;
			at += (size_t)insn.value;
			continue;
		}
		if ((insn.kind == INSN_CALL || insn.kind == INSN_CALL_AWAY) && !may_call(&p))
			return false;
		run(&p, &insn);
		at += insn.len;
	}
	return false;
}
