/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one way a command writes a file.
 *
 * What is written lies in the directory of its path, without a name where the file system can do
 * that, and replaces what has the name when it is committed: with all of it, or not at all.  Only regular
 * files are replaced.  Devices, pipes, /dev/stdout and /dev/fd/N are written to directly.
 *
 * Nothing that the user may miss is replaced: not what the same command reads, not a recording, not
 * a file that may not be written; nor is a symbolic link of another user followed (see place.h).
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

struct output;

struct output_opts {
	const char *path; /* "-": standard output */
	const char *const *inputs; /* what the command reads, "-" and NULL among it; never replaced */
	unsigned int nr_inputs;
	mode_t mode; /* of a file that replaces none, without the umask's bits; 0: 0666 */
	/* Replaces recordings, and files that may not be written. */
	bool force;
	/*
	 * It grows under its name, from output__commit() on.  It is locked (see live.h), so that
	 * nothing replaces it meanwhile, and a recording that has the name becomes PATH.old.  A file
	 * that is no recording takes that way only with force; PATH.old is not replaced if it is none.
	 */
	bool recording;
};

/* Logs its errors; what has the name is untouched until output__commit(). */
int output__open(const struct output_opts *opts, struct output **ret_output);
/* Open for writing until output__free(), and for reading unless it is written to directly. */
int output__fd(const struct output *o);
/* All of it, or a negative errno. */
int output__write(const struct output *o, const void *data, size_t len);
/*
 * All of it is written, or the recording has begun: the file takes its name, with owner and mode
 * of the one it replaces.  Logs its errors.
 */
int output__commit(struct output *o);
/* What was not committed is gone.  A recording is live until here. */
void output__free(struct output *o);

static inline void output__freep(struct output **o)
{
	output__free(*o);
}

#endif /* OUTPUT_H */
