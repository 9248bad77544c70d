/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of user functions, demangled: those in the recording or, if it has none, those in the file
 * on this machine if it is identical to the recorded one.  Source lines on demand.
 */
#ifndef NAMES_USER_NAMES_H
#define NAMES_USER_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "stackonce.h"
#include "string_table.h"

struct usyms;
struct usyms_file;

/*
 * A function inlined at a frame, or the function of the frame itself.  The strings are valid until
 * user_names__free().
 */
struct name_line {
	const char *function; /* as shown; NULL unknown */
	const char *source; /* NULL unknown */
	unsigned int line; /* 0 unknown */
};

struct name_lines; /* the name_lines of one address */

enum names_found { NAMES_NOT_ASKED = 0, NAMES_FOUND, NAMES_GONE, NAMES_OTHER };

struct user_names {
	/* options */
	const char *sysroot;
	const char **debug_dirs; /* NULL-terminated; NULL: the default */
	unsigned int nr_debug_dirs, max_debug_dirs;
	bool debuginfod, no_symbols, no_demangle, inlines;
	bool full; /* user frames show the path and the id of their file */
	bool hash_all; /* hash files of any size: to verify them, not to look up names */

	struct stk_reader *reader;
	struct usyms *usyms; /* opened at the first lookup */
	struct string_table strings;
	char **shown; /* demangled names, by string number; the string itself if it is equal */
	uint32_t nr_shown;
	struct name_lines *lines;
	uint32_t nr_lines, max_lines;
	struct index line_index;
	uint64_t seed; /* for line_index */
	uint8_t *found; /* by file number: enum names_found */
	uint32_t nr_found;
};

int user_names__add_debug_dir(struct user_names *n, const char *dir); /* -ENOMEM, after a message */
/* Call when the reader is open: it then asks n for symbols that the recording lacks. */
void user_names__start(struct user_names *n, struct stk_reader *r);
/* Warns about files whose functions have no names because the file is missing or differs. */
void user_names__finish(const struct user_names *n);
void user_names__free(struct user_names *n);

/* The demangled name of a function; the same pointer for the same sym until user_names__free(). */
const char *user_names__function(struct user_names *n, const char *sym);
/* The function of a frame as it is shown, user or kernel; NULL: unknown.  n may be NULL. */
const char *user_names__of_frame(struct user_names *n, const struct stk_frame *f);
/*
 * With --inline: the functions inlined at the frame, innermost first, and last its own; 0: unknown.
 */
unsigned int user_names__lines(struct user_names *n, const struct stk_frame *f,
			       const struct name_line **ret_lines);

const char *file__kind(const struct stk_file *file); /* "file", "vdso", "jit" */

/* The symbol lookup, opened with the options above; NULL when out of memory. */
struct usyms *user_names__usyms(struct user_names *n);
void user_names__usyms_file(const struct stk_file *file, struct usyms_file *ret_file);

#endif /* NAMES_USER_NAMES_H */
