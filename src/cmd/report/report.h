/* SPDX-License-Identifier: GPL-2.0-only */
/* The report command: report.c has options and flame graphs, report_put.c lists and trees. */
#ifndef CMD_REPORT_H
#define CMD_REPORT_H

#include "analyze/charge.h"
#include "analyze/stacks/stack_counts.h"
#include "ui/reading.h"

struct report {
	struct reading rd;
	struct out out;
	bool tree, callees, folded;
	unsigned int by;
	unsigned int stacks; /* STACKS_...; 0: all */
	uint64_t top;
	uint64_t min; /* billionths of a percent */
	uint64_t total;
	struct stack_counts *counts;
	struct charge charge; /* of counts */
	struct strbuf indent;
};

/* The heading of the lists of stacks. */
void report__put_columns(struct report *rp);
/* The stacks of a group, most frequent first. */
void report__put_stacks(struct report *rp, const struct stack_group *g);
/* The stacks of a group as a tree of functions; errors are logged. */
int report__put_tree(struct report *rp, const struct stack_group *g);

#endif /* CMD_REPORT_H */
