/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Latency of pairs of events: the time between a start and its end.
 *
 * A key associates starts with ends: the fields of --match, or thread and context.  Starts of one
 * key nest: the last one ends first.  If an event may be missing between a start and an end, the
 * pair is counted and not measured.
 *
 *   pairs.c         matches starts and ends
 *   pairs_spec.c    parses --match, --by and --start-if
 *   pairs_type.c    finds the fields that they name in an event type
 *   pairs_value.c   reads numbers, strings and the key of an event
 *   pairs_open.c    starts without an end so far
 *   pairs_miss.c    decides whether events may be missing during a pair
 *   pairs_group.c   durations, slowest pairs, weights of stacks
 *
 * Memory is bounded by the number of open starts and of groups (PAIRS_MAX_...), not by the length
 * of the recording.
 */
#ifndef ANALYZE_PAIRS_H
#define ANALYZE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/durations.h"
#include "stackonce.h"

struct ev_field;
struct ev_format;
struct pairs_group;
struct pairs_pair;
struct strbuf;

#define PAIRS_MAX_MATCH 4
#define PAIRS_MAX_BY 4
#define PAIRS_MAX_GROUPS 4096 /* further ones share the group of others */
#define PAIRS_MAX_OPEN (1u << 20) /* further starts are counted and not paired */

enum { PAIRS_START = 1u << 0, PAIRS_END = 1u << 1 };

enum pairs_weigh { PAIRS_NO_STACKS = 0, PAIRS_START_STACKS, PAIRS_END_STACKS };

/* A value that pairs are grouped by, at its first occurrence. */
struct pairs_value {
	const char *name; /* as in by */
	const struct stk_event *event;
	const struct ev_format *format; /* of the event */
	const struct ev_field *field; /* NULL: a value of the header: tid, cpu, comm, ... */
	uint64_t number;
	const char *string; /* NULL: a number */
	size_t len; /* of the string */
};

struct pairs_opts {
	/* PAIRS_START, PAIRS_END, or both: then an event is first an end and then a start. */
	unsigned int (*role)(void *ctx, const struct stk_event_type *type);
	/*
	 * Selects pairs by their start, and ends without a start by the end, after pairing.  NULL:
	 * selects all.
	 */
	bool (*selected)(void *ctx, const struct stk_event *e);
	/* Prints the value.  NULL, or nothing printed: the plain value is shown. */
	void (*describe)(void *ctx, const struct pairs_value *value, struct strbuf *ret_text);
	/* Takes each pair that is measured, with its group.  NULL: not called.  0 or -ENOMEM. */
	int (*measured)(void *ctx, const struct pairs_group *group, const struct pairs_pair *pair);
	void *ctx;
	/*
	 * The key, such as "tid,id", "dev,sector", "pid|prev_pid=next_pid": fields of start and end
	 * that are equal.  a|b means the first of them that the event has.  tid, cpu, context and
	 * event are values of the header, and so are pid and comm if the event has no such field.
	 * NULL: "tid,context".
	 */
	const char *match;
	const char *by; /* fields of the start, or else of the end, a|b as above; NULL: one group */
	/*
	 * "prev_state&255=0": a field of starts, an optional mask and the value; NULL: none.  An
	 * event that has another value in this field starts nothing; with single it replaces the
	 * open start of its key.
	 */
	const char *start_if;
	bool single; /* starts of a key do not nest: the next replaces the open one */
	bool quiet; /* do not log -ENOENT of pairs__add(): the pairs are chosen by default */
	unsigned int top; /* number of slowest pairs per group and of oldest open starts kept */
	enum pairs_weigh weigh;
};

/* The start or the end of a pair. */
struct pairs_end {
	uint64_t ts;
	uint32_t tid, pid, cpu;
	uint32_t kstack, ustack; /* stack ids */
	uint32_t comm; /* for pairs__comm() */
	uint32_t type; /* index of the event type */
};

struct pairs_pair {
	struct pairs_end start, end;
};

