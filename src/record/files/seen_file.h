/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file as it was seen mapped in a process: opened while it can be, checked to be that very file,
 * and described.
 */
#ifndef RECORD_SEEN_FILE_H
#define RECORD_SEEN_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "namespaces.h"
#include "wire.h"

struct mounts;
struct snapshot;
struct unwind_table;

/* The halves of wire_file_key.dev. */
#define WIRE_DEV_MAJOR(dev) ((dev) >> 20)
#define WIRE_DEV_MINOR(dev) ((dev)&0xfffff)

/* Bytes of a file that can be read in passing. */
#define SEEN_FILE_QUICK (4u << 20)

/* What tells the files that we can open apart. */
struct file_stat {
	uint64_t dev, ino, size, mtime_ns, ctime_ns;
};

struct seen_file {
	int fd; /* for reading; -1: it could not be opened */
	struct file_stat st;
	bool deleted;
	char *path; /* as the process sees it */
	char *host_path; /* as we do; "": we do not */
	uint32_t dev_major, dev_minor; /* as /proc/PID/maps shows them */
	uint64_t inode;
	uint8_t id[64]; /* build id */
	unsigned int id_len; /* 0: none */
	bool content_id; /* it is a hash of the content instead */
	struct unwind_table *table; /* NULL: table_err */
	int table_err; /* unwind__from_fd()'s answer; 0 without a table: it was not asked */
};

/* What is remembered from one to the next. */
struct seen_context {
	struct snapshot *snapshot; /* borrowed */
	struct mounts *ours, *theirs; /* NULL: not read yet */
	uint64_t theirs_ns; /* mount namespace */
	char *theirs_root;
	struct namespaces all;
};

/* Mounts change: to be called when some time has gone by. */
void seen_context__forget(struct seen_context *ctx);
void seen_context__free(struct seen_context *ctx);

/*
 * The file of news, of kind WIRE_KEY_FILE; with_table also its unwind table, unless it is long.
 * -ENOENT: gone, or it cannot be told whether what is there now is it; the rest is filled as far as
 * the news tell.  -ENOMEM.
 */
int seen_file__open(struct seen_context *ctx, const struct wire_news *n, bool with_table,
		    struct seen_file *ret_seen);
void seen_file__release(struct seen_file *s); /* what it holds */
/* Whether what was read of it since it was opened is of the file as it was then. */
bool seen_file__is_steady(const struct seen_file *s);

/* A regular file for reading, without waiting for anything; or a negative errno. */
int file_open_regular(const char *path);
int file_stat__read(int fd, struct file_stat *ret_stat);
bool file_stat__equal(const struct file_stat *a, const struct file_stat *b); /* but for ctime */

#endif /* RECORD_SEEN_FILE_H */
