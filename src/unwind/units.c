// SPDX-License-Identifier: GPL-2.0-only
/* Collects stretches of code, one word each, and sorts them. */
#include "units.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "array.h"
#include "cleanup.h"

void unw_units__free(struct unw_units *u)
{
	free(u->v);
	*u = (struct unw_units){ 0 };
}

int unw_units__add(struct unw_units *u, uint64_t start, enum unw_kind kind, uint64_t ref)
{
	if (start >> 32 || ref >= UNW_MAX_REF)
		return 0;
	if (array__grow(&u->v, u->nr, &u->size))
		return -ENOMEM;
	u->v[u->nr++] = start << 32 | (uint64_t)kind << 30 | ref;
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return CMP(x, y);
}

void unw_units__sort(struct unw_units *u)
{
	bool sorted = true;
	size_t n = 0;

	for (size_t i = 1; i < u->nr && sorted; i++)
		sorted = u->v[i - 1] <= u->v[i];
	if (!sorted)
		qsort(u->v, u->nr, sizeof(*u->v), compare);
	for (size_t i = 0; i < u->nr; i++) {
		if (!n || unw_unit__start(u->v[n - 1]) != unw_unit__start(u->v[i]))
			u->v[n++] = u->v[i];
	}
	u->nr = n;
}

const uint64_t *unw_units__before(const struct unw_units *u, size_t nr, uint64_t off)
{
	size_t lo = array__bisect(nr, i, unw_unit__start(u->v[i]) <= off);

	return lo ? &u->v[lo - 1] : NULL;
}
