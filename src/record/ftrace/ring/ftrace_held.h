/* SPDX-License-Identifier: GPL-2.0-only */
/* Events that wait for their user stacks, which may arrive in the ring of any CPU. */
#ifndef RECORD_FTRACE_HELD_H
#define RECORD_FTRACE_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ftrace_match.h"

struct ftrace_held {
	struct ftrace_held_event {
		unsigned int cpu;
		struct ftrace_matched m; /* m.data points to data */
		unsigned char *data;
	} * v;
	size_t nr, cap;
};

void ftrace_held__clear(struct ftrace_held *h);
/* Adds a copy of the event. */
int ftrace_held__add(struct ftrace_held *h, unsigned int cpu, const struct ftrace_matched *m);
/*
 * Calls fn for each event: 1 removes it, 0 keeps it, a negative errno ends the walk.  *ret_oldest
 * is the time of the oldest event that was kept, or UINT64_MAX if there is none.
 */
int ftrace_held__walk(struct ftrace_held *h,
		      int (*fn)(void *ctx, unsigned int cpu, const struct ftrace_matched *m),
		      void *ctx, uint64_t *ret_oldest);

#endif /* RECORD_FTRACE_HELD_H */
