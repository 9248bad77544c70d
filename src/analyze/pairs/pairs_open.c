// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the starts without an end so far: a stack per key, the newest on top. */
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

static bool same_key(const struct open *o, const struct open_key *a, const struct open_key *b)
{
	unsigned int i;

	for (i = 0; i < o->parts; i++)
		if (a->v[i] != b->v[i])
			return false;
	return true;
}

static uint32_t find(const struct open *o, const struct open_key *key, uint64_t hash)
{
	uint32_t i;

	index__for_each(&o->index, hash, i)
		if (same_key(o, &o->slots[i].key, key))
			break;
	return i;
}

/*
 * Makes room for one more slot.  A key without a start keeps its slot, because most keys are used
 * again; such slots are dropped only when the table is full.
 */
static int make_room(struct open *o)
{
	uint32_t i, nr = 0;

	if (o->nr_slots < o->max_slots)
		return 0;
	if (!o->max_slots || o->live > o->max_slots / 2)
		return array__grow(&o->slots, o->nr_slots, &o->max_slots);
	index__clear(&o->index);
	for (i = 0; i < o->nr_slots; i++) {
		if (!o->slots[i].top)
			continue;
		o->slots[nr] = o->slots[i];
		/* Cannot fail: the index had more entries before. */
		index__add(&o->index, slot_hash(o, &o->slots[nr].key), nr);
		nr++;
	}
	o->nr_slots = nr;
	return 0;
}

/* Index of an unused start, or -ENOMEM. */
static int64_t take_start(struct open *o)
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
	uint64_t hash;
	uint32_t i;

	o->seed = o->seed ?: seeded_hash__seed();
	hash = slot_hash(o, key);
	i = find(o, key, hash);
	if (i != INDEX_NONE)
		return &o->slots[i];
	if (make_room(o) || index__add(&o->index, hash, o->nr_slots))
		return NULL;
	o->slots[o->nr_slots] = (struct open_slot){ .key = *key };
	return &o->slots[o->nr_slots++];
}

struct open_start *open__push(struct open *o, struct open_slot *slot)
{
	int64_t i = take_start(o);

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
	uint32_t i = find(o, key, slot_hash(o, key));

	return i == INDEX_NONE ? NULL : &o->slots[i];
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
	index__free(&o->index);
	free(o->v);
	memset(o, 0, sizeof(*o));
}
