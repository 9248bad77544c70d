// SPDX-License-Identifier: GPL-2.0-only
/* Sums up the counted stacks by function. */
#include "call_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/charge.h"
#include "array.h"
#include "cleanup.h"
#include "index.h"
#include "seeded_hash.h"

struct profile_entry {
	struct call_function function; /* first: sorted as such */
	uint64_t last_stack; /* the last stack that it was counted for, from 1 */
	bool only_guesses; /* in that stack */
};

struct call_profile {
	struct stk_reader *r;
	struct charge charge;
	uint64_t steps;
	uint64_t seed; /* of the hash */
	struct profile_entry *v;
	uint32_t nr, max;
	struct index index;
	struct weight_sets weights; /* of entry i: set 2 * i, and of its self 2 * i + 1 */
	struct call_function *functions; /* the result */
	uint64_t no_stack;
};

static uint64_t memory_of(const struct call_profile *p)
{
	return (uint64_t)p->max * (sizeof(*p->v) + sizeof(*p->functions)) +
	       index__memory(&p->index) + weight_sets__memory(&p->weights);
}

static int entry_of(struct call_profile *p, const struct call_frame *frame, uint32_t *ret_entry)
{
	struct call_key key = call_frame__key(frame);
	uint64_t hash = call_key__hash(p->seed, p->seed, &key);
	uint32_t i;

	index__for_each(&p->index, hash, i) {
		if (call_key__is(&p->v[i].function.key, &key)) {
			*ret_entry = i;
			return 0;
		}
	}
	if (array__grow(&p->v, p->nr, &p->max) || index__add(&p->index, hash, p->nr))
		return -ENOMEM;
	p->v[p->nr] = (struct profile_entry){ .function = { .frame = *frame, .key = key } };
	p->v[p->nr].function.frame.frame.guessed = false;
	*ret_entry = p->nr++;
	return 0;
}

/* Counts the stack for an entry if this is its first frame there, or its first that is no guess. */
static int count_frame(struct call_profile *p, uint32_t i, uint64_t number, bool guessed,
		       const struct stack_count *s)
{
	struct profile_entry *e = &p->v[i];

	if (e->last_stack == number) {
		if (e->only_guesses && !guessed)
			e->function.guesses -= s->count;
		e->only_guesses &= guessed;
		return 0;
	}
	e->last_stack = number;
	e->only_guesses = guessed;
	e->function.count += s->count;
	e->function.guesses += guessed ? s->count : 0;
	return s->weight ? weight_sets__add(&p->weights, 2 * i, s->weight) : 0;
}

static int add_stack(struct call_profile *p, const struct call_stack *stack, uint64_t number,
		     const struct stack_count *s)
{
	unsigned int k;
	uint32_t i;
	int err = 0;

	if (!stack->nr)
		p->no_stack += s->count;
	for (k = 0; k < stack->nr && !err; k++) {
		err = entry_of(p, &stack->v[k], &i) ?:
			      count_frame(p, i, number, stack->v[k].frame.guessed, s);
		if (k || err)
			continue;
		p->v[i].function.self += s->count;
		if (s->weight)
			err = weight_sets__add(&p->weights, 2 * i + 1, s->weight);
	}
	return err;
}

static int add_stacks(struct call_profile *p, const struct stack_group *group,
		      call_frames_fn frames, void *ctx)
{
	struct call_stack stack = { 0 };
	unsigned int i;
	int err = 0;

	for (i = 0; i < group->nr_stacks && !err; i++) {
		stack.nr = 0;
		err = frames(ctx, &group->stacks[i], &stack) ?:
			      add_stack(p, &stack, i + 1, &group->stacks[i]);
		p->steps += stack.nr;
		if (!err)
			err = charge(&p->charge, p->r, memory_of(p), p->steps);
	}
	call_stack__clear(&stack);
	return err;
}

static int by_weight(const void *a, const void *b)
{
	const struct call_function *x = a, *y = b;

	return CMP(y->weight, x->weight)		   ?:
		       CMP(y->self_weight, x->self_weight) ?:
							     call_key__cmp(&x->key, &y->key);
}

static int by_self(const void *a, const void *b)
{
	const struct call_function *x = a, *y = b;

	return CMP(y->self_weight, x->self_weight) ?: by_weight(a, b);
}

static int finish(struct call_profile *p, const struct stack_group *group, enum profile_order order)
{
	int err = group->weighed ? weight_sets__finish(&p->weights) : 0;
	uint32_t i;

	p->functions = calloc(p->nr ?: 1, sizeof(*p->functions));
	if (err || !p->functions)
		return err ?: -ENOMEM;
	for (i = 0; i < p->nr; i++) {
		struct call_function *f = &p->functions[i];

		*f = p->v[i].function;
		f->weight = group->weighed ? weight_sets__value(&p->weights, 2 * i) : f->count;
		f->self_weight =
			group->weighed ? weight_sets__value(&p->weights, 2 * i + 1) : f->self;
	}
	qsort(p->functions, p->nr, sizeof(*p->functions),
	      order == PROFILE_BY_SELF ? by_self : by_weight);
	return 0;
}

int call_profile__new(struct stk_reader *r, const struct stack_group *group,
		      enum profile_order order, call_frames_fn frames, void *ctx,
		      struct call_profile **ret_profile)
{
	struct call_profile *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->r = r;
	p->seed = seeded_hash__seed();
	p->weights.how = group->how;
	err = add_stacks(p, group, frames, ctx) ?: finish(p, group, order);
	if (err) {
		call_profile__free(p);
		return err;
	}
	*ret_profile = p;
	return 0;
}

void call_profile__free(struct call_profile *p)
{
	if (!p)
		return;
	charge(&p->charge, p->r, 0, p->charge.work);
	free(p->v);
	free(p->functions);
	index__free(&p->index);
	weight_sets__clear(&p->weights);
	free(p);
}

const struct call_function *call_profile__functions(const struct call_profile *p,
						    unsigned int *ret_nr)
{
	*ret_nr = p->nr;
	return p->functions;
}

uint64_t call_profile__no_stack(const struct call_profile *p)
{
	return p->no_stack;
}
