/* SPDX-License-Identifier: GPL-2.0-only */
/* Events that wait for their user stacks, which come from any CPU. */
#ifndef RECORD_FTRACE_HELD_H
#define RECORD_FTRACE_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ftrace_match.h"

struct ftrace_held {
	struct ftrace_held_event {
		unsigned int cpu;
		struct ftrace_matched m; /* data: in data */
		unsigned char *data;
	} * v;
	size_t nr, cap;
};

void ftrace_held__clear(struct ftrace_held *h);
/* Keeps a copy. */
int ftrace_held__add(struct ftrace_held *h, unsigned int cpu, const struct ftrace_matched *m);
/*
 * Asks about each: 1 done with it, 0 it waits on, or a negative errno, which ends this.  *ret_oldest:
 * the time of the oldest that waits on, UINT64_MAX: there is none.
 */
int ftrace_held__walk(struct ftrace_held *h,
		      int (*fn)(void *ctx, unsigned int cpu, const struct ftrace_matched *m),
		      void *ctx, uint64_t *ret_oldest);

#endif /* RECORD_FTRACE_HELD_H */
