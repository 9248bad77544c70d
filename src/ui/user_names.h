/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of user functions: those in the recording, or else of this machine's files where they are
 * the very ones that were recorded; demangled; with source lines on demand.
 */
#ifndef UI_USER_NAMES_H
#define UI_USER_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "stackonce.h"
#include "string_table.h"

struct usyms;
struct usyms_file;

/* A function inlined at a frame, or the frame's own with its source; strings live as names does. */
struct name_line {
	const char *function; /* as shown; NULL unknown */
	const char *source; /* NULL unknown */
	unsigned int line; /* 0 unknown */
};

struct name_lines; /* of one address */

enum names_found { NAMES_NOT_ASKED = 0, NAMES_FOUND, NAMES_GONE, NAMES_OTHER };

struct user_names {
	/* options */
	const char *sysroot;
	const char **debug_dirs; /* NULL-terminated; NULL: the usual one */
	unsigned int nr_debug_dirs, max_debug_dirs;
	bool debuginfod, no_symbols, no_demangle, inlines;
	bool hash_all; /* it is asked which files are the same, not what functions are called */

	struct stk_reader *reader;
	struct usyms *usyms; /* made when first asked */
	struct string_table strings;
	char **shown; /* what functions read as, by number; the string itself where that is the same */
	uint32_t nr_shown;
	struct name_lines *lines;
	uint32_t nr_lines, max_lines;
	struct index line_index;
	uint64_t seed; /* of their hash */
	uint8_t *found; /* by file: enum names_found */
	uint32_t nr_found;
};

int user_names__add_debug_dir(struct user_names *n, const char *dir); /* -ENOMEM, after a message */
/* The reader is open: from here on it asks for what the recording does not hold. */
void user_names__start(struct user_names *n, struct stk_reader *r);
/* Files whose functions have no names because the file is not here: gone, or another one by now. */
void user_names__finish(const struct user_names *n);
void user_names__free(struct user_names *n);

/* A function's name as it is shown; one pointer per sym for as long as names lives. */
const char *user_names__function(struct user_names *n, const char *sym);
/* With --inline: functions inlined at the frame, innermost first, and last its own; 0: not known. */
unsigned int user_names__lines(struct user_names *n, const struct stk_frame *f,
			       const struct name_line **ret_lines);

/* The finder of files as the options say; NULL when out of memory. */
struct usyms *user_names__usyms(struct user_names *n);
void user_names__usyms_file(const struct stk_file *file, struct usyms_file *ret_file);

#endif /* UI_USER_NAMES_H */
