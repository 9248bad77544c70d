// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts events by type and stacks while they are read.  The sums of functions follow when they are
 * asked for: each stack adds the events that it had since then.
 */
#include "live_counts.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/charge.h"
#include "analyze/key_table.h"
#include "analyze/stacks/stack_counts.h"
#include "array.h"
#include "cleanup.h"

struct stack_key {
	uint32_t type, kstack, ustack;
};

struct stack_value {
	uint64_t count, summed; /* of count, added to the functions */
};

struct function_key {
	uint64_t start;
	uint32_t file; /* 0: the kernel, or unknown */
	uint32_t kind;
};

struct function_value {
	struct live_function function;
	uint32_t last_stack; /* + 1: the entry that was added last, so that recursion counts once */
};

struct live_counts {
	struct stk_reader *r;
	unsigned int stacks;
	const struct stk_event_type *type; /* NULL: all */
	uint64_t *types; /* events by type, for live_counts__events() */
	uint64_t *seen; /* the same since the start */
	unsigned int nr_types, nr_seen;
	struct key_table counts, functions;
	struct charge charge;
	uint64_t steps;
};

int live_counts__new(struct stk_reader *r, unsigned int stacks, struct live_counts **ret_counts)
{
	struct live_counts *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->r = r;
	c->stacks = stacks;
	key_table__init(&c->counts, sizeof(struct stack_key), sizeof(struct stack_value));
	key_table__init(&c->functions, sizeof(struct function_key), sizeof(struct function_value));
	*ret_counts = c;
	return 0;
}

void live_counts__free(struct live_counts *c)
{
	if (!c)
		return;
	key_table__clear(&c->counts);
	key_table__clear(&c->functions);
	free(c->types);
	free(c->seen);
	free(c);
}

static int charge_all(struct live_counts *c)
{
	/* an answer sorts copies of the functions or stacks */
	uint64_t answer = MAX(c->functions.nr * (uint64_t)sizeof(struct live_function),
			      c->counts.nr * (uint64_t)sizeof(struct live_stack));

	return charge(&c->charge, c->r,
		      key_table__memory(&c->counts) + key_table__memory(&c->functions) + answer,
		      c->steps);
}

int live_counts__add(struct live_counts *c, const struct stk_event *e)
{
	unsigned int type = stk_event_type__index(stk_event__type(e));
	const struct stack_key key = {
		.type = type,
		.kstack = c->stacks & STACKS_KERNEL ? stk_event__kstack(e) : 0,
		.ustack = c->stacks & STACKS_USER ? stk_event__ustack(e) : 0,
	};
	struct stack_value *v;
	uint32_t number;

	if (array__reach(&c->types, type, &c->nr_types) ||
	    array__reach(&c->seen, type, &c->nr_seen) ||
	    key_table__at(&c->counts, &key, &number) < 0)
		return -ENOMEM;
	c->types[type]++;
	c->seen[type]++;
	v = key_table__value(&c->counts, number);
	v->count++;
	return charge__is_due(&c->charge) ? charge_all(c) : 0;
}

/* ---- selecting ------------------------------------------------------------------------------- */

static void forget_functions(struct live_counts *c)
{
	uint32_t i;

	key_table__clear(&c->functions);
	key_table__init(&c->functions, sizeof(struct function_key), sizeof(struct function_value));
	for (i = 0; i < c->counts.nr; i++)
		((struct stack_value *)key_table__value(&c->counts, i))->summed = 0;
}

void live_counts__select(struct live_counts *c, const struct stk_event_type *type)
{
	c->type = type;
	forget_functions(c);
}

void live_counts__zero(struct live_counts *c)
{
	unsigned int i;

	for (i = 0; i < c->nr_types; i++)
		c->types[i] = 0;
	key_table__clear(&c->counts);
	key_table__init(&c->counts, sizeof(struct stack_key), sizeof(struct stack_value));
	forget_functions(c);
}

uint64_t live_counts__events(const struct live_counts *c)
{
	unsigned int i, only = c->type ? stk_event_type__index(c->type) : 0;
	uint64_t sum = 0;

	for (i = 0; i < c->nr_types; i++)
		sum += !c->type || i == only ? c->types[i] : 0;
	return sum;
}

bool live_counts__has_type(const struct live_counts *c, const struct stk_event_type *type)
{
	unsigned int i = stk_event_type__index(type);

	return i < c->nr_seen && c->seen[i];
}

static bool is_selected(const struct live_counts *c, const struct stack_key *key)
{
	return !c->type || key->type == stk_event_type__index(c->type);
}

/* ---- functions ------------------------------------------------------------------------------- */

static int add_frame(struct live_counts *c, const struct stk_frame *f, uint32_t stack,
		     uint64_t self, uint64_t all)
{
	const struct function_key key = { .start = f->sym ? f->ip - f->off : f->ip,
					  .file = f->kind == STK_FRAME_KERNEL ? f->kernel : f->file,
					  .kind = f->kind };
	struct function_value *v;
	uint32_t number;

	if (key_table__at(&c->functions, &key, &number) < 0)
		return -ENOMEM;
	v = key_table__value(&c->functions, number);
	v->function.frame = *f;
	v->function.self += self;
	if (v->last_stack != stack + 1)
		v->function.all += all;
	v->last_stack = stack + 1;
	return 0;
}

