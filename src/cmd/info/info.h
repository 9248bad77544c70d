/* SPDX-License-Identifier: GPL-2.0-only */
/* The info command: reading and adding up in info.c, printing in info_text.c and info_json.c. */
#ifndef CMD_INFO_H
#define CMD_INFO_H

#include "ui/column.h"
#include "ui/reading.h"

/* The counters of one event type, or of all, and what they add up to. */
struct account {
	uint64_t c[STK_NR_COUNTERS];
	uint64_t filtered, lost, fallbacks, lookups;
	uint64_t ustacks; /* looked for and found, to whatever end */
};

struct info {
	struct reading rd;
	struct out out;
	bool verbose;
	bool accounted; /* the recording has accounting */
	bool following; /* and not at the end yet */
	bool running; /* that, or a recorder writes it */
	struct account total;
	struct stk_totals t;
	uint64_t unique; /* stacks */
	uint64_t *seen; /* events per type, counted where there is no accounting */
	unsigned int nr_seen;
	int64_t put_at; /* --follow: when and what was printed last */
	uint64_t put_bytes;
};

void info__account(const struct info *in, const struct stk_event_type *t, struct account *ret);
void info__sum(struct account *a);

/* ---- info_names.c ---------------------------------------------------------------------------- */

struct reason {
	enum stk_counter counter;
	const char *name;
};

/* Each ends with one that has no name. */
extern const struct reason info_filtered_by[], info_lost_by[], info_fell_by[], info_stack_ends[],
	info_walk_left[], info_walk_checks[], info_ustack_ways[], info_ustack_ends[],
	info_samples[];

/* "clean", "abrupt", or "recording" while that goes on. */
const char *info__ended(const struct info *in);
#define INFO_COST_MIN 8 /* events that were measured: of fewer, nothing is said */
/* ns of the programs that record, over all events; from those that were measured. */
uint64_t info__cost(const struct account *a);
/* A number among the metadata; false: it is not there. */
bool info__meta_u64(const struct info *in, const char *key, uint64_t *ret_value);

/* ---- info_text.c, info_json.c ---------------------------------------------------------------- */

/* A row for each column of the accounting. */
void info__put_columns(struct out *o, const struct account *a);
void info__put_text(struct info *in);
void info__put_json(struct info *in);

#endif /* CMD_INFO_H */
