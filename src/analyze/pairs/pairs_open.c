// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the starts that wait for their end, by key and the newest on top. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "pairs_priv.h"
#include "seeded_hash.h"

static uint64_t slot_hash(const struct open *o, const struct open_key *key)
{
	uint64_t h = o->seed;
	unsigned int i;

	for (i = 0; i < o->parts; i++)
		h = seeded_hash__u64(o->seed, h, key->v[i]);
	return h;
}

/*
 * A key without a start keeps its slot, it will most often come again; those that did not go when
 * the table is rebuilt.
 */
static int rebuild(struct open *o)
{
	unsigned int bits = o->slots ? o->bits : 8;
	uint32_t mask, i, at, nr = 0;
	struct open_slot *slots;

	o->seed = o->seed ?: seeded_hash__seed();
	if (o->slots && o->live > 1u << (bits - 2))
		bits++;
	mask = (1u << bits) - 1;
	slots = calloc((size_t)mask + 1, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (i = 0; o->slots && i < 1u << o->bits; i++) {
		if (!o->slots[i].top)
			continue;
		at = slot_hash(o, &o->slots[i].key) >> (64 - bits);
		while (slots[at].used)
			at = (at + 1) & mask;
		slots[at] = o->slots[i];
		nr++;
	}
	free(o->slots);
	o->slots = slots;
	o->bits = bits;
	o->nr_slots = nr;
	return 0;
}

static bool same_key(const struct open *o, const struct open_key *a, const struct open_key *b)
{
	unsigned int i;

	for (i = 0; i < o->parts; i++)
		if (a->v[i] != b->v[i])
			return false;
	return true;
}

/* The key's slot, or the empty one where it would be. */
static struct open_slot *find(const struct open *o, const struct open_key *key)
{
	uint32_t at = slot_hash(o, key) >> (64 - o->bits);

	while (o->slots[at].used && !same_key(o, &o->slots[at].key, key))
		at = (at + 1) & ((1u << o->bits) - 1);
	return &o->slots[at];
}

/* Index of a place for a start, or -ENOMEM. */
static int64_t take_place(struct open *o)
{
	uint32_t i = o->free;

	if (i) {
		o->free = o->v[i - 1].below;
		return i - 1;
	}
	if (array__grow(&o->v, o->nr_v, &o->max_v))
		return -ENOMEM;
	return o->nr_v++;
}

struct open_slot *open__place(struct open *o, const struct open_key *key)
{
	struct open_slot *slot;

	if ((!o->slots || o->nr_slots > (1u << o->bits) / 4 * 3) && rebuild(o))
		return NULL;
	slot = find(o, key);
	if (!slot->used) {
		slot->key = *key;
		slot->used = 1;
		o->nr_slots++;
	}
	return slot;
}

struct open_start *open__push(struct open *o, struct open_slot *slot)
{
	int64_t i = take_place(o);

	if (i < 0)
		return NULL;
	o->live += !slot->top;
	o->v[i].below = slot->top;
	o->v[i].used = true;
	o->v[i].over = 0;
	slot->top = i + 1;
	o->nr++;
	return &o->v[i];
}

struct open_slot *open__find(const struct open *o, const struct open_key *key)
{
	return o->slots ? find(o, key) : NULL;
}

struct open_start *open__top(const struct open *o, const struct open_slot *slot)
{
	return slot && slot->top ? &o->v[slot->top - 1] : NULL;
}

void open__pop(struct open *o, struct open_slot *slot)
{
	uint32_t i = slot->top;
	struct open_start *s = &o->v[i - 1];

	slot->top = s->below;
	o->live -= !slot->top;
	s->below = o->free;
	s->used = false;
	o->free = i;
	o->nr--;
}

void open__clear(struct open *o)
{
	free(o->slots);
	free(o->v);
	memset(o, 0, sizeof(*o));
}
