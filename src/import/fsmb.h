/* SPDX-License-Identifier: GPL-2.0-only */
/* Imports a stack map of the proposed ftrace stackmap as a recording. */
#ifndef IMPORT_FSMB_H
#define IMPORT_FSMB_H

#include <stdbool.h>
#include <stdint.h>

struct import_fsmb_opts {
	const char *map; /* the binary stack map, in either byte order; "-": standard input */
	const char *kallsyms; /* that kernel's /proc/kallsyms; NULL: no symbols */
	const char *trace; /* that kernel's `trace` text; NULL: stacks without events */
	const char *output; /* the recording; "-": standard output */
	bool force; /* output may replace a recording */
};

struct import_fsmb_result {
	uint32_t stacks;
	uint32_t duplicates; /* of these: same frames as an earlier stack with another id */
	uint32_t deep; /* stacks with more than STK_MAX_DEPTH frames: truncated and marked */
	uint32_t gone; /* stacks with frames of a module that was unloaded */
	uint64_t frames, frames_named; /* distinct addresses, and those with a symbol */
	uint64_t events;
	uint64_t events_with_stack;
	uint32_t text_stacks; /* distinct stacks that are in the text in full, not in the map */
	uint64_t unknown_ids; /* events whose stack id is not in the map: kept without a stack */
	uint64_t orphan_ids; /* <stack_id N> lines that match no event */
	uint64_t lost; /* events that the kernel lost according to the text */
	uint64_t other_lines; /* lines that are not events: skipped */
	uint64_t cut; /* events with a text longer than a record: truncated and marked */
};

/*
 * The output must not be one of the inputs; it appears when it is complete.  Damage is logged in
 * one line, oddities as warnings.
 */
int import_fsmb(const struct import_fsmb_opts *opts, struct import_fsmb_result *ret_result);

#endif /* IMPORT_FSMB_H */
