/* SPDX-License-Identifier: GPL-2.0-only */
/* What the analyses of waits keep of an event's task: a waiter, or a waker. */
#ifndef ANALYZE_WAIT_TASK_H
#define ANALYZE_WAIT_TASK_H

#include <stdint.h>

#include "stackonce.h"

struct wait_task {
	uint32_t tid, pid; /* pid 0: unknown */
	const char *comm; /* owned by the reader */
};

static inline struct wait_task wait_task__of(const struct stk_event *e)
{
	return (struct wait_task){ .tid = stk_event__tid(e),
				   .pid = stk_event__pid(e),
				   .comm = stk_event__comm(e) };
}

/* Updates the times of the first and the last event. */
static inline void wait_times__add(uint64_t *first, uint64_t *last, const struct stk_event *e)
{
	uint64_t ts = stk_event__ts(e);

	if (!*first)
		*first = ts;
	if (*last < ts)
		*last = ts;
}

#endif /* ANALYZE_WAIT_TASK_H */
