/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One step of unwinding: from a frame's registers and its rule to its caller's.  The same source
 * runs in the kernel (BPF) and in the recorder.  Before including this, define
 *
 *	static int unw_read(struct unw_walk *w, u64 addr, u64 *ret)	reads a word; 0: success
 *	static int unw_read_regs(struct unw_walk *w, u64 addr)		UNW_SIGNAL_WORDS to w->tmp
 *
 * The frame pointer and rbx are read only when a rule needs them: until then only the address where
 * they were saved is kept.
 */
#ifndef UNWIND_STEP_H
#define UNWIND_STEP_H

#include "table.h"
#include "walk.h"

/* Maximum size of a frame; a larger one means that the stack was misread. */
#define UNW_MAX_FRAME (64ull << 20)

/* The address to look up: a return address belongs to the call before it. */
static inline __attribute__((always_inline)) u64 unw_pc(const struct unw_walk *w)
{
	return w->ip - !(w->flags & UNW_EXACT);
}

static inline __attribute__((always_inline)) int unw_get_fp(struct unw_walk *w)
{
	if (w->flags & UNW_FP_LOST)
		return UNW_NO_RULE;
	if (!w->fp_at) {
		w->flags |= UNW_FP_RAW;
		return UNW_GO;
	}
	if (unw_read(w, w->fp_at, &w->fp))
		return UNW_UNREADABLE;
	w->fp_read = w->fp_at;
	w->fp_at = 0;
	return UNW_GO;
}

static inline __attribute__((always_inline)) int unw_get_bx(struct unw_walk *w)
{
	w->flags |= UNW_BARRIER;
	if (w->flags & UNW_BX_LOST)
		return UNW_NO_RULE;
	if (w->bx_at && unw_read(w, w->bx_at, &w->bx))
		return UNW_UNREADABLE;
	w->bx_at = 0;
	return UNW_GO;
}

/* A return address or a frame pointer is 0. */
static inline __attribute__((always_inline)) int unw_zero(const struct unw_walk *w)
{
	return w->flags & UNW_UNSURE ? UNW_NO_RULE : UNW_COMPLETE;
}

/* The frame's CFA is known: reads its return address and sets the caller's registers. */
static inline __attribute__((always_inline)) int unw_return(struct unw_walk *w, u64 cfa,
							    u32 ra_slot)
{
	u64 ip;

	if (cfa - w->sp - 1 >= UNW_MAX_FRAME)
		return UNW_NO_RULE;
	if (unw_read(w, cfa - 8 * ra_slot, &ip))
		return UNW_UNREADABLE;
	w->sp = cfa;
	w->ip = ip;
	w->flags &= ~UNW_EXACT;
	return ip ? UNW_GO : unw_zero(w);
}

/* The kernel stored all registers on the stack when it called the signal handler. */
static inline __attribute__((always_inline)) int unw_signal(struct unw_walk *w)
{
	static const unsigned char order[UNW_NR_REGS] = UNW_SIGNAL_ORDER;
	int i;

	if (unw_read_regs(w, w->sp + UNW_SIGNAL_OFF))
		return UNW_UNREADABLE;
	for (i = 0; i < UNW_NR_REGS; i++)
		w->regs[i] = w->tmp[order[i]];
	w->fp = w->tmp[UNW_SIGNAL_FP];
	w->bx = w->tmp[UNW_SIGNAL_BX];
	w->sp = w->tmp[UNW_SIGNAL_SP];
	w->ip = w->tmp[UNW_SIGNAL_IP];
	w->fp_at = 0;
	w->bx_at = 0;
	w->flags &= ~(UNW_FP_LOST | UNW_BX_LOST);
	w->flags |= UNW_EXACT | UNW_BARRIER;
	return UNW_GO;
}

/* A rule of 20 bits that is not an escape. */
static inline __attribute__((always_inline)) int unw_simple(struct unw_walk *w, u32 rule)
{
	u64 cfa = w->sp;
	int stop;

	if (rule & 1u << 18) {
		stop = unw_get_fp(w);
		if (stop)
			return stop;
		cfa = w->fp;
	}
	cfa += (rule >> 8 & 0x3ff) * 8;
	if (rule >> 4 & 15) {
		w->fp_at = cfa - 8 * (rule >> 4 & 15);
		w->flags &= ~UNW_FP_LOST;
	}
	if (rule & 15) {
		w->bx_at = cfa - 8 * (rule & 15);
		w->flags &= ~UNW_BX_LOST;
	}
	return unw_return(w, cfa, 1);
}

