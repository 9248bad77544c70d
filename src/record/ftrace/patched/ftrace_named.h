/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files identified by the hash of a kernel with the series in kernel/.  The kernel reports path and
 * build id in a record when it first sees the file, and in tracefs.
 */
#ifndef RECORD_FTRACE_NAMED_H
#define RECORD_FTRACE_NAMED_H

#include <stdint.h>

struct file_map;
struct ftrace_instance;
struct ftrace_named;
struct ftrace_record;

/* Both are borrowed. */
int ftrace_named__new(const struct ftrace_instance *instance, struct file_map *files,
		      struct ftrace_named **ret_named);
void ftrace_named__free(struct ftrace_named *n);

/* The next unknown hash causes tracefs to be read again. */
void ftrace_named__refresh(struct ftrace_named *n);
/* Adds the file of a record of kind FTRACE_FILE_MAP. */
int ftrace_named__add(struct ftrace_named *n, const struct ftrace_record *r);
/*
 * The frame (frame.h) of an offset in a file; hash 0: no file, the offset is an address.  tgid: a
 * process that maps the file.
 */
int ftrace_named__frame(struct ftrace_named *n, uint32_t tgid, uint32_t hash, uint64_t offset,
			uint64_t *ret_frame);

#endif /* RECORD_FTRACE_NAMED_H */
