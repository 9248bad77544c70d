// SPDX-License-Identifier: GPL-2.0-only
/* Follows a function's code to learn its frame at each instruction. */
#include "flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch_code.h"
#include "arch_insn.h"
#include "arch_regs.h"

#define LOST 255 /* of a slot: the caller's value is no longer known */
#define MAX_SLOT 127
#define MAX_DEPTH 4096

enum {
	SEEN = 1 << 0,
	OUTERMOST = 1 << 1, /* the frame pointer was cleared but not saved: there is no caller */
	QUEUED = 1 << 2,
	CALLED = 1 << 3, /* a call whose return is not followed yet */
	BY_RETURN = 1 << 4, /* first reached by the return from a call */
};

/* The state before an instruction.  Slots and depths as in table.h: words below the CFA. */
struct state {
	uint16_t depth; /* of the stack pointer, 0: unknown */
	uint8_t fp; /* of the frame pointer, 0: it does not point to the frame */
	uint8_t bp, bx; /* slots of the caller's values, 0: still in the register */
	uint8_t ra; /* register + 1 that the return address was popped into, to push it again */
	uint8_t flags;
	uint8_t len; /* of the instruction */
};

struct list { /* of offsets, each at most once: a ring of as many as there is code */
	uint32_t *v;
	uint32_t size, first, nr;
};

struct flow {
	const uint8_t *code;
	size_t len, used; /* states from used on are zero */
	flow_found_fn found;
	void *ctx;
	struct list queue, calls;
	struct state away; /* at jumps whose target is unknown */
	bool away_differs;
	bool contradicts; /* a return does not find its return address */
	struct state *states;
	size_t size; /* of states and lists */
};

struct flow *flow__new(void)
{
	return calloc(1, sizeof(struct flow));
}

void flow__free(struct flow *f)
{
	if (!f)
		return;
	free(f->states);
	free(f->queue.v);
	free(f->calls.v);
	free(f);
}

static int list__grow(struct list *l, size_t size)
{
	free(l->v);
	l->v = malloc(size * sizeof(*l->v));
	l->size = (uint32_t)size;
	return l->v ? 0 : -ENOMEM;
}

int flow__reserve(struct flow *f, size_t len)
{
	if (len <= f->size)
		return 0;
	free(f->states);
	f->size = f->used = 0;
	f->states = calloc(len, sizeof(*f->states));
	if (!f->states || list__grow(&f->queue, len) || list__grow(&f->calls, len))
		return -ENOMEM;
	f->size = len;
	return 0;
}

/* ---- one instruction ------------------------------------------------------------------------- */

static void set_depth(struct state *s, int64_t depth)
{
	s->depth = depth >= 1 && depth < MAX_DEPTH ? (uint16_t)depth : 0;
}

/* The register gets a value other than the caller's. */
static void clobber(uint8_t *slot)
{
	if (!*slot)
		*slot = LOST;
}

static void clobber_fp(struct state *s)
{
	clobber(&s->bp);
	s->fp = 0;
}

/* The word at a depth is overwritten. */
static void forget(uint8_t *slot, int64_t depth)
{
	if (*slot != LOST && *slot && *slot == depth)
		*slot = LOST;
}

/* The register is loaded from a depth: restored from where it was saved, or from elsewhere. */
static void load(uint8_t *slot, int64_t depth)
{
	if (*slot != LOST && *slot && *slot == depth)
		*slot = 0;
	else
		clobber(slot);
}

static void load_register(struct state *s, uint8_t reg, int64_t depth)
{
	if (reg == INSN_REG_BP) {
		load(&s->bp, depth);
		s->fp = 0;
	} else if (reg == INSN_REG_BX) {
		load(&s->bx, depth);
	}
}

static void pop(struct state *s, uint8_t reg)
{
	int64_t depth = s->depth ? s->depth : -1;

	s->ra = depth == 1 && reg < INSN_REG_BX ? reg + 1 : 0;
	load_register(s, reg, depth);
	forget(&s->bp, depth);
	forget(&s->bx, depth);
	set_depth(s, depth - 1);
	if (reg == INSN_REG_SP)
		s->depth = 0;
}

