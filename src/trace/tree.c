// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Hash-consed caller tree. */
#include "tree.h"

#include <errno.h>

#include "bytes.h"
#include "seeded_hash.h"

#ifdef STK_FUZZ
#define TREE_MIN_SLOTS 16
#else
#define TREE_MIN_SLOTS 1024
#endif
#define SLOTS_PER_NODE 2 /* at least */

static uint32_t slot_of(const struct tree *t, uint32_t parent, uint64_t frame)
{
	return seeded_hash__u64(t->seed, seeded_hash__u64(t->seed, t->seed, parent), frame) & t->mask;
}

static int resize_slots(struct tree *t, uint32_t slots)
{
	uint32_t *p = calloc(slots, sizeof(*p));

	if (!p)
		return -ENOMEM;
	free(t->slots);
	t->slots = p;
	t->mask = slots - 1;
	for (uint32_t i = 1; i < t->nr; i++) {
		uint32_t pos = slot_of(t, t->nodes[i].parent, t->nodes[i].frame);

		while (t->slots[pos])
			pos = (pos + 1) & t->mask;
		t->slots[pos] = i;
	}
	return 0;
}

/* What so many nodes take, and their slots. */
static size_t size_of(uint32_t cap)
{
	return cap * (sizeof(struct tree_node) + SLOTS_PER_NODE * sizeof(uint32_t));
}

int tree__init(struct tree *t, struct budget *budget)
{
	memset(t, 0, sizeof(*t));
	t->seed = seeded_hash__seed();
	t->budget = budget;
	t->cap = TREE_MIN_SLOTS / 2;
	t->nodes = calloc(t->cap, sizeof(*t->nodes));
	t->nr = 1;
	return t->nodes ? resize_slots(t, TREE_MIN_SLOTS) : -ENOMEM;
}

void tree__free(struct tree *t)
{
	budget__give(t->budget, t->taken);
	free(t->nodes);
	free(t->slots);
	memset(t, 0, sizeof(*t));
}

void tree__clear(struct tree *t)
{
	t->nr = 1;
	memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof(*t->slots));
}

static int grow(struct tree *t)
{
	uint32_t cap = 2 * t->cap;
	size_t more = size_of(cap) - t->taken;
	struct tree_node *p;

	if (cap > 1u << 30)
		return -ENOMEM;
	if (!budget__take(t->budget, more))
		return -ENOBUFS;
	t->taken += more;
	p = realloc(t->nodes, cap * sizeof(*p));
	if (!p)
		return -ENOMEM;
	t->nodes = p;
	t->cap = cap;
	return resize_slots(t, SLOTS_PER_NODE * cap);
}

int64_t tree__child(struct tree *t, uint32_t parent, uint64_t frame)
{
	uint32_t pos = slot_of(t, parent, frame);
	int err;

	for (; t->slots[pos]; pos = (pos + 1) & t->mask) {
		const struct tree_node *n = &t->nodes[t->slots[pos]];

		if (n->parent == parent && n->frame == frame)
			return t->slots[pos];
	}
	if (t->nr == t->cap) {
		err = grow(t);
		return err ? err : tree__child(t, parent, frame);
	}
	t->nodes[t->nr] = (struct tree_node){ .frame = frame, .parent = parent };
	t->slots[pos] = t->nr;
	return t->nr++;
}

size_t tree__memory(const struct tree *t)
{
	return t->nr * (sizeof(*t->nodes) + 2 * sizeof(*t->slots));
}
