// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* A set of byte strings, numbered from 0. */
#include "dict.h"

#include "array.h"
#include "seeded_hash.h"

#define MAX_EXPECTED (1u << 12)

int dict__reset(struct dict *d, uint32_t expected)
{
	d->nr = d->last = 0;
	d->seed = d->seed ? d->seed : seeded_hash__seed();
	d->keys.len = 0;
	index__free(&d->index);
	return index__reserve(&d->index, expected < MAX_EXPECTED ? expected : MAX_EXPECTED);
}

void dict__free(struct dict *d)
{
	bytes_buf__free(&d->keys);
	free(d->entries);
	index__free(&d->index);
	memset(d, 0, sizeof(*d));
}

static bool same_key(const struct dict *d, const struct dict_entry *e, const uint8_t *key,
		     uint32_t len)
{
	return e->len == len && !memcmp(d->keys.p + e->off, key, len);
}

/* key is not in the dictionary yet. */
static int64_t add_entry(struct dict *d, uint64_t hash, size_t off, uint32_t len)
{
	if (d->nr >= INT32_MAX || array__grow(&d->entries, d->nr, &d->cap) ||
	    index__add(&d->index, hash, d->nr))
		return -ENOMEM;
	d->entries[d->nr] = (struct dict_entry){ .off = off, .len = len };
	return d->nr++;
}

int64_t dict__intern(struct dict *d, size_t off)
{
	const uint8_t *key = d->keys.p + off;
	uint32_t len = d->keys.len - off, guess, i;
	uint64_t hash;
	int64_t nr;

	if (d->keys.failed)
		return -ENOMEM;
	/* event sequences repeat: first try the entry that followed the last key before */
	guess = d->nr ? d->entries[d->last].next : 0;
	if (d->nr && same_key(d, &d->entries[guess], key, len)) {
		d->keys.len = off;
		d->last = guess;
		return guess;
	}
	hash = seeded_hash__bytes(d->seed, key, len);
	index__for_each(&d->index, hash, i)
		if (same_key(d, &d->entries[i], key, len))
			break;
	if (i != INDEX_NONE)
		d->keys.len = off;
	nr = i != INDEX_NONE ? i : add_entry(d, hash, off, len);
	if (nr >= 0) {
		d->entries[d->last].next = nr;
		d->last = nr;
	}
	return nr;
}
