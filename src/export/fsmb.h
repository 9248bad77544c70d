/* SPDX-License-Identifier: GPL-2.0-only */
/* Exports the stacks of a recording as a map of the proposed ftrace stackmap (FSMB). */
#ifndef EXPORT_FSMB_H
#define EXPORT_FSMB_H

#include <stdint.h>

#include "output/output.h"
#include "source.h"

struct strbuf;

struct export_fsmb_result {
	uint32_t stacks; /* written */
	uint32_t of_text; /* left out: of an import, from its trace text, not from its map */
	uint32_t skipped; /* left out: some frame is not a kernel address */
	uint64_t refs_cut; /* stacks whose references exceed 32 bits: written as 2^32-1 */
};

/*
 * Fields of events are not needed.  An import keeps its byte order, ids, references and order, and
 * its version if version is 0.  Otherwise the version is the given one or 2, the byte order native,
 * the id the stack's number and the references are its events; a stack stored under several numbers
 * is written once.  Of a selection, the references are the selected events, and stacks without any
 * are left out.  Of a damaged recording the map holds the stacks before the damage, and the error
 * is returned.
 */
int export_fsmb(const struct export_source *src, uint32_t version, const struct output_opts *output,
		struct export_fsmb_result *ret_result);
/* The same as an export_fn: with warnings and a summary. */
int export_fsmb_summed(const struct export_source *src, uint32_t version,
		       const struct output_opts *output, struct strbuf *summary);

#endif /* EXPORT_FSMB_H */
