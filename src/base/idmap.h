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

/* The value for key, valid until the next one is added.  NULL: not found. */
static inline uint32_t *idmap__find(const struct idmap *m, uint64_t key)
{
	uint64_t hash = index__hash(key);
	uint32_t i;

	index__for_each(&m->index, hash, i)
		if (m->v[i].key == key)
			return &m->v[i].value;
	return NULL;
}

uint32_t *idmap__add(struct idmap *m, uint64_t key); /* new, with 0 */

/* The value for key, added as 0 if new; valid until the next call.  NULL: out of memory. */
static inline uint32_t *idmap__get(struct idmap *m, uint64_t key)
{
	uint32_t *value = idmap__find(m, key);

	return value ? value : idmap__add(m, key);
}

void idmap__clear(struct idmap *m);

#endif /* RECORD_IDMAP_H */
