// SPDX-License-Identifier: GPL-2.0-only
/* Merges the counted stacks into a tree of functions. */
#include "call_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/charge.h"
#include "array.h"
#include "cleanup.h"
#include "index.h"
#include "seeded_hash.h"

struct call_tree {
	struct stk_reader *r;
	struct charge charge;
	uint64_t steps;
	uint64_t node_memory; /* bytes */
	uint64_t seed; /* of the hash */
	struct call_node *nodes; /* 0 is the root; parents precede their children */
	uint32_t nr, max;
	struct index index; /* of (parent, key) */
	struct call_node **children; /* the concatenated lists of children */
	struct weight_sets weights; /* of node i: set 2 * i, and of its self 2 * i + 1 */
};

static uint64_t hash_of(const struct call_tree *t, uint32_t parent, const struct call_key *key)
{
	return call_key__hash(t->seed, seeded_hash__u64(t->seed, t->seed, parent), key);
}

static uint64_t memory_of(const struct call_tree *t)
{
	return t->node_memory + weight_sets__memory(&t->weights);
}

static int grow(struct call_tree *t)
{
	/* each node also takes one entry in children and two index slots */
	uint64_t max = t->max ? 2 * (uint64_t)t->max : 128,
		 bytes = sizeof(*t->nodes) + sizeof(*t->children) + 2 * sizeof(struct index_slot);
	int err;

	t->node_memory = max * bytes;
	err = charge(&t->charge, t->r, memory_of(t), t->steps);

	if (!err)
		err = array__reserve(&t->nodes, max, &t->max);
	return err ?: index__reserve(&t->index, max);
}

static int child_of(struct call_tree *t, uint32_t parent, const struct call_frame *frame,
		    uint32_t *ret_node)
{
	struct call_key key = call_frame__key(frame);
	uint64_t hash = hash_of(t, parent, &key);
	uint32_t i;
	int err;

	index__for_each(&t->index, hash, i)
		if (t->nodes[i].parent == parent && call_key__is(&t->nodes[i].key, &key))
			break;
	if (i == INDEX_NONE) {
		err = t->nr >= t->max ? grow(t) : 0;
		if (!err)
			err = index__add(&t->index, hash, t->nr);
		if (err)
			return err;
		i = t->nr++;
		t->nodes[i] = (struct call_node){ .frame = *frame, .parent = parent, .key = key };
		t->nodes[i].frame.frame.guessed = false;
	}
	*ret_node = i;
	return 0;
}

/* Adds the stack's count, and its weight if it has one, to a node. */
static int add_to(struct call_tree *t, uint32_t node, const struct stack_count *s)
{
	t->nodes[node].count += s->count;
	return s->weight ? weight_sets__add(&t->weights, 2 * node, s->weight) : 0;
}

static int add_stack(struct call_tree *t, const struct call_stack *stack, bool callers,
		     const struct stack_count *s)
{
	unsigned int nr = stack->nr, i;
	uint64_t count = s->count;
	uint32_t node = 0;
	int err = add_to(t, node, s);

	for (i = 0; i < nr && !err; i++) {
		const struct call_frame *frame = &stack->v[callers ? i : nr - 1 - i];

		err = child_of(t, node, frame, &node) ?: add_to(t, node, s);
		if (!err)
			t->nodes[node].guesses += frame->frame.guessed ? count : 0;
	}
	if (err)
		return err;
	t->nodes[node].self += count;
	return s->weight ? weight_sets__add(&t->weights, 2 * node + 1, s->weight) : 0;
}

static int by_weight(const void *a, const void *b)
{
	const struct call_node *x = *(struct call_node *const *)a;
	const struct call_node *y = *(struct call_node *const *)b;

	return CMP(y->weight, x->weight) ?: call_key__cmp(&x->key, &y->key);
}

static int set_weights(struct call_tree *t, bool weighed)
{
	int err = weighed ? weight_sets__finish(&t->weights) : 0;
	uint32_t i;

	for (i = 0; i < t->nr && !err; i++) {
		struct call_node *n = &t->nodes[i];

		n->weight = weighed ? weight_sets__value(&t->weights, 2 * i) : n->count;
		n->self_weight = weighed ? weight_sets__value(&t->weights, 2 * i + 1) : n->self;
	}
	return err;
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
		qsort(t->nodes[i].children, t->nodes[i].nr_children, sizeof(*t->children),
		      by_weight);
	return 0;
}

static int add_stacks(struct call_tree *t, const struct stack_group *group, bool callers,
		      call_frames_fn frames, void *ctx)
{
	struct call_stack stack = { 0 };
	unsigned int i;
	int err = 0;

	for (i = 0; i < group->nr_stacks && !err; i++) {
		stack.nr = 0;
		err = frames(ctx, &group->stacks[i], &stack);
		if (!err)
			err = add_stack(t, &stack, callers, &group->stacks[i]);
		t->steps += stack.nr;
		if (!err)
			err = charge(&t->charge, t->r, memory_of(t), t->steps);
	}
	call_stack__clear(&stack);
	return err;
}

int call_tree__new(struct stk_reader *r, const struct stack_group *group, bool callers,
		   call_frames_fn frames, void *ctx, struct call_tree **ret_tree)
{
	struct call_tree *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->r = r;
	t->seed = seeded_hash__seed();
	t->weights.how = group->how;
	err = grow(t);
	if (!err) {
		memset(&t->nodes[0], 0, sizeof(t->nodes[0]));
		t->nr = 1;
		err = add_stacks(t, group, callers, frames, ctx);
	}
	err = err ?: set_weights(t, group->weighed) ?: link_children(t);
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
	charge(&t->charge, t->r, 0, t->charge.work);
	free(t->nodes);
	index__free(&t->index);
	free(t->children);
	weight_sets__clear(&t->weights);
	free(t);
}

const struct call_node *call_tree__root(const struct call_tree *t)
{
	return &t->nodes[0];
}
