/* SPDX-License-Identifier: GPL-2.0-only */
/* A program or library in which something is to be probed. */
#ifndef RECORD_PROBE_FILE_H
#define RECORD_PROBE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/elf_file.h"

struct elf_names;

struct probe_file {
	char *path; /* absolute, without links */
	int fd;
	struct elf_file elf;
	struct elf_names *names; /* after probe_file__load_names() */
	bool stripped; /* there is no symbol table but the dynamic one */
};

/*
 * Opens what "PATH:WHAT" or "PATH" begins with; a PATH without a slash is looked for in $PATH, then
 * where libraries are.  *ret_what: behind the colon, NULL without one.  PATH ends at the first colon in
 * front of which there is a file.  Messages about spec are logged.
 */
int probe_file__open(const char *spec, const char *rest, struct probe_file *ret_file,
		     const char **ret_what);
void probe_file__close(struct probe_file *f);

/* The functions, those of a separate debug file too.  -ENOENT: none; else there was a message. */
int probe_file__load_names(struct probe_file *f);

#endif /* RECORD_PROBE_FILE_H */
