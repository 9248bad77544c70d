/* SPDX-License-Identifier: GPL-2.0-only */
/* The info command: info.c reads and sums up, info_text.c and info_json.c print. */
#ifndef CMD_INFO_H
#define CMD_INFO_H

#include "ui/column.h"
#include "ui/reading.h"

/* The counters of one event type, or of all, and their sums. */
struct account {
	uint64_t c[STK_NR_COUNTERS];
	uint64_t filtered, lost, fallbacks, lookups;
	uint64_t ustacks; /* user stacks found, complete or not */
};

struct info {
	struct reading rd;
	struct out out;
	bool verbose;
	bool accounted; /* the recording has accounting */
	bool one_way; /* recordings that are read together counted in the same way */
	bool following; /* --follow, and not at the end yet */
	bool running; /* following, or a recorder is writing it */
	struct account total;
	struct stk_totals t;
	uint64_t unique; /* distinct stacks */
	uint64_t *seen; /* events per type, for recordings without accounting */
	unsigned int nr_seen;
	int64_t put_at; /* --follow: time of the last output, in seconds */
	uint64_t put_bytes; /* and size of the recording then */
};

void info__account(const struct info *in, const struct stk_event_type *t, struct account *ret);
void info__sum(struct account *a);

/* ---- info_names.c ---------------------------------------------------------------------------- */

struct reason {
	enum stk_counter counter;
	const char *name;
};

/* Each is ended by a row whose name is NULL. */
extern const struct reason info_filtered_by[], info_lost_by[], info_fell_by[], info_stack_ends[],
	info_walk_left[], info_walk_checks[], info_fields_checks[], info_ustack_ways[],
	info_ustack_ends[], info_full[], info_samples[];

/* What `happened` is checked against. */
enum witness {
	WITNESS_UNSAID, /* the recording does not say it, or several do not agree */
	WITNESS_KERNEL, /* how often the kernel skipped the program that counts and records */
	WITNESS_SECOND, /* a second program, and how often the kernel skipped both */
	WITNESS_KERNEL_COUNTER, /* first WITNESS_KERNEL or _SECOND, later WITNESS_COUNTER */
	WITNESS_COUNTER, /* the counter program */
	WITNESS_DUE, /* the number of timer samples that were due */
	WITNESS_NONE,
	NR_WITNESSES
};
extern const struct witness_text {
	const char *name, *text; /* for JSON, for humans */
} info_witnesses[NR_WITNESSES];
bool info__one_way(const struct info *in);
enum witness info__witness(const struct info *in, const struct stk_event_type *t,
			   const char *event);

#define INFO_FIELDS_MIN 64 /* records that the recorder compares before it stops */
/* Records of a native event that were compared with the kernel's; false: it is not native. */
bool info__fields_compared(const struct info *in, const char *event, const struct account *a,
			   uint64_t *ret_compared);

/* Whether this one of the recordings is in progress. */
bool info__is_running(const struct info *in, const struct stk_reader *member);
/* "clean", "abrupt", or "recording" if it is in progress; member NULL: all recordings. */
const char *info__ended(const struct info *in, const struct stk_reader *member);
#define INFO_COST_MIN 8 /* fewer measured events give no cost */
/* Estimated ns that the recorder programs took for all events, from the measured ones. */
uint64_t info__cost(const struct account *a);
/* A number in the metadata; false if it is missing. */
bool info__meta_u64(const struct info *in, const char *key, uint64_t *ret_value);

/*
 * The time from which on the kernel filled the fields of an event that programs had filled before,
 * as the metadata say of it; false: it did not happen.
 */
bool info__kernel_fields(const struct info *in, const char *event, uint64_t *ret_since);

/* ---- info_text.c, info_json.c ---------------------------------------------------------------- */

/* The columns of the accounting. */
void info__put_columns(struct out *o, const struct account *a);
void info__put_text(struct info *in);
void info__put_json(struct info *in);

#endif /* CMD_INFO_H */
