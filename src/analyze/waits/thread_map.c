// SPDX-License-Identifier: GPL-2.0-only
/* Maps thread ids to pointers with open addressing. */
#include "thread_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "seeded_hash.h"

#define FIRST_BITS 6

static uint32_t home(uint64_t seed, uint32_t tid, uint32_t bits)
{
	return seeded_hash__u64(seed, seed, tid) >> (64 - bits);
}

/* The thread's slot, or the empty one where it would be. */
static uint32_t place(const struct thread_slot *slots, uint64_t seed, uint32_t bits, uint32_t tid)
{
	uint32_t mask = (1u << bits) - 1, at = home(seed, tid, bits);

	while (slots[at].value && slots[at].tid != tid)
		at = (at + 1) & mask;
	return at;
}

uint64_t thread_map__memory(const struct thread_map *m, uint32_t value_size)
{
	return (m->slots ? sizeof(*m->slots) << m->bits : 0) + (uint64_t)m->nr * value_size;
}

void *thread_map__find(const struct thread_map *m, uint32_t tid)
{
	return m->slots ? m->slots[place(m->slots, m->seed, m->bits, tid)].value : NULL;
}

static int grow(struct thread_map *m)
{
	uint32_t bits = m->slots ? m->bits + 1 : FIRST_BITS, i;
	struct thread_slot *slots;

	if (bits > 30)
		return -ENOMEM;
	slots = calloc((size_t)1 << bits, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	m->seed = m->seed ?: seeded_hash__seed();
	for (i = 0; m->slots && i < 1u << m->bits; i++)
		if (m->slots[i].value)
			slots[place(slots, m->seed, bits, m->slots[i].tid)] = m->slots[i];
	free(m->slots);
	m->slots = slots;
	m->bits = bits;
	return 0;
}

int thread_map__put(struct thread_map *m, uint32_t tid, void *value)
{
	struct thread_slot *slot;

	if ((!m->slots || m->nr >= (1u << m->bits) / 2) && grow(m))
		return -ENOMEM;
	slot = &m->slots[place(m->slots, m->seed, m->bits, tid)];
	m->nr += !slot->value;
	*slot = (struct thread_slot){ .tid = tid, .value = value };
	return 0;
}

void *thread_map__remove(struct thread_map *m, uint32_t tid)
{
	uint32_t mask, hole, at;
	void *value;

	if (!m->slots)
		return NULL;
	mask = (1u << m->bits) - 1;
	hole = place(m->slots, m->seed, m->bits, tid);
	value = m->slots[hole].value;
	if (!value)
		return NULL;
	/* Those behind move up to where they would be found without this one. */
	for (at = (hole + 1) & mask; m->slots[at].value; at = (at + 1) & mask) {
		uint32_t from = home(m->seed, m->slots[at].tid, m->bits);

		if (((at - from) & mask) < ((at - hole) & mask))
			continue;
		m->slots[hole] = m->slots[at];
		hole = at;
	}
	m->slots[hole] = (struct thread_slot){ 0 };
	m->nr--;
	return value;
}

void *thread_map__next(const struct thread_map *m, uint32_t *at)
{
	while (m->slots && *at < 1u << m->bits) {
		void *value = m->slots[(*at)++].value;

		if (value)
			return value;
	}
	return NULL;
}

void thread_map__clear(struct thread_map *m)
{
	uint32_t at = 0;
	void *value;

	while ((value = thread_map__next(m, &at)))
		free(value);
	free(m->slots);
	memset(m, 0, sizeof(*m));
}
