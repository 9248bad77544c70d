// SPDX-License-Identifier: GPL-2.0-only
/* The process tree, by the parents at birth. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "lifecycle.h"

struct node {
	const struct life *life;
	size_t first_child, next; /* index + 1; 0: none */
};

struct walk {
	struct node *v; /* by id, then threads after their process */
	size_t nr;
};

static int by_id(const void *a, const void *b)
{
	const struct life *x = ((const struct node *)a)->life, *y = ((const struct node *)b)->life;

	if (x->self.id != y->self.id)
		return x->self.id < y->self.id ? -1 : 1;
	if (x->is_thread != y->is_thread)
		return x->is_thread ? 1 : -1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* index + 1 of the process with that id; 0: not found. */
static size_t find(const struct walk *w, uint64_t id)
{
	size_t low = array__bisect(w->nr, i, w->v[i].life->self.id < id);

	return low < w->nr && w->v[low].life->self.id == id && !w->v[low].life->is_thread ?
		       low + 1 :
		       0;
}

static uint64_t parent_id(const struct life *l)
{
	return l->is_thread ? l->self.id : l->parent.id;
}

/* Depth first, without recursion: the last child returns to its parent. */
static void walk(struct lifecycle_cmd *c, const struct walk *w, size_t top,
		 void (*put)(struct lifecycle_cmd *c, const struct life *l, int depth))
{
	size_t at = top;
	int depth = 0;

	while (!out__drain(&c->out)) {
		put(c, w->v[at - 1].life, depth);
		if (w->v[at - 1].first_child) {
			at = w->v[at - 1].first_child;
			depth++;
			continue;
		}
		while (at != top && !w->v[at - 1].next) {
			at = find(w, parent_id(w->v[at - 1].life));
			depth--;
		}
		if (at == top)
			return;
		at = w->v[at - 1].next;
	}
}

int lifecycle__walk(struct lifecycle_cmd *c,
		    void (*put)(struct lifecycle_cmd *c, const struct life *l, int depth))
{
	_cleanup_free_ struct node *v = calloc(c->nr_ended + 1, sizeof(*v));
	struct walk w = { v, c->nr_ended };
	size_t i, parent;

	if (!v)
		return -ENOMEM;
	for (i = 0; i < w.nr; i++)
		v[i].life = &c->ended[i].life;
	qsort(v, w.nr, sizeof(*v), by_id);
	/* Backwards, so that the first-born child becomes the first of its list. */
	for (i = w.nr; i; i--) {
		parent = find(&w, parent_id(v[i - 1].life));
		if (!parent)
			continue;
		v[i - 1].next = v[parent - 1].first_child;
		v[parent - 1].first_child = i;
	}
	for (i = 1; i <= w.nr; i++) {
		parent = find(&w, parent_id(v[i - 1].life));
		if (!parent)
			walk(c, &w, i, put);
	}
	return 0;
}
