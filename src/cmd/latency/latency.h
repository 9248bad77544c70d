/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The latency command: options and the run in latency.c, tables in latency_text.c, JSON in
 * latency_json.c, values as people know them in latency_values.c.
 */
#ifndef CMD_LATENCY_H
#define CMD_LATENCY_H

#include "analyze/charge.h"
#include "analyze/pairs/pairs.h"
#include "events/format.h"
#include "ui/column.h"
#include "ui/kernel_strings.h"
#include "ui/presets.h"
#include "ui/reading.h"

#define HISTOGRAM_BINS 64 /* most there can be: powers of two */

struct latency {
	struct reading rd;
	struct out out;
	bool linear, stacks, single;
	const char *start, *end, *match, *by, *start_if;
	const struct preset *preset;
	unsigned int of_end; /* --stack-of end */
	uint64_t top, shown; /* --top, --groups */
	uint8_t *roles; /* by event type: PAIRS_START, PAIRS_END, ROLE_KNOWN */
	unsigned int nr_roles;
	struct pairs *pairs;
	struct charge charge; /* for them */
	struct pairs_result res;
	struct ev_print_ctx print;
	struct kernel_text text; /* for print */
};

/* A bar of a histogram: durations from .. to, both included. */
struct bin {
	uint64_t from, to, count;
};

/* Powers of two, or --linear ones; empty ones at both ends left out.  Returns their number. */
unsigned int latency__bins(const struct latency *l, const struct durations *d,
			   struct bin ret_bins[HISTOGRAM_BINS]);
uint64_t latency__mean(const struct durations *d);
/* "name=value name=value", made safe; "all" without --by. */
void latency__group_name(const struct latency *l, const struct pairs_group *g, struct strbuf *out);

/* latency_values.c: for pairs_opts.describe. */
void latency__describe(void *ctx, const struct pairs_value *v, struct strbuf *ret_text);
void latency__start_values(struct latency *l); /* the reader is open */
void latency__free_values(struct latency *l);

/* A row for each column of the groups. */
void latency__put_columns(struct out *o, const struct durations *d);
/* What became of every start and end: text, or members. */
void latency__put_accounting(struct latency *l);
void latency__put_text(struct latency *l);
void latency__put_json(struct latency *l);

#endif /* CMD_LATENCY_H */
