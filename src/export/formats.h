/* SPDX-License-Identifier: GPL-2.0-only */
/* The export formats; each is a row of formats.def and a file. */
#ifndef EXPORT_FORMATS_H
#define EXPORT_FORMATS_H

#include "output/output.h"
#include "stackonce.h"
#include "strbuf.h"

/*
 * Exports the recording of r, which was opened for events and not read from yet, to output.
 * Appends what was written ("37 stacks") to summary.  Errors and warnings are logged.  Of a damaged
 * recording everything before the damage is exported, and the error returned.
 */
typedef int (*export_fn)(struct stk_reader *r, const struct output_opts *output,
			 struct strbuf *summary);

struct export_format {
	const char *name, *summary;
	export_fn run;
};

extern const struct export_format export_formats[]; /* ends with a NULL name */

#define EXPORT_FORMAT(name, summary_)                                              \
	int export__##name(struct stk_reader *r, const struct output_opts *output, \
			   struct strbuf *summary);
#include "formats.def"
#undef EXPORT_FORMAT

#endif /* EXPORT_FORMATS_H */
