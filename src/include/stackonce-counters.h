/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The accounting's counters: one order for BPF, the recorder, the file and the public API. */
#ifndef STACKONCE_COUNTERS_H
#define STACKONCE_COUNTERS_H

enum stk_counter {
	STK_C_HAPPENED, /* counted by the second program */
	STK_C_RECORDED,
	STK_C_FILTERED_PID,
	STK_C_FILTERED_SELF,
	STK_C_FILTERED_EXPR,
	STK_C_LOST_RING, /* the CPU's ring was full */
	STK_C_LOST_NESTED, /* both programs were busy on this CPU */
	STK_C_LOST_SCRATCH, /* no scratch slot was free */
	STK_C_LOST_WRITE, /* the recorder could not write it */
	STK_C_LOST_EDGE, /* only one of the two programs saw it, at start or end */
	STK_C_NO_FIELDS, /* of the recorded: marked STK_MARK_NO_FIELDS */
	STK_C_STACK_HIT,
	STK_C_STACK_NEW,
	STK_C_STACK_FELL_POOL, /* travelled in full: the pool was full */
	STK_C_STACK_FELL_PROBE, /* travelled in full: no free slot within the probe limit */
	STK_C_STACK_TRUNCATED, /* deeper than --max-depth */
	STK_C_STACK_AT_LIMIT, /* as deep as kernel.perf_event_max_stack */
	STK_C_STACK_EMPTY,
	STK_C_STACK_FAILED, /* the walk failed or its result could not be kept */
	STK_C_SAMPLE_EXPECTED, /* timer samples: armed CPU time x HZ */
	STK_C_SAMPLE_SKIPPED,
	STK_C_SAMPLE_THROTTLED,
	STK_C_SAMPLE_IDLE,
	STK_C_LOST_UNKNOWN, /* counted as happened, but gone for no reason we know: a fault */
	/* user stacks: one of these five for every event that gets to its stacks */
	STK_C_USTACK_HIT,
	STK_C_USTACK_NEW,
	STK_C_USTACK_FULL, /* travelled in full: the stack map had no room */
	STK_C_USTACK_NONE, /* there is none: a kernel thread, a task that exits or just began */
	STK_C_USTACK_DEFERRED, /* unwound by the recorder: a table was not loaded yet */
	/* and how they end: one of these for each but those counted NONE */
	STK_C_USTACK_COMPLETE,
	STK_C_USTACK_TRUNCATED, /* at the depth limit */
	STK_C_USTACK_NO_TABLE,
	STK_C_USTACK_UNREADABLE,
	STK_C_USTACK_FALLBACK, /* complete, but by frame pointers in part */
	STK_C_USTACK_FAILED,
	/* what it costs: the time in the recording program, measured for one event in 64 */
	STK_C_COST_NS,
	STK_C_COST_EVENTS, /* that were measured */
	STK_C_LOST_RETURN, /* the kernel follows only so many returns at a time */
	/* kernel stacks that the program walked itself, and why it left others to bpf_get_stack() */
	STK_C_WALKED,
	STK_C_WALK_NO_RULE,
	STK_C_WALK_OTHER_TEXT, /* a module, a BPF program or a trampoline lay on the stack */
	STK_C_WALK_LEFT_STACK, /* a rule led elsewhere */
	STK_C_WALK_AGREED, /* of the walked ones: compared with bpf_get_stack() */
	STK_C_WALK_DIFFERED, /* nothing is walked any more after one */
	STK_C_WALK_UNCHECKED, /* to be compared, but bpf_get_stack() failed or there was no room */
	STK_C_WALK_UNVERIFIED, /* walked since the last that agreed, and then one differed */
	STK_C_WALK_REMEMBERED, /* of the walked ones: as they were before, so that no frame was looked up */
	STK_NR_COUNTERS
};

#endif /* STACKONCE_COUNTERS_H */
