/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A set of byte strings, numbered from 0 in the order of their first occurrence. */
#ifndef TRACE_DICT_H
#define TRACE_DICT_H

#include <stdint.h>

#include "bytes.h"
#include "index.h"

struct dict_entry {
	size_t off; /* in keys */
	uint32_t len;
	uint32_t next; /* the entry that followed this one last time */
};

struct dict {
	struct bytes_buf keys;
	struct dict_entry *entries;
	uint32_t nr, cap;
	uint32_t last; /* interned last */
	struct index index;
	uint64_t seed; /* of the hash */
};

/* Empties the dictionary.  expected: number of entries to expect, only a hint. */
int dict__reset(struct dict *d, uint32_t expected);
void dict__free(struct dict *d);

/*
 * Returns the number of the key that the caller appended to d->keys at off.  A known key is removed
 * from d->keys again, a new one stays.  Negative errno when out of memory.
 */
int64_t dict__intern(struct dict *d, size_t off);

static inline const uint8_t *dict__key(const struct dict *d, uint32_t nr)
{
	return d->keys.p + d->entries[nr].off;
}

#endif /* TRACE_DICT_H */
