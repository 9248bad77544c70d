// SPDX-License-Identifier: GPL-2.0-only
/* Numbers for the keys of this machine's kernel, which nobody chooses. */
#include "idmap.h"

#include <stdlib.h>

static size_t slot(const struct idmap *m, uint64_t key)
{
	size_t at = (key * 0x9e3779b97f4a7c15ull >> 32) & m->mask;

	while (m->cells[at].key && m->cells[at].key != key)
		at = (at + 1) & m->mask;
	return at;
}

static int grow(struct idmap *m)
{
	size_t cap = m->cells ? (m->mask + 1) * 2 : 1024, i;
	struct idmap bigger = { .mask = cap - 1, .used = m->used };

	bigger.cells = calloc(cap, sizeof(*bigger.cells));
	if (!bigger.cells)
		return -1;
	for (i = 0; m->cells && i <= m->mask; i++)
		if (m->cells[i].key)
			bigger.cells[slot(&bigger, m->cells[i].key)] = m->cells[i];
	free(m->cells);
	*m = bigger;
	return 0;
}

uint32_t *idmap__get(struct idmap *m, uint64_t key)
{
	struct idmap_cell *c;

	if ((!m->cells || m->used * 2 > m->mask) && grow(m))
		return NULL;
	c = &m->cells[slot(m, key)];
	if (!c->key) {
		c->key = key;
		m->used++;
	}
	return &c->value;
}

void idmap__clear(struct idmap *m)
{
	free(m->cells);
	*m = (struct idmap){ 0 };
}
