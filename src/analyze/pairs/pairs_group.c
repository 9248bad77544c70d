// SPDX-License-Identifier: GPL-2.0-only
/* Adds pairs to their groups: durations, slowest pairs, weights of stacks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "pairs_priv.h"
#include "seeded_hash.h"

static int new_group(struct pairs *p, const struct group_key *key, bool others)
{
	struct groups *g = &p->groups;
	struct pairs_group *group;
	unsigned int i;

	if (array__grow(&g->v, g->nr, &g->max) || array__grow(&g->keys, g->nr, &g->max_keys))
		return -ENOMEM;
	group = calloc(1, sizeof(*group));
	if (!group)
		return -ENOMEM;
	group->number = g->nr;
	group->others = others;
	for (i = 0; i < p->spec.nr_by && !others; i++)
		group->by[i] = p->by[i].labels[key->by[i] - 1];
	g->v[g->nr] = group;
	g->keys[g->nr++] = *key;
	return 0;
}

static int find_others(struct pairs *p, uint32_t *ret_group)
{
	static const struct group_key none;

	if (!p->groups.others) {
		if (new_group(p, &none, true))
			return -ENOMEM;
		p->groups.others = p->groups.nr;
	}
	*ret_group = p->groups.others - 1;
	return 0;
}

static bool is_other(const struct pairs *p, const struct group_key *key)
{
	unsigned int i;

	for (i = 0; i < p->spec.nr_by; i++)
		if (!key->by[i])
			return true;
	return false;
}

static int find_group(struct pairs *p, const struct group_key *key, uint32_t *ret_group)
{
	struct groups *g = &p->groups;
	uint64_t hash;
	uint32_t i;

	if (is_other(p, key))
		return find_others(p, ret_group);
	g->seed = g->seed ?: seeded_hash__seed();
	hash = seeded_hash__bytes(g->seed, key, sizeof(*key));
	index__for_each(&g->index, hash, i) {
		if (!memcmp(&g->keys[i], key, sizeof(*key))) {
			*ret_group = i;
			return 0;
		}
	}
	if (g->nr - !!g->others >= PAIRS_MAX_GROUPS)
		return find_others(p, ret_group);
	if (index__reserve(&g->index, g->index.nr + 1) || new_group(p, key, false))
		return -ENOMEM;
	*ret_group = g->nr - 1;
	return index__add(&g->index, hash, *ret_group);
}

int groups__find(struct pairs *p, const struct group_key *key, uint32_t *ret_group)
{
	struct groups *g = &p->groups;
	unsigned int at = (key->by[0] ^ key->by[1] << 2) % GROUP_CACHE;
	int err;

	if (g->cache[at].group && !memcmp(&g->cache[at].key, key, sizeof(*key))) {
		*ret_group = g->cache[at].group - 1;
		return 0;
	}
	err = find_group(p, key, ret_group);
	if (!err) {
		g->cache[at].key = *key;
		g->cache[at].group = *ret_group + 1;
	}
	return err;
}

/* ---- the slowest ----------------------------------------------------------------------------- */

static uint64_t length(const struct pairs_pair *pair)
{
	return pair->end.ts - pair->start.ts;
}

/* Pairs of equal length are listed by their start. */
static bool slower(const struct pairs_pair *a, const struct pairs_pair *b)
{
	if (length(a) != length(b))
		return length(a) > length(b);
	return a->start.ts < b->start.ts;
}

/* A heap with the fastest of the kept pairs on top. */
static int keep_slowest(struct pairs *p, struct pairs_group *group, const struct pairs_pair *pair)
{
	struct pairs_pair *heap = group->slowest;
	unsigned int i, child;

	if (!p->opts.top || (group->nr_slowest == p->opts.top && !slower(pair, &heap[0])))
		return 0;
	if (!heap) {
		heap = group->slowest = calloc(p->opts.top, sizeof(*heap));
		if (!heap)
			return -ENOMEM;
	}
	if (group->nr_slowest < p->opts.top) {
		for (i = group->nr_slowest++; i && slower(&heap[(i - 1) / 2], pair);
		     i = (i - 1) / 2)
			heap[i] = heap[(i - 1) / 2];
		heap[i] = *pair;
		return 0;
	}
	for (i = 0; (child = 2 * i + 1) < group->nr_slowest; i = child) {
		if (child + 1 < group->nr_slowest && slower(&heap[child], &heap[child + 1]))
			child++;
		if (!slower(pair, &heap[child]))
			break;
		heap[i] = heap[child];
	}
	heap[i] = *pair;
	return 0;
}

/* ---- weights of stacks ----------------------------------------------------------------------- */

