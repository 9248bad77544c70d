// SPDX-License-Identifier: GPL-2.0-only
/* Numbers for strings. */
#include "string_table.h"

#include "array.h"
#include "cleanup.h"
#include "seeded_hash.h"

int string_table__number(struct string_table *t, const void *s, size_t len, uint32_t max,
			 uint32_t *ret_number)
{
	_cleanup_free_ char *copy = NULL;
	uint64_t hash;
	uint32_t i;

	t->seed = t->seed ?: seeded_hash__seed();
	hash = seeded_hash__bytes(t->seed, s, len);
	index__for_each(&t->index, hash, i) {
		if (t->v[i].len == len && !memcmp(t->v[i].s, s, len)) {
			*ret_number = i;
			return 0;
		}
	}
	if (t->nr >= max)
		return -E2BIG;
	copy = malloc(len + 1);
	if (!copy || array__grow(&t->v, t->nr, &t->cap) || index__add(&t->index, hash, t->nr))
		return -ENOMEM;
	memcpy(copy, s, len);
	copy[len] = '\0';
	t->bytes += len + 1;
	t->v[t->nr] = (struct string_entry){ take_ptr(copy), len };
	*ret_number = t->nr++;
	return 1;
}

int string_table__intern(struct string_table *t, const char *s, uint32_t *ret_number)
{
	int n = string_table__number(t, s, strlen(s), INDEX_NONE, ret_number);

	return MIN(n, 0);
}

const char *string_table__keep(struct string_table *t, const char *s)
{
	uint32_t i;

	return string_table__intern(t, s, &i) ? NULL : t->v[i].s;
}

uint64_t string_table__memory(const struct string_table *t)
{
	return (uint64_t)t->cap * sizeof(*t->v) + index__memory(&t->index) + t->bytes;
}

void string_table__clear(struct string_table *t)
{
	for (uint32_t i = 0; i < t->nr; i++)
		free(t->v[i].s);
	free(t->v);
	index__free(&t->index);
	*t = (struct string_table){ 0 };
}
