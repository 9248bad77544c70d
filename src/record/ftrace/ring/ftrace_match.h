/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Matches the stack records in the ring of a CPU with their events.
 *
 * ftrace writes an event, then its kernel stack, then its user stack, each as a separate record
 * with the context of the event (pid, flags, preempt count).  Interrupts add their records in
 * between:
 *
 *   event A, event I (hard interrupt), event N (NMI), stack N, stack I, stack A
 *
 * A stack therefore belongs to the latest event with exactly the same context and without a stack.
 * Events are returned in the order of the ring, each as soon as no more records can follow for it.
 */
#ifndef RECORD_FTRACE_MATCH_H
#define RECORD_FTRACE_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ftrace_stacks.h"

#define FTRACE_MATCH_OPEN 256 /* events that may wait; after that the oldest stops waiting */
#define FTRACE_MATCH_SAME 16 /* of these, on one level: the kernel does not nest deeper */

/* Parts that may follow an event. */
enum ftrace_match_part {
	FTRACE_MATCH_KERNEL = 1, /* kernel_stack, stack_id, stack_id_pair, stack_id_cookie */
	FTRACE_MATCH_USER = 2, /* user_stack; a stack with a cookie is not matched */
	FTRACE_MATCH_COOKIE = 4, /* stack_id_cookie */
};

struct ftrace_match;

/* An event with the parts that followed it. */
struct ftrace_matched {
	uint64_t ts;
	struct ftrace_context ctx;
	const void *data; /* copy of the record, owned by the match */
	size_t len;
	unsigned int wanted, got; /* enum ftrace_match_part */
	uint64_t kernel, user; /* values given to ftrace_match__stack(); 0: not got */
	uint64_t cookie; /* 0: not got */
	bool forced; /* stopped waiting because FTRACE_MATCH_OPEN waited */
};

struct ftrace_match_counts {
	uint64_t events;
	uint64_t no_kernel, no_user; /* events returned without a stack that was wanted */
	uint64_t orphans; /* stacks without their event, which are dropped */
	uint64_t forced; /* events that were forced */
};

int ftrace_match__new(struct ftrace_match **ret_match); /* one per CPU */
void ftrace_match__free(struct ftrace_match *m);

/*
 * Adds an event; parts: what may follow it.  Every record of the ring that is not a stack must be
 * added, with parts 0 if it is not wanted, because it shows which contexts have ended.  -ENOMEM.
 */
int ftrace_match__event(struct ftrace_match *m, uint64_t ts, const struct ftrace_context *ctx,
			const void *data, size_t len, unsigned int parts);
/*
 * Adds a stack with these parts: FTRACE_MATCH_KERNEL, FTRACE_MATCH_USER, KERNEL | COOKIE, or COOKIE
 * alone if the kernel stack precedes it in full.  value is the caller's; it is stored in ->kernel
 * or ->user.  Returns whether there is an event for it.
 */
bool ftrace_match__stack(struct ftrace_match *m, const struct ftrace_context *ctx,
			 unsigned int parts, uint64_t value, uint64_t cookie);
/*
 * Completes the waiting events up to this time, whose stacks cannot follow any more; UINT64_MAX:
 * all of them, where records were lost in the ring or at its end.
 */
void ftrace_match__cut(struct ftrace_match *m, uint64_t until);

/*
 * Returns the next complete event, NULL: none.  It is valid until the next call on m.  After every
 * other call, this must be called until it returns NULL.
 */
const struct ftrace_matched *ftrace_match__next(struct ftrace_match *m);
/* Whether events wait, and the time of the oldest. */
bool ftrace_match__oldest(const struct ftrace_match *m, uint64_t *ret_ts);
const struct ftrace_match_counts *ftrace_match__counts(const struct ftrace_match *m);

#endif /* RECORD_FTRACE_MATCH_H */
