/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The latency command: latency.c has the options, latency_read.c reads the pairs, latency_text.c
 * and latency_json.c print them.
 */
#ifndef CMD_LATENCY_H
#define CMD_LATENCY_H

#include "ui/column.h"
#include "ui/pairs/pair_query.h"

#define HISTOGRAM_BINS 64 /* one per power of two */

struct latency {
	struct reading rd;
	struct out out;
	bool linear, stacks;
	struct pair_query query;
	unsigned int of_end; /* --stack-of end */
	uint64_t top, shown; /* --top, --groups */
	struct pairs_result res;
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

/* Reads the recording, which is open, into l->res; errors are logged. */
int latency__read(struct latency *l);
void latency__free(struct latency *l);

/* Prints the columns of a group, in text and JSON. */
void latency__put_columns(struct out *o, const struct durations *d);
/* Accounts for all starts and ends: text, or JSON members. */
void latency__put_accounting(struct latency *l);
void latency__put_text(struct latency *l);
void latency__put_json(struct latency *l);

#endif /* CMD_LATENCY_H */
