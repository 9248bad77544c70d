// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Hash-consed caller tree. */
#include "tree.h"

#include <errno.h>

#include "bytes.h"
#include "seeded_hash.h"

#ifdef STK_FUZZ
#define FIRST_NODES 8
#else
#define FIRST_NODES 512
#endif

/* Nodes, and the index of as many, grow together: the budget is asked for both before. */
static int grow(struct tree *t, uint32_t nodes)
{
	uint64_t slots = INDEX_MIN_SLOTS, more;
	struct tree_node *p;

	if (nodes > 1u << 30)
		return -ENOMEM;
	while (slots / 4 * 3 < nodes)
		slots *= 2;
	nodes = slots / 4 * 3; /* what the index has room for then */
	more = nodes * sizeof(*p) + slots * sizeof(struct index_slot) - t->taken;
	if (!budget__take(t->budget, more))
		return -ENOBUFS;
	t->taken += more;
	p = reallocarray(t->nodes, nodes, sizeof(*p));
	if (!p)
		return -ENOMEM;
	t->nodes = p;
	t->cap = nodes;
	return index__reserve(&t->index, nodes);
}

int tree__init(struct tree *t, struct budget *budget)
{
	memset(t, 0, sizeof(*t));
	t->seed = seeded_hash__seed();
	t->budget = budget;
	t->nr = 1;
	if (grow(t, FIRST_NODES))
		return -ENOMEM;
	t->nodes[0] = (struct tree_node){ 0 };
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
	uint64_t hash = seeded_hash__u64(t->seed, seeded_hash__u64(t->seed, t->seed, parent), frame);
	uint32_t i;
	int err;

	index__for_each(&t->index, hash, i)
		if (t->nodes[i].parent == parent && t->nodes[i].frame == frame)
			return i;
	if (t->nr == t->cap) {
		err = grow(t, 2 * t->cap);
		if (err)
			return err;
	}
	err = index__add(&t->index, hash, t->nr);
	if (err)
		return err;
	t->nodes[t->nr] = (struct tree_node){ .frame = frame, .parent = parent };
	return t->nr++;
}

size_t tree__memory(const struct tree *t)
{
	return t->nr * (sizeof(*t->nodes) + 4 * sizeof(struct index_slot) / 3); /* when full */
}
