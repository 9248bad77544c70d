// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the names of innermost frames by pair of stacks. */
#include "stack_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "cleanup.h"
#include "index.h"
#include "seeded_hash.h"
#include "string_table.h"

#define NR_FRAMES 2 /* the innermost function and its caller */

struct names_entry {
	uint32_t kstack, ustack;
	uint32_t names[NR_STACK_NAMES]; /* string number + 1; 0: none */
};

struct stack_names {
	struct stk_reader *r;
	struct value_frames frames;
	struct string_table strings;
	struct names_entry *v;
	uint32_t nr, max;
	uint32_t last; /* the entry of the last question */
	struct index index;
	uint64_t seed; /* of the hash */
};

int stack_names__new(struct stk_reader *r, const struct value_frames *frames,
		     struct stack_names **ret_names)
{
	struct stack_names *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->r = r;
	n->frames = *frames;
	n->seed = seeded_hash__seed();
	*ret_names = n;
	return 0;
}

void stack_names__free(struct stack_names *n)
{
	if (!n)
		return;
	string_table__clear(&n->strings);
	index__free(&n->index);
	free(n->v);
	free(n);
}

uint64_t stack_names__memory(const struct stack_names *n)
{
	return string_table__memory(&n->strings) + (uint64_t)n->max * sizeof(*n->v) +
	       index__memory(&n->index);
}

static int keep(struct stack_names *n, const char *name, uint32_t *ret_string)
{
	uint32_t number;
	int err = string_table__intern(&n->strings, name, &number);

	if (!err)
		*ret_string = number + 1;
	return err;
}

static int keep_function(struct stack_names *n, const struct stk_frame *f, uint32_t *ret_string)
{
	_cleanup_free_ char *unnamed = NULL;

	if (f->sym && f->kind == STK_FRAME_USER && n->frames.function)
		return keep(n, n->frames.function(n->frames.ctx, f->sym), ret_string);
	if (f->sym)
		return keep(n, f->sym, ret_string);
	if (asprintf(&unnamed, "%s%s0x%" PRIx64, f->mod ?: "", f->mod ? "+" : "", f->ip) < 0) {
		unnamed = NULL;
		return -ENOMEM;
	}
	return keep(n, unnamed, ret_string);
}

static const char *file_of(const struct stk_frame *f)
{
	return f->mod ?: f->kind == STK_FRAME_KERNEL ? "[kernel]" : "[unknown]";
}

/* Appends up to NR_FRAMES frames in total. */
static unsigned int add_frames(struct stack_names *n, uint32_t stack, struct stk_frame *frames,
			       unsigned int nr)
{
	int more = stack && nr < NR_FRAMES ?
			   stk_reader__frames(n->r, stack, frames + nr, NR_FRAMES - nr) :
			   0;

	return MIN(nr + MAX(more, 0), NR_FRAMES);
}

static int look_up(struct stack_names *n, struct names_entry *ret_entry)
{
	struct stk_frame frames[NR_FRAMES];
	unsigned int nr = 0;
	int err = 0;

	if (!n->frames.no_kernel)
		nr = add_frames(n, ret_entry->kstack, frames, nr);
	if (!n->frames.no_user)
		nr = add_frames(n, ret_entry->ustack, frames, nr);
	if (nr)
		err = keep_function(n, &frames[0], &ret_entry->names[STACK_NAME_SYM]) ?:
			      keep(n, file_of(&frames[0]), &ret_entry->names[STACK_NAME_FILE]);
	if (nr > 1 && !err)
		err = keep_function(n, &frames[1], &ret_entry->names[STACK_NAME_CALLER]);
	return err;
}

static bool is_of(const struct stack_names *n, uint32_t i, uint32_t kstack, uint32_t ustack)
{
	return i < n->nr && n->v[i].kstack == kstack && n->v[i].ustack == ustack;
}

static int find(struct stack_names *n, uint32_t kstack, uint32_t ustack)
{
	uint64_t hash = seeded_hash__u64(n->seed, n->seed, (uint64_t)kstack << 32 | ustack);
	struct names_entry entry = { .kstack = kstack, .ustack = ustack };
	uint32_t i;
	int err;

	index__for_each(&n->index, hash, i) {
		if (is_of(n, i, kstack, ustack)) {
			n->last = i;
			return 0;
		}
	}
	err = look_up(n, &entry);
	if (err)
		return err;
	if (array__grow(&n->v, n->nr, &n->max) || index__add(&n->index, hash, n->nr))
		return -ENOMEM;
	n->last = n->nr++;
	n->v[n->last] = entry;
	return 0;
}

int stack_names__find(struct stack_names *n, uint32_t kstack, uint32_t ustack,
		      enum stack_name which, uint32_t *ret_number)
{
	int err = is_of(n, n->last, kstack, ustack) ? 0 : find(n, kstack, ustack);

	if (!err)
		*ret_number = n->v[n->last].names[which];
	return err;
}

const char *stack_names__text(const struct stack_names *n, uint32_t number)
{
	return string_table__get(&n->strings, number - 1);
}
