/* SPDX-License-Identifier: GPL-2.0-only */
/* The tree of frames behind a flame graph: for flamegraph*.c only. */
#ifndef EXPORT_FLAMEGRAPH_TREE_H
#define EXPORT_FLAMEGRAPH_TREE_H

#include "flamegraph.h"
#include "index.h"

#define FLAME_NONE UINT32_MAX

struct flame_name { /* one per distinct frame */
	char *name, *where; /* where is "" if unset */
	enum flame_kind kind;
};

struct flame_node { /* a frame with its callers */
	uint32_t name, parent; /* the parent is always smaller; FLAME_NONE for the root */
	uint32_t child, sibling; /* FLAME_NONE: none */
	uint64_t weight, self; /* weight: self and all nodes below */
	struct flame_change change;
};

struct flamegraph {
	struct flame_name *names;
	struct flame_node *nodes; /* 0: the root */
	uint32_t nr_names, max_names, nr_nodes, max_nodes;
	struct index name_index, node_index;
	uint64_t seed; /* of the hashes */
	size_t name_bytes;
	bool has_changes; /* the change of a frame is known */
};

/* The child of parent for this frame, added if new; -ENOMEM. */
int flamegraph__child(struct flamegraph *f, uint32_t parent, const struct flame_frame *frame,
		      uint32_t *ret_node);

typedef int (*flame_cmp_fn)(const struct flamegraph *f, uint32_t a, uint32_t b);
/* Writes the children of node to ret_nodes, which must have room for all; returns their number. */
uint32_t flamegraph__children(const struct flamegraph *f, uint32_t node, flame_cmp_fn cmp,
			      uint32_t *ret_nodes);
/* Compares by name, then where, then kind. */
int flamegraph__by_name(const struct flamegraph *f, uint32_t a, uint32_t b);

#endif /* EXPORT_FLAMEGRAPH_TREE_H */
