// SPDX-License-Identifier: GPL-2.0-only
/* Counts by bin of time. */
#include "series.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"

#define BIN_BITS 8

static_assert(1 << BIN_BITS == SERIES_BINS, "a bin's number fits its bits");

static unsigned int bin_of(uint64_t entry)
{
	return entry & (SERIES_BINS - 1);
}

/* Events are almost in the order of time, so the bin is the last one or a new one. */
int series__add(struct series *s, unsigned int bin, uint64_t count)
{
	uint32_t at = s->nr;

	while (at && bin_of(s->v[at - 1]) > bin)
		at--;
	if (at && bin_of(s->v[at - 1]) == bin) {
		s->v[at - 1] += count << BIN_BITS;
		return 0;
	}
	if (array__append(&s->v, &s->nr, 0))
		return -ENOMEM;
	memmove(&s->v[at + 1], &s->v[at], (s->nr - 1 - at) * sizeof(*s->v));
	s->v[at] = count << BIN_BITS | bin;
	return 0;
}

/* The next entry of both, whose counts are added where the bins are equal. */
static uint64_t next_entry(const struct series *a, uint32_t *i, const struct series *b, uint32_t *k)
{
	if (*k == b->nr || (*i < a->nr && bin_of(a->v[*i]) < bin_of(b->v[*k])))
		return a->v[(*i)++];
	if (*i == a->nr || bin_of(b->v[*k]) < bin_of(a->v[*i]))
		return b->v[(*k)++];
	return a->v[(*i)++] + (b->v[(*k)++] >> BIN_BITS << BIN_BITS);
}

int series__merge(struct series *to, const struct series *from)
{
	uint32_t nr = 0, i = 0, k = 0, cap = 1;
	uint64_t *v;

	/* A power of two, as array__append() expects. */
	while (cap < MIN(to->nr + from->nr, SERIES_BINS))
		cap *= 2;
	v = calloc(cap, sizeof(*v));
	if (!v)
		return -ENOMEM;
	while (i < to->nr || k < from->nr)
		v[nr++] = next_entry(to, &i, from, &k);
	free(to->v);
	*to = (struct series){ .v = v, .nr = nr };
	return 0;
}

void series__halve(struct series *s)
{
	uint32_t nr = 0, i;

	for (i = 0; i < s->nr; i++) {
		unsigned int bin = bin_of(s->v[i]) / 2;
		uint64_t count = s->v[i] >> BIN_BITS << BIN_BITS;

		if (nr && bin_of(s->v[nr - 1]) == bin)
			s->v[nr - 1] += count;
		else
			s->v[nr++] = count | bin;
	}
	/* The capacity follows from the number: see array__append(). */
	s->nr = nr;
}

uint64_t series__sum(const struct series *s)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < s->nr; i++)
		sum += s->v[i] >> BIN_BITS;
	return sum;
}

void series__expand(const struct series *s, double *ret_bins)
{
	uint32_t i;

	memset(ret_bins, 0, SERIES_BINS * sizeof(*ret_bins));
	for (i = 0; i < s->nr; i++)
		ret_bins[bin_of(s->v[i])] = s->v[i] >> BIN_BITS;
}

uint64_t series__memory(const struct series *s)
{
	uint64_t cap = 1;

	while (cap < s->nr)
		cap *= 2;
	return s->v ? cap * sizeof(*s->v) : 0;
}

void series__clear(struct series *s)
{
	free(s->v);
	*s = (struct series){ 0 };
}
