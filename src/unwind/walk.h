/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a walk over a user stack, in the kernel and in the recorder. */
#ifndef UNWIND_WALK_H
#define UNWIND_WALK_H

#include "arch_regs.h"
#include "wire.h"

enum unw_flags {
	UNW_EXACT = 1u << 0, /* ip was interrupted or made a system call; else it returns there */
	UNW_GUESSED = 1u << 1, /* a frame was guessed; the frames after it follow from it */
	UNW_FP_LOST = 1u << 2, /* the frame pointer is no longer known */
	UNW_BX_LOST = 1u << 3,
	/* One was guessed from code, so the stack may be misread: a 0 is not its end. */
	UNW_UNSURE = 1u << 4,
	/* of the current frame alone, for callers that remember stacks: */
	UNW_FP_RAW = 1u << 5, /* used the frame pointer from the register, or as read before */
	UNW_BARRIER = 1u << 6, /* used something that is not remembered */
};

enum unw_stop {
	UNW_GO = 0,
	UNW_COMPLETE,
	UNW_NO_RULE, /* no table, or the stack does not match it */
	UNW_UNREADABLE,
	UNW_DEPTH,
	UNW_NEED_TABLE, /* the table of the file must be loaded first */
	UNW_SPLICED, /* the rest is as remembered */
	UNW_FAILED, /* not a 64-bit program, or in the middle of execve(2) */
};

/* flags: those of the walk at its end. */
static inline enum stk_stack_end unw_stack_end(__wire_u32 stop, __wire_u32 flags)
{
	if (stop == UNW_COMPLETE)
		return flags & UNW_GUESSED ? STK_END_FALLBACK : STK_END_COMPLETE;
	if (stop == UNW_DEPTH)
		return STK_END_TRUNCATED;
	if (stop == UNW_UNREADABLE)
		return STK_END_UNREADABLE;
	return stop == UNW_FAILED ? STK_END_FAILED : STK_END_NO_TABLE;
}

struct unw_walk {
	__wire_u64 ip, sp;
	__wire_u64 fp, bx; /* values, if the addresses below are 0 */
	__wire_u64 fp_at, bx_at; /* addresses where they are saved, not read yet */
	__wire_u64 fp_read; /* where fp was read for this frame; 0: not read */
	__wire_u64 x_at, x; /* another word that was read for this frame: address and value */
	__wire_u32 flags; /* enum unw_flags */
	__wire_u32 pad;
	__wire_u64 regs[UNW_NR_REGS]; /* of an exact frame */
	__wire_u64 tmp[UNW_SIGNAL_WORDS];
};

#endif /* UNWIND_WALK_H */
