/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call stacks merged into a tree of functions.  Two frames belong to the same function if their
 * symbols start at the same offset of the same file, whatever the symbols' names are.
 */
#ifndef ANALYZE_CALL_TREE_H
#define ANALYZE_CALL_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "stack_counts.h"

/* A function of a call stack: that of a frame, or one inlined there. */
struct call_frame {
	struct stk_frame frame;
	const char *inlined; /* NULL: not inlined; else equal names have equal pointers */
};

/* Grown by call_stack__add(); freed by call_stack__clear(). */
struct call_stack {
	struct call_frame *v; /* innermost first */
	unsigned int nr, max;
};
int call_stack__add(struct call_stack *s, const struct stk_frame *frame, const char *inlined);
void call_stack__clear(struct call_stack *s);

/* Appends the frames of these stacks to ret_stack.  -ENOMEM. */
typedef int (*call_frames_fn)(void *ctx, const struct stack_count *stacks,
			      struct call_stack *ret_stack);

/* Identifies a function. */
struct call_key {
	uint64_t start; /* of the symbol, or the address itself without one */
	uint32_t file; /* 0: the kernel, or unknown */
	const char *inlined;
};

struct call_node {
	struct call_frame frame; /* any of the merged frames, as if it were not a guess */
	uint64_t count; /* events whose stack passes through this node */
	uint64_t self; /* events whose stack ends here, included in count */
	uint64_t guesses; /* events whose frame here is a guess, included in count */
	struct call_node **children; /* most frequent first */
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
