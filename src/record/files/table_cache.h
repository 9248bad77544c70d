/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loaded unwind tables.  They are published to the BPF programs; those of files that no process
 * uses any more are evicted when the budget is exhausted.
 */
#ifndef RECORD_TABLE_CACHE_H
#define RECORD_TABLE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/unwind.h"
#include "wire.h"

struct table_cache;

/* entries, ctl: shared with the BPF programs; slabs_fd, budget: as in table_slabs.h. */
int table_cache__new(struct wire_file *entries, struct wire_user_ctl *ctl, int slabs_fd,
		     uint64_t budget, struct table_cache **ret_cache);
void table_cache__free(struct table_cache *c);

/*
 * Programs must not be armed between these two calls: in between, tables are added without making
 * their memory visible to the programs, for which the kernel would wait each time.
 */
void table_cache__hold(struct table_cache *c);
int table_cache__publish(struct table_cache *c);

/*
 * Adds the table of file id, which has none so far; takes ownership of t.  If there is no room and
 * wait is true, the table waits until others are found idle, which takes a second; else it is
 * dropped, and may be put again.
 */
void table_cache__put(struct table_cache *c, uint32_t id, struct unwind_table *t, bool wait);
/*
 * The same for a file whose table changes, like that of generated code: it replaces the table that
 * the file has.  If there is no room it is refused: the file has no table, and further ones are
 * dropped, until its state becomes WIRE_FILE_NEW again, after half a minute.
 */
void table_cache__replace(struct table_cache *c, uint32_t id, struct unwind_table *t);
bool table_cache__is_refused(const struct table_cache *c, uint32_t id);
/* Marks file id as one without a table; one that it has is removed. */
void table_cache__none(struct table_cache *c, uint32_t id);
/* The same, as its table could not be built for lack of memory: warns, once. */
void table_cache__no_memory(struct table_cache *c, uint32_t id);
/* NULL: no table, now or ever.  Valid until the next call of another function. */
const struct unwind_table *table_cache__get(const struct table_cache *c, uint32_t id);
/* Does what is due; now: ns of a monotonic clock.  Cheap; call it often. */
void table_cache__tick(struct table_cache *c, uint64_t now);

struct table_cache_stats {
	uint32_t loaded, evicted; /* current, total */
	uint32_t refused; /* times that a table found no room, in total */
	uint64_t bytes, peak; /* in use, maximum */
	uint64_t cfi_bytes; /* of the loaded files */
};
void table_cache__stats(const struct table_cache *c, struct table_cache_stats *ret_stats);

#endif /* RECORD_TABLE_CACHE_H */
