/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What --by, --weigh, --fold, --kernel and --user ask for: the events of a recording, counted or
 * weighed by group and stack.  The options are the same in all commands that have them.
 */
#ifndef COUNTING_H
#define COUNTING_H

#include "analyze/charge.h"
#include "analyze/stacks/stack_counts.h"
#include "events/format.h"
#include "export/stacks.h"
#include "ui/kernel_strings.h"
#include "ui/reading.h"

/* clang-format off */
/* Option rows; c, a struct counting, is a member of the command's struct. */
#define BY_OPTIONS(type, c, by_help, how, weigh_help) \
	{ "--by LIST", by_help, OPT_TEXT(type, c.by), \
	  WORDS("event", "comm", "pid", "tid", "cpu", "sym", "caller", "file") }, \
	{ "--weigh FIELD" how, weigh_help, OPT_TEXT(type, c.weigh) }
#define FOLD_OPTION(type, c) \
	{ "--fold LIST", "fold parts of stacks: %s", OPT_WORDS(type, c.folding), \
	  WORDS("idle", "interrupts", "guesses") } /* in the order of the bits FOLD_... */
#define STACKS_OPTIONS(type, c) \
	{ "--kernel", "kernel stacks only", OPT_BIT(type, c.stacks, STACKS_KERNEL) }, \
	{ "--user", "user stacks only", OPT_BIT(type, c.stacks, STACKS_USER) }
/* clang-format on */

#define FIELD_PREFIX "field."
#define COUNTING_KEYS (STACK_KEYS - 1) /* names in --by, at most */

struct counting_key {
	char *name; /* as given, or that of the generic value */
	enum value_name generic; /* NR_VALUE_NAMES: a field */
};

/* Whether its values are stack numbers, which are shown as stack ids. */
static inline bool counting_key__is_stack(const struct counting_key *key)
{
	return key->generic == VALUE_KSTACK || key->generic == VALUE_USTACK;
}

struct counting {
	/* options */
	const char *by, *weigh;
	unsigned int stacks; /* STACKS_...; 0: all */
	unsigned int folding; /* FOLD_... */
	bool by_event; /* groups have events of one type, also if --by does not say so */

	/* known after counting__start() */
	struct reading *rd; /* borrowed */
	struct counting_key keys[STACK_KEYS];
	unsigned int nr_keys; /* those of --by; spec may have one more */
	char *weight_name; /* NULL: not weighed */
	struct stack_spec spec;
	struct values *values;
	struct kernel_text text; /* of addresses that events are grouped by */
	struct stack_fold *fold;
	struct stack_counts *counts;
	struct charge charge; /* of counts */

	struct strbuf left_out;
	bool weight_is_ns; /* of a field that is known to hold a time; known after the events */

	/* known after counting__finish() */
	const struct stack_group *groups;
	unsigned int nr_groups;
};

/* What the options need of the recording: STK_WANT_FIELDS or 0. */
unsigned int counting__wants(const struct counting *c);
/* Looks up the names once the recording is open; an exit code, after a message. */
int counting__start(struct counting *c, struct reading *rd);
/*
 * Once the event types are known: CMD_FAILURE, after a message, if no selected event has a field
 * that was asked for.
 */
int counting__check(struct counting *c);
/*
 * For those who read the events themselves: one that counting__begin() made ready is counted by
 * counting__place(), which returns as stack_counts__place(), or -ENOBUFS.  Then counting__check()
 * and counting__finish() follow.
 */
int counting__begin(struct counting *c); /* -ENOMEM */
int counting__place(struct counting *c, const struct stk_event *e, struct stack_place *ret_place);
/* Counts the selected events and checks; o as for reading__next().  An exit code. */
int counting__run(struct counting *c, struct out *o);
/* Sorts the groups and their stacks; an exit code, after a message. */
int counting__finish(struct counting *c);
void counting__free(struct counting *c);

/* Whether parts have a share of the whole. */
static inline bool counting__has_shares(const struct counting *c)
{
	return !c->weight_name || weigh_how__adds_up(c->spec.how);
}
/* How --weigh sums up: "sum", "p99"; the order of a histogram is that of the sum. */
const char *counting__how(const struct counting *c);
/* "3 events without bytes_alloc, 1 with a negative one": what has no weight.  False: nothing. */
bool counting__left_out(const struct counting *c, struct strbuf *b);
/* Appends the value of a key of the group as it is: texts are not escaped. */
void counting__put_value(struct counting *c, const struct stack_group *g, unsigned int key,
			 struct strbuf *b);
/* The address of a place, which such a value is, in its kernel. */
uint64_t counting__address(const struct counting *c, uint64_t place);
/* Bytes as hexadecimal digits. */
void event_value__put_hex(struct strbuf *b, const struct event_value *v);

/* For the formats that write groups of stacks; ret_stacks borrows from c, which is finished. */
void counting__stacks(struct counting *c, struct export_stacks *ret_stacks);

#endif /* COUNTING_H */
