// SPDX-License-Identifier: GPL-2.0-only
/* Remembers since when a thread id has meant another thread, or none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pairs_priv.h"
#include "seeded_hash.h"

static struct life *find(const struct lives *l, uint32_t tid)
{
	uint32_t mask = (1u << l->bits) - 1;
	uint32_t at = seeded_hash__u64(l->seed, l->seed, tid) >> (64 - l->bits);

	while (l->v[at].tid && l->v[at].tid != tid + 1)
		at = (at + 1) & mask;
	return &l->v[at];
}

static int grow(struct lives *l)
{
	struct lives more = { .bits = l->v ? l->bits + 1 : 8, .nr = l->nr, .seed = l->seed };
	uint32_t i;

	more.seed = more.seed ?: seeded_hash__seed();
	more.v = calloc(1ul << more.bits, sizeof(*more.v));
	if (!more.v)
		return -ENOMEM;
	for (i = 0; l->v && i < 1u << l->bits; i++)
		if (l->v[i].tid)
			*find(&more, l->v[i].tid - 1) = l->v[i];
	free(l->v);
	*l = more;
	return 0;
}

int lives__set(struct lives *l, uint32_t tid, uint64_t ts, bool ended)
{
	struct life *life;

	if (tid == UINT32_MAX)
		return 0; /* no thread has this number */
	if ((!l->v || l->nr >= 1u << (l->bits - 1)) && grow(l))
		return -ENOMEM;
	life = find(l, tid);
	l->nr += !life->tid;
	*life = (struct life){ .tid = tid + 1, .ended = ended, .ts = ts };
	return 0;
}

const struct life *lives__get(const struct lives *l, uint32_t tid)
{
	const struct life *life = l->v && tid != UINT32_MAX ? find(l, tid) : NULL;

	return life && life->tid ? life : NULL;
}

void lives__clear(struct lives *l)
{
	free(l->v);
	memset(l, 0, sizeof(*l));
}
