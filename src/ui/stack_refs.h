/* SPDX-License-Identifier: GPL-2.0-only */
/* The number of events that refer to each stack, by stack number; all zero is empty. */
#ifndef UI_STACK_REFS_H
#define UI_STACK_REFS_H

#include "stackonce.h"

struct stack_refs {
	struct {
		uint64_t kernel, user;
	} * v; /* v[0]: events without such a stack */
	uint32_t nr; /* of v; stacks beyond have no references */
};

/* Makes room for a stack, if it exists; -ENOMEM. */
int stack_refs__reach(struct stack_refs *refs, struct stk_reader *r, uint32_t number);
/* Adds the references of duplicate stacks to the first number of the stack. */
void stack_refs__fold(struct stack_refs *refs, struct stk_reader *r);

/* Adds the references of `count` events like this one; -ENOMEM. */
static inline int stack_refs__add(struct stack_refs *refs, struct stk_reader *r,
				  const struct stk_event *e, uint64_t count)
{
	uint32_t kstack = stk_event__kstack(e), ustack = stk_event__ustack(e);
	int err = 0;

	if (kstack >= refs->nr)
		err = stack_refs__reach(refs, r, kstack);
	if (ustack >= refs->nr && !err)
		err = stack_refs__reach(refs, r, ustack);
	if (kstack < refs->nr)
		refs->v[kstack].kernel += count;
	if (ustack < refs->nr)
		refs->v[ustack].user += count;
	return err;
}

#endif /* UI_STACK_REFS_H */
