// SPDX-License-Identifier: GPL-2.0-only
/* Maps thread ids to pointers. */
#include "thread_map.h"

#include "array.h"
#include "seeded_hash.h"

static uint64_t hash_of(const struct thread_map *m, uint32_t tid)
{
	return seeded_hash__u64(m->seed, m->seed, tid);
}

static uint32_t number_of(const struct thread_map *m, uint32_t tid)
{
	uint64_t hash = hash_of(m, tid);
	uint32_t i;

	index__for_each(&m->index, hash, i)
		if (m->v[i].tid == tid)
			break;
	return i;
}

uint64_t thread_map__memory(const struct thread_map *m, uint32_t value_size)
{
	return (uint64_t)m->cap * sizeof(*m->v) + index__memory(&m->index) +
	       (uint64_t)m->nr * value_size;
}

void *thread_map__find(const struct thread_map *m, uint32_t tid)
{
	uint32_t i = number_of(m, tid);

	return i == INDEX_NONE ? NULL : m->v[i].value;
}

int thread_map__reserve(struct thread_map *m, uint32_t nr)
{
	return array__reserve(&m->v, nr, &m->cap) ?: index__reserve(&m->index, nr);
}

int thread_map__put(struct thread_map *m, uint32_t tid, void *value)
{
	uint32_t i;

	m->seed = m->seed ?: seeded_hash__seed();
	i = number_of(m, tid);
	if (i == INDEX_NONE) {
		if (array__grow(&m->v, m->nr, &m->cap) ||
		    index__add(&m->index, hash_of(m, tid), m->nr))
			return -ENOMEM;
		i = m->nr++;
	}
	m->v[i] = (struct thread_value){ tid, value };
	return 0;
}

void *thread_map__remove(struct thread_map *m, uint32_t tid)
{
	uint32_t i = number_of(m, tid), last = m->nr - 1;
	void *value;

	if (i == INDEX_NONE)
		return NULL;
	value = m->v[i].value;
	index__remove(&m->index, hash_of(m, tid), i);
	if (i != last)
		index__move(&m->index, hash_of(m, m->v[last].tid), last, i);
	m->v[i] = m->v[last];
	m->nr--;
	return value;
}

void *thread_map__next(const struct thread_map *m, uint32_t *at)
{
	return *at < m->nr ? m->v[(*at)++].value : NULL;
}

void thread_map__clear(struct thread_map *m)
{
	for (uint32_t i = 0; i < m->nr; i++)
		free(m->v[i].value);
	free(m->v);
	index__free(&m->index);
	*m = (struct thread_map){ 0 };
}
