/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All commands write their files through this.
 *
 * The new file lies in the directory of its path, without a name where the file system supports
 * that.  A commit replaces the file of that name atomically.  Only regular files are replaced.
 * Devices, pipes, /dev/stdout and /dev/fd/N are written directly.
 *
 * Files that the user may need are not replaced: an input of the same command, a recording, a
 * write-protected file.  A symbolic link of another user is not followed (see place.h).
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

struct output;

struct output_opts {
	const char *path; /* "-": standard output */
	const int *fd; /* open for writing: used in place of the path, which messages name */
	const char *const *inputs; /* files that the command reads; entries may be "-" or NULL */
	unsigned int nr_inputs;
	mode_t mode; /* of a new file, before the umask; 0: 0666 */
	/* Replaces recordings and write-protected files. */
	bool force;
	/*
	 * The file is a recording, which grows under its name from output__commit() on.  It is
	 * locked (see live.h), so that it is not replaced meanwhile, and an existing recording of
	 * that name becomes PATH.old.  A file that is not a recording becomes PATH.old only with
	 * force; a PATH.old that is not a recording is never replaced.
	 */
	bool recording;
};

/* Logs its errors.  An existing file is untouched until output__commit(). */
int output__open(const struct output_opts *opts, struct output **ret_output);
/*
 * Opens a temporary file for what is to be written later, without a name: on the file system of the
 * output, or where temporary files belong if that is written directly.  Logs its errors.
 */
int output__open_temporary(const struct output *o);
/* Open for writing until output__free(), and for reading unless the output is written directly. */
int output__fd(const struct output *o);
/* Writes all of data.  Negative errno on failure, not logged. */
int output__write(const struct output *o, const void *data, size_t len);
/* The same to a file of an output directory. */
int output__write_to(int fd, const void *data, size_t len);
/*
 * Call when all is written, or when the recording has begun: gives the file its name, and the owner
 * and mode of the file that it replaces.  Logs its errors.
 */
int output__commit(struct output *o);
/* Discards what was not committed.  A recording is live until here.  NULL is fine. */
void output__free(struct output *o);

static inline void output__freep(struct output **o)
{
	output__free(*o);
}

#endif /* OUTPUT_H */
