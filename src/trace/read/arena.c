// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Bump allocation in chunks. */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef STK_FUZZ
#define ARENA_CHUNK 1024u /* small chunks are faster to make, and ASan sees overflows */
#else
#define ARENA_CHUNK (16u << 10)
#endif

struct arena_chunk {
	struct arena_chunk *next;
	uint64_t pad;
};

void *arena__alloc(struct arena *a, size_t n)
{
	struct arena_chunk *c;
	size_t cap;

	if (n > SIZE_MAX / 2)
		return NULL;
	n = n ? (n + 15) & ~(size_t)15 : 16;
	if (a->cap - a->used < n) {
		cap = n > ARENA_CHUNK / 4 ? n : ARENA_CHUNK;
		if (!budget__take(a->budget, sizeof(*c) + cap))
			return NULL;
		c = malloc(sizeof(*c) + cap);
		if (!c) {
			budget__give(a->budget, sizeof(*c) + cap);
			return NULL;
		}
		a->total += sizeof(*c) + cap;
		if (cap == n && a->chunks) {
			/* a chunk of its own; the newest one is filled further */
			c->next = a->chunks->next;
			a->chunks->next = c;
			return c + 1;
		}
		c->next = a->chunks;
		a->chunks = c;
		a->used = 0;
		a->cap = cap;
	}
	a->used += n;
	return (char *)(a->chunks + 1) + a->used - n;
}

void *arena__zalloc(struct arena *a, size_t n)
{
	void *p = arena__alloc(a, n);

	if (p)
		memset(p, 0, n);
	return p;
}

char *arena__string(struct arena *a, const void *s, size_t n)
{
	char *p = arena__alloc(a, n + 1);

	if (!p)
		return NULL;
	if (n)
		memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

void arena__free(struct arena *a)
{
	struct arena_chunk *c, *next;

	for (c = a->chunks; c; c = next) {
		next = c->next;
		free(c);
	}
	budget__give(a->budget, a->total);
	a->chunks = NULL;
	a->used = a->cap = a->total = 0;
}
