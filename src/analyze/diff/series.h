/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts by bin of time: only the bins that are not empty, eight bytes each.  A series has at most
 * SERIES_BINS bins, so its memory does not grow with the length of a recording.
 */
#ifndef ANALYZE_SERIES_H
#define ANALYZE_SERIES_H

#include <stdint.h>

#define SERIES_BINS 256

/* Zero is empty. */
struct series {
	uint64_t *v; /* count << 8 | bin, ascending by bin */
	uint32_t nr;
};

int series__add(struct series *s, unsigned int bin, uint64_t count); /* -ENOMEM */
int series__merge(struct series *to, const struct series *from); /* -ENOMEM */
/* Doubles the width of the bins: bins 0 and 1 become bin 0. */
void series__halve(struct series *s);
uint64_t series__sum(const struct series *s);
/* The count of each of SERIES_BINS bins. */
void series__expand(const struct series *s, double *ret_bins);
uint64_t series__memory(const struct series *s); /* bytes */
void series__clear(struct series *s);

#endif /* ANALYZE_SERIES_H */
