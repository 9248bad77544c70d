/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a CTF trace has once: stacks with the names of their functions, files of user frames, and
 * losses.  These are events of a stream without a CPU; a stack and its files precede, or have the
 * time of, the first event with the stack.
 */
#ifndef EXPORT_CTF_TABLES_H
#define EXPORT_CTF_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "ctf_stream.h"
#include "source.h"

struct ctf_stack {
	uint32_t id; /* as shown; 0: none */
	uint32_t depth;
	uint32_t at; /* in addresses */
	bool known;
};

struct ctf_tables {
	const struct export_source *src;
	struct ctf_streams *streams;
	uint64_t max_ts; /* see ctf_metadata__max_ts() */
	struct ctf_stack *stacks; /* by number */
	uint32_t nr_stacks;
	uint64_t *addresses; /* of all stacks */
	uint32_t nr_addresses, max_addresses;
	bool *files; /* by number: written */
	uint32_t nr_files;
	uint64_t memory; /* charged to the budget of the recording */
	uint32_t nr_written; /* stacks */
	uint64_t nr_lost; /* events; those of unknown number count as one */
};

/*
 * The stack of that number, which is written if it is new; number 0 is a stack without frames.
 * Returns 0 or a negative errno, after a message; -ENOBUFS: the recording demands too much.
 */
int ctf_tables__stack(struct ctf_tables *t, uint32_t number, uint64_t ts,
		      struct ctf_stack *ret_stack);
int ctf_tables__loss(struct ctf_tables *t, const struct stk_loss *loss);
void ctf_tables__tsdl(struct strbuf *b);
void ctf_tables__clear(struct ctf_tables *t);

#endif /* EXPORT_CTF_TABLES_H */
