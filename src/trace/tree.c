// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Hash-consed caller tree. */
#include "trace/tree.h"

#include <errno.h>

#include "trace/wire.h"

#ifdef STK_FUZZ
#define TREE_MIN_SLOTS 16
#else
#define TREE_MIN_SLOTS 1024
#endif

static uint32_t slot_of(const struct tree *t, uint32_t parent, uint64_t frame)
{
	return wire_mix(wire_mix(parent, frame), frame) & t->mask;
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

int tree__init(struct tree *t)
{
	memset(t, 0, sizeof(*t));
	t->cap = TREE_MIN_SLOTS / 2;
	t->nodes = calloc(t->cap, sizeof(*t->nodes));
	t->nr = 1;
	return t->nodes ? resize_slots(t, TREE_MIN_SLOTS) : -ENOMEM;
}

void tree__free(struct tree *t)
{
	free(t->nodes);
	free(t->slots);
	memset(t, 0, sizeof(*t));
}

void tree__clear(struct tree *t)
{
	t->nr = 1;
	memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof(*t->slots));
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
		uint32_t cap = 2 * t->cap;
		struct tree_node *p;

		if (cap > 1u << 30)
			return -ENOMEM;
		p = realloc(t->nodes, cap * sizeof(*p));
		if (!p)
			return -ENOMEM;
		t->nodes = p;
		t->cap = cap;
		err = resize_slots(t, 2 * cap);
		if (err)
			return err;
		return tree__child(t, parent, frame);
	}
	t->nodes[t->nr] = (struct tree_node){ .frame = frame, .parent = parent };
	t->slots[pos] = t->nr;
	return t->nr++;
}

size_t tree__memory(const struct tree *t)
{
	return t->nr * (sizeof(*t->nodes) + 2 * sizeof(*t->slots));
}