static void save(uint8_t *slot, int64_t depth)
{
	if (!*slot && depth > 1 && depth <= MAX_SLOT)
		*slot = (uint8_t)depth;
}

static void push(struct state *s, uint8_t reg)
{
	bool is_ra = s->ra && reg == s->ra - 1;

	s->ra = 0;
	if (!s->depth && !is_ra)
		return;
	set_depth(s, s->depth + 1);
	if (reg == INSN_REG_BP)
		save(&s->bp, s->depth);
	else if (reg == INSN_REG_BX)
		save(&s->bx, s->depth);
}

static void store(struct state *s, uint8_t reg, int64_t depth)
{
	if (reg == INSN_REG_BP && !s->bp) {
		save(&s->bp, depth);
	} else if (reg == INSN_REG_BX && !s->bx) {
		save(&s->bx, depth);
	} else {
		forget(&s->bp, depth);
		forget(&s->bx, depth);
	}
}

/* The depth of a memory operand; -1: unknown, or not relative to a frame. */
static int64_t memory_depth(const struct state *s, const struct arch_insn *insn)
{
	int64_t base = insn->base == INSN_REG_SP ? s->depth : s->fp;

	return base && insn->value % 8 == 0 ? base - insn->value / 8 : -1;
}

/* The stack pointer goes up: what was saved below it is lost. */
static void raise_sp(struct state *s, int64_t depth)
{
	int64_t was = s->depth;

	s->ra = 0;
	set_depth(s, depth);
	if (s->bp && s->bp != LOST && s->bp > s->depth && s->bp <= was)
		s->bp = LOST;
	if (s->bx && s->bx != LOST && s->bx > s->depth && s->bx <= was)
		s->bx = LOST;
}

static void run_insn(struct state *s, const struct arch_insn *insn)
{
	switch (insn->kind) {
	case INSN_PUSH:
		push(s, insn->reg);
		return;
	case INSN_POP:
		pop(s, insn->reg);
		return;
	case INSN_ADD_SP:
		raise_sp(s, s->depth && insn->value % 8 == 0 ? s->depth - insn->value / 8 : 0);
		return;
	case INSN_LEA_SP:
		raise_sp(s, memory_depth(s, insn));
		return;
	case INSN_SP_FROM_FP:
		raise_sp(s, s->fp);
		return;
	case INSN_FP_FROM_SP:
		clobber_fp(s);
		s->fp = s->depth < LOST ? (uint8_t)s->depth : 0;
		return;
	case INSN_CLEAR_FP:
		if (!s->bp)
			s->flags |= OUTERMOST;
		clobber_fp(s);
		return;
	case INSN_LEAVE:
		raise_sp(s, s->fp);
		pop(s, INSN_REG_BP);
		return;
	case INSN_STORE:
		store(s, insn->reg, memory_depth(s, insn));
		return;
	case INSN_LOAD:
		load_register(s, insn->reg, memory_depth(s, insn));
		return;
	default:
		break;
	}
	if (insn->writes & 1 << INSN_REG_SP)
		s->depth = s->ra = 0;
	if (s->ra && insn->writes & 1 << (s->ra - 1))
		s->ra = 0;
	if (insn->writes & 1 << INSN_REG_BP)
		clobber_fp(s);
	if (insn->writes & 1 << INSN_REG_BX)
		clobber(&s->bx);
}

/* ---- paths through the code ------------------------------------------------------------------ */

/* Keeps what two paths agree on. */
static struct state join(struct state a, const struct state *b)
{
	if (a.depth != b->depth)
		a.depth = 0;
	if (a.fp != b->fp)
		a.fp = 0;
	if (a.bp != b->bp)
		a.bp = LOST;
	if (a.bx != b->bx)
		a.bx = LOST;
	if (a.ra != b->ra)
		a.ra = 0;
	if ((a.flags ^ b->flags) & OUTERMOST) {
		a.flags &= ~OUTERMOST;
		a.depth = a.fp = 0;
	}
	return a;
}

