// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Events without their fields: the time of the last one, by what is known of it. */
#include "cleanup.h"
#include "trace/missing.h"
#include "trace/reader.h"

static uint64_t *bare_slot(const struct rd_losses *l, uint32_t type, uint32_t what, uint32_t value)
{
	return &l->bare[wire_mix(wire_mix(what, type), value) % RD_SEEN_SLOTS];
}

enum { BARE_TYPE = 1, BARE_CPU, BARE_TASK };

void rd_losses__bare(struct stk_reader *r, uint32_t type, uint32_t cpu, uint32_t tid, uint64_t ts)
{
	struct rd_losses *l = &r->losses;
	uint64_t *slots[3];

	if (!l->bare)
		l->bare = calloc(RD_SEEN_SLOTS, sizeof(*l->bare));
	if (!l->bare) {
		l->failed = true;
		return;
	}
	slots[0] = bare_slot(l, type, BARE_TYPE, 0);
	slots[1] = bare_slot(l, type, BARE_CPU, cpu);
	slots[2] = bare_slot(l, type, BARE_TASK, tid);
	for (size_t i = 0; i < 3; i++)
		*slots[i] = MAX(*slots[i], ts);
	l->last_bare = MAX(l->last_bare, ts);
}

/* What is known of the question narrows it: every part must have been seen since. */
bool rd_losses__bare_since(const struct stk_reader *r, const struct stk_span *s)
{
	const struct rd_losses *l = &r->losses;
	uint32_t type;

	if (!l->bare || l->last_bare < s->from)
		return false;
	if (!s->type)
		return true;
	type = s->type->index;
	return *bare_slot(l, type, BARE_TYPE, 0) >= s->from &&
	       (s->cpu == STK_ANY_CPU || *bare_slot(l, type, BARE_CPU, s->cpu) >= s->from) &&
	       (s->tid == STK_ANY_TASK || *bare_slot(l, type, BARE_TASK, s->tid) >= s->from);
}
