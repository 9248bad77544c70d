// SPDX-License-Identifier: GPL-2.0-only
/* Keeps losses, and merges them when there are too many. */
#include "loss_list.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "data_priv.h"

static int compare(const void *a, const void *b, void *ctx)
{
	const struct view_loss *x = a, *y = b;
	const struct view_data *d = ctx;

	return CMP(x->cpu, y->cpu)		   ?:
		       CMP(x->type, y->type)	   ?:
		       CMP(x->skipped, y->skipped) ?:
		       CMP(!x->count, !y->count)   ?:
		       CMP(view_data__bin_of(d, x->first), view_data__bin_of(d, y->first));
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	uint64_t c;

	return __builtin_add_overflow(a, b, &c) ? UINT64_MAX : c;
}

static void merge(struct view_losses *l, const struct view_data *d)
{
	uint32_t i, to = 0;

	qsort_r(l->v, l->nr, sizeof(*l->v), compare, (void *)d);
	for (i = 1; i < l->nr; i++) {
		struct view_loss *into = &l->v[to], *loss = &l->v[i];

		if (compare(into, loss, (void *)d)) {
			l->v[++to] = *loss;
			continue;
		}
		into->first = MIN(into->first, loss->first);
		into->last = MAX(into->last, loss->last);
		into->count = sum(into->count, loss->count);
	}
	l->nr = to + 1;
}

static void shrink(struct view_losses *l, const struct view_data *d)
{
	uint32_t i;

	merge(l, d);
	if (l->nr > VIEW_MAX_LOSSES / 2) {
		l->lacks_types = true;
		for (i = 0; i < l->nr; i++)
			l->v[i].type = 0;
		merge(l, d);
	}
	if (l->nr > VIEW_MAX_LOSSES / 2) {
		l->lacks_cpus = true;
		for (i = 0; i < l->nr; i++)
			l->v[i].cpu = 0;
		merge(l, d);
	}
}

int view_losses__add(struct view_losses *l, const struct view_loss *loss, const struct view_data *d)
{
	if (l->nr == VIEW_MAX_LOSSES)
		shrink(l, d);
	if (array__grow(&l->v, l->nr, &l->max))
		return -ENOMEM;
	l->v[l->nr++] = *loss;
	return 0;
}

uint64_t view_losses__memory(const struct view_losses *l)
{
	return (uint64_t)l->max * sizeof(*l->v);
}

void view_losses__clear(struct view_losses *l)
{
	free(l->v);
	*l = (struct view_losses){ 0 };
}
