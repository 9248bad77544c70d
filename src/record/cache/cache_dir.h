/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stackonce's cache directory: what is dear to make is kept there for later recordings, in a file
 * for each thing.
 *
 * A file is used only if its key is the one that is asked for, and if this very build of stackonce
 * has written it.  Other users must be unable to change the directory.  What lies there is
 * nevertheless input like any other: the checksum finds damage, and whoever reads a file checks
 * what is in it.
 */
#ifndef RECORD_CACHE_DIR_H
#define RECORD_CACHE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cache_dir;

#define CACHE_DIR_BYTES (256ull << 20) /* the limit of a directory */
#define CACHE_NAME 64

/* Names begin with one of these; the limit removes no other files. */
#define CACHE_UNWIND "unwind-"
#define CACHE_KERNEL "kernel-"

/*
 * Opens XDG_CACHE_HOME or ~/.cache, and in it "stackonce", which is created.  NULL: other users
 * could change it, or it cannot be created; a debug message says so.
 */
struct cache_dir *cache_dir__open(uint64_t max_bytes);
/* The same for another directory, an absolute path without links. */
struct cache_dir *cache_dir__open_at(const char *dir, uint64_t max_bytes);
/* Removes the files unused for longest if there are too many.  NULL is fine. */
void cache_dir__free(struct cache_dir *d);

/* What a file holds: a head of a known size, and the rest. */
struct cache_item {
	const char *name; /* of the file */
	const void *key;
	size_t key_len;
	void *head;
	size_t head_len;
	void *rest; /* the caller frees what cache_dir__get() returns */
	size_t rest_len;
};

/*
 * These may be called by several threads.  NULL instead of a directory is fine.  get fills
 * item->head and sets the rest.  False: there is no such file, or it is damaged.
 */
bool cache_dir__get(struct cache_dir *d, struct cache_item *item);
/* False: it is not kept; a debug message says why. */
bool cache_dir__put(struct cache_dir *d, const struct cache_item *item);

#endif /* RECORD_CACHE_DIR_H */
