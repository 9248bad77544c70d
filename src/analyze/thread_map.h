/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps thread ids to pointers; adding and removing take constant time. */
#ifndef ANALYZE_THREAD_MAP_H
#define ANALYZE_THREAD_MAP_H

#include <stdint.h>

#include "index.h"

/* A zeroed struct thread_map is empty. */
struct thread_map {
	uint32_t nr;
	/* private */
	uint32_t cap;
	struct thread_value {
		uint32_t tid;
		void *value;
	} * v;
	struct index index;
	uint64_t seed; /* of the hash */
};

uint64_t thread_map__memory(const struct thread_map *m, uint32_t value_size); /* bytes */
/* NULL: not found. */
void *thread_map__find(const struct thread_map *m, uint32_t tid);
/* Makes room for nr threads in total, so that adding them cannot fail.  -ENOMEM. */
int thread_map__reserve(struct thread_map *m, uint32_t nr);
/* Sets the value of tid, not NULL; an old value is replaced and not freed.  -ENOMEM. */
int thread_map__put(struct thread_map *m, uint32_t tid, void *value);
/* Removes tid and returns its value; NULL: not found. */
void *thread_map__remove(struct thread_map *m, uint32_t tid);
/*
 * Iterates over all values in no particular order: start with *at = 0 and stop at NULL.  Do not put
 * or remove entries meanwhile.
 */
void *thread_map__next(const struct thread_map *m, uint32_t *at);
/* Empties the map and passes each value to free(). */
void thread_map__clear(struct thread_map *m);

#endif /* ANALYZE_THREAD_MAP_H */
