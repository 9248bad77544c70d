/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file a recording goes to.  It gets its name only once the recording has begun, so that one
 * that fails to begin costs no earlier recording.
 */
#ifndef RECORD_OUTPUT_H
#define RECORD_OUTPUT_H

struct output;

/*
 * path: "-" is standard output; a device or pipe is written to as it is; a file is created beside
 * path.  The descriptor is the caller's.  Logs its errors.
 */
int output__new(const char *path, struct output **ret_output, int *ret_fd);
/* The file takes its name; the one that had it becomes PATH.old.  Logs its errors. */
int output__keep(struct output *o);
/* Deletes the file unless it was kept. */
void output__free(struct output *o);

#endif /* RECORD_OUTPUT_H */
