/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which of the two programs of a system call's event records a call, while the event takes the old
 * way; compiled for BPF and for the unit tests.  The kernel may preempt or interrupt the task
 * between the two (see old_way.bpf.h), so what one of them saw may have changed for the other.  The
 * program that is called first decides.  If it goes the native way, it leaves a mark for the other;
 * to have taken the old way needs none, because it is final.  A third program, which is called
 * after both, takes the mark away.  If it was not attached yet, the mark stays for the next call,
 * and both programs then record that the native way.
 */
#ifndef CALL_MARKS_BPF_H
#define CALL_MARKS_BPF_H

#include "wire.h"

/* What marks a call of this task; not 0, as the idle tasks make none. */
static inline __attribute__((always_inline)) __wire_u64 call_mark(__wire_u32 event, __wire_u32 tid)
{
	return (__wire_u64)event << 32 | tid;
}

/* Whether the call goes the old way.  mark: of the task.  taken: what the program sees now. */
static inline __attribute__((always_inline)) int
call_mark_decide(volatile __wire_u64 *mark, __wire_u32 event, __wire_u32 tid, int taken)
{
	if (*mark == call_mark(event, tid))
		return 0;
	if (!taken)
		*mark = call_mark(event, tid);
	return taken;
}

/* After both programs of a call.  At most one event takes the old way at a time. */
static inline __attribute__((always_inline)) void call_mark_end(volatile __wire_u64 *mark,
								__wire_u32 tid)
{
	if ((__wire_u32)*mark == tid)
		*mark = 0;
}

#endif /* CALL_MARKS_BPF_H */