struct pairs_label {
	const char *text; /* as shown; raw bytes */
	bool is_number, is_signed, is_address;
	uint64_t number;
};

struct pairs_group {
	struct pairs_label by[PAIRS_MAX_BY];
	uint32_t number; /* from 0, in the order in which groups appear */
	bool others; /* groups beyond PAIRS_MAX_GROUPS; no labels */
	struct durations durations;
	struct pairs_pair *slowest; /* slowest first */
	unsigned int nr_slowest;
};

/*
 * starts = paired + gap + open + gone + replaced + start_late + start_unknown + start_idle +
 * start_over + start_unselected;
 * ends = paired + gap + without_start + end_late + end_unknown + end_idle + end_unselected.
 */
struct pairs_counts {
	uint64_t starts, ends;
	uint64_t paired;
	uint64_t gap; /* pairs during which events may be missing */
	uint64_t open; /* starts without an end */
	uint64_t open_gap; /* of these, starts whose end may be missing */
	uint64_t gone; /* starts whose thread ended */
	uint64_t replaced; /* starts replaced by another one, with single */
	uint64_t without_start; /* ends without a start */
	uint64_t start_late, end_late; /* STK_MARK_LATE */
	uint64_t start_unknown, end_unknown; /* a field of the key is missing */
	uint64_t start_idle, end_idle; /* a pid_t of the key is 0: the idle task of some CPU */
	uint64_t start_over; /* beyond PAIRS_MAX_OPEN */
	uint64_t start_unselected, end_unselected;
	uint64_t others; /* pairs in the group of others */
	uint64_t lost_starts, lost_ends; /* by the recording's counters */
	uint64_t filtered_starts, filtered_ends; /* not recorded because of a filter */
	uint64_t max_open; /* most starts open at one time */
};

struct pairs_weight {
	const struct pairs_group *group;
	uint32_t kstack, ustack;
	uint64_t ns;
};

struct pairs_result {
	const struct pairs_group *const *groups; /* largest sum first */
	unsigned int nr_groups;
	const struct pairs_end *open; /* selected ones, oldest first */
	unsigned int nr_open;
	struct pairs_counts counts;
};

struct pairs;

/* Returns NULL if all are well formed, else a message, which may be this one. */
extern const char pairs_no_memory[];
const char *pairs__check(const char *match, const char *by, const char *start_if);

/* opts: strings are borrowed.  -EINVAL: pairs__check() returns the reason. */
int pairs__new(const struct pairs_opts *opts, struct pairs **ret_pairs);
void pairs__free(struct pairs *p);
static inline void pairs__freep(struct pairs **p)
{
	pairs__free(*p);
}
/*
 * Takes every event of the recording, in the reader's order.  -ENOENT: the event lacks a field of
 * --match or --by, which is logged; -ENOMEM.
 */
int pairs__add(struct pairs *p, struct stk_reader *r, const struct stk_event *e);
uint64_t pairs__memory(const struct pairs *p); /* bytes, while adding */
/* What has been measured and counted so far; some groups have no pair. */
const struct pairs_group *const *pairs__groups(const struct pairs *p, unsigned int *ret_nr);
const struct pairs_counts *pairs__counts(const struct pairs *p);
/* Forgets the durations of all groups; starts stay open. */
void pairs__forget(struct pairs *p);
/* Call it after the last event.  The result belongs to p. */
int pairs__finish(struct pairs *p, struct stk_reader *r, struct pairs_result *ret_result);

const char *pairs__comm(const struct pairs *p, uint32_t comm);
unsigned int pairs__nr_by(const struct pairs *p);
const char *pairs__by_name(const struct pairs *p, unsigned int i);
/* Weights of stacks, unordered; their group points into the result. */
size_t pairs__nr_weights(const struct pairs *p);
void pairs__weight(const struct pairs *p, size_t i, struct pairs_weight *ret_weight);

#endif /* ANALYZE_PAIRS_H */
