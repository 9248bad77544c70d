/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The latency command: latency.c has the options, latency_read.c reads the pairs, latency_text.c
 * and latency_json.c print them, and latency_values.c formats the values of --by.
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

#define HISTOGRAM_BINS 64 /* one per power of two */

struct latency {
	struct reading rd;
	struct out out;
	bool linear, stacks, single;
	const char *start, *end, *match, *by, *start_if;
	bool chosen; /* start and end are one of the alternatives that were given */
	char *alternatives[2]; /* start, end: where these point to then; NULL: none */
	const struct preset *preset;
	unsigned int of_end; /* --stack-of end */
	uint64_t top, shown; /* --top, --groups */
	uint8_t *roles; /* by event type: PAIRS_START, PAIRS_END, ROLE_KNOWN */
	unsigned int nr_roles;
	struct pairs *pairs;
	struct charge charge; /* of pairs */
	struct pairs_result res;
	/* As in struct pairs_opts, with the struct latency as ctx; NULL: not called. */
	int (*measured)(void *ctx, const struct pairs_group *group, const struct pairs_pair *pair);
	struct ev_print_ctx print;
	struct kernel_text text; /* for print */
};

/* A bin of a histogram: durations in [from, to], ns. */
struct bin {
	uint64_t from, to, count;
};

/*
 * Fills bins of powers of two, or of --linear, without empty ones at both ends.  Returns their
 * number.
 */
unsigned int latency__bins(const struct latency *l, const struct durations *d,
			   struct bin ret_bins[HISTOGRAM_BINS]);
uint64_t latency__mean(const struct durations *d);
/* "name=value name=value", escaped for a terminal; "all" without --by. */
void latency__group_name(const struct latency *l, const struct pairs_group *g, struct strbuf *out);

/* Takes the name of a preset that pairs events, as opt_take_fn. */
int latency__take_preset(void *into, const struct opt *o, const char *name);
/* Completes the options by those of the preset; CMD_OK, or CMD_USAGE after a message. */
int latency__complete(struct latency *l);
/* Reads the recording, which is open, into l->res; errors are logged. */
int latency__read(struct latency *l);
void latency__free(struct latency *l);

/* latency_values.c: for pairs_opts.describe. */
void latency__describe(void *ctx, const struct pairs_value *v, struct strbuf *ret_text);
void latency__start_values(struct latency *l); /* needs an open reader */
void latency__free_values(struct latency *l);

/* Prints the columns of a group, in text and JSON. */
void latency__put_columns(struct out *o, const struct durations *d);
/* Accounts for all starts and ends: text, or JSON members. */
void latency__put_accounting(struct latency *l);
void latency__put_text(struct latency *l);
void latency__put_json(struct latency *l);

#endif /* CMD_LATENCY_H */
