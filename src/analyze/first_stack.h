/* SPDX-License-Identifier: GPL-2.0-only */
/* A recording may have a stack more than once, imported ones under ids of their own. */
#ifndef ANALYZE_FIRST_STACK_H
#define ANALYZE_FIRST_STACK_H

#include "stackonce.h"

/* The lowest number of the same stack; 0 for 0. */
static inline uint32_t stack__first(const struct stk_reader *r, uint32_t number)
{
	struct stk_stack st;

	return number && !stk_reader__stack(r, number, &st) && st.alias_of ? st.alias_of : number;
}

#endif /* ANALYZE_FIRST_STACK_H */
