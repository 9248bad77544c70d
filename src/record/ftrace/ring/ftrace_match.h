/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which stack record belongs to which event of a CPU's ring.
 *
 * ftrace writes an event, then its kernel stack, then its user stack, each a record of its own in the
 * context of the event (pid, flags, preempt count).  Interrupts come between, with records of theirs:
 *
 *   event A, event I (hard interrupt), event N (NMI), stack N, stack I, stack A
 *
 * A stack therefore belongs to the latest event of exactly its context that has none yet.  Events are
 * given out in the order of the ring, each as soon as nothing more can come for it.
 */
#ifndef RECORD_FTRACE_MATCH_H
#define RECORD_FTRACE_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ftrace_stacks.h"

#define FTRACE_MATCH_OPEN 256 /* events that wait at one time; the oldest then goes without */
#define FTRACE_MATCH_SAME 16 /* of these, of one level: deeper does the kernel not nest */

/* What may follow an event. */
enum ftrace_match_part {
	FTRACE_MATCH_KERNEL = 1, /* kernel_stack, stack_id, stack_id_pair, stack_id_cookie */
	FTRACE_MATCH_USER = 2, /* user_stack: stacks with a cookie come later, see the cookie */
	FTRACE_MATCH_COOKIE = 4, /* stack_id_cookie */
};

struct ftrace_match;

/* An event with all that came for it. */
struct ftrace_matched {
	uint64_t ts;
	struct ftrace_context ctx;
	const void *data; /* the match's copy of the record */
	size_t len;
	unsigned int wanted, got; /* enum ftrace_match_part */
	uint64_t kernel, user; /* as given to ftrace_match__stack(), 0 when not got */
	uint64_t cookie; /* 0 when not got */
};

struct ftrace_match_counts {
	uint64_t events;
	uint64_t no_kernel, no_user; /* events given out without a stack they were to have */
	uint64_t orphans; /* stacks whose event was not there, left out */
	uint64_t forced; /* of the events: given out as FTRACE_MATCH_OPEN waited */
};

int ftrace_match__new(struct ftrace_match **ret_match); /* one per CPU */
void ftrace_match__free(struct ftrace_match *m);

/*
 * An event; parts: what may follow it.  Every record of the ring that is no stack has to be given,
 * whether it is wanted or not (parts 0 then): they tell which events are over.  -ENOMEM.
 */
int ftrace_match__event(struct ftrace_match *m, uint64_t ts, const struct ftrace_context *ctx,
			const void *data, size_t len, unsigned int parts);
/*
 * A stack of these parts (one of FTRACE_MATCH_KERNEL, FTRACE_MATCH_USER, KERNEL | COOKIE, or COOKIE
 * alone when the kernel stack stands before it in full); value is the caller's for it, kept in
 * ->kernel or ->user.  true: it found its event.
 */
bool ftrace_match__stack(struct ftrace_match *m, const struct ftrace_context *ctx,
			 unsigned int parts, uint64_t value, uint64_t cookie);
/* Events were lost here, or it is the end: nothing more comes for those that wait. */
void ftrace_match__cut(struct ftrace_match *m);

/*
 * The next event that is done, NULL: none yet.  Valid until the next call on m.  To be called until
 * NULL after every other call.
 */
const struct ftrace_matched *ftrace_match__next(struct ftrace_match *m);
/* Whether events wait, and since when. */
bool ftrace_match__oldest(const struct ftrace_match *m, uint64_t *ret_ts);
const struct ftrace_match_counts *ftrace_match__counts(const struct ftrace_match *m);

#endif /* RECORD_FTRACE_MATCH_H */
