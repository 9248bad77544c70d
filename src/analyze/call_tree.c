// SPDX-License-Identifier: GPL-2.0-only
#include "call_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct call_tree {
	struct call_node *nodes; /* 0 is the root; a parent comes before its child */
	uint32_t nr, max;
	uint32_t *slots; /* (parent, key) -> node; 0: empty */
	unsigned int bits;
	struct call_node **children; /* all lists of children, one after the other */
};

static uint64_t hash_of(uint32_t parent, uint64_t key)
{
	uint64_t h = key * 0x9e3779b97f4a7c15ULL + parent;

	return (h ^ (h >> 31)) * 0xbf58476d1ce4e5b9ULL;
}

static int grow(struct call_tree *t)
{
	unsigned int bits = t->slots ? t->bits + 1 : 8;
	uint32_t max = 1u << (bits - 1), mask = (1u << bits) - 1, i, at;
	struct call_node *nodes;
	uint32_t *slots;

	if (bits > 31)
		return -ENOMEM;
	nodes = reallocarray(t->nodes, max, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	t->nodes = nodes;
	slots = calloc((size_t)mask + 1, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (i = 1; i < t->nr; i++) {
		at = hash_of(nodes[i].parent, nodes[i].key) >> (64 - bits);
		while (slots[at])
			at = (at + 1) & mask;
		slots[at] = i;
	}
	free(t->slots);
	t->slots = slots;
	t->bits = bits;
	t->max = max;
	return 0;
}

static int child_of(struct call_tree *t, uint32_t parent, const struct stk_frame *frame,
		    uint32_t *ret_node)
{
	uint64_t key = frame->sym ? frame->ip - frame->off : frame->ip;
	uint32_t at, i;

	if (t->nr >= t->max && grow(t))
		return -ENOMEM;
	at = hash_of(parent, key) >> (64 - t->bits);
	while ((i = t->slots[at]) && (t->nodes[i].parent != parent || t->nodes[i].key != key))
		at = (at + 1) & ((1u << t->bits) - 1);
	if (!i) {
		i = t->nr++;
		t->slots[at] = i;
		memset(&t->nodes[i], 0, sizeof(t->nodes[i]));
		t->nodes[i].frame = *frame;
		t->nodes[i].parent = parent;
		t->nodes[i].key = key;
	}
	*ret_node = i;
	return 0;
}

static int add_stack(struct call_tree *t, const struct stk_frame *frames, unsigned int nr,
		     bool callers, uint64_t count)
{
	uint32_t node = 0;
	unsigned int i;
	int err;

	t->nodes[0].count += count;
	for (i = 0; i < nr; i++) {
		err = child_of(t, node, &frames[callers ? i : nr - 1 - i], &node);
		if (err)
			return err;
		t->nodes[node].count += count;
	}
	t->nodes[node].self += count;
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct call_node *x = *(struct call_node *const *)a;
	const struct call_node *y = *(struct call_node *const *)b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static int link_children(struct call_tree *t)
{
	struct call_node **next;
	uint32_t i;

	t->children = next = calloc(t->nr, sizeof(*t->children));
	if (!next)
		return -ENOMEM;
	for (i = 1; i < t->nr; i++)
		t->nodes[t->nodes[i].parent].nr_children++;
	for (i = 0; i < t->nr; i++) {
		t->nodes[i].children = next;
		next += t->nodes[i].nr_children;
		t->nodes[i].nr_children = 0;
	}
	for (i = 1; i < t->nr; i++) {
		struct call_node *parent = &t->nodes[t->nodes[i].parent];

		parent->children[parent->nr_children++] = &t->nodes[i];
	}
	for (i = 0; i < t->nr; i++)
		qsort(t->nodes[i].children, t->nodes[i].nr_children, sizeof(*t->children), by_count);
	return 0;
}

int call_tree__new(struct stk_reader *r, const struct stack_group *group, bool callers,
		   struct call_tree **ret_tree)
{
	struct call_tree *t = calloc(1, sizeof(*t));
	struct stk_frame frames[STK_MAX_DEPTH];
	unsigned int i;
	int n, err;

	if (!t)
		return -ENOMEM;
	err = grow(t);
	if (!err) {
		memset(&t->nodes[0], 0, sizeof(t->nodes[0]));
		t->nr = 1;
	}
	for (i = 0; i < group->nr_stacks && !err; i++) {
		n = 0;
		if (group->stacks[i].stack)
			n = stk_reader__frames(r, group->stacks[i].stack, frames, STK_MAX_DEPTH);
		n = n < 0 ? 0 : n > STK_MAX_DEPTH ? STK_MAX_DEPTH : n;
		err = add_stack(t, frames, n, callers, group->stacks[i].count);
	}
	if (!err)
		err = link_children(t);
	if (err) {
		call_tree__free(t);
		return err;
	}
	*ret_tree = t;
	return 0;
}

void call_tree__free(struct call_tree *t)
{
	if (!t)
		return;
	free(t->nodes);
	free(t->slots);
	free(t->children);
	free(t);
}

const struct call_node *call_tree__root(const struct call_tree *t)
{
	return &t->nodes[0];
}