static uint64_t hash_weight(uint64_t seed, uint32_t group, uint32_t kstack, uint32_t ustack)
{
	uint64_t h = seeded_hash__u64(seed, seed, (uint64_t)group << 32 | kstack);

	return seeded_hash__u64(seed, h, ustack);
}

static int add_weight(struct pairs *p, uint32_t group, const struct pairs_pair *pair)
{
	const struct pairs_end *end =
		p->opts.weigh == PAIRS_START_STACKS ? &pair->start : &pair->end;
	struct groups *g = &p->groups;
	const struct weight *w;
	uint64_t hash;
	uint32_t i;

	g->seed = g->seed ?: seeded_hash__seed();
	hash = hash_weight(g->seed, group, end->kstack, end->ustack);
	index__for_each(&g->weight_index, hash, i) {
		w = &g->weights[i];
		if (w->group == group && w->kstack == end->kstack && w->ustack == end->ustack)
			break;
	}
	if (i == INDEX_NONE) {
		if (array__grow(&g->weights, g->nr_weights, &g->max_weights) ||
		    index__add(&g->weight_index, hash, g->nr_weights))
			return -ENOMEM;
		i = g->nr_weights++;
		g->weights[i] = (struct weight){ group, end->kstack, end->ustack, 0 };
	}
	g->weights[i].ns += length(pair);
	return 0;
}

size_t pairs__nr_weights(const struct pairs *p)
{
	return p->groups.nr_weights;
}

void pairs__weight(const struct pairs *p, size_t i, struct pairs_weight *ret_weight)
{
	const struct weight *w = &p->groups.weights[i];

	*ret_weight = (struct pairs_weight){ .group = p->groups.v[w->group],
					     .kstack = w->kstack,
					     .ustack = w->ustack,
					     .ns = w->ns };
}

/* ---- groups ---------------------------------------------------------------------------------- */

int groups__add(struct pairs *p, uint32_t group, const struct pairs_pair *pair)
{
	struct pairs_group *g = p->groups.v[group];
	int err;

	err = durations__add(&g->durations, length(pair));
	if (!err)
		err = keep_slowest(p, g, pair);
	if (!err && p->opts.measured)
		err = p->opts.measured(p->opts.ctx, g, pair);
	if (!err && p->opts.weigh != PAIRS_NO_STACKS)
		err = add_weight(p, group, pair);
	return err;
}

const struct pairs_group *const *pairs__groups(const struct pairs *p, unsigned int *ret_nr)
{
	*ret_nr = p->groups.nr;
	return (const struct pairs_group *const *)p->groups.v;
}

void pairs__forget(struct pairs *p)
{
	uint32_t i;

	for (i = 0; i < p->groups.nr; i++) {
		durations__clear(&p->groups.v[i]->durations);
		p->groups.v[i]->nr_slowest = 0;
	}
}

static int by_length(const void *a, const void *b)
{
	const struct pairs_pair *x = a, *y = b;

	return slower(x, y) ? -1 : slower(y, x);
}

static int by_sum(const void *a, const void *b)
{
	const struct pairs_group *x = *(struct pairs_group *const *)a;
	const struct pairs_group *y = *(struct pairs_group *const *)b;
	unsigned int i;
	int order;

	if (x->others != y->others)
		return x->others ? 1 : -1;
	if (x->durations.sum != y->durations.sum)
		return x->durations.sum > y->durations.sum ? -1 : 1;
	for (i = 0; i < PAIRS_MAX_BY && x->by[i].text; i++) {
		order = strcmp(x->by[i].text, y->by[i].text);
		if (order)
			return order;
	}
	return 0;
}

int groups__sort(struct pairs *p)
{
	struct groups *g = &p->groups;
	uint32_t i;

	free(g->sorted);
	g->sorted = calloc(g->nr ?: 1, sizeof(*g->sorted));
	if (!g->sorted)
		return -ENOMEM;
	g->nr_sorted = 0;
	for (i = 0; i < g->nr; i++) {
		if (!g->v[i]->durations.count)
			continue;
		g->sorted[g->nr_sorted++] = g->v[i];
		if (g->v[i]->nr_slowest)
			qsort(g->v[i]->slowest, g->v[i]->nr_slowest, sizeof(struct pairs_pair),
			      by_length);
	}
	if (g->nr_sorted)
		qsort(g->sorted, g->nr_sorted, sizeof(*g->sorted), by_sum);
	return 0;
}

void groups__clear(struct pairs *p)
{
	struct groups *g = &p->groups;
	uint32_t i;

	for (i = 0; i < g->nr; i++) {
		durations__clear(&g->v[i]->durations);
		free(g->v[i]->slowest);
		free(g->v[i]);
	}
	free(g->v);
	free(g->keys);
	index__free(&g->index);
	free(g->weights);
	index__free(&g->weight_index);
	free(g->sorted);
	memset(g, 0, sizeof(*g));
}
