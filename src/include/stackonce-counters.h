/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Counters, stack ends and event marks: one table each, which BPF programs, recorder, file and
 * public API share.
 */
#ifndef STACKONCE_COUNTERS_H
#define STACKONCE_COUNTERS_H

/*
 * A row is X(CONSTANT, NUMBER, NAME, NAME in its list).  The number is the counter's index in a
 * recording: a new counter takes the next free one, and numbers are never reused.  Names, lists and
 * sums are generated from these rows.  To add a reason for losses, add a row to STK_COUNTERS_LOST
 * and the code that counts it.
 */
/* clang-format off */

/* happened = recorded + all of these two lists */
#define STK_COUNTERS_FILTERED(X) \
	X(FILTERED_PID, 2, "filtered_pid", "pid") \
	X(FILTERED_SELF, 3, "filtered_self", "self") \
	X(FILTERED_EXPR, 4, "filtered_expr", "expression") \
	X(FILTERED_CGROUP, 55, "filtered_cgroup", "cgroup") \
	X(FILTERED_CPU, 56, "filtered_cpu", "cpu") \
	X(FILTERED_UID, 57, "filtered_uid", "uid")

#define STK_COUNTERS_LOST(X) \
	X(LOST_RING, 5, "lost_ring", "ring") /* the CPU's ring was full */ \
	X(LOST_NESTED, 6, "lost_nested", "nested") /* both programs were busy on this CPU */ \
	X(LOST_SCRATCH, 7, "lost_scratch", "scratch") /* no scratch slot was free */ \
	X(LOST_WRITE, 8, "lost_write", "write") /* the recorder could not write it */ \
	X(LOST_EDGE, 9, "lost_edge", "edge") /* only one of the two programs saw it, at the start \
					      * or end of the recording */ \
	X(LOST_UNKNOWN, 23, "lost_unknown", "unknown") /* a bug; or a skipped system call, which \
							* may have been this one */ \
	X(LOST_RETURN, 37, "lost_return", "return") /* at the kernel's limit of pending returns */

/* a kernel stack sent in full with its event, because the stack map had no room for it */
#define STK_COUNTERS_FELL(X) \
	X(STACK_FELL_POOL, 13, "stack_fell_pool", "pool") /* the pool was full */ \
	X(STACK_FELL_PROBE, 14, "stack_fell_probe", "probe") /* no slot in the probe limit */

#define STK_COUNTERS_STACK_END(X) \
	X(STACK_TRUNCATED, 15, "stack_truncated", "truncated") /* deeper than --max-depth */ \
	X(STACK_AT_LIMIT, 16, "stack_at_limit", "at_limit") /* of kernel.perf_event_max_stack */ \
	X(STACK_EMPTY, 17, "stack_empty", "empty") \
	X(STACK_FAILED, 18, "stack_failed", "failed") /* not walked, or the result was not kept */

/* why a program left a kernel stack to bpf_get_stack(), in the order of enum kwalk_stop */
#define STK_COUNTERS_WALK_LEFT(X) \
	X(WALK_NO_RULE, 39, "walk_no_rule", "no_rule") \
	X(WALK_OTHER_TEXT, 40, "walk_other_text", "other_text") /* module, BPF, trampoline */ \
	X(WALK_LEFT_STACK, 41, "walk_left_stack", "left_stack") /* a rule led out of the stack */

/*
 * stacks that the program walked, compared with bpf_get_stack(); the first three in the order of
 * enum kwalk_verdict
 */
#define STK_COUNTERS_WALK_CHECK(X) \
	X(WALK_AGREED, 42, "walk_agreed", "agreed") \
	X(WALK_DIFFERED, 43, "walk_differed", "differed") /* ends walking by the programs */ \
	X(WALK_UNCHECKED, 44, "walk_unchecked", "unchecked") /* no kernel stack, or no room */ \
	X(WALK_UNVERIFIED, 45, "walk_unverified", "unverified") /* since the last that agreed */

/* user stacks: one of these, USTACK_NONE or USTACK_NOT_RECORDED for every recorded event */
#define STK_COUNTERS_USTACK_WAY(X) \
	X(USTACK_HIT, 24, "ustack_hit", "hit") \
	X(USTACK_NEW, 25, "ustack_new", "new") \
	X(USTACK_FULL, 26, "ustack_full", "full") /* sent in full: no room in the stack map */ \
	X(USTACK_DEFERRED, 28, "ustack_deferred", "deferred") /* unwound by the recorder */

/*
 * how user stacks end: one of these for each that is not counted as USTACK_NONE or
 * USTACK_NOT_RECORDED
 */
#define STK_COUNTERS_USTACK_END(X) \
	X(USTACK_COMPLETE, 29, "ustack_complete", "complete") \
	X(USTACK_FALLBACK, 33, "ustack_fallback", "fallback") /* complete, but partly guessed */ \
	X(USTACK_TRUNCATED, 30, "ustack_truncated", "truncated") /* at the depth limit, or at the \
								  * end of a copy */ \
	X(USTACK_NO_TABLE, 31, "ustack_no_table", "no_table") \
	X(USTACK_UNREADABLE, 32, "ustack_unreadable", "unreadable") \
	X(USTACK_FAILED, 34, "ustack_failed", "failed")

/* times that a table of the recorder was full; no event is lost by that */
#define STK_COUNTERS_FULL(X) \
	X(FULL_FILES, 49, "full_files", "files") /* a file has no id: its frames are unknown */ \
	X(FULL_NAMES, 50, "full_names", "names") /* a name of a file is missing */ \
	X(FULL_THREADS, 51, "full_threads", "threads") /* no slot: no user stack was walked */ \
	X(FULL_COPIES, 52, "full_copies", "copies") /* a user stack was not copied: it is cut */ \
	X(FULL_CALLS, 53, "full_calls", "calls") /* the end event of a call has no fields */ \
	X(FULL_WAITING, 54, "full_waiting", "waiting") /* ftrace: an event did not wait for its \
							* stack */

