// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Events without their fields: the gaps of each type, and the time of the last one per CPU and per
 * task.  The latter can only narrow the answer.
 */
#include "cleanup.h"
#include "missing.h"
#include "reader.h"

enum { BARE_CPU, BARE_TASK };

static uint64_t *bare_slot(const struct rd_losses *l, uint32_t type, uint32_t what, uint32_t value)
{
	return &l->bare[bytes_mix(bytes_mix(what, type), value) % RD_SEEN_SLOTS];
}

void rd_losses__bare(struct stk_reader *r, uint32_t type, uint32_t cpu, uint32_t tid,
		     uint64_t first, uint64_t last)
{
	struct rd_losses *l = &r->losses;
	uint64_t *slots[2];

	if (!l->bare)
		l->bare = calloc(RD_SEEN_SLOTS, sizeof(*l->bare));
	if (!l->bare || rd_lane__add(l, type + 1, RD_LANE_BARE, first, last) ||
	    rd_lane__add(l, RD_LANE_ALL, RD_LANE_BARE, first, last)) {
		l->failed = true;
		return;
	}
	slots[0] = bare_slot(l, type, BARE_CPU, cpu);
	slots[1] = bare_slot(l, type, BARE_TASK, tid);
	for (size_t i = 0; i < ARRAY_SIZE(slots); i++)
		*slots[i] = MAX(*slots[i], last);
}

bool rd_losses__bare_within(const struct stk_reader *r, const struct stk_span *s)
{
	const struct rd_losses *l = &r->losses;
	uint32_t type = s->type ? s->type->index : 0;

	if (!rd_lane__touches(l, s->type ? type + 1 : RD_LANE_ALL, RD_LANE_BARE, s))
		return false;
	return !s->type ||
	       ((s->cpu == STK_ANY_CPU || *bare_slot(l, type, BARE_CPU, s->cpu) >= s->from) &&
		(s->tid == STK_ANY_TASK || *bare_slot(l, type, BARE_TASK, s->tid) >= s->from));
}
