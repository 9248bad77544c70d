/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A distribution of durations (ns): count, sum, extremes, percentiles, histogram.  Memory is
 * bounded: up to DURATIONS_EXACT values are kept and percentiles are exact; beyond that, values are
 * counted in buckets of equal relative width and percentiles are accurate to 1/DURATIONS_ERROR.
 */
#ifndef ANALYZE_DURATIONS_H
#define ANALYZE_DURATIONS_H

#include <stdbool.h>
#include <stdint.h>

#define DURATIONS_EXACT 4096
#define DURATIONS_ERROR 128 /* 1/128: below 0.8 % of the value, never above the true maximum */

struct durations {
	uint64_t count, min, max; /* all 0 when empty */
	unsigned __int128 sum;
	uint64_t *values; /* unordered; NULL once count > DURATIONS_EXACT */
	uint64_t *buckets; /* NULL until then */
};

/* A zeroed struct durations is empty. */
int durations__add(struct durations *d, uint64_t ns); /* -ENOMEM: not added */
int durations__merge(struct durations *d, const struct durations *other);
void durations__clear(struct durations *d);

uint64_t durations__memory(const struct durations *d); /* bytes beside the struct */
bool durations__is_exact(const struct durations *d);
/*
 * The nearest-rank percentile, per_mille of 1000 (500: median, 999: p99.9): the smallest value v
 * such that at least that share of the values is <= v.  When not exact, returns the upper bound of
 * the bucket, at most 1/DURATIONS_ERROR above v.  0 when empty.
 */
uint64_t durations__percentile(const struct durations *d, unsigned int per_mille);
/* Number of values in [from, to]; when not exact, a bucket counts by its lower bound. */
uint64_t durations__between(const struct durations *d, uint64_t from, uint64_t to);

#endif /* ANALYZE_DURATIONS_H */
