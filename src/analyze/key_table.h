/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values found by a key of fixed size, for sums over what a recording has: keys are added and never
 * removed, an entry keeps its number.  Keys are compared as bytes: no padding that is not zero.
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

/* Entries from 0; values begin as zeros. */
void key_table__init(struct key_table *t, uint32_t key_size, uint32_t value_size);
void key_table__clear(struct key_table *t);
uint64_t key_table__memory(const struct key_table *t); /* bytes */
/* 1: it is new, 0: it was there, -ENOMEM. */
int key_table__at(struct key_table *t, const void *key, uint32_t *ret_number);
/* The key's value, NULL: it is not there. */
void *key_table__find(const struct key_table *t, const void *key);
/* All are valid until the next key_table__at(). */
void *key_table__value(const struct key_table *t, uint32_t number);
const void *key_table__key(const struct key_table *t, uint32_t number);

#endif /* ANALYZE_KEY_TABLE_H */
