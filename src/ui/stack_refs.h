/* SPDX-License-Identifier: GPL-2.0-only */
/* The number of events that refer to each stack, by stack number; all zero is empty. */
#ifndef UI_STACK_REFS_H
#define UI_STACK_REFS_H

#include "stackonce.h"

struct stack_refs {
	struct {
		uint64_t kernel, user;
	} * v;
	uint32_t nr; /* of v; stacks beyond have no references */
};

/* Adds the references of an event; -ENOMEM. */
int stack_refs__add(struct stack_refs *refs, struct stk_reader *r, const struct stk_event *e);
/* Adds the references of duplicate stacks to the first number of the stack. */
void stack_refs__fold(struct stack_refs *refs, struct stk_reader *r);

#endif /* UI_STACK_REFS_H */
