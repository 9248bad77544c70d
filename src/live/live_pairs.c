// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the durations of two intervals beside the totals of the pairs analysis: of the interval
 * that is going on, and of the last complete one.
 */
#include "live_pairs.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "cleanup.h"
#include "strbuf.h"
#include "ui/need.h"
#include "ui/pairs/pair_query.h"

struct interval {
	struct durations going, last;
};

struct live_query {
	struct live_pairs *pairs;
	struct pair_query *query;
	struct interval *groups; /* by number */
	unsigned int nr_groups;
	uint64_t gaps; /* when the pairs were forgotten */
};

struct live_pairs {
	struct reading *rd;
	struct live_query *v;
	unsigned int nr;
	int selected;
	struct charge charge;
	uint64_t memory; /* of the intervals, at most */
};

/* What the last duration that was added needs at most. */
static uint64_t growth(const struct durations *d)
{
	if (durations__is_exact(d))
		return 2 * sizeof(*d->values); /* the array doubles */
	return d->count == DURATIONS_EXACT + 1 ? durations__memory(d) : 0;
}

static int measured(void *ctx, const struct pairs_group *group, const struct pairs_pair *pair)
{
	struct live_query *q = ctx;
	struct durations *d;
	int err;

	if (array__reach(&q->groups, group->number, &q->nr_groups))
		return -ENOMEM;
	d = &q->groups[group->number].going;
	err = durations__add(d, pair->end.ts - pair->start.ts);
	q->pairs->memory += growth(d);
	return err;
}

int live_pairs__new(struct reading *rd, struct pair_query *queries, unsigned int nr,
		    struct live_pairs **ret_pairs)
{
	struct live_pairs *p = calloc(1, sizeof(*p));
	unsigned int i;
	int err = 0;

	if (p)
		p->v = calloc(nr, sizeof(*p->v));
	if (!p || !p->v) {
		free(p);
		return -ENOMEM;
	}
	p->rd = rd;
	p->nr = nr;
	p->selected = nr > 1 ? -1 : 0;
	for (i = 0; i < nr && !err; i++) {
		p->v[i] = (struct live_query){ .pairs = p, .query = &queries[i] };
		queries[i].measured = measured;
		queries[i].ctx = &p->v[i];
		err = pair_query__start(&queries[i], rd, 0, PAIRS_NO_STACKS);
	}
	if (err) {
		live_pairs__free(p);
		return err;
	}
	*ret_pairs = p;
	return 0;
}

static void clear_intervals(struct live_query *q)
{
	unsigned int i;

	for (i = 0; i < q->nr_groups; i++) {
		durations__clear(&q->groups[i].going);
		durations__clear(&q->groups[i].last);
	}
}

void live_pairs__free(struct live_pairs *p)
{
	unsigned int i;

	if (!p)
		return;
	for (i = 0; i < p->nr; i++) {
		clear_intervals(&p->v[i]);
		free(p->v[i].groups);
	}
	free(p->v);
	free(p);
}

int live_pairs__add(struct live_pairs *p, const struct stk_event *e)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < p->nr && !err; i++)
		err = pair_query__add(p->v[i].query, e);
	if (err || !charge__is_due(&p->charge))
		return err;
	return charge(&p->charge, p->rd->reader, p->memory, 0);
}

void live_pairs__end_interval(struct live_pairs *p)
{
	unsigned int i, k;

	p->memory = 0;
	for (i = 0; i < p->nr; i++) {
		struct live_query *q = &p->v[i];

		for (k = 0; k < q->nr_groups; k++) {
			struct interval *v = &q->groups[k];

			durations__clear(&v->last);
			v->last = v->going;
			v->going = (struct durations){ 0 };
			p->memory += durations__memory(&v->last);
		}
		p->memory += q->nr_groups * sizeof(*q->groups);
	}
}

void live_pairs__zero(struct live_pairs *p)
{
	unsigned int i;

	for (i = 0; i < p->nr; i++) {
		struct live_query *q = &p->v[i];

		clear_intervals(q);
		pairs__forget(q->query->pairs);
		q->gaps = pairs__counts(q->query->pairs)->gap;
	}
}

/* ---- selecting ------------------------------------------------------------------------------- */

void live_pairs__select(struct live_pairs *p, int query)
{
	p->selected = query;
}

int live_pairs__selected(const struct live_pairs *p)
{
	return p->selected;
}

static bool is_selected(const struct live_pairs *p, unsigned int query)
{
	return p->selected < 0 || (unsigned int)p->selected == query;
}

static const struct pairs_group *const *groups_of(const struct live_pairs *p, unsigned int query,
						  unsigned int *ret_nr)
{
	*ret_nr = 0;
	return is_selected(p, query) ? pairs__groups(p->v[query].query->pairs, ret_nr) : NULL;
}

/* The durations of the last interval; NULL: no pair so far. */
static const struct durations *last_of(const struct live_query *q, const struct pairs_group *g)
{
	return g->number < q->nr_groups ? &q->groups[g->number].last : NULL;
}

