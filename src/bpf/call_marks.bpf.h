/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which of the two programs of a system call's event records a call, while the event takes the old
 * way; compiled for BPF and for the unit tests.  The kernel may preempt or interrupt the task
 * between the two (see old_way.bpf.h), so what one of them saw may have changed for the other.  The
 * program that is called first decides.  If it goes the native way, it leaves a mark for the other;
 * to have taken the old way needs none, because it is final.
 */
#ifndef CALL_MARKS_BPF_H
#define CALL_MARKS_BPF_H

#include "wire.h"

enum call_mark_by { CALL_MARK_FRONT, CALL_MARK_RECORDER };

/*
 * Whether the call goes the old way.  mark: of the task.  key: the event and the task; bit 0 is 0.
 * taken: what the program sees now.
 */
static inline __attribute__((always_inline)) int
call_mark_decide(volatile __wire_u64 *mark, __wire_u64 key, int taken, enum call_mark_by me)
{
	__wire_u64 seen = *mark;

	if (seen == (key | !me)) {
		*mark = 0;
		return 0;
	}
	if (!taken)
		*mark = key | me;
	else if (seen == (key | me)) /* the kernel dropped the other program of an earlier call */
		*mark = 0;
	return taken;
}

#endif /* CALL_MARKS_BPF_H */
