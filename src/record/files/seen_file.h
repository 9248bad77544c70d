/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that a process has mapped: opened while that is possible, checked to be the same file, and
 * described.
 */
#ifndef RECORD_SEEN_FILE_H
#define RECORD_SEEN_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "index.h"
#include "namespaces.h"
#include "wire.h"

struct mounts;
struct snapshot;
struct unwind_table;

/* The halves of wire_file_key.dev. */
#define WIRE_DEV_MAJOR(dev) ((dev) >> 20)
#define WIRE_DEV_MINOR(dev) ((dev)&0xfffff)

/* Files of at most so many bytes are read when they are observed. */
#define SEEN_FILE_QUICK (4u << 20)

/* Distinguishes the files that the recorder can open. */
struct file_stat {
	uint64_t dev, ino, size, mtime_ns, ctime_ns;
};

struct seen_file {
	int fd; /* for reading; -1: it could not be opened */
	struct file_stat st;
	bool deleted;
	char *path; /* as the process sees it */
	char *host_path; /* as the recorder sees it; "": unknown */
	uint32_t dev_major, dev_minor; /* as in /proc/PID/maps */
	uint64_t inode;
	uint8_t id[64]; /* build id */
	unsigned int id_len; /* 0: none */
	bool content_id; /* id is a hash of the content instead */
	struct unwind_table *table; /* NULL: see table_err */
	int table_err; /* of unwind__from_fd(); 0 and no table: it was not called */
};

/* State that is kept between calls. */
struct seen_context {
	struct snapshot *snapshot; /* borrowed */
	struct mounts *ours, *theirs; /* NULL: not read yet */
	uint64_t theirs_ns; /* mount namespace of theirs */
	char *theirs_root;
	struct namespaces all;
	struct wire_file_key *programs; /* whose generated code was observed */
	uint32_t nr_programs, cap_programs;
	struct index by_program;
};

/* Drops cached mounts, which change over time. */
void seen_context__forget(struct seen_context *ctx);
void seen_context__free(struct seen_context *ctx);

/*
 * Opens the file of a file event of kind WIRE_KEY_FILE; with_table: also builds its unwind table,
 * unless the file is long.  -ENOENT: the file is gone, or what was found may be another one;
 * *ret_seen then has what the file event contains.  -ENOMEM.
 */
int seen_file__open(struct seen_context *ctx, const struct wire_file_event *n, bool with_table,
		    struct seen_file *ret_seen);
void seen_file__release(struct seen_file *s); /* the members, not s */
/* Whether the file has not changed since it was opened. */
bool seen_file__is_steady(const struct seen_file *s);

/* Opens a regular file for reading without blocking; a descriptor or a negative errno. */
int file_open_regular(const char *path);
int file_stat__read(int fd, struct file_stat *ret_stat);
bool file_stat__equal(const struct file_stat *a, const struct file_stat *b); /* ignores ctime */

#endif /* RECORD_SEEN_FILE_H */
