/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwind tables in the cache directory, so that a file is converted once and not by each recording.
 *
 * A table is that of a file if device, inode, file system, size and the times of modification and
 * change are the same.  Build ids would not do: a file may claim any.  Only files on local file
 * systems count, where programs cannot set the time of change.
 */
#ifndef RECORD_TABLE_STORE_H
#define RECORD_TABLE_STORE_H

#include <stdbool.h>
#include <stdint.h>

struct cache_dir;
struct table_store;
struct unwind_table;

/* Borrows the directory. */
struct table_store *table_store__new(struct cache_dir *dir);
void table_store__free(struct table_store *s); /* NULL is fine */

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
