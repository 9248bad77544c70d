// SPDX-License-Identifier: GPL-2.0-only
/* Counts stacks by group, in growing hash tables. */
#include "stack_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "index.h"
#include "seeded_hash.h"
#include "stack_groups.h"

struct count_key {
	uint32_t group, kstack, ustack;
};

struct count {
	struct count_key key;
	uint32_t weight; /* index in weights, if weighed */
	uint64_t count;
};

/*
 * Most events repeat one of a few stacks: the entries of the last ones are found without a hash.
 * The place of an entry may be shared by any number of others, which only costs the hash.
 */
#define RECENT 16384

struct stack_counts {
	struct stack_spec spec;
	uint64_t seed; /* of the hash */
	struct stack_groups *groups;
	struct count *counts;
	uint32_t nr_counts, max_counts;
	struct weight *weights; /* one for each of counts */
	uint32_t max_weights;
	uint64_t value_bytes; /* held by weights */
	struct index count_index;
	uint32_t recent[RECENT]; /* index in counts + 1; 0: none */
	struct stack_left_out left_out;
	struct stack_group *result;
	struct stack_count *stacks; /* of all groups */
};

static uint64_t hash_count(const struct stack_counts *c, const struct count_key *k)
{
	uint64_t h = seeded_hash__u64(c->seed, c->seed, (uint64_t)k->group << 32 | k->kstack);

	return seeded_hash__u64(c->seed, h, k->ustack);
}

static bool same_count(const struct count_key *a, const struct count_key *b)
{
	return a->group == b->group && a->kstack == b->kstack && a->ustack == b->ustack;
}

/* Finds or adds the entry of key. */
static int find_count(struct stack_counts *c, const struct count_key *key, uint32_t *ret_count)
{
	uint64_t hash = hash_count(c, key);
	uint32_t i;

	index__for_each(&c->count_index, hash, i) {
		if (same_count(&c->counts[i].key, key)) {
			*ret_count = i;
			return 0;
		}
	}
	i = c->nr_counts;
	if (array__grow(&c->counts, i, &c->max_counts) ||
	    (c->spec.weighed && array__reach(&c->weights, i, &c->max_weights)) ||
	    index__add(&c->count_index, hash, i))
		return -ENOMEM;
	c->counts[i] = (struct count){ .key = *key, .weight = i };
	*ret_count = c->nr_counts++;
	return 0;
}

static int count_stacks(struct stack_counts *c, const struct count_key *key, uint64_t count,
			uint32_t *ret_count)
{
	uint32_t *recent = &c->recent[(key->kstack ^ key->ustack * 5 ^ key->group * 37) % RECENT];
	uint32_t i = *recent - 1;
	int err;

	if (!*recent || !same_count(&c->counts[i].key, key)) {
		err = find_count(c, key, &i);
		if (err)
			return err;
		*recent = i + 1;
	}
	c->counts[i].count += count;
	*ret_count = i;
	return 0;
}

/* Returns 1 and the weight of e, 0 if it has none, or -ENOMEM. */
static int weigh(struct stack_counts *c, const struct stk_event *e, uint64_t *ret_weight)
{
	struct event_value v = values__get(c->spec.values, c->spec.weight, e);

	switch (v.type) {
	case VALUE_S64:
		if ((int64_t)v.number < 0) {
			c->left_out.negative++;
			return 0;
		}
		break;
	case VALUE_U64:
	case VALUE_ADDRESS:
		break;
	case VALUE_NONE:
	case VALUE_TEXT:
	case VALUE_BYTES:
		c->left_out.missing++;
		return values__error(c->spec.values);
	}
	*ret_weight = v.number;
	return 1;
}

static int add_weight(struct stack_counts *c, uint32_t count, uint64_t value)
{
	struct weight *w = &c->weights[count];
	/* arrays of values grow at powers of two */
	bool grows = weigh_how__keeps_values(c->spec.how) && !(w->count & (w->count - 1));
	uint64_t before = grows ? weight__memory(w) : 0;
	int err = weight__add(w, c->spec.how, value);

	if (grows)
		c->value_bytes += weight__memory(w) - before;
	return err;
}

/* Returns 1 and the place, 0 if e has no weight, or a negative errno. */
static int add(struct stack_counts *c, const struct stk_event *e, uint64_t count,
	       struct count_key *ret_key, uint64_t *ret_weight)
{
	uint64_t value = 1;
	uint32_t nr;
	int n = c->spec.weighed ? weigh(c, e, &value) : 1, err;

	if (n <= 0)
		return n;
	*ret_key = (struct count_key){ 0 };
	err = stack_groups__of(c->groups, e, &ret_key->group);
	if (err)
		return err;
	if (c->spec.stacks & STACKS_KERNEL)
		ret_key->kstack = stk_event__kstack(e);
	if (c->spec.stacks & STACKS_USER)
		ret_key->ustack = stk_event__ustack(e);
	err = count_stacks(c, ret_key, count, &nr);
	if (!err && c->spec.weighed)
		err = add_weight(c, nr, value);
	*ret_weight = value;
	return err ?: 1;
}

int stack_counts__add(struct stack_counts *c, const struct stk_event *e, uint64_t count)
{
	struct count_key key;
	uint64_t weight;
	int n = add(c, e, count, &key, &weight);

	return MIN(n, 0);
}

int stack_counts__place(struct stack_counts *c, const struct stk_event *e,
			struct stack_place *ret_place)
{
	struct count_key key;
	uint64_t weight;
	int n = add(c, e, 1, &key, &weight);

	if (n == 1)
		*ret_place = (struct stack_place){
			.group = key.group,
			.kstack = key.kstack,
			.ustack = key.ustack,
			.weight = weight,
		};
	return n;
}