static inline __attribute__((always_inline)) int unw_wide_base(struct unw_walk *w, u64 rule,
							       u64 *ret_base)
{
	u32 reg = UNW_RULE_REG(rule);
	int stop = UNW_GO;

	if (reg == UNW_REG_SP) {
		*ret_base = w->sp;
	} else if (reg == UNW_REG_FP) {
		stop = unw_get_fp(w);
		*ret_base = w->fp;
	} else if (reg == UNW_REG_BX) {
		stop = unw_get_bx(w);
		*ret_base = w->bx;
	} else {
		w->flags |= UNW_BARRIER;
		if (!(w->flags & UNW_EXACT))
			return UNW_NO_RULE;
		*ret_base = w->regs[reg & (UNW_NR_REGS - 1)];
	}
	return stop;
}

/* The return address is in a register. */
static inline __attribute__((always_inline)) int unw_return_reg(struct unw_walk *w, u64 cfa,
								u32 reg)
{
	w->flags |= UNW_BARRIER;
	if (!(w->flags & UNW_EXACT) || cfa - w->sp >= UNW_MAX_FRAME)
		return UNW_NO_RULE;
	w->sp = cfa;
	w->ip = w->regs[reg & (UNW_NR_REGS - 1)];
	w->flags &= ~UNW_EXACT;
	return w->ip ? UNW_GO : UNW_COMPLETE;
}

/* A rule of 64 bits. */
static inline __attribute__((always_inline)) int unw_wide(struct unw_walk *w, u64 rule)
{
	u32 kind = UNW_RULE_CFA(rule), fp_how = UNW_RULE_FP_HOW(rule),
	    bx_how = UNW_RULE_BX_HOW(rule);
	u64 cfa, fp = 0;
	int stop;

	stop = unw_wide_base(w, rule, &cfa);
	if (stop)
		return stop;
	cfa += (s64)UNW_RULE_OFF(rule);
	if (kind == UNW_CFA_GUESS) {
		w->flags |= UNW_GUESSED | UNW_UNSURE;
	} else if (kind == UNW_CFA_PLT) {
		if ((int)(w->ip & 15) >= UNW_RULE_ADD(rule))
			cfa += 8;
	} else if (kind == UNW_CFA_DEREF) {
		w->x_at = cfa;
		if (unw_read(w, cfa, &w->x))
			return UNW_UNREADABLE;
		cfa = w->x + (s64)UNW_RULE_ADD(rule);
	}
	if (kind == UNW_CFA_FORK) {
		w->flags |= UNW_BARRIER;
		if (!(w->flags & UNW_EXACT))
			return UNW_NO_RULE;
		if (!w->regs[UNW_REG_RESULT])
			return UNW_COMPLETE;
	}
	if (fp_how == UNW_SAVED_FP || bx_how == UNW_SAVED_FP) {
		stop = unw_get_fp(w);
		if (stop)
			return stop;
		fp = w->fp;
	}
	if (fp_how == UNW_SAVED_LOST) {
		w->flags |= UNW_FP_LOST;
	} else if (fp_how) {
		w->fp_at = (fp_how == UNW_SAVED_CFA ? cfa : fp) + 8 * (s64)UNW_RULE_FP_N(rule);
		w->flags &= ~UNW_FP_LOST;
	}
	if (bx_how == UNW_SAVED_LOST) {
		w->flags |= UNW_BX_LOST;
	} else if (bx_how) {
		w->bx_at = (bx_how == UNW_SAVED_CFA ? cfa : fp) + 8 * (s64)UNW_RULE_BX_N(rule);
		w->flags &= ~UNW_BX_LOST;
	}
	if (kind == UNW_CFA_RA_REG)
		return unw_return_reg(w, cfa, UNW_RULE_ADD(rule));
	if (!UNW_RULE_RA_SLOT(rule))
		return unw_return(w, cfa, 1);
	w->flags |= UNW_BARRIER;
	return unw_return(w, cfa, UNW_RULE_RA_SLOT(rule));
}

/*
 * No rule is known for this frame's code: if its frame pointer is plausible, the caller's frame is
 * guessed from it.
 */
static inline __attribute__((always_inline)) int unw_guess(struct unw_walk *w)
{
	bool chain = w->flags & UNW_GUESSED;
	int stop = unw_get_fp(w);

	if (stop)
		return stop;
	w->flags |= UNW_GUESSED;
	if (!w->fp) /* 0 ends a chain of frame pointers, but is not one by itself */
		return chain ? unw_zero(w) : UNW_NO_RULE;
	if (w->fp & 7 || w->fp - w->sp >= UNW_MAX_FRAME)
		return UNW_NO_RULE;
	return unw_simple(w, UNW_FRAME_POINTER);
}

#endif /* UNWIND_STEP_H */
