// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* A set of byte strings, numbered from 0: open addressing, at most half full. */
#include "dict.h"

#include "array.h"
#include "seeded_hash.h"

static int dict__resize(struct dict *d, uint32_t slots)
{
	if (slots > d->slots_cap) {
		uint32_t *p = realloc(d->slots, (size_t)slots * sizeof(*p));

		if (!p)
			return -ENOMEM;
		d->slots = p;
		d->slots_cap = slots;
	}
	memset(d->slots, 0, (size_t)slots * sizeof(*d->slots));
	d->mask = slots - 1;
	for (uint32_t i = 0; i < d->nr; i++) {
		uint32_t pos = d->entries[i].hash & d->mask;

		while (d->slots[pos])
			pos = (pos + 1) & d->mask;
		d->slots[pos] = i + 1;
	}
	return 0;
}

int dict__reset(struct dict *d, uint32_t expected)
{
	uint32_t slots = 64;

	while (slots < expected && slots < 1u << 12)
		slots *= 2;
	d->nr = d->last = 0;
	d->seed = d->seed ? d->seed : seeded_hash__seed();
	d->keys.len = 0;
	return dict__resize(d, slots);
}

void dict__free(struct dict *d)
{
	wire_buf__free(&d->keys);
	free(d->entries);
	free(d->slots);
	memset(d, 0, sizeof(*d));
}

static bool same_key(const struct dict *d, const struct dict_entry *e, const uint8_t *key,
		     uint32_t len)
{
	return e->len == len && !memcmp(d->keys.p + e->off, key, len);
}

/* A key that is not there yet, for the free slot at pos. */
static int64_t add_entry(struct dict *d, uint64_t hash, size_t off, uint32_t len, uint32_t pos)
{
	if (d->nr >= INT32_MAX || array__grow(&d->entries, d->nr, &d->cap))
		return -ENOMEM;
	d->entries[d->nr] = (struct dict_entry){ .hash = hash, .off = off, .len = len };
	d->slots[pos] = ++d->nr;
	if (d->nr > d->mask / 2 && dict__resize(d, 2 * (d->mask + 1)))
		return -ENOMEM;
	return d->nr - 1;
}

int64_t dict__intern(struct dict *d, size_t off)
{
	const uint8_t *key = d->keys.p + off;
	uint32_t len = d->keys.len - off, pos, guess;
	uint64_t hash;
	int64_t nr = -1;

	if (d->keys.failed)
		return -ENOMEM;
	/* what happens repeats: what came after the last key before comes again */
	guess = d->nr ? d->entries[d->last].next : 0;
	if (d->nr && same_key(d, &d->entries[guess], key, len)) {
		d->keys.len = off;
		d->last = guess;
		return guess;
	}
	hash = seeded_hash__bytes(d->seed, key, len);
	for (pos = hash & d->mask; d->slots[pos]; pos = (pos + 1) & d->mask) {
		const struct dict_entry *e = &d->entries[d->slots[pos] - 1];

		if (e->hash == hash && same_key(d, e, key, len)) {
			d->keys.len = off;
			nr = d->slots[pos] - 1;
			break;
		}
	}
	if (nr < 0)
		nr = add_entry(d, hash, off, len, pos);
	if (nr >= 0) {
		d->entries[d->last].next = nr;
		d->last = nr;
	}
	return nr;
}
