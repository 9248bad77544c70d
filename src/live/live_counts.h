/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events by function and by stack, asked for again and again while events arrive.  Memory grows
 * with the distinct stacks and functions; an answer costs as much as the stacks that had events
 * since the last one.
 */
#ifndef LIVE_COUNTS_H
#define LIVE_COUNTS_H

#include <stdint.h>

#include "stackonce.h"

/* Events whose innermost frame is in a function, and events with it anywhere in a stack. */
struct live_function {
	struct stk_frame frame; /* any of the frames in it; without a symbol, the address */
	uint64_t self, all;
};

struct live_stack {
	uint32_t kstack, ustack; /* stack numbers; 0: none */
	uint64_t count;
};

struct live_counts;

/* stacks: STACKS_...; r is borrowed, and what is counted is charged to its budget. */
int live_counts__new(struct stk_reader *r, unsigned int stacks, struct live_counts **ret_counts);
void live_counts__free(struct live_counts *c);
int live_counts__add(struct live_counts *c, const struct stk_event *e); /* -ENOMEM, -ENOBUFS */

/* Selects the events of one type; NULL: of all types. */
void live_counts__select(struct live_counts *c, const struct stk_event_type *type);
/* Forgets the events so far. */
void live_counts__zero(struct live_counts *c);

/* The selected events. */
uint64_t live_counts__events(const struct live_counts *c);
/* Whether any event of this type was added since the start. */
bool live_counts__has_type(const struct live_counts *c, const struct stk_event_type *type);

/*
 * The first max functions, by self or, with all set, by all; or the first max stacks.  Returns
 * their number, or -ENOMEM, -ENOBUFS.  *ret_nr is the number of all.
 */
int live_counts__functions(struct live_counts *c, bool all, struct live_function *ret_functions,
			   unsigned int max, unsigned int *ret_nr);
int live_counts__stacks(struct live_counts *c, struct live_stack *ret_stacks, unsigned int max,
			unsigned int *ret_nr);

#endif /* LIVE_COUNTS_H */
