// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps keys of this machine's kernel to numbers.  The keys are trusted, so the hash needs no seed.
 */
#include "idmap.h"

#include "array.h"

uint32_t *idmap__add(struct idmap *m, uint64_t key)
{
	if (array__grow(&m->v, m->nr, &m->cap) || index__add(&m->index, index__hash(key), m->nr))
		return NULL;
	m->v[m->nr] = (struct idmap_entry){ .key = key };
	return &m->v[m->nr++].value;
}

void idmap__clear(struct idmap *m)
{
	free(m->v);
	index__free(&m->index);
	*m = (struct idmap){ 0 };
}
