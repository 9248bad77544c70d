/* SPDX-License-Identifier: GPL-2.0-only */
/* Strings by number: each is stored once and keeps its address and number. */
#ifndef STRING_TABLE_H
#define STRING_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "index.h"

/* Zero is empty. */
struct string_table {
	struct string_entry {
		char *s; /* NUL-terminated; may contain further NULs */
		size_t len;
	} * v;
	uint32_t nr, cap;
	struct index index;
	uint64_t seed; /* of the hash */
	uint64_t bytes; /* of the strings */
};

/* Returns 1 if the string is new, 0 if known; -E2BIG: more than max strings; -ENOMEM. */
int string_table__number(struct string_table *t, const void *s, size_t len, uint32_t max,
			 uint32_t *ret_number);
/* The same for a NUL-terminated string, without a limit; returns 0 or -ENOMEM. */
int string_table__intern(struct string_table *t, const char *s, uint32_t *ret_number);
/* The stored copy of s; NULL: out of memory. */
const char *string_table__keep(struct string_table *t, const char *s);
uint64_t string_table__memory(const struct string_table *t); /* bytes */
void string_table__clear(struct string_table *t);

static inline const char *string_table__get(const struct string_table *t, uint32_t number)
{
	return t->v[number].s;
}

#endif /* STRING_TABLE_H */
