// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the slowest pairs of ranges of time, in heaps. */
#include "slowest.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"

int view_slowest__reach(struct view_slowest *s, uint32_t kind)
{
	struct view_range *more;

	if (kind < s->nr_kinds)
		return 0;
	more = reallocarray(s->ranges, kind + 1ul, VIEW_RANGES * sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + s->nr_kinds * VIEW_RANGES, 0,
	       (kind + 1ul - s->nr_kinds) * VIEW_RANGES * sizeof(*more));
	s->ranges = more;
	s->nr_kinds = kind + 1;
	return 0;
}

static struct view_range *range_of(const struct view_slowest *s, uint32_t kind, uint32_t bin)
{
	return &s->ranges[kind * VIEW_RANGES + bin / VIEW_RANGE_BINS];
}

/* Of equally slow pairs the first ones stay. */
static bool is_before(const struct view_slow *a, const struct view_slow *b)
{
	return a->duration != b->duration ? a->duration < b->duration : a->start > b->start;
}

static void swap(struct view_slow *a, struct view_slow *b)
{
	struct view_slow c = *a;

	*a = *b;
	*b = c;
}

static void sift_down(struct view_range *r)
{
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < r->nr) {
		if (child + 1 < r->nr && is_before(&r->v[child + 1], &r->v[child]))
			child++;
		if (!is_before(&r->v[child], &r->v[at]))
			break;
		swap(&r->v[child], &r->v[at]);
		at = child;
	}
}

static void sift_up(struct view_range *r)
{
	uint32_t at = r->nr - 1;

	while (at && is_before(&r->v[at], &r->v[(at - 1) / 2])) {
		swap(&r->v[at], &r->v[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
}

static void put(struct view_range *r, const struct view_slow *pair)
{
	if (r->nr < VIEW_SLOWEST) {
		r->v[r->nr++] = *pair;
		sift_up(r);
	} else if (is_before(&r->v[0], pair)) {
		r->v[0] = *pair;
		sift_down(r);
	}
}

bool view_slowest__has_room(const struct view_slowest *s, uint32_t kind, uint32_t bin,
			    uint64_t duration)
{
	const struct view_range *r = range_of(s, kind, bin);

	return r->nr < VIEW_SLOWEST || duration >= r->v[0].duration;
}

void view_slowest__add(struct view_slowest *s, uint32_t kind, uint32_t bin,
		       const struct view_slow *pair)
{
	put(range_of(s, kind, bin), pair);
}

/* Range r becomes a part of range r >> shift, as it is with the bins. */
void view_slowest__widen(struct view_slowest *s, unsigned int shift)
{
	uint32_t kind, i, j;

	for (kind = 0; kind < s->nr_kinds; kind++) {
		struct view_range *ranges = s->ranges + kind * VIEW_RANGES;

		for (i = 1; i < VIEW_RANGES; i++) {
			struct view_range from = ranges[i];

			ranges[i].nr = 0;
			for (j = 0; j < from.nr; j++)
				put(&ranges[shift < 32 ? i >> shift : 0], &from.v[j]);
		}
	}
}

uint64_t view_slowest__memory(const struct view_slowest *s)
{
	return (uint64_t)s->nr_kinds * VIEW_RANGES * sizeof(*s->ranges);
}

void view_slowest__clear(struct view_slowest *s)
{
	free(s->ranges);
	*s = (struct view_slowest){ 0 };
}
