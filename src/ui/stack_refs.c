// SPDX-License-Identifier: GPL-2.0-only
/* Counts the references of events to stacks. */
#include "stack_refs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"

int stack_refs__reach(struct stack_refs *refs, struct stk_reader *r, uint32_t number)
{
	if (number < refs->nr || number > stk_reader__nr_stacks(r))
		return 0;
	return array__reach(&refs->v, number, &refs->nr);
}

void stack_refs__fold(struct stack_refs *refs, struct stk_reader *r)
{
	struct stk_stack st;
	uint32_t i;

	for (i = 1; i < refs->nr; i++) {
		if (!(refs->v[i].kernel + refs->v[i].user) || stk_reader__stack(r, i, &st) ||
		    st.alias_of >= i)
			continue;
		refs->v[st.alias_of].kernel += refs->v[i].kernel;
		refs->v[st.alias_of].user += refs->v[i].user;
		refs->v[i].kernel = refs->v[i].user = 0;
	}
}
