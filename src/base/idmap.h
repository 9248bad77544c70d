/* SPDX-License-Identifier: GPL-2.0-only */
/* A growing hash map from u64 to u32. */
#ifndef RECORD_IDMAP_H
#define RECORD_IDMAP_H

#include <stddef.h>
#include <stdint.h>

#include "index.h"

/* Zero is empty. */
struct idmap {
	struct idmap_entry {
		uint64_t key;
		uint32_t value;
	} * v;
	uint32_t nr, cap;
	struct index index;
};

/* The value for key, added as 0 if new; valid until the next call.  NULL: out of memory. */
uint32_t *idmap__get(struct idmap *m, uint64_t key);
void idmap__clear(struct idmap *m);

#endif /* RECORD_IDMAP_H */
