/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts how often each call stack occurs, by group of events.  Memory grows with the groups and
 * distinct stacks, not with the events.
 */
#ifndef ANALYZE_STACK_COUNTS_H
#define ANALYZE_STACK_COUNTS_H

#include <stdint.h>

#include "stackonce.h"

enum { /* what to group by */
       BY_EVENT = 1u << 0,
       BY_COMM = 1u << 1,
       BY_PID = 1u << 2,
       BY_TID = 1u << 3,
       BY_CPU = 1u << 4,
};

enum { /* which stacks of an event to count */
       STACKS_KERNEL = 1u << 0,
       STACKS_USER = 1u << 1,
};

struct stack_count {
	uint32_t kstack, ustack; /* stack ids; 0: none, or not counted */
	uint64_t count;
};

/* Only the fields that are grouped by are set. */
struct stack_group {
	const struct stk_event_type *type;
	const char *comm;
	uint32_t pid, tid, cpu;
	uint64_t count; /* events */
	struct stack_count *stacks; /* most frequent first */
	unsigned int nr_stacks;
};

struct stack_counts;

int stack_counts__new(unsigned int by, unsigned int stacks, struct stack_counts **ret_counts);
void stack_counts__free(struct stack_counts *c);
/* Adds `count` events like this one.  After -ENOMEM the counts are incomplete. */
int stack_counts__add(struct stack_counts *c, const struct stk_event *e, uint64_t count);
uint64_t stack_counts__memory(const struct stack_counts *c); /* bytes, while adding */
/*
 * Sorts the groups, largest first, and the stacks of each, most frequent first.  Ids of the same
 * stack are merged.  Nothing may be added afterwards; the groups belong to c.
 */
int stack_counts__finish(struct stack_counts *c, const struct stk_reader *r,
			 const struct stack_group **ret_groups, unsigned int *ret_nr);

#endif /* ANALYZE_STACK_COUNTS_H */
