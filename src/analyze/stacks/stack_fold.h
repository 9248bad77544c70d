/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frames by which stacks are counted and printed.  Parts that would split what belongs together
 * can be folded, each into one frame or none:
 *
 * - idle: the idle loop of a CPU, with all of its callers, into "[idle]";
 * - interrupts: what an interrupt hit is left out, as it has no part in what the interrupt does;
 *   exceptions stay with their cause;
 * - guesses: neighbouring frames that are guesses into "[guess]".
 */
#ifndef ANALYZE_STACK_FOLD_H
#define ANALYZE_STACK_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "stackonce.h"

enum { /* what to fold */
       FOLD_IDLE = 1u << 0,
       FOLD_INTERRUPTS = 1u << 1,
       FOLD_GUESSES = 1u << 2,
};

struct stack_pair {
	uint32_t kstack, ustack; /* stack numbers; 0: none, or not counted */
};

#define STACK_PAIR_FRAMES (2 * STK_MAX_DEPTH)

struct stack_fold;

/* r is borrowed.  what: FOLD_...; 0: nothing. */
int stack_fold__new(struct stk_reader *r, unsigned int what, struct stack_fold **ret_fold);
void stack_fold__free(struct stack_fold *f);
static inline void stack_fold__freep(struct stack_fold **f)
{
	stack_fold__free(*f);
}
/*
 * The first stacks asked for that have the same frames after folding, the same ones for all of
 * them.  -ENOMEM, -ENOBUFS.
 */
int stack_fold__first(struct stack_fold *f, struct stack_pair stacks, struct stack_pair *ret_first);
/*
 * The frames after folding, innermost first: those of the kernel stack, then those of the user
 * stack, at most STACK_PAIR_FRAMES.  Returns their number.
 */
unsigned int stack_fold__frames(const struct stack_fold *f, struct stack_pair stacks,
				struct stk_frame *ret_frames);

/* Whether the frame stands for what is folded: its sym is "[idle]" or "[guess]". */
bool stack_fold__is_made(const struct stk_frame *f);

#endif /* ANALYZE_STACK_FOLD_H */
