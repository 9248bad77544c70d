/* SPDX-License-Identifier: GPL-2.0-only */
/* How often events refer to each stack, by its number; all zero is empty. */
#ifndef UI_STACK_REFS_H
#define UI_STACK_REFS_H

#include "stackonce.h"

struct stack_refs {
	struct {
		uint64_t kernel, user;
	} * v;
	uint32_t nr; /* of v; what is beyond has none */
};

/* Those of an event; -ENOMEM. */
int stack_refs__add(struct stack_refs *refs, struct stk_reader *r, const struct stk_event *e);
/* Several numbers of one stack count as its first. */
void stack_refs__fold(struct stack_refs *refs, struct stk_reader *r);

#endif /* UI_STACK_REFS_H */
