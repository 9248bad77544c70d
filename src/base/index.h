/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Finds the entries of an array by hash.  The caller owns the array and compares the keys; the
 * index stores each entry's number and half of its hash, so it grows without looking at the keys:
 *
 * 	index__for_each(&ix, hash, i)
 * 		if (v[i].key == key)
 * 			return i;
 * 	err = index__add(&ix, hash, nr);	then the entry becomes v[nr++]
 *
 * Zero is an empty index.  The hash must be spread over its low 32 bits, and seeded (seeded_hash.h)
 * where keys are untrusted.
 */
#ifndef INDEX_H
#define INDEX_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "huge_pages.h"

#define INDEX_NONE UINT32_MAX
#define INDEX_MIN_SLOTS 16

struct index_slot {
	uint32_t hash;
	uint32_t entry; /* number + 1; 0: free */
};

struct index {
	struct index_slot *slots; /* at most 3/4 are used */
	uint32_t mask; /* number of slots - 1 */
	uint32_t nr; /* entries */
};

/* The hash of a trusted number. */
static inline uint64_t index__hash(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15ull >> 32;
}

/* The next candidate entry from *at on, initially the hash; INDEX_NONE: no more. */
static inline uint32_t index__next(const struct index *ix, uint64_t hash, uint32_t *at)
{
	const struct index_slot *s;

	while (ix->slots && (s = &ix->slots[*at & ix->mask])->entry) {
		(*at)++;
		if (s->hash == (uint32_t)hash)
			return s->entry - 1;
	}
	return INDEX_NONE;
}

/* Loops over all entries i whose key may have this hash; at the end i is INDEX_NONE. */
#define index__for_each(ix, hash, i)          \
	for (uint32_t _at = (uint32_t)(hash); \
	     ((i) = index__next((ix), (hash), &_at)) != INDEX_NONE;)

/* The number of entries it holds before it must grow. */
static inline uint32_t index__room(const struct index *ix)
{
	return ix->slots ? ix->mask - ix->mask / 4 : 0;
}

/* Bytes. */
static inline uint64_t index__memory(const struct index *ix)
{
	return ix->slots ? (ix->mask + 1ull) * sizeof(*ix->slots) : 0;
}

static inline void index__put(struct index *ix, struct index_slot slot)
{
	uint32_t at = slot.hash & ix->mask;

	while (ix->slots[at].entry)
		at = (at + 1) & ix->mask;
	ix->slots[at] = slot;
}

/* Makes room for nr entries in total; -ENOMEM, with nothing changed. */
static inline int index__reserve(struct index *ix, uint32_t nr)
{
	struct index more = { .mask = ix->slots ? ix->mask : INDEX_MIN_SLOTS - 1, .nr = ix->nr };

	if (ix->slots && nr <= index__room(ix))
		return 0;
	while (nr > more.mask - more.mask / 4) {
		if (more.mask > UINT32_MAX / 4)
			return -ENOMEM;
		more.mask = 2 * more.mask + 1;
	}
	more.slots = calloc(more.mask + 1ul, sizeof(*more.slots));
	if (!more.slots)
		return -ENOMEM;
	huge_pages__advise(more.slots, (more.mask + 1ul) * sizeof(*more.slots));
	for (uint32_t i = 0; ix->slots && i <= ix->mask; i++)
		if (ix->slots[i].entry)
			index__put(&more, ix->slots[i]);
	free(ix->slots);
	*ix = more;
	return 0;
}

/* Adds an entry, which must be new; -ENOMEM, with nothing changed. */
static inline int index__add(struct index *ix, uint64_t hash, uint32_t entry)
{
	if (index__reserve(ix, ix->nr + 1))
		return -ENOMEM;
	index__put(ix, (struct index_slot){ (uint32_t)hash, entry + 1 });
	ix->nr++;
	return 0;
}

/* The slot of an entry, which must be present. */
static inline uint32_t index__slot(const struct index *ix, uint64_t hash, uint32_t entry)
{
	uint32_t at = (uint32_t)hash & ix->mask;

	while (ix->slots[at].entry != entry + 1)
		at = (at + 1) & ix->mask;
	return at;
}

/* Renumbers an entry, which must be present. */
static inline void index__move(struct index *ix, uint64_t hash, uint32_t entry, uint32_t to)
{
	ix->slots[index__slot(ix, hash, entry)].entry = to + 1;
}

/*
 * Removes an entry, which must be present.  The entries after it move up as if it had never been
 * added.
 */
static inline void index__remove(struct index *ix, uint64_t hash, uint32_t entry)
{
	uint32_t mask = ix->mask, hole = index__slot(ix, hash, entry), at;
	struct index_slot *s = ix->slots;

	for (at = (hole + 1) & mask; s[at].entry; at = (at + 1) & mask) {
		if (((at - s[at].hash) & mask) < ((at - hole) & mask))
			continue;
		s[hole] = s[at];
		hole = at;
	}
	s[hole] = (struct index_slot){ 0, 0 };
	ix->nr--;
}

/* Removes all entries, keeps the memory. */
static inline void index__clear(struct index *ix)
{
	if (ix->slots)
		memset(ix->slots, 0, index__memory(ix));
	ix->nr = 0;
}

static inline void index__free(struct index *ix)
{
	free(ix->slots);
	*ix = (struct index){ 0 };
}

#endif /* INDEX_H */
