/* SPDX-License-Identifier: GPL-2.0-only */
/* Exports the stacks of a recording as a map of the proposed ftrace stackmap (FSMB). */
#ifndef EXPORT_FSMB_H
#define EXPORT_FSMB_H

#include <stdint.h>

#include "output/output.h"
#include "stackonce.h"

struct export_fsmb_result {
	uint32_t stacks; /* written */
	uint32_t of_text; /* left out: of an import, from its trace text, not from its map */
	uint32_t skipped; /* left out: some frame is not a kernel address */
	uint64_t refs_cut; /* stacks whose references exceed 32 bits: written as 2^32-1 */
};

/*
 * r must have been opened for events (fields are not needed) and not read from yet.  An import
 * keeps its version, byte order, ids, references and order; otherwise the version is 2, the byte
 * order native, the id the stack's number and the references are its events, and a stack stored
 * under several numbers is written once.  Of a damaged recording the map holds the stacks before
 * the damage, and the error is returned.
 */
int export_fsmb(struct stk_reader *r, const struct output_opts *output,
		struct export_fsmb_result *ret_result);

#endif /* EXPORT_FSMB_H */
