// SPDX-License-Identifier: GPL-2.0-only
/* Names and numbers that info prints both as text and as JSON. */
#include "info.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define NAMES_PER_WORK 16 /* bytes of a list of names that are searched */

#define REASON(counter, number, name, listed) { STK_C_##counter, listed },

const struct reason info_filtered_by[] = { STK_COUNTERS_FILTERED(REASON){ 0, NULL } };
const struct reason info_lost_by[] = { STK_COUNTERS_LOST(REASON){ 0, NULL } };
const struct reason info_fell_by[] = { STK_COUNTERS_FELL(REASON){ 0, NULL } };
const struct reason info_stack_ends[] = { STK_COUNTERS_STACK_END(REASON){ 0, NULL } };
const struct reason info_walk_left[] = { STK_COUNTERS_WALK_LEFT(REASON){ 0, NULL } };
const struct reason info_walk_checks[] = { STK_COUNTERS_WALK_CHECK(REASON){ 0, NULL } };
const struct reason info_fields_checks[] = { STK_COUNTERS_FIELDS_CHECK(REASON){ 0, NULL } };
const struct reason info_ustack_ways[] = { STK_COUNTERS_USTACK_WAY(REASON){ 0, NULL } };
const struct reason info_ustack_ends[] = { STK_COUNTERS_USTACK_END(REASON){ 0, NULL } };
const struct reason info_full[] = { STK_COUNTERS_FULL(REASON){ 0, NULL } };

const struct reason info_samples[] = {
	{ STK_C_SAMPLE_EXPECTED, "expected" },
	{ STK_C_RECORDED, "taken" },
	{ STK_C_SAMPLE_SKIPPED, "skipped" },
	{ STK_C_SAMPLE_THROTTLED, "throttled" },
	{ STK_C_SAMPLE_IDLE, "idle" },
	{ STK_C_SAMPLE_MULTIPLEXED, "multiplexed" },
	{ 0, NULL },
};

bool info__is_running(const struct info *in, const struct stk_reader *member)
{
	return in->running && (in->rd.nr_paths == 1 || stk_reader__is_live(member));
}

const char *info__ended(const struct info *in, const struct stk_reader *member)
{
	bool running = member ? info__is_running(in, member) : in->running;
	struct stk_totals t = in->t;

	if (member)
		stk_reader__totals(member, &t);
	return t.clean_end ? "clean" : running ? "recording" : "abrupt";
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

/* Lines "EVENT TIME". */
bool info__kernel_fields(const struct info *in, const char *event, uint64_t *ret_since)
{
	const char *line = stk_reader__meta(in->rd.reader, "fields.kernel");
	size_t len = strlen(event);
	uint64_t since, first = UINT64_MAX;
	char *end;

	if (!line || stk_reader__charge(in->rd.reader, 0, strlen(line)))
		return false;
	for (; *line; line += *line == '\n') {
		if (!strncmp(line, event, len) && line[len] == ' ') {
			since = strtoull(line + len + 1, &end, 10);
			if (end > line + len + 1 && (*end == '\n' || !*end))
				first = MIN(first, since);
		}
		line += strcspn(line, "\n");
	}
	if (first != UINT64_MAX)
		*ret_since = first;
	return first != UINT64_MAX;
}

/* Whether it is in a list "a:b, c:d" of the metadata; the lists of several recordings are lines. */
static bool is_listed(const struct info *in, const char *key, const char *event)
{
	const char *list = stk_reader__meta(in->rd.reader, key);
	size_t len = strlen(event);

	if (!list || stk_reader__charge(in->rd.reader, 0, strlen(list) / NAMES_PER_WORK))
		return false;
	while (*list) {
		if (!strncmp(list, event, len) && strchr(",\n", list[len])) /* or the end */
			return true;
		list += strcspn(list, ", \n");
		list += strspn(list, ", \n");
	}
	return false;
}

bool info__fields_compared(const struct info *in, const char *event, const struct account *a,
			   uint64_t *ret_compared)
{
	const struct reason *r;
	uint64_t sum = 0;

	for (r = info_fields_checks; r->name; r++)
		sum += a->c[r->counter];
	*ret_compared = sum;
	return sum || is_listed(in, "events.native", event);
}

const struct witness_text info_witnesses[] = {
	[WITNESS_UNSAID] = { NULL, NULL },
	[WITNESS_KERNEL] = { "kernel", "the kernel's count of skipped runs" },
	[WITNESS_SECOND] = { "second_program",
			     "a second program, and the kernel's count of skipped runs" },
	[WITNESS_KERNEL_COUNTER] = { "kernel_then_counter",
				     "the kernel's count of skipped runs, then the counter "
				     "program" },
	[WITNESS_COUNTER] = { "counter_program", "the counter program" },
	[WITNESS_DUE] = { "samples_due", "the number of samples due" },
	[WITNESS_NONE] = { "none", "none" },
};

bool info__one_way(const struct info *in)
{
	static const char *const keys[] = {
		"backend",	 "source", "events.native", "events.second", "events.uncounted",
		"fields.kernel", NULL
	};

	return reading__agree(&in->rd, keys);
}

enum witness info__witness(const struct info *in, const struct stk_event_type *t, const char *event)
{
	const char *backend = stk_reader__meta(in->rd.reader, "backend");
	uint64_t since;

	/* the lists are written at the end */
	if (!in->accounted || !in->t.clean_end || !in->one_way)
		return WITNESS_UNSAID;
	if (!backend)
		return stk_reader__meta(in->rd.reader, "source") ? WITNESS_NONE : WITNESS_UNSAID;
	if (strcmp(backend, "bpf") != 0)
		return WITNESS_NONE;
	switch (stk_event_type__kind(t)) {
	case STK_KIND_SAMPLE:
		return WITNESS_DUE;
	case STK_KIND_USER_FUNCTION:
	case STK_KIND_USDT:
		return WITNESS_NONE;
	case STK_KIND_FUNCTION:
	case STK_KIND_EMULATED:
		return is_listed(in, "events.uncounted", event) ? WITNESS_NONE : WITNESS_COUNTER;
	default:
		break;
	}
	if (info__kernel_fields(in, event, &since))
		return WITNESS_KERNEL_COUNTER;
	if (is_listed(in, "events.second", event))
		return WITNESS_SECOND;
	return is_listed(in, "events.native", event) ? WITNESS_KERNEL : WITNESS_COUNTER;
}
