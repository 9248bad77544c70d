// SPDX-License-Identifier: GPL-2.0-only
/* Counts durations: few as exact values, many in buckets of equal relative width. */
#include "durations.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"

/*
 * Each value below 2 * DURATIONS_ERROR has its own bucket; above, each power of two is divided into
 * DURATIONS_ERROR buckets of the same width.
 */
#define ERROR_BITS 7
#define NR_BUCKETS ((64 - ERROR_BITS + 1) * DURATIONS_ERROR)

static_assert(1 << ERROR_BITS == DURATIONS_ERROR, "the bucket width matches DURATIONS_ERROR");

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int shift;

	if (ns < 2 * DURATIONS_ERROR)
		return ns;
	shift = 63 - __builtin_clzll(ns) - ERROR_BITS;
	return shift * DURATIONS_ERROR + (ns >> shift);
}

static uint64_t bucket_first(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < 2 * DURATIONS_ERROR)
		return bucket;
	shift = bucket / DURATIONS_ERROR - 1;
	return (uint64_t)(bucket % DURATIONS_ERROR + DURATIONS_ERROR) << shift;
}

static uint64_t bucket_last(unsigned int bucket)
{
	unsigned int shift = bucket < 2 * DURATIONS_ERROR ? 0 : bucket / DURATIONS_ERROR - 1;

	return bucket_first(bucket) + ((1ULL << shift) - 1);
}

static int use_buckets(struct durations *d)
{
	uint64_t i;

	if (d->buckets)
		return 0;
	d->buckets = calloc(NR_BUCKETS, sizeof(*d->buckets));
	if (!d->buckets)
		return -ENOMEM;
	for (i = 0; i < d->count; i++)
		d->buckets[bucket_of(d->values[i])]++;
	free(d->values);
	d->values = NULL;
	return 0;
}

int durations__add(struct durations *d, uint64_t ns)
{
	uint64_t was = d->count;

	if (d->count == DURATIONS_EXACT && use_buckets(d))
		return -ENOMEM;
	if (!d->buckets) {
		if (array__append(&d->values, &d->count, ns))
			return -ENOMEM;
	} else {
		d->buckets[bucket_of(ns)]++;
		d->count++;
	}
	d->min = was ? MIN(d->min, ns) : ns;
	d->max = MAX(d->max, ns);
	d->sum += ns;
	return 0;
}

int durations__merge(struct durations *d, const struct durations *other)
{
	uint64_t i;
	int err = 0;

	if (!other->buckets) {
		for (i = 0; i < other->count && !err; i++)
			err = durations__add(d, other->values[i]);
		return err;
	}
	err = use_buckets(d);
	if (err)
		return err;
	for (i = 0; i < NR_BUCKETS; i++)
		d->buckets[i] += other->buckets[i];
	d->min = d->count ? MIN(d->min, other->min) : other->min;
	d->max = MAX(d->max, other->max);
	d->sum += other->sum;
	d->count += other->count;
	return 0;
}

void durations__clear(struct durations *d)
{
	free(d->values);
	free(d->buckets);
	memset(d, 0, sizeof(*d));
}

uint64_t durations__memory(const struct durations *d)
{
	uint64_t room = 1;

	if (d->buckets)
		return NR_BUCKETS * sizeof(*d->buckets);
	while (room < d->count)
		room *= 2;
	return d->count ? room * sizeof(*d->values) : 0;
}

bool durations__is_exact(const struct durations *d)
{
	return !d->buckets;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return CMP(x, y);
}

/* The order of the values has no meaning, so sorting in place is safe and speeds up later calls. */
static void sort(uint64_t *values, uint64_t count)
{
	uint64_t i;

	for (i = 1; i < count; i++) {
		if (values[i - 1] > values[i]) {
			qsort(values, count, sizeof(*values), by_value);
			return;
		}
	}
}

uint64_t durations__percentile(const struct durations *d, unsigned int per_mille)
{
	uint64_t rank, seen = 0;
	unsigned int i;

	if (!d->count)
		return 0;
	rank = ((unsigned __int128)d->count * MIN(per_mille, 1000) + 999) / 1000;
	rank = MAX(rank, 1);
	if (!d->buckets) {
		sort(d->values, d->count);
		return d->values[rank - 1];
	}
	for (i = 0; i < NR_BUCKETS; i++) {
		seen += d->buckets[i];
		if (seen >= rank)
			return MIN(bucket_last(i), d->max);
	}
	return d->max;
}

uint64_t durations__between(const struct durations *d, uint64_t from, uint64_t to)
{
	uint64_t nr = 0, i;

	if (!d->buckets) {
		for (i = 0; i < d->count; i++)
			nr += d->values[i] >= from && d->values[i] <= to;
		return nr;
	}
	for (i = 0; i < NR_BUCKETS; i++)
		if (bucket_first(i) >= from && bucket_first(i) <= to)
			nr += d->buckets[i];
	return nr;
}
