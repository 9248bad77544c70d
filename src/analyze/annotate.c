// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the events of each stack while reading.  Only at the end, the frames of each stack are
 * looked at once.
 */
#include "annotate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "charge.h"
#include "cleanup.h"
#include "key_table.h"

struct stack_sum {
	struct annotate_sum sum;
	enum { DEPTH_UNKNOWN = 0, DEPTH_NONE, DEPTH_SOME } depth;
};

struct function_key {
	uint64_t start;
	uint32_t file; /* 0: the kernel, or unknown */
	uint32_t kind;
};

struct place_key {
	uint64_t offset;
	uint32_t function;
	uint32_t exact;
};

struct function_value {
	struct annotate_function function;
	uint32_t last_stack; /* that was counted here, so that recursion counts an event once */
};

struct place_value {
	struct annotate_place place;
	uint32_t last_stack;
};

struct annotate {
	struct stk_reader *r;
	bool kernel, user;
	uint64_t events;
	struct stack_sum *stacks; /* by stack number */
	uint32_t nr_stacks;
	struct key_table functions, places;
	struct annotate_function *result;
	struct annotate_place *result_places;
	struct charge charge;
	uint64_t steps;
};

int annotate__new(struct stk_reader *r, bool kernel, bool user, struct annotate **ret_annotate)
{
	struct annotate *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->r = r;
	a->kernel = kernel;
	a->user = user;
	key_table__init(&a->functions, sizeof(struct function_key), sizeof(struct function_value));
	key_table__init(&a->places, sizeof(struct place_key), sizeof(struct place_value));
	*ret_annotate = a;
	return 0;
}

void annotate__free(struct annotate *a)
{
	if (!a)
		return;
	free(a->stacks);
	key_table__clear(&a->functions);
	key_table__clear(&a->places);
	free(a->result);
	free(a->result_places);
	free(a);
}

