// SPDX-License-Identifier: GPL-2.0-only
/* Merges bins, tasks and stacks until there are few enough cells. */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "cleanup.h"
#include "data_priv.h"

#define MAX_HEAT (VIEW_MAX_CELLS / 2)

/*
 * What is given up, one step after the other: bins of time, tasks but for the busiest, stacks but
 * for those with 1 / 2^rarity of the events or times.  0: all remain.
 */
static const struct step {
	uint32_t bins, tasks;
	unsigned int rarity;
} steps[] = {
	{ VIEW_FEWEST_BINS, 0, 0 },
	{ VIEW_FEWEST_BINS, 500, 0 },
	{ VIEW_FEWEST_BINS, 500, 14 },
	{ VIEW_FEWEST_BINS, 100, 14 },
	{ VIEW_FEWEST_BINS, 100, 12 },
	{ 250, 100, 12 },
	{ 250, 100, 10 },
	{ 250, 50, 10 },
	{ 125, 50, 10 },
	{ 125, 50, 8 },
	{ 125, 20, 8 },
	{ 60, 20, 8 },
	{ 60, 20, 6 },
	{ 30, 20, 6 },
	{ 10, 20, 6 },
	{ 10, 20, 4 },
	{ 1, 10, 4 },
	{ 1, 10, 2 },
};

/* ---- new places ------------------------------------------------------------------------------ */

/* What a place becomes once tasks and stacks stand for others. */
static struct view_place merged(const struct view_data *d, const struct view_place *old)
{
	const uint32_t *as = key_table__value(&d->tasks, old->task);
	struct view_place place = *old;

	if (*as)
		place.task = *as - 1;
	if (place.stack && place.stack <= d->nr_cut)
		place.stack = d->cut[place.stack - 1];
	return place;
}

/* Merges the places that are equal now, and their cells; order NULL: as they are. */
static int merge_places(struct view_data *d, const uint32_t *order)
{
	_cleanup_free_ uint32_t *numbers = calloc(d->places.nr + 1ul, sizeof(*numbers));
	struct key_table places;
	uint32_t i;
	int err = numbers ? 0 : -ENOMEM;

	key_table__init(&places, sizeof(struct view_place), 0);
	for (i = 0; i < d->places.nr && err >= 0; i++) {
		uint32_t old = order ? order[i] : i;
		struct view_place place = merged(d, key_table__key(&d->places, old));

		err = key_table__at(&places, &place, &numbers[old]);
	}
	if (err >= 0)
		err = view_cells__renumber(&d->cells, numbers, places.nr);
	if (err < 0) {
		key_table__clear(&places);
		return err;
	}
	key_table__clear(&d->places);
	d->places = places;
	for (i = 0; i < d->sources.nr; i++) {
		uint32_t *place = key_table__value(&d->sources, i);

		*place = numbers[*place];
	}
	d->work += d->sources.nr + d->cells.nr;
	return 0;
}

/* ---- shares ---------------------------------------------------------------------------------- */

/* The sums of all events and of the times of each kind of pairs.  NULL: no memory. */
static double *sum_up(const struct view_data *d)
{
	double *sums = calloc(d->nr_kind_pairs + 1ul, sizeof(*sums));
	uint32_t i;

	for (i = 0; i < d->cells.nr && sums; i++) {
		const struct view_place *place = key_table__key(&d->places, d->cells.v[i].key);

		sums[place->what] += d->cells.v[i].n;
	}
	return sums;
}

/* A task or stack matters that has many events, or much of the time of some pairs. */
static double share_of(const struct view_data *d, const struct view_cell *c, const double *sums)
{
	const struct view_place *place = key_table__key(&d->places, c->key);

	return sums[place->what] ? c->n / sums[place->what] : 0;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static int by_share(const void *a, const void *b, void *ctx)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const double *shares = ctx;

	return CMP(shares[y], shares[x]) ?: CMP(x, y);
}

static double *shares_of_tasks(const struct view_data *d)
{
	_cleanup_free_ double *sums = sum_up(d);
	double *shares = sums ? calloc(d->tasks.nr + 1ul, sizeof(*shares)) : NULL;
	uint32_t i;

	for (i = 0; i < d->cells.nr && shares; i++) {
		const struct view_place *place = key_table__key(&d->places, d->cells.v[i].key);

		shares[place->task] += share_of(d, &d->cells.v[i], sums);
	}
	return shares;
}

