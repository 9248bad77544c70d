/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Weights of stacks: what a value of their events comes to, instead of their number.  The values of
 * a weight are unsigned; a sum of more than UINT64_MAX has that value.
 */
#ifndef ANALYZE_WEIGHT_H
#define ANALYZE_WEIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/durations.h"

enum weigh_how {
	WEIGH_SUM,
	WEIGH_AVG,
	WEIGH_P50,
	WEIGH_P99,
	WEIGH_MAX,
	WEIGH_HIST, /* ordered by the sum */
};

/* Zero is empty. */
struct weight {
	uint64_t count, max;
	unsigned __int128 sum; /* cannot overflow */
	struct durations *values; /* as durations; NULL unless how needs them */
};

/* Whether weights of parts add up to that of the whole, so that they have shares. */
static inline bool weigh_how__adds_up(enum weigh_how how)
{
	return how == WEIGH_SUM || how == WEIGH_HIST;
}
static inline bool weigh_how__keeps_values(enum weigh_how how)
{
	return how == WEIGH_P50 || how == WEIGH_P99 || how == WEIGH_HIST;
}

int weight__add(struct weight *w, enum weigh_how how, uint64_t value); /* -ENOMEM */
/* Adds all of other, which stays as it is.  -ENOMEM. */
int weight__merge(struct weight *w, const struct weight *other);
void weight__clear(struct weight *w);
uint64_t weight__memory(const struct weight *w); /* bytes beside the struct */
uint64_t weight__value(const struct weight *w, enum weigh_how how);

/*
 * The weights of sets of stacks that overlap, such as the functions that the stacks pass through.
 * Sets are numbered by the caller.  For percentiles, a set remembers its stacks, and their values
 * are merged for one set after the other.
 */
struct weight_sets {
	enum weigh_how how;
	struct weight_set {
		uint64_t count, max;
		unsigned __int128 sum;
		uint64_t value; /* after weight_sets__finish() */
	} * v;
	uint32_t nr;
	struct weight_member {
		uint32_t set;
		const struct weight *weight; /* borrowed */
	} * members;
	uint64_t nr_members, max_members;
};

/* Adds a stack's weight (borrowed until the end) to a set, once per set.  -ENOMEM. */
int weight_sets__add(struct weight_sets *s, uint32_t set, const struct weight *w);
int weight_sets__finish(struct weight_sets *s); /* -ENOMEM */
uint64_t weight_sets__value(const struct weight_sets *s, uint32_t set);
uint64_t weight_sets__memory(const struct weight_sets *s); /* bytes */
void weight_sets__clear(struct weight_sets *s);

#endif /* ANALYZE_WEIGHT_H */
