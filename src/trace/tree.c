// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Hash-consed caller tree. */
#include "tree.h"

#include <errno.h>

#include "array.h"
#include "bytes.h"
#include "seeded_hash.h"

#ifdef STK_FUZZ
#define FIRST_NODES 8
#else
#define FIRST_NODES 512
#endif
#define MAX_NODES (1u << 30)

static int take(struct tree *t, uint64_t bytes)
{
	if (!budget__take(t->budget, bytes))
		return -ENOBUFS;
	t->taken += bytes;
	return 0;
}

/*
 * Makes room for one more node.  Nodes and index double independently when full; the budget is
 * charged first.
 */
static int make_room(struct tree *t)
{
	uint64_t nodes = t->nr < t->cap ? 0 : (uint64_t)t->cap * sizeof(*t->nodes),
		 slots = t->index.nr < index__room(&t->index) ? 0 : index__memory(&t->index);
	int err = t->nr >= MAX_NODES ? -ENOMEM : take(t, nodes + slots);

	err = err ?: array__grow(&t->nodes, t->nr, &t->cap);
	return err ?: index__reserve(&t->index, t->index.nr + 1);
}

int tree__init(struct tree *t, struct budget *budget)
{
	int err;

	memset(t, 0, sizeof(*t));
	t->seed = seeded_hash__seed();
	t->budget = budget;
	err = array__reserve(&t->nodes, FIRST_NODES, &t->cap);
	err = err ?: index__reserve(&t->index, FIRST_NODES);
	err = err ?: take(t, (uint64_t)t->cap * sizeof(*t->nodes) + index__memory(&t->index));
	if (err) {
		tree__free(t);
		return err;
	}
	t->nodes[0] = (struct tree_node){ 0 };
	t->nr = 1; /* which says that it is initialised */
	return 0;
}

void tree__free(struct tree *t)
{
	budget__give(t->budget, t->taken);
	free(t->nodes);
	index__free(&t->index);
	memset(t, 0, sizeof(*t));
}

void tree__clear(struct tree *t)
{
	t->nr = 1;
	index__clear(&t->index);
}

int64_t tree__child(struct tree *t, uint32_t parent, uint64_t frame)
{
	uint64_t hash =
		seeded_hash__u64(t->seed, seeded_hash__u64(t->seed, t->seed, parent), frame);
	uint32_t i;
	int err;

	index__for_each(&t->index, hash, i)
		if (t->nodes[i].parent == parent && t->nodes[i].frame == frame)
			return i;
	if (t->nr == t->cap || t->index.nr == index__room(&t->index)) {
		err = make_room(t);
		if (err)
			return err;
	}
	index__add(&t->index, hash, t->nr); /* there is room */
	t->nodes[t->nr] = (struct tree_node){ .frame = frame, .parent = parent };
	return t->nr++;
}

size_t tree__memory(const struct tree *t)
{
	return t->nr * (sizeof(*t->nodes) + 2 * sizeof(struct index_slot));
}