/* The busiest `limit` tasks remain. */
static int merge_tasks(struct view_data *d, uint32_t limit)
{
	_cleanup_free_ uint32_t *order = NULL;
	_cleanup_free_ double *shares = NULL;
	uint32_t other, i, nr = 0;
	int err;

	err = view_data__task(d, 0, 0, "(other tasks)", 0, &other);
	if (err)
		return err;
	order = calloc(d->tasks.nr, sizeof(*order));
	shares = shares_of_tasks(d);
	if (!order || !shares)
		return -ENOMEM;
	for (i = 0; i < d->tasks.nr; i++)
		if (i != other && !*(uint32_t *)key_table__value(&d->tasks, i))
			order[nr++] = i;
	if (nr <= limit)
		return 0;
	qsort_r(order, nr, sizeof(*order), by_share, shares);
	for (i = limit; i < nr; i++)
		*(uint32_t *)key_table__value(&d->tasks, order[i]) = other + 1;
	d->task_limit = d->task_limit && d->task_limit < limit ? UINT32_MAX : limit;
	return merge_places(d, NULL);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* The share of a node and of what it calls. */
static double *shares_of_nodes(const struct view_data *d)
{
	_cleanup_free_ double *sums = sum_up(d);
	double *shares = sums ? calloc(d->calls.nodes.nr + 1ul, sizeof(*shares)) : NULL;
	uint32_t i;

	for (i = 0; i < d->cells.nr && shares; i++) {
		const struct view_place *place = key_table__key(&d->places, d->cells.v[i].key);

		if (place->stack)
			shares[place->stack - 1] += share_of(d, &d->cells.v[i], sums);
	}
	for (i = d->calls.nodes.nr; i-- && shares;) {
		uint32_t parent = view_calls__node(&d->calls, i)->parent;

		if (parent)
			shares[parent - 1] += shares[i];
	}
	return shares;
}

/* A stack with a smaller share ends at the first caller that has as much. */
static int cut_stacks(struct view_data *d, double rare)
{
	_cleanup_free_ double *shares = shares_of_nodes(d);
	uint32_t i;

	if (!shares ||
	    (d->calls.nodes.nr && array__reach(&d->cut, d->calls.nodes.nr - 1, &d->nr_cut)))
		return -ENOMEM;
	for (i = 0; i < d->calls.nodes.nr; i++) {
		uint32_t parent = view_calls__node(&d->calls, i)->parent;

		d->cut[i] = shares[i] >= rare ? i + 1 : parent ? d->cut[parent - 1] : 0;
	}
	/* the capacity is larger than the number of nodes, and new nodes are not cut */
	for (; i < d->nr_cut; i++)
		d->cut[i] = i + 1;
	d->rare = rare;
	d->work += d->calls.nodes.nr + d->cells.nr;
	return merge_places(d, NULL);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void reduce_bins(struct view_data *d, uint32_t fewest)
{
	while (d->nr_bins >= 2 * fewest && d->cells.nr > VIEW_MAX_CELLS) {
		view_data__widen(d, 1);
		d->has_few_bins = d->nr_bins < VIEW_FEWEST_BINS;
	}
}

int view_data__thin(struct view_data *d)
{
	int err = 0;

	while (d->heat.nr > MAX_HEAT && d->nr_bins >= 2 * VIEW_FEWEST_BINS)
		view_data__widen(d, 1);
	/* The step that was enough the last time is the first one now. */
	while (d->cells.nr > VIEW_MAX_CELLS && !err) {
		const struct step *s = &steps[d->step];

		reduce_bins(d, s->bins);
		if (s->tasks && d->cells.nr > VIEW_MAX_CELLS)
			err = merge_tasks(d, s->tasks);
		if (s->rarity && d->cells.nr > VIEW_MAX_CELLS && !err)
			err = cut_stacks(d, 1.0 / (1u << s->rarity));
		if (d->cells.nr > VIEW_MAX_CELLS && ++d->step == ARRAY_SIZE(steps))
			break;
	}
	d->step = MIN(d->step, ARRAY_SIZE(steps) - 1);
	/* What cannot be merged any more must not be tried for each event. */
	d->max_cells = 2 * MAX(d->cells.nr, (uint32_t)VIEW_MAX_CELLS);
	return err;
}

int view_data__limit_tasks(struct view_data *d)
{
	return d->tasks.nr > VIEW_MAX_TASKS ? merge_tasks(d, VIEW_MAX_TASKS) : 0;
}

/* ---- the order of the page ------------------------------------------------------------------- */

/* What differs only in `what` is one row; the rest is ordered for what compresses well. */
static int compare_places(const void *a, const void *b, void *ctx)
{
	const struct view_place *x = key_table__key(ctx, *(const uint32_t *)a);
	const struct view_place *y = key_table__key(ctx, *(const uint32_t *)b);

	return CMP(x->type, y->type)	       ?:
		       CMP(x->task, y->task)   ?:
		       CMP(x->stack, y->stack) ?:
		       CMP(x->cpu, y->cpu)     ?:
						 CMP(x->what, y->what);
}

int view_data__sort(struct view_data *d)
{
	_cleanup_free_ uint32_t *order = calloc(d->places.nr + 1ul, sizeof(*order));
	uint32_t i;
	int err;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < d->places.nr; i++)
		order[i] = i;
	qsort_r(order, d->places.nr, sizeof(*order), compare_places, &d->places);
	err = merge_places(d, order);
	view_cells__finish(&d->cells);
	view_cells__finish(&d->heat);
	return err;
}
