// SPDX-License-Identifier: GPL-2.0-only
/* Adds up by bin and key, and merges bins and keys. */
#include "cells.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

int view_cells__add(struct view_cells *c, uint32_t bin, uint32_t key, uint64_t n)
{
	struct view_cell *cell;

	if (key >= c->nr_newest && array__reach(&c->newest, key, &c->nr_newest))
		return -ENOMEM;
	cell = c->newest[key] ? &c->v[c->newest[key] - 1] : NULL;
	if (cell && cell->bin == bin) {
		cell->n = add(cell->n, n);
		return 0;
	}
	if (array__grow(&c->v, c->nr, &c->max))
		return -ENOMEM;
	c->is_sorted_by_bin = !c->nr || (c->is_sorted_by_bin && bin >= c->v[c->nr - 1].bin);
	c->v[c->nr++] = (struct view_cell){ bin, key, n };
	c->newest[key] = c->nr;
	return 0;
}

static int by_bin_and_key(const void *a, const void *b)
{
	const struct view_cell *x = a, *y = b;

	return CMP(x->bin, y->bin) ?: CMP(x->key, y->key);
}

/* Merges cells of the same bin and key where a key's cells are in the order of their bins. */
static void merge(struct view_cells *c)
{
	uint32_t i, to = 0;

	if (c->nr_newest)
		memset(c->newest, 0, c->nr_newest * sizeof(*c->newest));
	for (i = 0; i < c->nr; i++) {
		struct view_cell cell = c->v[i];
		uint32_t newest = c->newest[cell.key];

		if (newest && c->v[newest - 1].bin == cell.bin) {
			c->v[newest - 1].n = add(c->v[newest - 1].n, cell.n);
			continue;
		}
		c->v[to++] = cell;
		c->newest[cell.key] = to;
	}
	c->nr = to;
}

static void sort(struct view_cells *c)
{
	if (c->nr)
		qsort(c->v, c->nr, sizeof(*c->v), by_bin_and_key);
	c->is_sorted_by_bin = true;
}

void view_cells__widen(struct view_cells *c, unsigned int shift)
{
	uint32_t i;

	for (i = 0; i < c->nr; i++)
		c->v[i].bin = shift < 32 ? c->v[i].bin >> shift : 0;
	if (!c->is_sorted_by_bin)
		sort(c);
	merge(c);
}

int view_cells__renumber(struct view_cells *c, const uint32_t *numbers, uint32_t nr)
{
	uint32_t i;

	if (nr && array__reach(&c->newest, nr - 1, &c->nr_newest))
		return -ENOMEM;
	for (i = 0; i < c->nr; i++)
		c->v[i].key = numbers[c->v[i].key];
	if (!c->is_sorted_by_bin)
		sort(c);
	merge(c);
	return 0;
}

void view_cells__finish(struct view_cells *c)
{
	sort(c);
	merge(c);
}

uint64_t view_cells__memory(const struct view_cells *c)
{
	return (uint64_t)c->max * sizeof(*c->v) + (uint64_t)c->nr_newest * sizeof(*c->newest);
}

void view_cells__clear(struct view_cells *c)
{
	free(c->v);
	free(c->newest);
	*c = (struct view_cells){ 0 };
}
