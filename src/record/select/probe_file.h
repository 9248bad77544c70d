/* SPDX-License-Identifier: GPL-2.0-only */
/* A program or library to be probed. */
#ifndef RECORD_PROBE_FILE_H
#define RECORD_PROBE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/elf_file.h"

struct elf_names;

struct probe_file {
	char *path; /* absolute, without symbolic links */
	char *given; /* as in the spec */
	int fd;
	struct elf_file elf;
	struct elf_names *names; /* after probe_file__load_names() */
	bool stripped; /* it has only the dynamic symbol table */
	bool is_go;
};

/*
 * Opens the file at the beginning of rest, "PATH:WHAT" or "PATH".  A PATH without a slash is looked
 * up in $PATH, then in the library directories.  PATH ends at the first colon before which there is
 * a file.  *ret_what points after that colon; NULL without one.  Errors are logged with spec.
 */
int probe_file__open(const char *spec, const char *rest, struct probe_file *ret_file,
		     const char **ret_what);
void probe_file__close(struct probe_file *f);

/*
 * Loads the names of functions, including those of a separate debug file, and sets the members
 * after them.  -ENOENT: there are none; other errors are logged.
 */
int probe_file__load_names(struct probe_file *f);

#endif /* RECORD_PROBE_FILE_H */