/*
 * native events, compared with the record that the kernel filled for the same hit; in the order of
 * enum native_verdict.  All entries of system calls are compared as one, and all exits
 */
#define STK_COUNTERS_FIELDS_CHECK(X) \
	X(FIELDS_AGREED, 58, "fields_agreed", "agreed") \
	X(FIELDS_CHANGED, 59, "fields_changed", "changed") /* only in what others may have changed \
							    * meanwhile */ \
	X(FIELDS_DIFFERED, 60, "fields_differed", "differed")

#define STK_COUNTERS(X) \
	X(HAPPENED, 0, "happened", "happened") /* counted before anything else is done with the \
						* event; `info` names its witness */ \
	X(RECORDED, 1, "recorded", "recorded") \
	STK_COUNTERS_FILTERED(X) \
	STK_COUNTERS_LOST(X) \
	X(NO_FIELDS, 10, "no_fields", "no_fields") /* recorded with STK_MARK_NO_FIELDS */ \
	X(STACK_HIT, 11, "stack_hit", "hit") \
	X(STACK_NEW, 12, "stack_new", "new") \
	STK_COUNTERS_FELL(X) \
	STK_COUNTERS_STACK_END(X) \
	X(SAMPLE_EXPECTED, 19, "sample_expected", "expected") /* armed CPU time x HZ */ \
	X(SAMPLE_SKIPPED, 20, "sample_skipped", "skipped") \
	X(SAMPLE_THROTTLED, 21, "sample_throttled", "throttled") \
	X(SAMPLE_IDLE, 22, "sample_idle", "idle") \
	X(SAMPLE_MULTIPLEXED, 48, "sample_multiplexed", "multiplexed") /* other perf events used \
									* the counter meanwhile */ \
	X(USTACK_NONE, 27, "ustack_none", "none") /* a kernel thread, an exiting or a new task */ \
	X(USTACK_NOT_RECORDED, 47, "ustack_not_recorded", "not_recorded") /* see the stack end */ \
	STK_COUNTERS_USTACK_WAY(X) \
	STK_COUNTERS_USTACK_END(X) \
	X(COST_NS, 35, "cost_ns", "cost_ns") /* in the recorder program, one event in 64 */ \
	X(COST_EVENTS, 36, "cost_events", "cost_events") /* measured for cost_ns */ \
	X(WALKED, 38, "walked", "walked") /* kernel stacks walked by the program itself */ \
	X(WALK_REMEMBERED, 46, "walk_remembered", "remembered") /* of these, without any lookup */ \
	STK_COUNTERS_WALK_LEFT(X) \
	STK_COUNTERS_WALK_CHECK(X) \
	STK_COUNTERS_FULL(X) \
	STK_COUNTERS_FIELDS_CHECK(X)

/* X(CONSTANT, NUMBER in a recording, NAME, counter of user stacks with this end) */
#define STK_STACK_ENDS(X) \
	X(COMPLETE, 0, "complete", USTACK_COMPLETE) \
	X(TRUNCATED, 1, "truncated", USTACK_TRUNCATED) /* cut at --max-depth, or a copy of the \
							* stack was cut */ \
	X(AT_LIMIT, 2, "at_limit", USTACK_TRUNCATED) /* of kernel.perf_event_max_stack */ \
	X(FAILED, 3, "failed", USTACK_FAILED) /* the walk failed */ \
	X(NO_TABLE, 4, "no_table", USTACK_NO_TABLE) /* user stacks: no unwind table */ \
	X(UNREADABLE, 5, "unreadable", USTACK_UNREADABLE) /* user stacks: unreadable memory */ \
	X(FALLBACK, 6, "fallback", USTACK_FALLBACK) /* user stacks: partly guessed: found without \
						     * an unwind table, by frame pointers or by \
						     * following generated code */ \
	X(NOT_RECORDED, 7, "not_recorded", USTACK_NOT_RECORDED) /* user stacks: not taken, because \
								 * the task is not selected */
/* clang-format on */

/* STK_C_HAPPENED and so on, STK_END_COMPLETE and so on. */
#define STK_COUNTER_CONSTANT(c, number, name, listed) STK_C_##c = (number),
#define STK_COUNTER_ONE(c, number, name, listed) +1
enum stk_counter {
	STK_COUNTERS(STK_COUNTER_CONSTANT) STK_NR_COUNTERS = STK_COUNTERS(STK_COUNTER_ONE)
};
#define STK_END_CONSTANT(end, number, name, counter) STK_END_##end = (number),
#define STK_END_ONE(end, number, name, counter) +1
enum stk_stack_end { STK_STACK_ENDS(STK_END_CONSTANT) STK_NR_ENDS = STK_STACK_ENDS(STK_END_ONE) };

enum { /* stk_event__marks() */
       STK_MARK_NO_FIELDS = 1u << 0, /* recorded while another recorder program ran: the fields
					 * were unavailable, header and stack are right */
       STK_MARK_LATE = 1u << 1, /* arrived after its round had been closed: out of order */
       STK_MARK_NO_IRQFLAG = 1u << 2, /* unknown whether irqs were off: the kernel lacks it */
       STK_MARK_CUT = 1u << 3, /* the record was longer than the recorder's limit, or arguments of
				* a program could not be read */
       STK_MARK_NOT_SELECTED = 1u << 4, /* the event names a selected task, but happened in
					 * another one */
};

#endif /* STACKONCE_COUNTERS_H */
