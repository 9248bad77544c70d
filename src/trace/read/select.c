// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The selection of events: blocks without any selected event are skipped by their headers, or once
 * their tuples are known; of other blocks only the selected events are delivered.
 */
#include "reader.h"

#include "cleanup.h"

int stk_reader__select(struct stk_reader *r, const struct stk_select *select)
{
	if (r->started || select->from > select->to)
		return -EINVAL;
	memset(&r->select, 0, sizeof(r->select));
	memcpy(&r->select, select, MIN(select->size, sizeof(r->select)));
	r->selects = true;
	return 0;
}

bool rd_select__has_time(const struct stk_reader *r, uint64_t ts)
{
	return ts >= r->select.from && ts <= r->select.to;
}

bool rd_select__has(const struct stk_reader *r, const struct stk_event *e)
{
	const struct stk_select *s = &r->select;

	return rd_select__has_time(r, stk_event__ts(e)) &&
	       (!s->cpu || s->cpu(s->ctx, stk_event__cpu(e))) && (!s->event || s->event(s->ctx, e));
}

bool rd_select__excludes(const struct stk_reader *r, uint32_t cpu,
			 const struct stk_events_header *h)
{
	const struct stk_select *s = &r->select;

	return r->selects &&
	       (h->min_ts > s->to || h->max_ts < s->from || (s->cpu && !s->cpu(s->ctx, cpu)));
}

uint32_t rd_select__tuples(struct stk_reader *r, struct rd_block *b)
{
	struct stk_event e = { .r = r, .block = b, .ts = b->h.min_ts };
	uint32_t wanted = 0;

	if (!r->selects || !r->select.event)
		return b->nr_tuples;
	for (uint32_t i = 0; i < b->nr_tuples; i++) {
		e.tuple = &b->tuples[i];
		b->tuples[i].unwanted = !r->select.event(r->select.ctx, &e);
		wanted += !b->tuples[i].unwanted;
	}
	return wanted;
}
