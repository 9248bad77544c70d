/* SPDX-License-Identifier: GPL-2.0-only */
/* Call stacks merged into a tree of functions. */
#ifndef ANALYZE_CALL_TREE_H
#define ANALYZE_CALL_TREE_H

#include "call_stack.h"

struct call_node {
	struct call_frame frame; /* any of the merged frames, as if it were not a guess */
	uint64_t count; /* events whose stack passes through this node */
	uint64_t self; /* events whose stack ends here, included in count */
	uint64_t guesses; /* events whose frame here is a guess, included in count */
	uint64_t weight,
		self_weight; /* the same, as values of the weight; without one count, self */
	struct call_node **children; /* heaviest first */
	unsigned int nr_children;
	uint32_t parent; /* index in nodes, used while building */
	struct call_key key;
};

struct call_tree;

/*
 * callers: the innermost functions are at the top, and the children of a node are its callers.
 * Otherwise the outermost functions are at the top, and the children are the functions called.
 * r is borrowed, and the tree is charged to its budget.
 */
int call_tree__new(struct stk_reader *r, const struct stack_group *group, bool callers,
		   call_frames_fn frames, void *ctx, struct call_tree **ret_tree);
void call_tree__free(struct call_tree *t);
static inline void call_tree__freep(struct call_tree **t)
{
	call_tree__free(*t);
}
/* The root has no frame; its count is the number of all events. */
const struct call_node *call_tree__root(const struct call_tree *t);

#endif /* ANALYZE_CALL_TREE_H */
