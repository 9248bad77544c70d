// SPDX-License-Identifier: GPL-2.0-only
/* What info says in both forms: for people and as JSON. */
#include "info.h"

#include <stddef.h>

const struct reason info_filtered_by[] = {
	{ STK_C_FILTERED_PID, "pid" },
	{ STK_C_FILTERED_SELF, "self" },
	{ STK_C_FILTERED_EXPR, "expression" },
	{ 0, NULL },
};

const struct reason info_lost_by[] = {
	{ STK_C_LOST_RING, "ring" },	   { STK_C_LOST_NESTED, "nested" },
	{ STK_C_LOST_SCRATCH, "scratch" }, { STK_C_LOST_WRITE, "write" },
	{ STK_C_LOST_EDGE, "edge" },	   { STK_C_LOST_UNKNOWN, "unknown" },
	{ STK_C_LOST_RETURN, "return" },   { 0, NULL },
};

const struct reason info_fell_by[] = {
	{ STK_C_STACK_FELL_POOL, "pool" },
	{ STK_C_STACK_FELL_PROBE, "probe" },
	{ 0, NULL },
};

const struct reason info_stack_ends[] = {
	{ STK_C_STACK_TRUNCATED, "truncated" },
	{ STK_C_STACK_AT_LIMIT, "at_limit" },
	{ STK_C_STACK_EMPTY, "empty" },
	{ STK_C_STACK_FAILED, "failed" },
	{ 0, NULL },
};

const struct reason info_walk_left[] = {
	{ STK_C_WALK_NO_RULE, "no_rule" },
	{ STK_C_WALK_OTHER_TEXT, "other_text" },
	{ STK_C_WALK_LEFT_STACK, "left_stack" },
	{ 0, NULL },
};

const struct reason info_walk_checks[] = {
	{ STK_C_WALK_AGREED, "agreed" },
	{ STK_C_WALK_DIFFERED, "differed" },
	{ STK_C_WALK_UNCHECKED, "unchecked" },
	{ STK_C_WALK_UNVERIFIED, "unverified" },
	{ 0, NULL },
};

const struct reason info_ustack_ways[] = {
	{ STK_C_USTACK_HIT, "hit" },
	{ STK_C_USTACK_NEW, "new" },
	{ STK_C_USTACK_FULL, "full" },
	{ STK_C_USTACK_DEFERRED, "deferred" },
	{ 0, NULL },
};

const struct reason info_ustack_ends[] = {
	{ STK_C_USTACK_COMPLETE, "complete" },
	{ STK_C_USTACK_FALLBACK, "fallback" },
	{ STK_C_USTACK_TRUNCATED, "truncated" },
	{ STK_C_USTACK_NO_TABLE, "no_table" },
	{ STK_C_USTACK_UNREADABLE, "unreadable" },
	{ STK_C_USTACK_FAILED, "failed" },
	{ 0, NULL },
};

const struct reason info_samples[] = {
	{ STK_C_SAMPLE_EXPECTED, "expected" }, { STK_C_RECORDED, "taken" },
	{ STK_C_SAMPLE_SKIPPED, "skipped" },   { STK_C_SAMPLE_THROTTLED, "throttled" },
	{ STK_C_SAMPLE_IDLE, "idle" },	       { 0, NULL },
};

const char *info__ended(const struct info *in)
{
	return in->t.clean_end ? "clean" : in->running ? "recording" : "abrupt";
}

uint64_t info__cost(const struct account *a)
{
	uint64_t events = a->c[STK_C_RECORDED] + a->c[STK_C_FILTERED_EXPR];

	if (a->c[STK_C_COST_EVENTS] < INFO_COST_MIN)
		return 0;
	return (double)a->c[STK_C_COST_NS] / a->c[STK_C_COST_EVENTS] * events;
}

bool info__meta_u64(const struct info *in, const char *key, uint64_t *ret_value)
{
	const char *text = stk_reader__meta(in->rd.reader, key);

	return text && !parse__u64(text, 0, UINT64_MAX, ret_value);
}
