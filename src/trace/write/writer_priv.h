/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The writer's state, shared by its tables part and its output part. */
#ifndef TRACE_WRITER_PRIV_H
#define TRACE_WRITER_PRIV_H

#include "batch.h"
#include "encode.h"
#include "strbuf.h"
#include "trace/dict.h"
#include "trace/tree.h"
#include "writer.h"

struct wr_stack {
	uint32_t node, generation;
	bool imported;
	uint32_t id;
	uint64_t refs;
};

struct stk_writer {
	int fd;
	int err; /* sticky */
	bool seekable, fsync;
	bool torn; /* the file ends with part of a group */
	bool (*give_up)(void *ctx);
	void *give_up_ctx;
	struct encoder *enc;
	struct stk_writer_stats stats;
	uint64_t offset; /* in the file, of the next write */

	struct bytes_buf meta, types, tasks, symbols, files, user_symbols,
		aliases; /* payloads of open blocks */
	struct bytes_buf losses;
	struct strbuf left_out; /* value of "metadata.left_out" */
	uint64_t prev_symbol, prev_loss;
	struct bytes_buf replaced;
	struct stk_writer_replaced prev_replaced;
	uint32_t nr_files;
	struct bytes_buf group; /* finished table blocks */
	struct bytes_buf blocks; /* finished event blocks */
	struct bytes_buf scratch;

	struct batch_type *event_types;
	uint64_t *handed_in, *in_file; /* events, by type */
	uint32_t nr_types, cap_event_types, cap_handed_in, cap_in_file;
	struct dict task_dict;
	uint32_t task_base; /* number of the dictionary's task n is task_base + n */

	size_t stack_budget;
	struct tree tree;
	uint32_t node_base; /* file number of the tree's node n is node_base + n */
	uint32_t nodes_written; /* of the tree's nodes, the root included */
	uint32_t *node_stack; /* stack number by tree node, 0: none */
	uint32_t cap_node_stack;
	uint32_t generation;
	struct wr_stack *stacks; /* not yet written */
	uint32_t nr_stacks, cap_stacks;
	uint32_t first_stack; /* number of stacks[0] */
	uint32_t empty_stack;

	struct batch *cpus;
	uint32_t nr_cpus, batch_events;
	uint64_t seed; /* of hashes */
	uint64_t round, max_ts;
};

/* Makes err the sticky error unless there is one already; returns the sticky error. */
static inline int wr_fail(struct stk_writer *w, int err)
{
	if (!w->err)
		w->err = err;
	return w->err;
}

/* Appends the payload as a block to the group and empties it.  Does nothing if it is empty. */
int wr_close_table(struct stk_writer *w, uint16_t type, struct bytes_buf *payload);
/* Closes all tables into the group. */
int wr_close_tables(struct stk_writer *w);

#endif /* TRACE_WRITER_PRIV_H */
