/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a directory of files, which appears at once, when all of them are complete.
 *
 * Until then the files have no names, where the file system supports that, so a killed command
 * leaves nothing behind.  An existing directory is replaced only with force, and only if everything
 * in it is what its caller writes.
 */
#ifndef OUTPUT_DIRECTORY_H
#define OUTPUT_DIRECTORY_H

#include <stdbool.h>

#include "output.h"

struct output_dir;

struct output_dir_kind {
	const char *what; /* "a CTF trace", for messages */
	const char *main_file; /* a directory without this file is not of this kind */
	/* Whether the file, open for reading, is one that such a directory has under this name. */
	bool (*has)(const char *name, int fd);
};

/* Of opts, path and force count.  Logs its errors, as all of these functions do. */
int output_dir__open(const struct output_opts *opts, const struct output_dir_kind *kind,
		     struct output_dir **ret_dir);
/* A new file, to be written by output__write_to(); it belongs to the directory. */
int output_dir__create(struct output_dir *d, const char *name, int *ret_fd);
/* Logs that writing the file failed; returns err. */
int output_dir__failed(const struct output_dir *d, const char *name, int err);
/* Call when all files are written: gives the directory its name. */
int output_dir__commit(struct output_dir *d);
/* Discards what was not committed.  NULL is fine. */
void output_dir__free(struct output_dir *d);

static inline void output_dir__freep(struct output_dir **d)
{
	output_dir__free(*d);
}

#endif /* OUTPUT_DIRECTORY_H */
