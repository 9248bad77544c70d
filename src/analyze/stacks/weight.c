// SPDX-License-Identifier: GPL-2.0-only
/* Sums, averages, extremes and percentiles of the values of stacks. */
#include "weight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"

#define MEDIAN 500 /* per mille */
#define P99 990

int weight__add(struct weight *w, enum weigh_how how, uint64_t value)
{
	if (weigh_how__keeps_values(how)) {
		w->values = w->values ?: calloc(1, sizeof(*w->values));
		if (!w->values || durations__add(w->values, value))
			return -ENOMEM;
	}
	w->count++;
	w->sum += value;
	w->max = MAX(w->max, value);
	return 0;
}

int weight__merge(struct weight *w, const struct weight *other)
{
	if (other->values) {
		w->values = w->values ?: calloc(1, sizeof(*w->values));
		if (!w->values || durations__merge(w->values, other->values))
			return -ENOMEM;
	}
	w->count += other->count;
	w->sum += other->sum;
	w->max = MAX(w->max, other->max);
	return 0;
}

void weight__clear(struct weight *w)
{
	if (w->values)
		durations__clear(w->values);
	free(w->values);
	*w = (struct weight){ 0 };
}

uint64_t weight__memory(const struct weight *w)
{
	return w->values ? sizeof(*w->values) + durations__memory(w->values) : 0;
}

uint64_t weight__value(const struct weight *w, enum weigh_how how)
{
	switch (how) {
	case WEIGH_SUM:
	case WEIGH_HIST:
		return MIN(w->sum, UINT64_MAX);
	case WEIGH_AVG:
		return w->count ? w->sum / w->count : 0;
	case WEIGH_MAX:
		return w->max;
	case WEIGH_P50:
	case WEIGH_P99:
		break;
	}
	return w->values ? durations__percentile(w->values, how == WEIGH_P50 ? MEDIAN : P99) : 0;
}

int weight_sets__add(struct weight_sets *s, uint32_t set, const struct weight *w)
{
	struct weight_set *v;

	if (array__reach(&s->v, set, &s->nr))
		return -ENOMEM;
	v = &s->v[set];
	v->count += w->count;
	v->sum += w->sum;
	v->max = MAX(v->max, w->max);
	if (!w->values)
		return 0;
	if (array__grow(&s->members, s->nr_members, &s->max_members))
		return -ENOMEM;
	s->members[s->nr_members++] = (struct weight_member){ set, w };
	return 0;
}

static int by_set(const void *a, const void *b)
{
	const struct weight_member *x = a, *y = b;

	return CMP(x->set, y->set);
}

int weight_sets__finish(struct weight_sets *s)
{
	struct weight all;
	uint64_t i = 0;
	uint32_t set;
	int err = 0;

	for (set = 0; set < s->nr; set++) {
		all = (struct weight){ .count = s->v[set].count,
				       .sum = s->v[set].sum,
				       .max = s->v[set].max };
		s->v[set].value = weight__value(&all, s->how);
	}
	if (s->nr_members)
		qsort(s->members, s->nr_members, sizeof(*s->members), by_set);
	while (i < s->nr_members && !err) {
		all = (struct weight){ 0 };
		set = s->members[i].set;
		for (; i < s->nr_members && s->members[i].set == set && !err; i++)
			err = weight__merge(&all, s->members[i].weight);
		s->v[set].value = weight__value(&all, s->how);
		weight__clear(&all);
	}
	return err;
}

uint64_t weight_sets__value(const struct weight_sets *s, uint32_t set)
{
	return set < s->nr ? s->v[set].value : 0;
}

uint64_t weight_sets__memory(const struct weight_sets *s)
{
	return (uint64_t)s->nr * sizeof(*s->v) + s->max_members * sizeof(*s->members);
}

void weight_sets__clear(struct weight_sets *s)
{
	free(s->v);
	free(s->members);
	*s = (struct weight_sets){ .how = s->how };
}
