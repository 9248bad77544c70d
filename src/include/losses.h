/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Which counters say that an event happened and is not in the recording. */
#ifndef LOSSES_H
#define LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "stackonce.h"

/* Lost between the first event and the last; what is lost at the edges is missing on the outside. */
static inline bool counter_is_gap(enum stk_counter c)
{
	switch (c) {
	case STK_C_LOST_RING:
	case STK_C_LOST_NESTED:
	case STK_C_LOST_SCRATCH:
	case STK_C_LOST_WRITE:
	case STK_C_LOST_UNKNOWN:
	case STK_C_LOST_RETURN:
		return true;
	default:
		return false;
	}
}

static inline bool counter_is_lost(enum stk_counter c)
{
	return c == STK_C_LOST_EDGE || counter_is_gap(c);
}

/* Of a row of STK_NR_COUNTERS. */
static inline uint64_t losses__sum(const uint64_t *counters)
{
	uint64_t sum = 0;
	unsigned int c;

	for (c = 0; c < STK_NR_COUNTERS; c++)
		sum += counter_is_lost(c) ? counters[c] : 0;
	return sum;
}

/* Of an event type, so far; with or without those at the edges. */
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

#endif /* LOSSES_H */