static int charge_all(struct annotate *a)
{
	return charge(&a->charge, a->r,
		      (uint64_t)a->nr_stacks * sizeof(*a->stacks) +
			      key_table__memory(&a->functions) + key_table__memory(&a->places),
		      a->steps);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The sums of a stack; NULL if there is no such stack, or with *err set. */
static struct stack_sum *sum_of(struct annotate *a, uint32_t number, int *err)
{
	if (!number || number > stk_reader__nr_stacks(a->r) || *err)
		return NULL;
	if (number >= a->nr_stacks && array__reach(&a->stacks, number, &a->nr_stacks)) {
		*err = -ENOMEM;
		return NULL;
	}
	return &a->stacks[number];
}

static bool has_frames(struct annotate *a, uint32_t number)
{
	struct stack_sum *s = &a->stacks[number];
	struct stk_stack st;

	if (s->depth == DEPTH_UNKNOWN)
		s->depth =
			!stk_reader__stack(a->r, number, &st) && st.depth ? DEPTH_SOME : DEPTH_NONE;
	return s->depth == DEPTH_SOME;
}

int annotate__add(struct annotate *a, const struct stk_event *e)
{
	uint32_t kernel = a->kernel ? stk_event__kstack(e) : 0;
	uint32_t user = a->user ? stk_event__ustack(e) : 0;
	struct stack_sum *s;
	bool in_kernel = false;
	int err = 0;

	a->events++;
	s = sum_of(a, kernel, &err);
	if (s && has_frames(a, kernel)) {
		in_kernel = true;
		s->sum.self++;
		s->sum.all++;
	}
	s = sum_of(a, user, &err);
	if (s) {
		s->sum.self += !in_kernel;
		s->sum.all++;
	}
	if (err || !charge__is_due(&a->charge))
		return err;
	return charge_all(a);
}

uint64_t annotate__events(const struct annotate *a)
{
	return a->events;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static int add_function(struct annotate *a, const struct stk_frame *f, uint32_t stack,
			const struct annotate_sum *sum, uint32_t *ret_number)
{
	const struct function_key key = { .start = f->ip - f->off,
					  .file = f->kind == STK_FRAME_KERNEL ? f->kernel : f->file,
					  .kind = f->kind };
	struct function_value *v;
	uint32_t number;

	if (key_table__at(&a->functions, &key, &number) < 0)
		return -ENOMEM;
	v = key_table__value(&a->functions, number);
	v->function.frame = *f;
	v->function.start = key.start;
	v->function.sum.self += sum->self;
	if (v->last_stack != stack)
		v->function.sum.all += sum->all;
	v->last_stack = stack;
	*ret_number = number;
	return 0;
}

static int add_place(struct annotate *a, const struct stk_frame *f, uint32_t function,
		     uint32_t stack, const struct annotate_sum *sum)
{
	const struct place_key key = { .offset = f->off, .function = function, .exact = f->exact };
	struct place_value *v;
	uint32_t number;

	if (key_table__at(&a->places, &key, &number) < 0)
		return -ENOMEM;
	v = key_table__value(&a->places, number);
	v->place.frame = *f;
	v->place.offset = f->off;
	v->place.sum.self += sum->self;
	if (v->last_stack != stack) {
		v->place.sum.all += sum->all;
		v->place.guesses += f->guessed ? sum->all : 0;
	}
	v->last_stack = stack;
	return 0;
}

static int add_stack(struct annotate *a, uint32_t number, annotate_match_fn match, void *ctx)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	int n = stk_reader__frames(a->r, number, frames, STK_MAX_DEPTH), i, err = 0;
	struct annotate_sum sum = a->stacks[number].sum;
	uint32_t function;

	n = MIN(n, STK_MAX_DEPTH);
	for (i = 0; i < n && !err; i++, sum.self = 0) {
		if (!frames[i].sym || !match(ctx, &frames[i]))
			continue;
		err = add_function(a, &frames[i], number, &sum, &function);
		err = err ?: add_place(a, &frames[i], function, number, &sum);
	}
	a->steps += n > 0 ? n : 1;
	return err ?: charge_all(a);
}

/* ---- the result ------------------------------------------------------------------------------ */

/* By function, then by offset; the call before an address precedes the instruction there. */
static int by_place(const void *x, const void *y)
{
	const struct place_key *a = *(const struct place_key *const *)x;
	const struct place_key *b = *(const struct place_key *const *)y;

	return CMP(a->function, b->function)	 ?:
		       CMP(a->offset, b->offset) ?:
						   CMP(a->exact, b->exact);
}

static int by_sum(const void *x, const void *y)
{
	const struct annotate_function *a = x, *b = y;

	return CMP(b->sum.self, a->sum.self)		 ?:
		       CMP(b->sum.all, a->sum.all)	 ?:
		       CMP(a->frame.file, b->frame.file) ?:
							   CMP(a->start, b->start);
}

/* Sorts the places and gives each function its own. */
static int sort_places(struct annotate *a)
{
	uint32_t nr = a->places.nr, i;
	_cleanup_free_ const struct place_key **keys = calloc(nr ?: 1, sizeof(*keys));

	a->result_places = calloc(nr ?: 1, sizeof(*a->result_places));
	if (!keys || !a->result_places)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		keys[i] = key_table__key(&a->places, i);
	qsort(keys, nr, sizeof(*keys), by_place);
	for (i = 0; i < nr; i++) {
		struct place_value *v = key_table__find(&a->places, keys[i]);
		struct function_value *f = key_table__value(&a->functions, keys[i]->function);

		a->result_places[i] = v->place;
		if (!f->function.nr_places++)
			f->function.places = &a->result_places[i];
	}
	return 0;
}

int annotate__finish(struct annotate *a, annotate_match_fn match, void *ctx,
		     const struct annotate_function **ret_functions, unsigned int *ret_nr)
{
	uint32_t i;
	int err = 0;

	for (i = 1; i < a->nr_stacks && !err; i++)
		if (a->stacks[i].sum.all)
			err = add_stack(a, i, match, ctx);
	err = err ?: sort_places(a);
	a->result = calloc(a->functions.nr ?: 1, sizeof(*a->result));
	if (err || !a->result)
		return err ?: -ENOMEM;
	for (i = 0; i < a->functions.nr; i++) {
		struct function_value *v = key_table__value(&a->functions, i);

		a->result[i] = v->function;
	}
	qsort(a->result, a->functions.nr, sizeof(*a->result), by_sum);
	*ret_functions = a->result;
	*ret_nr = a->functions.nr;
	return 0;
}
