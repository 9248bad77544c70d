/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stretches of time in which events were lost.  The accounting comes once a round, so a loss is known
 * to lie between the event at hand when the counters grew and the last event read so far: whatever
 * touches that stretch may be two things taken for one.  What was lost on the edges, while tracing
 * began or ended, is no gap.
 */
#ifndef ANALYZE_GAPS_H
#define ANALYZE_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "event_fields.h"

struct gaps {
	uint64_t lost; /* events of the roles watched */
	uint64_t first, last; /* times of the events looked at */
	/* private */
	uint64_t bytes, to;
};

/*
 * Each event, before all else: what it is known by, and whether more events with a role of 1 to
 * last_role were lost.  -ENOMEM.
 */
int gaps__look(struct gaps *g, const struct stk_reader *r, struct event_fields *fields,
	       int last_role, const struct stk_event *e, const struct event_known **ret_known);

/* Whether events may be missing between from and the event at hand. */
static inline bool gaps__since(const struct gaps *g, uint64_t from)
{
	return g->lost && from <= g->to;
}

#endif /* ANALYZE_GAPS_H */
