/* SPDX-License-Identifier: GPL-2.0-only */
/* The export formats; each is a row of formats.def and a file. */
#ifndef EXPORT_FORMATS_H
#define EXPORT_FORMATS_H

#include "output/output.h"
#include "source.h"
#include "strbuf.h"

/*
 * Exports the events of src, and what belongs to them, to output.  Appends what was written ("37
 * stacks") to summary.  Errors and warnings are logged.  Of a damaged recording everything before
 * the damage is exported, and the error returned.
 */
typedef int (*export_fn)(const struct export_source *src, const struct output_opts *output,
			 struct strbuf *summary);

struct export_format {
	const char *name, *summary;
	export_fn run;
	bool wants_fields; /* of events */
	bool takes_pairs; /* and draws them as slices */
	bool names_inlined; /* functions, as formats with counted stacks do anyway */
	/* Not NULL: it has counted stacks and names frames; the groups without --by. */
	const char *by;
	bool by_event; /* it needs groups with events of one type */
	bool one_by_one; /* it has counted stacks, and reads the events, too */
	bool boots; /* it takes recordings of several boots, also without --by */
	bool each; /* exports recordings one by one, from files, by default to standard output */
};

extern const struct export_format export_formats[]; /* ends with a NULL name */

#define EXPORT_FORMAT_AS(name, ...)                                                           \
	int export__##name(const struct export_source *src, const struct output_opts *output, \
			   struct strbuf *summary);
#include "formats.def"

#endif /* EXPORT_FORMATS_H */
