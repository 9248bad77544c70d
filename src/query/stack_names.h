/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of the innermost frames of an event's stacks: kernel frames, then user frames, which are
 * the callers of the system call or the interrupt.  Each pair of stacks is looked up once.
 */
#ifndef QUERY_STACK_NAMES_H
#define QUERY_STACK_NAMES_H

#include <stdint.h>

#include "values.h"

enum stack_name { STACK_NAME_SYM, STACK_NAME_CALLER, STACK_NAME_FILE, NR_STACK_NAMES };

struct stack_names;

/* r is borrowed. */
int stack_names__new(struct stk_reader *r, const struct value_frames *frames,
		     struct stack_names **ret_names);
void stack_names__free(struct stack_names *n);
/*
 * The number of the name, from 1, which equal names share; 0: there is no such frame.  -ENOMEM.  A
 * function without a name is "FILE+0x12".
 */
int stack_names__find(struct stack_names *n, uint32_t kstack, uint32_t ustack,
		      enum stack_name which, uint32_t *ret_number);
/* Valid until stack_names__free(). */
const char *stack_names__text(const struct stack_names *n, uint32_t number);
uint64_t stack_names__memory(const struct stack_names *n); /* bytes */

#endif /* QUERY_STACK_NAMES_H */
