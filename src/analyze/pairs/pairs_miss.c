// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides which pairs can be trusted: those between whose start and end no event of a start or end
 * type may be missing, on their CPU if the key contains the CPU, else on any.
 */
#include <errno.h>

#include "array.h"
#include "losses.h"
#include "pairs_priv.h"

int miss__update_types(struct pairs *p, const struct stk_reader *r)
{
	for (; p->nr_types_seen < stk_reader__nr_types(r); p->nr_types_seen++) {
		const struct stk_event_type *t = stk_reader__type(r, p->nr_types_seen);

		if (!t || !p->opts.role(p->opts.ctx, t))
			continue;
		if (array__grow(&p->roles, p->nr_roles, &p->max_roles))
			return -ENOMEM;
		p->roles[p->nr_roles++] = t;
	}
	return 0;
}

bool miss__between(const struct pairs *p, struct stk_reader *r, const struct pairs_end *start,
		   uint64_t to)
{
	struct stk_span span = {
		.cpu = p->of_cpu ? start->cpu : STK_ANY_CPU,
		.tid = p->of_tid ? start->tid : STK_ANY_TASK,
		.fields = true,
		.from = start->ts,
		.to = to,
	};
	unsigned int i;

	if (p->unreadable > start->ts)
		return true;
	/* Usually one query for all types suffices. */
	if (p->nr_roles > 1 && !stk_reader__may_miss(r, &span))
		return false;
	for (i = 0; i < p->nr_roles; i++) {
		unsigned int index = stk_event_type__index(p->roles[i]);

		span.type = p->roles[i];
		span.fields = index < p->nr_types && p->types[index].needs_fields;
		if (stk_reader__may_miss(r, &span))
			return true;
	}
	return false;
}

void miss__count(struct pairs *p, const struct stk_reader *r)
{
	struct pairs_counts *c = &p->counts;
	unsigned int i;

	for (i = 0; i < p->nr_roles; i++) {
		const struct stk_event_type *t = p->roles[i];
		unsigned int role = p->opts.role(p->opts.ctx, t);
		uint64_t lost = losses__of(r, t, false);
		uint64_t filtered = stk_reader__counter(r, t, STK_C_FILTERED_EXPR);
		unsigned int k;

		for (k = 0; k < STK_NR_COUNTERS; k++)
			if (counter_is_unselected(k))
				filtered += stk_reader__counter(r, t, k);
		c->lost_starts += role & PAIRS_START ? lost : 0;
		c->filtered_starts += role & PAIRS_START ? filtered : 0;
		c->lost_ends += role & PAIRS_END ? lost : 0;
		c->filtered_ends += role & PAIRS_END ? filtered : 0;
	}
}
