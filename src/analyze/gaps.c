// SPDX-License-Identifier: GPL-2.0-only
#include "gaps.h"

#include <errno.h>

#include "cleanup.h"
#include "losses.h"

static int look_for_losses(struct gaps *g, const struct stk_reader *r, struct event_fields *fields,
			   int last_role)
{
	struct stk_totals t;
	uint64_t sum = 0;
	unsigned int i;

	stk_reader__totals(r, &t);
	/* Counters change where the file is read, which is not at every event. */
	if (t.bytes == g->bytes)
		return 0;
	g->bytes = t.bytes;
	for (i = 0; i < stk_reader__nr_types(r); i++) {
		const struct stk_event_type *type = stk_reader__type(r, i);
		const struct event_known *known = event_fields__of(fields, type);

		if (!known)
			return -ENOMEM;
		if (!known->role || known->role > last_role)
			continue;
		sum += losses__of(r, type, false);
	}
	if (sum > g->lost) {
		g->lost = sum;
		g->to = t.last_ts;
	}
	return 0;
}

int gaps__look(struct gaps *g, const struct stk_reader *r, struct event_fields *fields,
	       int last_role, const struct stk_event *e, const struct event_known **ret_known)
{
	const struct event_known *known = event_fields__of(fields, stk_event__type(e));
	int err = known ? look_for_losses(g, r, fields, last_role) : -ENOMEM;

	if (err)
		return err;
	if (!g->first)
		g->first = stk_event__ts(e);
	g->last = MAX(g->last, stk_event__ts(e));
	*ret_known = known;
	return 0;
}