static bool same(const struct state *a, const struct state *b)
{
	return a->depth == b->depth && a->fp == b->fp && a->bp == b->bp && a->bx == b->bx &&
	       a->ra == b->ra && !((a->flags ^ b->flags) & OUTERMOST);
}

static void list__add(struct list *l, size_t offset)
{
	l->v[(l->first + l->nr++) % l->size] = (uint32_t)offset;
}

static uint32_t list__take(struct list *l)
{
	uint32_t v = l->v[l->first];

	l->first = (l->first + 1) % l->size;
	l->nr--;
	return v;
}

static bool inside(const struct flow *f, int64_t offset)
{
	return offset >= 0 && (uint64_t)offset < f->len;
}

/* A path leads to the offset. */
static void reach(struct flow *f, int64_t offset, const struct state *s)
{
	struct state *at, now;

	if (!inside(f, offset))
		return;
	at = &f->states[offset];
	now = *at;
	if (!(at->flags & SEEN)) {
		now = *s;
		now.flags = SEEN | (s->flags & OUTERMOST);
	} else {
		now = join(*at, s);
		if (same(at, &now))
			return;
	}
	now.flags |= at->flags & (QUEUED | CALLED | BY_RETURN);
	now.len = at->len;
	*at = now;
	if (f->used <= (size_t)offset)
		f->used = (size_t)offset + 1;
	if (!(at->flags & QUEUED)) {
		at->flags |= QUEUED;
		list__add(&f->queue, (size_t)offset);
	}
}

static bool is_entry(const struct state *s)
{
	return s->depth == 1 && !s->fp && !s->bp && !s->bx && !(s->flags & OUTERMOST);
}

static void jump(struct flow *f, int64_t target, const struct state *s)
{
	if (inside(f, target))
		reach(f, target, s);
	else if (f->found && is_entry(s))
		f->found(f->ctx, target, false);
}

static void jump_away(struct flow *f, const struct state *s)
{
	if (!(f->away.flags & SEEN)) {
		f->away = *s;
		f->away.flags = SEEN | (s->flags & OUTERMOST);
	} else {
		f->away_differs |= !same(&f->away, s);
	}
}

/* The code after a call is followed last: if the call does not return, other code starts there. */
static void call(struct flow *f, size_t offset)
{
	struct state *at = &f->states[offset];

	at->ra = 0;
	if (!(at->flags & CALLED)) {
		at->flags |= CALLED;
		list__add(&f->calls, offset);
	}
}

static void follow(struct flow *f, size_t offset)
{
	struct state s = f->states[offset];
	struct arch_insn insn;
	int64_t at = (int64_t)offset, next;

	f->states[offset].flags &= ~QUEUED;
	if (!arch_insn__decode(f->code + offset, f->len - offset, &insn))
		return;
	f->states[offset].len = insn.len;
	next = at + insn.len;
	run_insn(&s, &insn);
	switch (insn.kind) {
	case INSN_CALL:
		if (f->found && at + insn.value && insn.value != insn.len)
			f->found(f->ctx, at + insn.value, false);
		call(f, offset);
		return;
	case INSN_CALL_AWAY:
		call(f, offset);
		return;
	case INSN_JUMP:
		jump(f, at + insn.value, &s);
		return;
	case INSN_JUMP_IF:
		jump(f, at + insn.value, &s);
		break;
	case INSN_JUMP_AWAY:
		jump_away(f, &s);
		return;
	case INSN_RETURN:
		f->contradicts |= s.depth > 1;
		return;
	case INSN_STOP:
		return;
	case INSN_LEA_CODE:
		if (f->found && !inside(f, at + insn.value))
			f->found(f->ctx, at + insn.value, true);
		break;
	default:
		break;
	}
	reach(f, next, &s);
}

