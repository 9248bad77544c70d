// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The stable names of counters and stack ends. */
#include "stackonce.h"

const char *stk_counter_name(enum stk_counter c)
{
#define NAME(counter, number, name, listed) [number] = name,
	/* each number occurs once: there are as many names as rows */
	static const char *const names[STK_NR_COUNTERS] = { STK_COUNTERS(NAME) };
#undef NAME

	return (unsigned int)c < STK_NR_COUNTERS ? names[c] : "unknown";
}

const char *stk_stack_end_name(enum stk_stack_end end)
{
#define NAME(end, number, name, counter) [number] = name,
	static const char *const names[STK_NR_ENDS] = { STK_STACK_ENDS(NAME) };
#undef NAME

	return (unsigned int)end < STK_NR_ENDS ? names[end] : "unknown";
}
