/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts how often each call stack occurs, by group of events, and sums up a value of the events if
 * asked to.  A group is what a few values of its events are: memory grows with the groups and
 * distinct stacks, not with the events.
 */
#ifndef ANALYZE_STACK_COUNTS_H
#define ANALYZE_STACK_COUNTS_H

#include <stdint.h>

#include "query/values.h"
#include "stack_fold.h"
#include "stackonce.h"
#include "weight.h"

#define STACK_KEYS 6 /* values that events are grouped by, at most */

enum { /* which stacks of an event to count */
       STACKS_KERNEL = 1u << 0,
       STACKS_USER = 1u << 1,
};

struct stack_spec {
	struct values *values; /* borrowed */
	unsigned int keys[STACK_KEYS]; /* names in values to group by */
	unsigned int nr_keys;
	unsigned int stacks; /* STACKS_... */
	bool weighed;
	unsigned int weight; /* the name in values of what is weighed */
	enum weigh_how how;
};

struct stack_count {
	uint32_t kstack, ustack; /* stack numbers; 0: none, or not counted */
	uint64_t count;
	uint64_t amount; /* what stacks are ordered by: the count, or the value of the weight */
	const struct weight *weight; /* NULL: not weighed */
};

struct stack_group {
	uint32_t number; /* in the order of their first events, from 0 */
	struct event_value keys[STACK_KEYS]; /* texts end with a NUL; addresses are places */
	const struct stk_event_type *type; /* of its first event */
	bool other_types; /* it has events of other kinds than that type's */
	bool weighed;
	enum weigh_how how;
	uint64_t count; /* events */
	uint64_t amount; /* as that of a stack, of all of them */
	struct weight weight; /* of all of them */
	struct stack_count *stacks; /* heaviest first */
	unsigned int nr_stacks;
};

/* Events that have no weight are in no group. */
struct stack_left_out {
	uint64_t missing; /* they have no such value, or it is no number */
	uint64_t negative;
};

struct stack_counts;

int stack_counts__new(const struct stack_spec *spec, struct stack_counts **ret_counts);
void stack_counts__free(struct stack_counts *c);
/*
 * Adds e, which stands for `count` events that differ only in time and fields; 1 if these are
 * grouped by or weighed.  After -ENOMEM the counts are incomplete.
 */
int stack_counts__add(struct stack_counts *c, const struct stk_event *e, uint64_t count);
/* Where an event was counted. */
struct stack_place {
	uint32_t group; /* its number */
	uint32_t kstack, ustack; /* 0: none, or not counted */
	uint64_t weight; /* 1, unless it is weighed */
};
/* The same for one event, of which it returns 1 and the place; 0: it has no weight. */
int stack_counts__place(struct stack_counts *c, const struct stk_event *e,
			struct stack_place *ret_place);
uint64_t stack_counts__memory(const struct stack_counts *c); /* bytes, with those of the result */
struct stack_left_out stack_counts__left_out(const struct stack_counts *c);
/*
 * Sorts the groups, heaviest first, and the stacks of each, heaviest first.  Stacks that are equal
 * after folding are merged.  Nothing may be added afterwards; the groups belong to c.
 */
int stack_counts__finish(struct stack_counts *c, struct stack_fold *fold,
			 const struct stack_group **ret_groups, unsigned int *ret_nr);

#endif /* ANALYZE_STACK_COUNTS_H */
