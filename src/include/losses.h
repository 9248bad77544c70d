/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Classifies counters: which of them count lost events, and sums over them. */
#ifndef LOSSES_H
#define LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "stackonce.h"

static inline bool counter_is_lost(enum stk_counter c)
{
	switch (c) {
#define CASE(counter, number, name, listed) case STK_C_##counter:
		STK_COUNTERS_LOST(CASE)
#undef CASE
		return true;
	default:
		return false;
	}
}

/* Counts events lost between the first event and the last: all but those lost at the edges. */
static inline bool counter_is_gap(enum stk_counter c)
{
	return c != STK_C_LOST_EDGE && counter_is_lost(c);
}

/* The sum over a list of stackonce-counters.h; counters points to STK_NR_COUNTERS values. */
#define COUNTERS_ADD(counter, number, name, listed) +counters_[STK_C_##counter]
#define counters_sum(list, counters)                    \
	({                                              \
		const uint64_t *counters_ = (counters); \
		0 list(COUNTERS_ADD);                   \
	})

static inline uint64_t losses__sum(const uint64_t *counters)
{
	return counters_sum(STK_COUNTERS_LOST, counters);
}

/* The counter for user stacks that end this way. */
static inline enum stk_counter counter_of_end(enum stk_stack_end end)
{
#define COUNTER(end, number, name, counter) [number] = STK_C_##counter,
	static const enum stk_counter counters[STK_NR_ENDS] = { STK_STACK_ENDS(COUNTER) };
#undef COUNTER

	return end < STK_NR_ENDS ? counters[end] : STK_C_USTACK_FAILED;
}

/* The lost events of a type as far as the reader has read, with or without those at the edges. */
static inline uint64_t losses__of(const struct stk_reader *r, const struct stk_event_type *t,
				  bool edges)
{
	uint64_t sum = 0;
	unsigned int c;

	for (c = 0; c < STK_NR_COUNTERS; c++)
		if (edges ? counter_is_lost(c) : counter_is_gap(c))
			sum += stk_reader__counter(r, t, c);
	return sum;
}

/* Those of all types, with those at the edges. */
static inline uint64_t losses__all(const struct stk_reader *r)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < stk_reader__nr_types(r); i++)
		sum += losses__of(r, stk_reader__type(r, i), true);
	return sum;
}

/*
 * Samples that were not taken, of which no program knows the CPU: nothing that happened is missing.
 * Samples that were taken and lost have one.
 */
static inline bool loss_is_skipped(const struct stk_loss *loss)
{
	return loss->cpu == STK_ANY_CPU && loss->type &&
	       stk_event_type__kind(loss->type) == STK_KIND_SAMPLE;
}

/* Whether it counts events of tasks and CPUs that are not selected. */
static inline bool counter_is_unselected(unsigned int c)
{
	return c == STK_C_FILTERED_PID || c == STK_C_FILTERED_CGROUP || c == STK_C_FILTERED_UID ||
	       c == STK_C_FILTERED_CPU;
}

#endif /* LOSSES_H */
