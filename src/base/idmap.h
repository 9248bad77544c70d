/* SPDX-License-Identifier: GPL-2.0-only */
/* A growing hash map from non-zero u64 to u32. */
#ifndef RECORD_IDMAP_H
#define RECORD_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct idmap {
	struct idmap_cell {
		uint64_t key; /* 0: free */
		uint32_t value;
	} * cells;
	size_t mask, used;
};

/* The value's place for key, added as 0 when it is new; NULL: no memory.  key is not 0. */
uint32_t *idmap__get(struct idmap *m, uint64_t key);
void idmap__clear(struct idmap *m);

#endif /* RECORD_IDMAP_H */
