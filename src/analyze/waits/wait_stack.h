/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of a kernel stack that a wait is grouped by and printed with.
 *
 * An interrupt that preempts a task leaves its frames on top of the task's.  Which interrupt
 * happened to hit is no part of what the task does, and would split one wait into many; nor is the
 * code that an interrupt hit a part of what the interrupt does, such as waking a task.
 */
#ifndef ANALYZE_WAIT_STACK_H
#define ANALYZE_WAIT_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "stackonce.h"

enum wait_part {
	WAIT_TASK, /* what the task does: without an interrupt that did nothing but preempt it */
	WAIT_INTERRUPT, /* what the innermost interrupt does: without what it interrupted */
	WAIT_NR_PARTS
};

/* The frames of that part: the index of the first, and their number.  False: it is all of them. */
bool wait_part__frames(enum wait_part part, const struct stk_frame *frames, unsigned int nr,
		       unsigned int *ret_first, unsigned int *ret_nr);
/*
 * The index of the innermost frame outside of the scheduler and the kernel's locks, which is wchan
 * in /proc; 0 if all frames are theirs.
 */
unsigned int wait_frames__caller(const struct stk_frame *frames, unsigned int nr);

struct wait_stacks; /* numbers equal parts of stacks */

/* r is borrowed.  full: a part is all of its stack. */
int wait_stacks__new(struct stk_reader *r, bool full, struct wait_stacks **ret_stacks);
void wait_stacks__free(struct wait_stacks *s);
/*
 * The number of a stack with the same part, the same one for all of them; 0 if the part has no
 * frames: an interrupt of user code.  -ENOMEM.
 */
int wait_stacks__of(struct wait_stacks *s, uint32_t kstack, enum wait_part part,
		    uint32_t *ret_number);
uint64_t wait_stacks__memory(const struct wait_stacks *s); /* bytes */
uint64_t wait_stacks__work(const struct wait_stacks *s); /* done so far, for the charge */

#endif /* ANALYZE_WAIT_STACK_H */