void live_pairs__sum(const struct live_pairs *p, uint64_t *ret_now, uint64_t *ret_all)
{
	uint64_t now = 0, all = 0;
	unsigned int i, k, nr;

	for (i = 0; i < p->nr; i++) {
		const struct pairs_group *const *v = groups_of(p, i, &nr);

		for (k = 0; k < nr; k++) {
			const struct durations *last = last_of(&p->v[i], v[k]);

			now += last ? last->count : 0;
			all += v[k]->durations.count;
		}
	}
	*ret_now = now;
	*ret_all = all;
}

uint64_t live_pairs__gaps(const struct live_pairs *p)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < p->nr; i++)
		if (is_selected(p, i))
			sum += pairs__counts(p->v[i].query->pairs)->gap - p->v[i].gaps;
	return sum;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static struct live_times times_of(const struct durations *d)
{
	if (!d)
		return (struct live_times){ 0 };
	return (struct live_times){ .count = d->count,
				    .sum = d->sum,
				    .p50 = durations__percentile(d, 500),
				    .p99 = durations__percentile(d, 990),
				    .max = d->max };
}

/* What a group is ordered by. */
struct rank {
	unsigned __int128 value, sum;
	unsigned int query;
	const struct pairs_group *group;
};

static unsigned __int128 value_of(const struct durations *d, enum live_pair_order order)
{
	switch (order) {
	case LIVE_BY_COUNT:
		return d->count;
	case LIVE_BY_P50:
		return durations__percentile(d, 500);
	case LIVE_BY_P99:
		return durations__percentile(d, 990);
	case LIVE_BY_MAX:
		return d->max;
	default:
		return d->sum;
	}
}

/* As latency orders them: the group of others comes last. */
static int by_value(const void *x, const void *y)
{
	const struct rank *a = x, *b = y;

	return CMP(a->group->others, b->group->others) ?:
		       CMP(b->value, a->value)	       ?:
		       CMP(b->sum, a->sum)	       ?:
		       CMP(a->query, b->query)	       ?:
							 CMP(a->group->number, b->group->number);
}

static unsigned int rank_groups(const struct live_pairs *p, enum live_pair_order order,
				struct rank *ranks)
{
	unsigned int i, k, nr, out = 0;

	for (i = 0; i < p->nr; i++) {
		const struct pairs_group *const *v = groups_of(p, i, &nr);

		for (k = 0; k < nr; k++) {
			const struct durations *d = &v[k]->durations;

			if (d->count)
				ranks[out++] = (struct rank){ value_of(d, order), d->sum, i, v[k] };
		}
	}
	if (out)
		qsort(ranks, out, sizeof(*ranks), by_value);
	return out;
}

int live_pairs__groups(const struct live_pairs *p, enum live_pair_order order,
		       struct live_group *ret_groups, unsigned int max, unsigned int *ret_nr)
{
	_cleanup_free_ struct rank *ranks = NULL;
	unsigned int i, nr, all = 0;

	for (i = 0; i < p->nr; i++) {
		groups_of(p, i, &nr);
		all += nr;
	}
	ranks = calloc(all + 1, sizeof(*ranks));
	if (!ranks)
		return -ENOMEM;
	*ret_nr = rank_groups(p, order, ranks);
	nr = MIN(*ret_nr, max);
	for (i = 0; i < nr; i++) {
		const struct rank *r = &ranks[i];

		ret_groups[i] =
			(struct live_group){ .query = r->query,
					     .group = r->group,
					     .now = times_of(last_of(&p->v[r->query], r->group)),
					     .all = times_of(&r->group->durations) };
	}
	return nr;
}

/* ---- names ----------------------------------------------------------------------------------- */

void live_pairs__put_name(const struct live_pairs *p, unsigned int query, struct strbuf *b)
{
	const struct pair_query *q = p->v[query].query;

	if (q->preset) {
		strbuf__puts(b, q->preset->name);
		return;
	}
	strbuf__text(b, q->start);
	strbuf__puts(b, " to ");
	strbuf__text(b, q->end);
}

void live_pairs__put_group(const struct live_pairs *p, const struct live_group *g, struct strbuf *b)
{
	const struct pair_query *q = p->v[g->query].query;

	if (p->selected < 0) {
		live_pairs__put_name(p, g->query, b);
		if (!pairs__nr_by(q->pairs))
			return;
		strbuf__putc(b, ' ');
	}
	pair_query__group_name(q, g->group, b);
}

int live_pairs__check(struct live_pairs *p)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < p->nr && !err; i++)
		err = pair_query__check(p->v[i].query);
	return err;
}

void live_pairs__warn_empty(const struct live_pairs *p)
{
	unsigned int i;

	for (i = 0; i < p->nr; i++)
		if (!pairs__counts(p->v[i].query->pairs)->paired)
			need__all_tasks(p->rd, p->v[i].query->preset);
}
