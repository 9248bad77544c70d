/* SPDX-License-Identifier: GPL-2.0-only */
/* The formats that a recording can be exported to; each is a row of formats.def and a file. */
#ifndef EXPORT_FORMATS_H
#define EXPORT_FORMATS_H

#include "output/output.h"
#include "stackonce.h"
#include "strbuf.h"

/*
 * Writes the recording that r reads, which is opened for events and has not been read from, to what
 * output names.  Adds to summary what was written ("37 stacks").  Errors and warnings are logged.  Of
 * a damaged recording everything before the damage is exported, and the error returned.
 */
typedef int (*export_fn)(struct stk_reader *r, const struct output_opts *output,
			 struct strbuf *summary);

struct export_format {
	const char *name, *summary;
	export_fn run;
};

extern const struct export_format export_formats[]; /* to one without a name */

#define EXPORT_FORMAT(name, summary_)                                              \
	int export__##name(struct stk_reader *r, const struct output_opts *output, \
			   struct strbuf *summary);
#include "formats.def"
#undef EXPORT_FORMAT

#endif /* EXPORT_FORMATS_H */
