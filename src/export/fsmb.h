/* SPDX-License-Identifier: GPL-2.0-only */
/* Export: the stack map of a recording in the form of the proposed ftrace stackmap (FSMB). */
#ifndef EXPORT_FSMB_H
#define EXPORT_FSMB_H

#include <stdint.h>

#include "output/output.h"
#include "stackonce.h"

struct export_fsmb_result {
	uint32_t stacks; /* written */
	uint32_t skipped; /* left out: frames that are no kernel addresses */
	uint64_t refs_cut; /* stacks with more references than 32 bits hold: written as 2^32-1 */
};

/*
 * Writes to what output says, in native byte order.  r was opened for events (without
 * fields is enough) and not read from yet.  An import keeps its ids, references and order; else
 * the id is the stack's number, the references are its events, and a stack stored under several
 * numbers is written once.  A recording that is damaged gives the map of what is before the
 * damage, and that error.
 */
int export_fsmb(struct stk_reader *r, const struct output_opts *output,
		struct export_fsmb_result *ret_result);

#endif /* EXPORT_FSMB_H */