uint64_t stack_counts__memory(const struct stack_counts *c)
{
	uint64_t result = (uint64_t)stack_groups__nr(c->groups) * sizeof(*c->result) +
			  (uint64_t)c->nr_counts * sizeof(*c->stacks);

	return stack_groups__memory(c->groups) + (uint64_t)c->max_counts * sizeof(*c->counts) +
	       index__memory(&c->count_index) + (uint64_t)c->max_weights * sizeof(*c->weights) +
	       c->value_bytes + result;
}

struct stack_left_out stack_counts__left_out(const struct stack_counts *c)
{
	return c->left_out;
}

/* ---- results --------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	const struct count_key *x = &((const struct count *)a)->key;
	const struct count_key *y = &((const struct count *)b)->key;

	return CMP(x->group, y->group) ?: CMP(x->kstack, y->kstack) ?: CMP(x->ustack, y->ustack);
}

static int by_amount(const void *a, const void *b)
{
	const struct stack_count *x = a, *y = b;
	int d = CMP(y->amount, x->amount);

	return d ?: CMP(x->kstack, y->kstack) ?: CMP(x->ustack, y->ustack);
}

static int by_group_amount(const void *a, const void *b, void *groups)
{
	const struct stack_group *x = a, *y = b;
	int d = CMP(y->amount, x->amount);

	return d ?: stack_groups__cmp(groups, x, y);
}

/* Merges equal stacks and sorts by group; sets ret_nr to the number of entries left. */
static int pack_counts(struct stack_counts *c, struct stack_fold *fold, uint32_t *ret_nr)
{
	struct stack_pair pair;
	uint32_t i, out = 0;
	int err = 0;

	for (i = 0; i < c->nr_counts && !err; i++) {
		struct count_key *k = &c->counts[i].key;

		err = stack_fold__first(fold, (struct stack_pair){ k->kstack, k->ustack }, &pair);
		k->kstack = pair.kstack;
		k->ustack = pair.ustack;
	}
	if (c->nr_counts && !err)
		qsort(c->counts, c->nr_counts, sizeof(*c->counts), by_key);
	for (i = 0; i < c->nr_counts && !err; i++) {
		if (out && same_count(&c->counts[out - 1].key, &c->counts[i].key)) {
			c->counts[out - 1].count += c->counts[i].count;
			if (c->spec.weighed)
				err = weight__merge(&c->weights[c->counts[out - 1].weight],
						    &c->weights[c->counts[i].weight]);
		} else {
			c->counts[out++] = c->counts[i];
		}
	}
	*ret_nr = out;
	return err;
}

/* The group of the entries from *first on. */
static int finish_group(struct stack_counts *c, uint32_t nr, uint32_t group, uint32_t *first)
{
	struct stack_group *g = &c->result[group];
	uint32_t i = *first;
	int err = 0;

	stack_groups__get(c->groups, group, g);
	g->number = group;
	g->weighed = c->spec.weighed;
	g->how = c->spec.how;
	g->stacks = c->stacks + i;
	for (; i < nr && c->counts[i].key.group == group && !err; i++) {
		const struct count *count = &c->counts[i];
		struct weight *w = c->spec.weighed ? &c->weights[count->weight] : NULL;

		c->stacks[i] = (struct stack_count){
			.kstack = count->key.kstack,
			.ustack = count->key.ustack,
			.count = count->count,
			.amount = w ? weight__value(w, g->how) : count->count,
			.weight = w,
		};
		g->count += count->count;
		err = w ? weight__merge(&g->weight, w) : 0;
	}
	g->nr_stacks = i - *first;
	*first = i;
	g->amount = g->weighed ? weight__value(&g->weight, g->how) : g->count;
	qsort(g->stacks, g->nr_stacks, sizeof(*g->stacks), by_amount);
	return err;
}

int stack_counts__finish(struct stack_counts *c, struct stack_fold *fold,
			 const struct stack_group **ret_groups, unsigned int *ret_nr)
{
	unsigned int nr_groups = stack_groups__nr(c->groups), g;
	uint32_t nr, i = 0;
	int err = pack_counts(c, fold, &nr);

	if (err)
		return err;
	c->result = calloc(nr_groups ?: 1, sizeof(*c->result));
	c->stacks = calloc(nr ?: 1, sizeof(*c->stacks));
	if (!c->result || !c->stacks)
		return -ENOMEM;
	for (g = 0; g < nr_groups && !err; g++)
		err = finish_group(c, nr, g, &i);
	if (err)
		return err;
	qsort_r(c->result, nr_groups, sizeof(*c->result), by_group_amount, c->groups);
	*ret_groups = c->result;
	*ret_nr = nr_groups;
	return 0;
}

int stack_counts__new(const struct stack_spec *spec, struct stack_counts **ret_counts)
{
	struct stack_counts *c = calloc(1, sizeof(*c));
	int err = c ? stack_groups__new(spec, &c->groups) : -ENOMEM;

	if (err) {
		free(c);
		return err;
	}
	c->seed = seeded_hash__seed();
	c->spec = *spec;
	*ret_counts = c;
	return 0;
}

void stack_counts__free(struct stack_counts *c)
{
	uint32_t i;

	if (!c)
		return;
	for (i = 0; c->result && i < stack_groups__nr(c->groups); i++)
		weight__clear(&c->result[i].weight);
	stack_groups__free(c->groups);
	for (i = 0; i < c->max_weights; i++)
		weight__clear(&c->weights[i]);
	free(c->weights);
	free(c->counts);
	index__free(&c->count_index);
	free(c->result);
	free(c->stacks);
	free(c);
}