static int add_stack(struct live_counts *c, uint32_t entry, uint64_t count)
{
	const struct stack_key *key = key_table__key(&c->counts, entry);
	const uint32_t numbers[] = { key->kstack, key->ustack };
	struct stk_frame frames[STK_MAX_DEPTH];
	uint64_t self = count;
	int i, n, err = 0;
	unsigned int k;

	for (k = 0; k < ARRAY_SIZE(numbers) && !err; k++) {
		n = numbers[k] ? stk_reader__frames(c->r, numbers[k], frames, STK_MAX_DEPTH) : 0;
		for (i = 0; i < n && i < STK_MAX_DEPTH && !err; i++, self = 0)
			err = add_frame(c, &frames[i], entry, self, count);
		c->steps += n > 0 ? n : 1;
	}
	return err;
}

/* Adds the events since the last call to their functions. */
static int sum_functions(struct live_counts *c)
{
	uint32_t i;
	int err = 0;

	/* A function that was added by the last stack of the last call has more events now. */
	for (i = 0; i < c->functions.nr; i++)
		((struct function_value *)key_table__value(&c->functions, i))->last_stack = 0;
	for (i = 0; i < c->counts.nr && !err; i++) {
		struct stack_value *v = key_table__value(&c->counts, i);

		if (v->count == v->summed || !is_selected(c, key_table__key(&c->counts, i)))
			continue;
		err = add_stack(c, i, v->count - v->summed) ?: charge_all(c);
		v->summed = v->count;
	}
	return err;
}

/* ---- answers --------------------------------------------------------------------------------- */

static int by_self(const void *x, const void *y)
{
	const struct live_function *a = x, *b = y;

	return CMP(b->self, a->self)			 ?:
		       CMP(b->all, a->all)		 ?:
		       CMP(a->frame.file, b->frame.file) ?:
							   CMP(a->frame.ip, b->frame.ip);
}

static int by_all(const void *x, const void *y)
{
	const struct live_function *a = x, *b = y;

	return CMP(b->all, a->all) ?: by_self(x, y);
}

static int by_count(const void *x, const void *y)
{
	const struct live_stack *a = x, *b = y;

	return CMP(b->count, a->count) ?: CMP(a->kstack, b->kstack) ?: CMP(a->ustack, b->ustack);
}

int live_counts__functions(struct live_counts *c, bool all, struct live_function *ret_functions,
			   unsigned int max, unsigned int *ret_nr)
{
	_cleanup_free_ struct live_function *v = NULL;
	unsigned int nr = 0;
	int err = sum_functions(c);
	uint32_t i;

	v = calloc(c->functions.nr ?: 1, sizeof(*v));
	if (err || !v)
		return err ?: -ENOMEM;
	for (i = 0; i < c->functions.nr; i++) {
		struct function_value *f = key_table__value(&c->functions, i);

		v[nr] = f->function;
		nr += all || f->function.self;
	}
	if (nr)
		qsort(v, nr, sizeof(*v), all ? by_all : by_self);
	*ret_nr = nr;
	nr = MIN(nr, max);
	for (i = 0; i < nr; i++)
		ret_functions[i] = v[i];
	return nr;
}

static int by_numbers(const void *x, const void *y)
{
	const struct live_stack *a = x, *b = y;

	return CMP(a->kstack, b->kstack) ?: CMP(a->ustack, b->ustack);
}

/* Adds up what several event types have of the same stacks; returns the number of what is left. */
static unsigned int merge_types(struct live_stack *v, unsigned int nr)
{
	unsigned int i, out = 0;

	if (nr)
		qsort(v, nr, sizeof(*v), by_numbers);
	for (i = 0; i < nr; i++) {
		if (out && !by_numbers(&v[out - 1], &v[i]))
			v[out - 1].count += v[i].count;
		else
			v[out++] = v[i];
	}
	return out;
}

int live_counts__stacks(struct live_counts *c, struct live_stack *ret_stacks, unsigned int max,
			unsigned int *ret_nr)
{
	_cleanup_free_ struct live_stack *v = calloc(c->counts.nr ?: 1, sizeof(*v));
	unsigned int nr = 0, out = 0;
	uint32_t i;

	if (!v)
		return -ENOMEM;
	for (i = 0; i < c->counts.nr; i++) {
		const struct stack_key *key = key_table__key(&c->counts, i);
		const struct stack_value *value = key_table__value(&c->counts, i);

		if (is_selected(c, key))
			v[nr++] = (struct live_stack){ key->kstack, key->ustack, value->count };
	}
	nr = merge_types(v, nr);
	if (nr)
		qsort(v, nr, sizeof(*v), by_count);
	*ret_nr = nr;
	for (i = 0; i < nr && out < max; i++)
		ret_stacks[out++] = v[i];
	return out;
}
