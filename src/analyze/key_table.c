// SPDX-License-Identifier: GPL-2.0-only
/* Numbers keys of a fixed size in the order in which they are first seen. */
#include "key_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "seeded_hash.h"

#define ALIGN 16 /* what malloc() gives and any value is content with */
#define FIRST_BITS 6

void key_table__init(struct key_table *t, uint32_t key_size, uint32_t value_size)
{
	*t = (struct key_table){ .key_size = key_size,
				 .value_size = (value_size + ALIGN - 1) & ~(ALIGN - 1u) };
	t->seed = seeded_hash__seed();
	t->entry_size = (t->value_size + key_size + ALIGN - 1) & ~(ALIGN - 1u);
}

void key_table__clear(struct key_table *t)
{
	free(t->entries);
	free(t->slots);
	key_table__init(t, t->key_size, t->value_size);
}

uint64_t key_table__memory(const struct key_table *t)
{
	return (uint64_t)t->max * t->entry_size + (t->slots ? sizeof(*t->slots) << t->bits : 0);
}

void *key_table__value(const struct key_table *t, uint32_t number)
{
	return t->entries + (size_t)number * t->entry_size;
}

const void *key_table__key(const struct key_table *t, uint32_t number)
{
	return t->entries + (size_t)number * t->entry_size + t->value_size;
}

/* The slot of the key, or the empty one where it would be. */
static uint32_t *slot_of(const struct key_table *t, uint32_t *slots, uint32_t bits, const void *key)
{
	uint32_t mask = (1u << bits) - 1,
		 at = seeded_hash__bytes(t->seed, key, t->key_size) >> (64 - bits);

	while (slots[at] && memcmp(key_table__key(t, slots[at] - 1), key, t->key_size))
		at = (at + 1) & mask;
	return &slots[at];
}

static int grow_slots(struct key_table *t)
{
	uint32_t bits = t->slots ? t->bits + 1 : FIRST_BITS, i;
	uint32_t *slots;

	if (bits > 31)
		return -ENOMEM;
	slots = calloc((size_t)1 << bits, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (i = 0; i < t->nr; i++)
		*slot_of(t, slots, bits, key_table__key(t, i)) = i + 1;
	free(t->slots);
	t->slots = slots;
	t->bits = bits;
	return 0;
}

static int grow_entries(struct key_table *t)
{
	uint32_t max = t->max ? t->max * 2 : 16;
	uint8_t *entries = reallocarray(t->entries, max, t->entry_size);

	if (!entries)
		return -ENOMEM;
	t->entries = entries;
	t->max = max;
	return 0;
}

int key_table__at(struct key_table *t, const void *key, uint32_t *ret_number)
{
	uint32_t *slot;

	if ((!t->slots || t->nr >= (1u << t->bits) / 2) && grow_slots(t))
		return -ENOMEM;
	slot = slot_of(t, t->slots, t->bits, key);
	if (*slot) {
		*ret_number = *slot - 1;
		return 0;
	}
	if (t->nr == t->max && grow_entries(t))
		return -ENOMEM;
	memset(key_table__value(t, t->nr), 0, t->value_size);
	memcpy((void *)key_table__key(t, t->nr), key, t->key_size);
	*ret_number = t->nr++;
	*slot = t->nr;
	return 1;
}
