/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slowest pairs of each kind and range of time, so that any part of the time has some of its
 * own, and the whole has the slowest of all.
 */
#ifndef VIEW_SLOWEST_H
#define VIEW_SLOWEST_H

#include <stdbool.h>
#include <stdint.h>

#define VIEW_RANGE_BINS 40 /* of a range */
#define VIEW_RANGES 50
#define VIEW_SLOWEST 20 /* of a range */

struct view_slow {
	uint64_t start, duration; /* ns of the recording's clock, and ns */
	uint32_t task, cpu; /* of the start */
	uint32_t start_stack, end_stack; /* as view_calls__find() */
	uint32_t value; /* of its group: a string */
};

struct view_range {
	struct view_slow v[VIEW_SLOWEST]; /* a heap: the fastest of them first */
	uint32_t nr;
};

/* Zero is empty. */
struct view_slowest {
	struct view_range *ranges; /* VIEW_RANGES for each kind */
	uint32_t nr_kinds;
};

/* Makes room for pairs of this kind.  -ENOMEM. */
int view_slowest__reach(struct view_slowest *s, uint32_t kind);
/* Whether a pair that ends in this bin would be kept, so that its stacks are worth looking up. */
bool view_slowest__has_room(const struct view_slowest *s, uint32_t kind, uint32_t bin,
			    uint64_t duration);
void view_slowest__add(struct view_slowest *s, uint32_t kind, uint32_t bin,
		       const struct view_slow *pair);
/* Makes bins 2^shift times as wide. */
void view_slowest__widen(struct view_slowest *s, unsigned int shift);
uint64_t view_slowest__memory(const struct view_slowest *s); /* bytes */
void view_slowest__clear(struct view_slowest *s);

#endif /* VIEW_SLOWEST_H */
