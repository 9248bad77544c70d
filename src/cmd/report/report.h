/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report command: report.c has the options, report_keys.c what events are grouped and weighed
 * by, report_put.c lists of stacks, report_flat.c flat profiles, report_tree.c trees,
 * report_flames.c flame graphs and folded stacks, report_sql.c the question as a query,
 * report_sql_filter.c its filters, and report_follow.c starts the view of --follow.
 */
#ifndef CMD_REPORT_H
#define CMD_REPORT_H

#include "analyze/stacks/call_stack.h"
#include "counting/counting.h"
#include "string_table.h"
#include "ui/pairs/pair_query.h"
#include "ui/reading.h"

#define MIN_SHARE 500000000 /* without --min: billionths of a percent */
#define STACKS_TOP 10 /* stacks of a list without --top */

enum report_unit { /* what functions of a flat profile are merged into, in the order of its words */
		   UNIT_FUNCTION,
		   UNIT_LIBRARY,
		   UNIT_LINE,
};

struct report {
	struct reading rd;
	struct out out;
	bool tree, callees, flat, no_children, folded, print_sql;
	unsigned int unit; /* enum report_unit */
	struct counting c;
	uint64_t top; /* UINT64_MAX: not given */
	uint64_t depth;
	uint64_t min; /* billionths of a percent */
	struct pair_query query; /* options of the pairs of --follow */
	const struct preset *presets[PRESETS_MAX]; /* of pairs */
	unsigned int nr_presets;
	struct pair_query queries[PRESETS_MAX]; /* what these options and presets ask for */
	unsigned int nr_queries;

	uint64_t total, total_weight;
	bool sum_is_cut; /* weights add up to more than total_weight can hold */
	struct string_table texts; /* of call frames */
	struct strbuf indent;
};

/* ---- keys and weights ------------------------------------------------------------------------ */

/* The key of a group: "sched:sched_switch comm bash pid 12", or JSON members. */
void report__put_key(struct report *rp, const struct stack_group *g);
/* A weight with its unit, if that is known. */
struct text report__weight(const struct report *rp, uint64_t weight);

/* ---- following ------------------------------------------------------------------------------- */

/* Takes names of presets, as opt_take_fn. */
int report__take_presets(void *into, const struct opt *o, const char *names);
/*
 * Checks what cannot be combined with --follow, and what needs it; sets how events are read.
 * CMD_OK, or CMD_USAGE after a message.
 */
int report__check_follow(struct report *rp);
/* Opens the recording and shows the view; an exit code. */
int report__follow(struct report *rp);
void report__free_queries(struct report *rp);

/* ---- what is printed ------------------------------------------------------------------------- */

/* The heading of the lists of stacks. */
void report__put_columns(struct report *rp);
/* The line above what is printed of a group. */
void report__put_head(struct report *rp, const struct stack_group *g);
/* The stacks of a group, heaviest first. */
void report__put_stacks(struct report *rp, const struct stack_group *g);
/* The functions of a group, heaviest first; errors are logged. */
int report__put_flat(struct report *rp, const struct stack_group *g);
/* The stacks of a group as a tree of functions; errors are logged. */
int report__put_tree(struct report *rp, const struct stack_group *g);
/* Folded stacks and the flame graph; errors are logged. */
int report__put_flames(struct report *rp);
/* The SQL query; an exit code. */
int report__put_sql(struct report *rp);

/* Whether a part of a group is smaller than --min. */
bool report__too_small(const struct report *rp, const struct stack_group *g, uint64_t weight);
/* The functions of these stacks, innermost first; ctx is a struct report. */
int report__frames(void *ctx, const struct stack_count *s, struct call_stack *ret_stack);
/* A function, with the share of events in which it is a guess. */
void report__put_function(struct report *rp, const struct call_frame *f, uint64_t guesses,
			  uint64_t count);
/* Its members of a JSON object. */
void report__json_function(struct report *rp, const struct call_frame *f,
			   const struct call_key *key, uint64_t guesses);

#endif /* CMD_REPORT_H */
