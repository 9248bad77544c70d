/* SPDX-License-Identifier: GPL-2.0-only */
/* What there is per thread: pointers by thread id, added and removed in constant time. */
#ifndef ANALYZE_THREAD_MAP_H
#define ANALYZE_THREAD_MAP_H

#include <stdint.h>

#include "index.h"

/* Zero is empty. */
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
/* NULL: nothing is there. */
void *thread_map__find(const struct thread_map *m, uint32_t tid);
/* Room for so many threads in all, which can then be put without failing.  -ENOMEM. */
int thread_map__reserve(struct thread_map *m, uint32_t nr);
/* In place of what was there, which is not freed; value is not NULL.  -ENOMEM. */
int thread_map__put(struct thread_map *m, uint32_t tid, void *value);
/* What was there, NULL: nothing. */
void *thread_map__remove(struct thread_map *m, uint32_t tid);
/*
 * All of them, in no order: start with *at 0 until it returns NULL.  Nothing may be put or removed
 * meanwhile.
 */
void *thread_map__next(const struct thread_map *m, uint32_t *at);
/* Frees the map, each value with free(). */
void thread_map__clear(struct thread_map *m);

#endif /* ANALYZE_THREAD_MAP_H */
