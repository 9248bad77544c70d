/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time between pairs of events: a start and the end that belongs to it.
 *
 * What belongs together is told by a key: the fields of --match, or thread and context.  Starts of
 * one key nest, the last one is the first to end.  Whatever could have been between a start and
 * an end and was not seen makes the pair worthless: it is counted, never measured.
 *
 *   pairs.c         what becomes of an event
 *   pairs_spec.c    --match and --by
 *   pairs_type.c    where an event type has what they ask for
 *   pairs_value.c   what an event has: numbers, texts, its key
 *   pairs_open.c    starts that wait for their end
 *   pairs_miss.c    whether events may be missing between two ends
 *   pairs_group.c   durations, slowest pairs, weights of stacks
 *
 * Memory is bounded by the starts open at one time and the groups (PAIRS_MAX_...), not by the length of
 * the recording.
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
struct strbuf;

#define PAIRS_MAX_MATCH 4
#define PAIRS_MAX_BY 4
#define PAIRS_MAX_GROUPS 4096 /* pairs of further ones are in one group of others */
#define PAIRS_MAX_OPEN (1u << 20) /* further starts are counted, and not paired */

enum { PAIRS_START = 1u << 0, PAIRS_END = 1u << 1 };

enum pairs_weigh { PAIRS_NO_STACKS = 0, PAIRS_START_STACKS, PAIRS_END_STACKS };

/* A value that pairs are grouped by, when it comes for the first time. */
struct pairs_value {
	const char *name; /* as in by */
	const struct stk_event *event;
	const struct ev_format *format; /* of the event */
	const struct ev_field *field; /* NULL: of the header: tid, cpu, comm, ... */
	uint64_t number;
	const char *string; /* NULL: a number */
	size_t len; /* of the string */
};

struct pairs_opts {
	/* Whether events of the type are starts, ends (or both: first an end, then a start). */
	unsigned int (*role)(void *ctx, const struct stk_event_type *type);
	/*
	 * Whether a pair with this start is wanted; of an end without a start, the end.  NULL: all
	 * are.  Everything is paired before.
	 */
	bool (*selected)(void *ctx, const struct stk_event *e);
	/* How the value is shown; NULL, or nothing put: as it is. */
	void (*describe)(void *ctx, const struct pairs_value *value, struct strbuf *ret_text);
	void *ctx;
	/*
	 * "tid,id", "dev,sector", "pid|prev_pid=next_pid": fields of start and end that are equal; where
	 * a|b, the first that the event has.  tid, cpu, context and event are those of the header;
	 * pid and comm, where the event has no such field.  NULL: "tid,context".
	 */
	const char *match;
	const char *by; /* fields of the start, or else of the end; NULL: one group */
	/*
	 * "prev_state&255=0": a field of starts, a mask if wanted, the value; NULL: none.  An event that
	 * has the field with another value starts nothing; with single it ends what its key has open.
	 */
	const char *start_if;
	bool single; /* starts of a key do not nest: another one replaces it */
	unsigned int top; /* how many slowest pairs of a group, and oldest open starts, to keep */
	enum pairs_weigh weigh;
};

/* One end of a pair. */
struct pairs_end {
	uint64_t ts;
	uint32_t tid, pid, cpu;
	uint32_t kstack, ustack; /* numbers */
	uint32_t comm; /* for pairs__comm() */
};

struct pairs_pair {
	struct pairs_end start, end;
};

struct pairs_label {
	const char *text; /* as it is shown; raw bytes */
	bool is_number, is_signed;
	uint64_t number;
};

struct pairs_group {
	struct pairs_label by[PAIRS_MAX_BY];
	bool others; /* those beyond PAIRS_MAX_GROUPS; no labels */
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
	uint64_t gap; /* pairs between whose ends events may be missing */
	uint64_t open; /* starts without an end */
	uint64_t open_gap; /* of these, where the end may be missing */
	uint64_t gone; /* starts whose thread ended */
	uint64_t replaced; /* starts followed by another one, with single */
	uint64_t without_start; /* ends */
	uint64_t start_late, end_late; /* STK_MARK_LATE */
	uint64_t start_unknown, end_unknown; /* without the fields of their key */
	uint64_t start_idle, end_idle; /* a pid_t of their key is 0: no thread of its own */
	uint64_t start_over; /* beyond PAIRS_MAX_OPEN */
	uint64_t start_unselected, end_unselected;
	uint64_t others; /* of the pairs, in the group of others */
	uint64_t lost_starts, lost_ends; /* events of these types, from the accounting */
	uint64_t filtered_starts, filtered_ends; /* not recorded, as was asked for */
	uint64_t max_open; /* starts at one time */
};

struct pairs_weight {
	const struct pairs_group *group;
	uint32_t kstack, ustack;
	uint64_t ns;
};

struct pairs_result {
	const struct pairs_group *const *groups; /* largest sum first */
	unsigned int nr_groups;
	const struct pairs_end *open; /* oldest first, the selected ones */
	unsigned int nr_open;
	struct pairs_counts counts;
};

struct pairs;

/* Whether they are well formed: the reason where not, NULL where so. */
const char *pairs__check(const char *match, const char *by, const char *start_if);

/* opts: strings are borrowed.  -EINVAL: pairs__check() says why. */
int pairs__new(const struct pairs_opts *opts, struct pairs **ret_pairs);
void pairs__free(struct pairs *p);
static inline void pairs__freep(struct pairs **p)
{
	pairs__free(*p);
}
/*
 * Every event of the recording, in the reader's order.  -ENOENT: the event has no such field, a
 * message was logged; -ENOMEM.
 */
int pairs__add(struct pairs *p, struct stk_reader *r, const struct stk_event *e);
uint64_t pairs__memory(const struct pairs *p); /* bytes, while adding */
/* All events have been added.  The result belongs to p. */
int pairs__finish(struct pairs *p, struct stk_reader *r, struct pairs_result *ret_result);

const char *pairs__comm(const struct pairs *p, uint32_t comm);
unsigned int pairs__nr_by(const struct pairs *p);
const char *pairs__by_name(const struct pairs *p, unsigned int i);
/* Weights of stacks, in no order; a group's pointer is that of the result. */
size_t pairs__nr_weights(const struct pairs *p);
void pairs__weight(const struct pairs *p, size_t i, struct pairs_weight *ret_weight);

#endif /* ANALYZE_PAIRS_H */