static void return_from(struct flow *f, size_t offset)
{
	struct state *at = &f->states[offset];
	size_t next = offset + at->len;

	at->flags &= ~CALLED;
	if (!inside(f, (int64_t)next))
		return;
	if (!(f->states[next].flags & SEEN))
		f->states[next].flags |= BY_RETURN;
	if (f->states[next].flags & BY_RETURN)
		reach(f, (int64_t)next, at);
}

static void follow_all(struct flow *f)
{
	while (f->queue.nr || f->calls.nr) {
		if (f->queue.nr)
			follow(f, list__take(&f->queue));
		else
			return_from(f, list__take(&f->calls));
	}
}

/*
 * Code that no path leads to can only be reached through a jump table.  It is followed if all jumps
 * with unknown targets agree on their state.
 */
static void follow_tables(struct flow *f)
{
	struct arch_insn insn;

	for (size_t i = 0; i < f->len; i += insn.len) {
		insn.len = f->states[i].len;
		if (f->states[i].flags & SEEN && insn.len)
			continue;
		if (f->states[i].flags & SEEN || f->away_differs ||
		    !arch_insn__decode(f->code + i, f->len - i, &insn))
			return;
		if (arch_code__is_padding(f->code + i, insn.len))
			continue;
		reach(f, (int64_t)i, &f->away);
		follow_all(f);
	}
}

bool flow__run(struct flow *f, const uint8_t *code, size_t len, unsigned int flags,
	       flow_found_fn found, void *ctx)
{
	struct state entry = { .depth = 1, .flags = flags & FLOW_OUTERMOST ? OUTERMOST : 0 };

	f->code = code;
	f->len = len < f->size ? len : f->size;
	f->found = found;
	f->ctx = ctx;
	f->queue.first = f->queue.nr = f->calls.first = f->calls.nr = 0;
	f->away = (struct state){ 0 };
	f->away_differs = f->contradicts = false;
	memset(f->states, 0, f->used * sizeof(*f->states));
	f->used = 0;
	reach(f, 0, &entry);
	follow_all(f);
	if (flags & FLOW_WHOLE && (f->away.depth || f->away.fp))
		follow_tables(f);
	return !f->contradicts;
}

bool flow__next(const struct flow *f, size_t offset, size_t *ret_offset,
		struct unw_state *ret_state, size_t *ret_len)
{
	static const uint8_t dwarf[] = { 0, 2, 1 }; /* rax, rcx, rdx */
	const struct state *s;

	while (offset < f->used && !(f->states[offset].flags & SEEN && f->states[offset].len))
		offset++;
	if (offset >= f->used)
		return false;
	s = &f->states[offset];
	*ret_offset = offset;
	*ret_len = s->len;
	*ret_state = (struct unw_state){
		.cfa = s->depth || s->fp ? UNW_CFA_REG : UNW_CFA_UNKNOWN,
		.cfa_reg = s->depth ? UNW_REG_SP : UNW_REG_FP,
		.cfa_off = 8 * (s->depth ? s->depth : s->fp),
		.regs[UNW_OF_RA] = { UNW_AT_CFA, -8 },
		.regs[UNW_OF_FP] = { !s->bp	   ? UNW_SAME :
				     s->bp == LOST ? UNW_LOST :
						     UNW_AT_CFA,
				     -8 * s->bp },
		.regs[UNW_OF_BX] = { !s->bx	   ? UNW_SAME :
				     s->bx == LOST ? UNW_LOST :
						     UNW_AT_CFA,
				     -8 * s->bx },
	};
	if (s->ra) {
		ret_state->cfa = UNW_CFA_REG;
		ret_state->cfa_reg = UNW_REG_SP;
		ret_state->cfa_off = 0;
		ret_state->regs[UNW_OF_RA] = (struct unw_place){ UNW_IN_REG, dwarf[s->ra - 1] };
	}
	if (s->flags & OUTERMOST)
		ret_state->regs[UNW_OF_RA].how = UNW_UNDEFINED;
	return true;
}
