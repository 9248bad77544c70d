// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What is missing from several recordings: what each has lost, and what none recorded. */
#include "many.h"

#include "cleanup.h"

static uint64_t own_time(const struct rd_member *m, uint64_t ts)
{
	uint64_t own = ts - m->r->shift;

	if ((int64_t)m->r->shift >= 0)
		return own > ts ? 0 : own;
	return own < ts ? UINT64_MAX : own;
}

/* ---- losses ---------------------------------------------------------------------------------- */

static int fetch_loss(struct rd_member *m, uint64_t until)
{
	struct stk_loss *l = &m->loss;
	int n = m->has_loss ? 0 : stk_reader__next_loss(m->r, own_time(m, until), l);

	if (n <= 0)
		return n;
	m->has_loss = true;
	if (l->type && rd_many__catch_up(m))
		l->type = NULL; /* any type */
	l->type = l->type ? l->type->shown : NULL;
	l->first_ts = rd_many__time(m, l->first_ts);
	if (l->last_ts != UINT64_MAX)
		l->last_ts = rd_many__time(m, l->last_ts);
	return 0;
}

static int cmp_losses(const struct stk_loss *x, const struct stk_loss *y)
{
	return CMP(x->first_ts, y->first_ts) ?: CMP(x->last_ts, y->last_ts);
}

int rd_many__next_loss(struct stk_reader *whole, uint64_t until, struct stk_loss *ret_loss)
{
	struct rd_many *many = whole->many;
	struct rd_member *first = NULL;

	for (uint32_t i = 0; i < many->nr; i++) {
		struct rd_member *m = &many->members[i];
		/* the times of the others are unknown */
		int err = m->is_placed ? fetch_loss(m, until) : 0;

		if (err)
			return err;
		if (m->has_loss && (!first || cmp_losses(&m->loss, &first->loss) < 0))
			first = m;
	}
	if (!first || first->loss.first_ts > until)
		return 0;
	*ret_loss = first->loss;
	first->has_loss = false;
	return 1;
}

/* ---- gaps between recordings ----------------------------------------------------------------- */

static bool records(const struct rd_member *m, uint32_t boot, const struct stk_event_type *t)
{
	return m->boot == boot && m->has_begun && rd_many__own_type(m, t);
}

/* From when on the member's events are complete: if it continues another one, from its end on. */
static uint64_t covers_from(const struct rd_member *m)
{
	const struct rd_member *other = m->continues;

	return other && other->has_ended && other->has_begun ? MIN(m->begin, other->end) : m->begin;
}

/* What members of this boot recorded, of any type. */
static struct rd_gap recorded_in(const struct rd_many *many, uint32_t boot)
{
	struct rd_gap all = { UINT64_MAX, 0 };

	for (uint32_t i = 0; i < many->nr; i++) {
		const struct rd_member *m = &many->members[i];

		if (m->boot != boot || !m->has_begun)
			continue;
		all.first = MIN(all.first, covers_from(m));
		all.last = MAX(all.last, m->has_ended ? m->end : UINT64_MAX);
	}
	return all;
}

/*
 * Whether members of this boot recorded the type all the time.  Each round finds the one that
 * recorded it longest from `at` on, so there are as many rounds as members at most.
 */
static bool is_covered(const struct rd_many *many, uint32_t boot, const struct stk_event_type *t,
		       uint64_t from, uint64_t to)
{
	uint64_t next = from, at;
	bool is_any = false;

	do {
		at = next;
		for (uint32_t i = 0; i < many->nr; i++) {
			const struct rd_member *m = &many->members[i];

			if (!records(m, boot, t))
				continue;
			is_any = true;
			if (covers_from(m) <= at)
				next = MAX(next, m->has_ended ? m->end : UINT64_MAX);
		}
	} while (is_any && next > at && next < to);
	return !is_any || next >= to;
}

static bool is_gap(const struct stk_reader *whole, const struct stk_event_type *t,
		   const struct stk_span *s)
{
	const struct rd_many *many = whole->many;

	for (uint32_t boot = 0; boot < many->nr_boots; boot++) {
		struct rd_gap all = recorded_in(many, boot);
		uint64_t from = MAX(s->from, all.first), to = MIN(s->to, all.last);

		if (from < to && !is_covered(many, boot, t, from, to))
			return true;
	}
	return false;
}

bool rd_many__may_miss(struct stk_reader *whole, const struct stk_span *s)
{
	struct rd_many *many = whole->many;

	for (uint32_t i = 0; i < many->nr; i++) {
		struct rd_member *m = &many->members[i];
		struct stk_span own = *s;

		if (!m->is_placed || (m->has_ended && s->from > m->end))
			continue;
		own.from = own_time(m, s->from);
		own.to = own_time(m, s->to);
		own.type = s->type ? rd_many__own_type(m, s->type) : NULL;
		/* a recording loses nothing of types that it does not have */
		if ((own.type || !s->type) && stk_reader__may_miss(m->r, &own))
			return true;
	}
	for (size_t i = 0; i < whole->nr_types; i++)
		if ((!s->type || s->type == whole->types[i]) && is_gap(whole, whole->types[i], s))
			return true;
	return false;
}
