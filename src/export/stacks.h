/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks of a recording, counted or weighed by group, for the formats that write these and no
 * events.  Each distinct stack of a group is there once, so what a format does for each of them
 * does not grow with the events.
 */
#ifndef EXPORT_STACKS_H
#define EXPORT_STACKS_H

#include "analyze/stacks/stack_counts.h"
#include "names/user_names.h"
#include "strbuf.h"

struct export_key { /* of what events are grouped by */
	const char *name; /* "comm", "prev_comm": as given, so to be escaped */
	bool is_plain; /* its values explain themselves */
	bool is_number; /* its values are numbers in all groups */
};

struct export_stacks {
	struct stk_reader *reader;
	struct user_names *names;
	struct stack_fold *fold; /* the frames of a stack: stack_fold__frames() */
	const struct stack_group *groups; /* heaviest first */
	unsigned int nr_groups;
	struct export_key keys[STACK_KEYS];
	unsigned int nr_keys;
	const char *weight; /* the name of what is weighed; NULL: events are counted */
	bool weight_is_ns;
	const char *left_out; /* which events have no weight, for people; NULL: all have one */
	/* Appends the value of a key, not escaped. */
	void (*put_value)(void *ctx, const struct stack_group *g, unsigned int key,
			  struct strbuf *b);
	void *ctx;
};

/* "sched:sched_switch bash pid 12": the values of a group, not escaped. */
void export_stacks__label(const struct export_stacks *s, const struct stack_group *g,
			  struct strbuf *b);

/* Timer samples stand for time: how many there are per second of a CPU; 0: unknown. */
uint64_t export_stacks__sample_hz(const struct export_stacks *s);
/* Whether the group has timer samples only. */
bool stack_group__is_sampled(const struct stack_group *g);
/* The unit of the weight: "nanoseconds", "bytes", or NULL. */
const char *export_stacks__unit(const struct export_stacks *s);

/* "12 events, 3 stacks in 2 groups", and what was left out. */
void export_stacks__summarize(const struct export_stacks *s, struct strbuf *summary);
/* "; 3 events without a number 'delay' left out; 2 events without a stack left out". */
void export_stacks__put_left_out(const struct export_stacks *s, uint64_t no_stack,
				 struct strbuf *summary);

#endif /* EXPORT_STACKS_H */
