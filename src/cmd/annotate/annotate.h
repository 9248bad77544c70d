/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The annotate command: annotate.c finds the function, annotate_lines.c its source lines,
 * annotate_put.c prints.
 */
#ifndef CMD_ANNOTATE_H
#define CMD_ANNOTATE_H

#include "analyze/annotate.h"
#include "ui/reading.h"

enum annotate_by { ANNOTATE_BY_LINE, ANNOTATE_BY_INSN, ANNOTATE_BY_DEFAULT }; /* order of --by */

struct annotated {
	struct reading rd;
	struct out out;
	const char *function; /* as given */
	unsigned int by; /* enum annotate_by */
	unsigned int stacks; /* ANNOTATE_KERNEL, _USER; 0: both */
	bool children, inlines;
	struct annotate *annotate;
};

/* The events that are shown: of the instruction or line itself, or with --children all. */
static inline uint64_t annotated__count(const struct annotated *an, const struct annotate_sum *sum)
{
	return an->children ? sum->all : sum->self;
}

/* ---- source lines (annotate_lines.c) --------------------------------------------------------- */

struct source_line {
	const char *source; /* equal names have equal pointers */
	unsigned int line; /* 0: the place has no line */
	struct annotate_sum sum;
};

/* What is inlined in a line: the innermost function. */
struct inlined_line {
	struct source_line at;
	struct name_line code;
};

struct source_lines {
	struct inlined_line *inlined; /* with --inline: by line, most events first */
	unsigned int nr_inlined;
	struct source_line *v; /* by source, then line; places without a line last */
	unsigned int nr;
	unsigned int known; /* of these, with a line */
	const char *source; /* where the function is, and its first and last line; NULL: unknown */
	unsigned int first, last;
};

/* The lines of the places of a function.  -ENOMEM. */
int source_lines__of(struct annotated *an, const struct annotate_function *f,
		     struct source_lines *ret_lines);
void source_lines__free(struct source_lines *lines);

/* A source file of this machine, which is no more trusted than a recording. */
struct source_text {
	char *text;
	const char **lines; /* from 1 */
	unsigned int *lengths;
	unsigned int nr; /* number of the last line */
	bool is_newer; /* than the program */
};

/* -ENOENT: there is no such text file here; -EFBIG; -ENOMEM. */
int source_text__read(struct annotated *an, const char *path, const struct annotate_function *f,
		      struct source_text *ret_text);
void source_text__free(struct source_text *t);

/* ---- output (annotate_put.c) ----------------------------------------------------------------- */

void annotate__put_candidates(struct annotated *an, const struct annotate_function *functions,
			      unsigned int nr);
/* Errors are logged. */
int annotate__put(struct annotated *an, const struct annotate_function *f);

/* ---- names of functions (annotate_name.c) ---------------------------------------------------- */

/* Whether a frame is in the function that the command line names. */
bool function_name__matches(struct annotated *an, const struct stk_frame *f);
/* What to give as FUNCTION for exactly this one of the candidates. */
void function_name__put(struct annotated *an, struct strbuf *b, const struct annotate_function *f,
			const struct annotate_function *functions, unsigned int nr);

#endif /* CMD_ANNOTATE_H */
