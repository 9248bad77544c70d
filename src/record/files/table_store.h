/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwind tables in a directory, so that a file is converted once and not by each recording.
 *
 * A table is that of a file if device, inode, file system, size and the times of modification and
 * change are the same, and if this very build of stackonce has converted it.  Build ids would not
 * do: a file may claim any.  Only files on local file systems count, where programs cannot set the
 * time of change.  Other users must be unable to change the directory, and what lies there is
 * nevertheless checked like any other input.
 */
#ifndef RECORD_TABLE_STORE_H
#define RECORD_TABLE_STORE_H

#include <stdbool.h>
#include <stdint.h>

struct table_store;
struct unwind_table;

#define TABLE_STORE_BYTES (256ull << 20) /* the limit of a directory */

/*
 * Opens stackonce's cache directory: XDG_CACHE_HOME or ~/.cache, and in it "stackonce", which is
 * created.  NULL: other users could change it, or it cannot be created; a debug message says so.
 */
struct table_store *table_store__open(uint64_t max_bytes);
/* The same for another directory, an absolute path without links. */
struct table_store *table_store__open_at(const char *dir, uint64_t max_bytes);
/* Removes the tables unused for longest if there are too many.  NULL is fine. */
void table_store__free(struct table_store *s);

/*
 * The table of an open file, from the directory or by unwind__from_fd(), whose errors it returns.
 * add: a table that is converted is stored if that is worth it; errors of storing are none.
 * Without a store (NULL) it is always converted.
 */
int table_store__get(struct table_store *s, int fd, bool add, struct unwind_table **ret_table);

struct table_store_stats {
	uint32_t found, converted, added;
};
void table_store__stats(const struct table_store *s, struct table_store_stats *ret_stats);

#endif /* RECORD_TABLE_STORE_H */
