/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Memory that is allocated piece by piece and freed all at once. */
#ifndef TRACE_ARENA_H
#define TRACE_ARENA_H

#include <stddef.h>

#include "trace/budget.h"

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
	size_t used, cap; /* of the newest chunk */
	size_t total; /* bytes taken from malloc */
	struct budget *budget; /* charged for them; NULL: unlimited */
};

/* Uninitialised, aligned to 16 bytes; NULL when out of memory or budget. */
void *arena__alloc(struct arena *a, size_t n);
void *arena__zalloc(struct arena *a, size_t n);
/* A NUL-terminated copy of n bytes. */
char *arena__string(struct arena *a, const void *s, size_t n);
void arena__free(struct arena *a);

#endif /* TRACE_ARENA_H */
