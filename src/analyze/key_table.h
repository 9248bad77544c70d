/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hash table with keys of a fixed size, for sums over a recording.  Keys are never removed, and
 * an entry keeps its number.  Keys are compared as bytes, so padding must be zero.
 */
#ifndef ANALYZE_KEY_TABLE_H
#define ANALYZE_KEY_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "index.h"

struct key_table {
	uint32_t key_size, value_size, nr;
	/* private */
	uint32_t entry_size;
	uint8_t *entries;
	size_t cap; /* bytes */
	struct index index;
	uint64_t seed; /* of the hash */
};

/* Entries are numbered from 0; new values are zeroed. */
void key_table__init(struct key_table *t, uint32_t key_size, uint32_t value_size);
void key_table__clear(struct key_table *t);
uint64_t key_table__memory(const struct key_table *t); /* bytes */
/* Finds or adds key.  1: added, 0: found, -ENOMEM. */
int key_table__at(struct key_table *t, const void *key, uint32_t *ret_number);
/* The value of key; NULL: not found. */
void *key_table__find(const struct key_table *t, const void *key);
/* The number of the entry with this value. */
uint32_t key_table__number(const struct key_table *t, const void *value);
/* Pointers to values and keys are valid until the next key_table__at(). */
void *key_table__value(const struct key_table *t, uint32_t number);
const void *key_table__key(const struct key_table *t, uint32_t number);

#endif /* ANALYZE_KEY_TABLE_H */
