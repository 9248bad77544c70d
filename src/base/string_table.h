/* SPDX-License-Identifier: GPL-2.0-only */
/* Strings by number: each is kept once, stays where it is, and keeps its number. */
#ifndef STRING_TABLE_H
#define STRING_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "index.h"

/* Zero is empty. */
struct string_table {
	struct string_entry {
		char *s; /* with a NUL behind it; may have others inside */
		size_t len;
	} * v;
	uint32_t nr, cap;
	struct index index;
	uint64_t seed; /* of the hash */
	uint64_t bytes; /* of the strings */
};

/* 1: it is new, 0: it was there; -E2BIG: it would be one more than max; -ENOMEM. */
int string_table__number(struct string_table *t, const void *s, size_t len, uint32_t max,
			 uint32_t *ret_number);
/* The same of a string that ends with its NUL, without a limit; 0 or -ENOMEM. */
int string_table__intern(struct string_table *t, const char *s, uint32_t *ret_number);
/* The same string for an equal one; NULL: no memory. */
const char *string_table__keep(struct string_table *t, const char *s);
uint64_t string_table__memory(const struct string_table *t); /* bytes */
void string_table__clear(struct string_table *t);

static inline const char *string_table__get(const struct string_table *t, uint32_t number)
{
	return t->v[number].s;
}

#endif /* STRING_TABLE_H */
