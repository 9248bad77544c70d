// SPDX-License-Identifier: GPL-2.0-only
/* Numbers keys of a fixed size in the order of their first appearance. */
#include "key_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "seeded_hash.h"

#define ALIGN 16 /* malloc()'s alignment, sufficient for any value */

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
	index__free(&t->index);
	key_table__init(t, t->key_size, t->value_size);
}

uint64_t key_table__memory(const struct key_table *t)
{
	return t->cap + index__memory(&t->index);
}

void *key_table__value(const struct key_table *t, uint32_t number)
{
	return t->entries + (size_t)number * t->entry_size;
}

const void *key_table__key(const struct key_table *t, uint32_t number)
{
	return t->entries + (size_t)number * t->entry_size + t->value_size;
}

/* INDEX_NONE: not found. */
static uint32_t number_of(const struct key_table *t, const void *key, uint64_t hash)
{
	uint32_t i;

	index__for_each(&t->index, hash, i)
		if (!memcmp(key_table__key(t, i), key, t->key_size))
			break;
	return i;
}

void *key_table__find(const struct key_table *t, const void *key)
{
	uint32_t i = INDEX_NONE;

	if (t->nr)
		i = number_of(t, key, seeded_hash__bytes(t->seed, key, t->key_size));
	return i == INDEX_NONE ? NULL : key_table__value(t, i);
}

uint32_t key_table__number(const struct key_table *t, const void *value)
{
	return ((const uint8_t *)value - t->entries) / t->entry_size;
}

int key_table__at(struct key_table *t, const void *key, uint32_t *ret_number)
{
	uint64_t hash = seeded_hash__bytes(t->seed, key, t->key_size);
	uint32_t i = number_of(t, key, hash);

	if (i != INDEX_NONE) {
		*ret_number = i;
		return 0;
	}
	if (array__reserve(&t->entries, (t->nr + 1ull) * t->entry_size, &t->cap) ||
	    index__add(&t->index, hash, t->nr))
		return -ENOMEM;
	memset(key_table__value(t, t->nr), 0, t->value_size);
	memcpy((void *)key_table__key(t, t->nr), key, t->key_size);
	*ret_number = t->nr++;
	return 1;
}
