/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Caller tree: stacks as paths of nodes {parent, frame}, every node stored once.  The writer uses
 * it to merge stacks before writing them, the reader to merge stacks that were written more than
 * once.
 */
#ifndef TRACE_TREE_H
#define TRACE_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "budget.h"
#include "index.h"

struct tree_node {
	uint64_t frame;
	uint32_t parent; /* 0: the root */
} __attribute__((packed, aligned(4))); /* packed because there are many */

struct tree {
	struct tree_node *nodes; /* [0] is the root */
	uint32_t nr, cap; /* the root included */
	struct index index; /* of the others */
	uint64_t seed;
	struct budget *budget; /* charged for memory; NULL: unlimited */
	size_t taken;
};

int tree__init(struct tree *t, struct budget *budget);
void tree__free(struct tree *t);
/* Remove all nodes, keep the memory. */
void tree__clear(struct tree *t);
/*
 * Returns the node with this parent and frame, added if new; -ENOMEM, or -ENOBUFS when the budget
 * is exhausted.
 */
int64_t tree__child(struct tree *t, uint32_t parent, uint64_t frame);
size_t tree__memory(const struct tree *t);

#endif /* TRACE_TREE_H */
