/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks of functions, made from the frames of a stack.  Two frames belong to the same function if
 * their symbols start at the same offset of the same file, whatever the symbols' names are.
 */
#ifndef ANALYZE_CALL_STACK_H
#define ANALYZE_CALL_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "stack_counts.h"

/* A function of a call stack: that of a frame, or one inlined there. */
struct call_frame {
	struct stk_frame frame;
	const char *inlined; /* NULL: not inlined; else equal names have equal pointers */
	const char *text; /* not NULL: it stands for the function and all others with this text */
};

/* Grown by call_stack__add(); freed by call_stack__clear(). */
struct call_stack {
	struct call_frame *v; /* innermost first */
	unsigned int nr, max;
};
int call_stack__add(struct call_stack *s, const struct call_frame *frame);
void call_stack__clear(struct call_stack *s);

/* Appends the frames of these stacks to ret_stack.  -ENOMEM. */
typedef int (*call_frames_fn)(void *ctx, const struct stack_count *stacks,
			      struct call_stack *ret_stack);

/* Identifies a function. */
struct call_key {
	uint64_t start; /* of the symbol, or the address itself without one */
	uint32_t file; /* of kernel frames the kernel; 0: the only one, or unknown */
	const char *inlined;
	const char *text;
};

struct call_key call_frame__key(const struct call_frame *f);
bool call_key__is(const struct call_key *a, const struct call_key *b);
uint64_t call_key__hash(uint64_t seed, uint64_t h, const struct call_key *key);
/* An order that does not depend on addresses of this process; as for qsort(3). */
int call_key__cmp(const struct call_key *a, const struct call_key *b);

#endif /* ANALYZE_CALL_STACK_H */
