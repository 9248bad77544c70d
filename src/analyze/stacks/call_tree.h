/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call stacks summed up as a tree of functions.  Frames are the same function when their symbol
 * starts at the same place of the same file, wherever in it they are, whatever it is called.
 */
#ifndef ANALYZE_CALL_TREE_H
#define ANALYZE_CALL_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "stack_counts.h"

/* A function of a call stack: a frame, or one of the functions inlined there. */
struct call_frame {
	struct stk_frame frame;
	const char *inlined; /* NULL: the frame's own; else the same pointer for the same name */
};

/* Grown by call_stack__add(); freed by call_stack__clear(). */
struct call_stack {
	struct call_frame *v; /* innermost first */
	unsigned int nr, max;
};
int call_stack__add(struct call_stack *s, const struct stk_frame *frame, const char *inlined);
void call_stack__clear(struct call_stack *s);

/* Adds the frames of these stacks to the end of ret_stack; -ENOMEM. */
typedef int (*call_frames_fn)(void *ctx, const struct stack_count *stacks,
			      struct call_stack *ret_stack);

/* What tells functions apart. */
struct call_key {
	uint64_t start; /* of the symbol; an address without one stands for itself */
	uint32_t file; /* 0: the kernel, or unknown */
	const char *inlined;
};

struct call_node {
	struct call_frame frame; /* one of those summed up here; guessed if any of them is */
	uint64_t count; /* events through here */
	uint64_t self; /* of these, ending here */
	struct call_node **children; /* most frequent first */
	unsigned int nr_children;
	uint32_t parent; /* while building */
	struct call_key key;
};

struct call_tree;

/*
 * callers: below a function stand its callers, innermost functions on top.  Otherwise outermost
 * functions on top and below each what it calls.  r is borrowed: the tree is of its budget.
 */
int call_tree__new(struct stk_reader *r, const struct stack_group *group, bool callers,
		   call_frames_fn frames, void *ctx, struct call_tree **ret_tree);
void call_tree__free(struct call_tree *t);
static inline void call_tree__freep(struct call_tree **t)
{
	call_tree__free(*t);
}
/* No frame of its own; its count is that of all events. */
const struct call_node *call_tree__root(const struct call_tree *t);

#endif /* ANALYZE_CALL_TREE_H */
