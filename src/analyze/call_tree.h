/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call stacks summed up as a tree of functions.  Frames are the same function when their symbol
 * starts at the same address, wherever in it they are.
 */
#ifndef ANALYZE_CALL_TREE_H
#define ANALYZE_CALL_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "stack_counts.h"

struct call_node {
	struct stk_frame frame; /* one of those summed up here */
	uint64_t count; /* events through here */
	uint64_t self; /* of these, ending here */
	struct call_node **children; /* most frequent first */
	unsigned int nr_children;
	uint32_t parent; /* while building */
	uint64_t key;
};

struct call_tree;

/*
 * callers: below a function stand its callers, innermost functions on top.  Otherwise outermost
 * functions on top and below each what it calls.
 */
int call_tree__new(struct stk_reader *r, const struct stack_group *group, bool callers,
		   struct call_tree **ret_tree);
void call_tree__free(struct call_tree *t);
static inline void call_tree__freep(struct call_tree **t)
{
	call_tree__free(*t);
}
/* No frame of its own; its count is that of all events. */
const struct call_node *call_tree__root(const struct call_tree *t);

#endif /* ANALYZE_CALL_TREE_H */
