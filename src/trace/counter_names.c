// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The stable names of counters and of the ways a stack ends. */
#include "stackonce.h"

#include <assert.h>

const char *stk_counter_name(enum stk_counter c)
{
	static const char *const names[STK_NR_COUNTERS] = {
		[STK_C_HAPPENED] = "happened",
		[STK_C_RECORDED] = "recorded",
		[STK_C_FILTERED_PID] = "filtered_pid",
		[STK_C_FILTERED_SELF] = "filtered_self",
		[STK_C_FILTERED_EXPR] = "filtered_expr",
		[STK_C_LOST_RING] = "lost_ring",
		[STK_C_LOST_NESTED] = "lost_nested",
		[STK_C_LOST_SCRATCH] = "lost_scratch",
		[STK_C_LOST_WRITE] = "lost_write",
		[STK_C_LOST_EDGE] = "lost_edge",
		[STK_C_NO_FIELDS] = "no_fields",
		[STK_C_STACK_HIT] = "stack_hit",
		[STK_C_STACK_NEW] = "stack_new",
		[STK_C_STACK_FELL_POOL] = "stack_fell_pool",
		[STK_C_STACK_FELL_PROBE] = "stack_fell_probe",
		[STK_C_STACK_TRUNCATED] = "stack_truncated",
		[STK_C_STACK_AT_LIMIT] = "stack_at_limit",
		[STK_C_STACK_EMPTY] = "stack_empty",
		[STK_C_STACK_FAILED] = "stack_failed",
		[STK_C_SAMPLE_EXPECTED] = "sample_expected",
		[STK_C_SAMPLE_SKIPPED] = "sample_skipped",
		[STK_C_SAMPLE_THROTTLED] = "sample_throttled",
		[STK_C_SAMPLE_IDLE] = "sample_idle",
		[STK_C_LOST_UNKNOWN] = "lost_unknown",
		[STK_C_USTACK_HIT] = "ustack_hit",
		[STK_C_USTACK_NEW] = "ustack_new",
		[STK_C_USTACK_FULL] = "ustack_full",
		[STK_C_USTACK_NONE] = "ustack_none",
		[STK_C_USTACK_DEFERRED] = "ustack_deferred",
		[STK_C_USTACK_COMPLETE] = "ustack_complete",
		[STK_C_USTACK_TRUNCATED] = "ustack_truncated",
		[STK_C_USTACK_NO_TABLE] = "ustack_no_table",
		[STK_C_USTACK_UNREADABLE] = "ustack_unreadable",
		[STK_C_USTACK_FALLBACK] = "ustack_fallback",
		[STK_C_USTACK_FAILED] = "ustack_failed",
		[STK_C_COST_NS] = "cost_ns",
		[STK_C_COST_EVENTS] = "cost_events",
		[STK_C_LOST_RETURN] = "lost_return",
		[STK_C_WALKED] = "walked",
		[STK_C_WALK_NO_RULE] = "walk_no_rule",
		[STK_C_WALK_OTHER_TEXT] = "walk_other_text",
		[STK_C_WALK_LEFT_STACK] = "walk_left_stack",
		[STK_C_WALK_AGREED] = "walk_agreed",
		[STK_C_WALK_DIFFERED] = "walk_differed",
		[STK_C_WALK_UNCHECKED] = "walk_unchecked",
		[STK_C_WALK_UNVERIFIED] = "walk_unverified",
		[STK_C_WALK_REMEMBERED] = "walk_remembered",
	};

	static_assert(STK_C_WALK_REMEMBERED + 1 == STK_NR_COUNTERS, "every counter has a name");

	return (unsigned int)c < STK_NR_COUNTERS ? names[c] : "unknown";
}

const char *stk_stack_end_name(enum stk_stack_end end)
{
	static const char *const names[] = {
		[STK_END_COMPLETE] = "complete", [STK_END_TRUNCATED] = "truncated",
		[STK_END_AT_LIMIT] = "at_limit", [STK_END_FAILED] = "failed",
		[STK_END_NO_TABLE] = "no_table", [STK_END_UNREADABLE] = "unreadable",
		[STK_END_FALLBACK] = "fallback",
	};

	return (unsigned int)end < sizeof(names) / sizeof(names[0]) ? names[end] : "unknown";
}
