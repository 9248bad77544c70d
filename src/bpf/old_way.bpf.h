/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The old way of a native event: perf's program records it, and its front only counts it, as the
 * counter program of any other event does.  Where the kernel drops perf's program, the front goes
 * on and records the event without fields.
 *
 * An event takes the old way while it happens, and each hit must be recorded by exactly one of the
 * two, whichever the kernel calls first: perf's program comes before the front if others observe
 * the event, too.  So each CPU takes the old way by itself, in `take_old_way`, where no hit is in
 * progress on it.  Between the two programs of a hit preemption is disabled, and an interrupt that
 * hits the event ends before what it interrupted goes on, so both read the same word.
 *
 * System calls are different: since 6.13 (a363d27cdbc2) a task may be preempted or interrupted
 * between the two programs, so the first leaves a mark for the second, which `end_call` takes away.
 * If the ids of two tasks share a mark, and both tasks are between two programs at the same time,
 * one replaces the mark of the other, and an event may be recorded twice.
 */
#ifndef OLD_WAY_BPF_H
#define OLD_WAY_BPF_H

#include "call_marks.bpf.h"
#include "state.bpf.h"

#define OLD_WAY_CALLS 1024 /* a power of two */

/* By the low bits of a task's id, see call_marks.bpf.h. */
u64 old_way_calls[OLD_WAY_CALLS] = {};

/* Whether this CPU has taken the old way of the event. */
static __always_inline bool old_way_taken(u32 flags, const struct event_counts *c)
{
	return flags & DESC_OLD_WAY && *(volatile u8 *)&c->old_way;
}

/* The same for both programs of a system call. */
static __always_inline bool old_way_of_call(u32 event, u32 tid, bool taken)
{
	return call_mark_decide(&old_way_calls[tid & (OLD_WAY_CALLS - 1)], event, tid, taken);
}

/* Attached to sys_enter or sys_exit after the programs of all events. */
SEC("raw_tp")
int end_call(void *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	u32 tid = task->pid;

	call_mark_end(&old_way_calls[tid & (OLD_WAY_CALLS - 1)], tid);
	return 0;
}

/* Whether perf's program, if that is what asks, records this hit: else the front does. */
static __always_inline bool old_way_records(u32 event, const struct event_desc *d,
					    const struct event_counts *c, u32 tid)
{
	bool taken;

	if (!(d->flags & DESC_NATIVE))
		return true;
	taken = old_way_taken(d->flags, c);
	if (d->flags & DESC_OLD_WAY && d->flags & DESC_CALL)
		taken = old_way_of_call(event, tid, taken);
	return taken;
}

/* For `take_old_way`: the event. */
u32 old_way_event = 0;

/*
 * Run on each CPU until it has taken the old way.  At the level of tasks it runs for the recorder,
 * or in an idle loop that polls for work, and neither is within a hit.  An interrupt may be within
 * one if preemption was disabled before; in the idle task it always is, but there no native event
 * happens while interrupts are on.  Without preempt counts a hit may be in progress.
 */
SEC("raw_tp")
int take_old_way(void *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct event_counts *c = event_counts(old_way_event);
	u32 count = preempt_count(), disabled = count & SOFTIRQ_MASK;

	if (task->pid)
		disabled |= count & 0xff;
	if (c && (!compat_level_of(count) || !disabled))
		*(volatile u8 *)&c->old_way = 1;
	return 0;
}

#endif /* OLD_WAY_BPF_H */
