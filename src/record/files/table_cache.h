/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The unwind tables that are loaded: published to the BPF programs, and taken away from files that
 * nobody runs any more where the budget asks for it.
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
 * The table of file id, which has none so far; t belongs to the cache from here on.
 * Where there is no room it waits until others have been found idle, which takes a
 * second, unless wait is false: then it is given up for now.
 */
void table_cache__put(struct table_cache *c, uint32_t id, struct unwind_table *t, bool wait);
/* File id has no table, and will not have one. */
void table_cache__none(struct table_cache *c, uint32_t id);
/* NULL: none, for now or for ever.  Valid until the next call that is not this one. */
const struct unwind_table *table_cache__get(const struct table_cache *c, uint32_t id);
/* What time brings; now in ns of any steady clock.  Nearly nothing, most of the time. */
void table_cache__tick(struct table_cache *c, uint64_t now);

struct table_cache_stats {
	uint32_t loaded, evicted; /* now, ever */
	uint64_t bytes, peak; /* in use, most ever */
	uint64_t cfi_bytes; /* of the loaded files */
};
void table_cache__stats(const struct table_cache *c, struct table_cache_stats *ret_stats);

#endif /* RECORD_TABLE_CACHE_H */
