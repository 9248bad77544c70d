/* SPDX-License-Identifier: GPL-2.0-only */
/* Import: a stack map of the proposed ftrace stackmap becomes a recording. */
#ifndef IMPORT_FSMB_H
#define IMPORT_FSMB_H

#include <stdbool.h>
#include <stdint.h>

struct import_fsmb_opts {
	const char *map; /* the binary stack map, either byte order; "-": standard input */
	const char *kallsyms; /* that kernel's /proc/kallsyms, NULL: addresses stay numbers */
	const char *trace; /* that kernel's `trace` text, NULL: stacks without events */
	const char *output; /* the recording; "-": standard output */
	bool force; /* it may replace another recording */
};

struct import_fsmb_result {
	uint32_t stacks;
	uint32_t duplicates; /* of these, the frames of an earlier one under another id */
	uint64_t frames, frames_named; /* distinct addresses, and those with a symbol */
	uint64_t events;
	uint64_t events_with_stack;
	uint64_t unknown_ids; /* events whose stack id the map does not have: kept without */
	uint64_t orphan_ids; /* <stack_id N> lines with no event they could belong to */
	uint64_t lost; /* events the text says the kernel lost */
	uint64_t other_lines; /* lines that are no event: left out */
	uint64_t cut; /* events with a text longer than a record: cut, marked */
};

/*
 * The output is none of the inputs, and appears when it is complete.
 * The damage is logged in one line, what is odd as warnings.
 */
int import_fsmb(const struct import_fsmb_opts *opts, struct import_fsmb_result *ret_result);

#endif /* IMPORT_FSMB_H */
