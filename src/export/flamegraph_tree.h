/* SPDX-License-Identifier: GPL-2.0-only */
/* The tree of frames behind a flame graph: for flamegraph*.c only. */
#ifndef EXPORT_FLAMEGRAPH_TREE_H
#define EXPORT_FLAMEGRAPH_TREE_H

#include "flamegraph.h"
#include "index.h"

#define FLAME_NONE UINT32_MAX

struct flame_name { /* one for each frame that is different */
	char *name, *where; /* where "" when there is none */
	enum flame_kind kind;
};

struct flame_node { /* a frame below these callers */
	uint32_t name, parent; /* the parent is always the smaller number; FLAME_NONE: the root's */
	uint32_t child, sibling; /* FLAME_NONE: none */
	uint64_t weight, self; /* weight: self and that of all below */
};

struct flamegraph {
	struct flame_name *names;
	struct flame_node *nodes; /* 0: the root */
	uint32_t nr_names, max_names, nr_nodes, max_nodes;
	struct index name_index, node_index;
	uint64_t seed; /* of their hashes */
	size_t name_bytes;
};

/* The child of that parent for that frame, made when there is none; -ENOMEM. */
int flamegraph__child(struct flamegraph *f, uint32_t parent, const struct flame_frame *frame,
		      uint32_t *ret_node);

typedef int (*flame_cmp_fn)(const struct flamegraph *f, uint32_t a, uint32_t b);
/* Puts the children of node into ret_nodes, which has room for all; returns their number. */
uint32_t flamegraph__children(const struct flamegraph *f, uint32_t node, flame_cmp_fn cmp,
			      uint32_t *ret_nodes);
/* By name, then where, then kind. */
int flamegraph__by_name(const struct flamegraph *f, uint32_t a, uint32_t b);

#endif /* EXPORT_FLAMEGRAPH_TREE_H */
