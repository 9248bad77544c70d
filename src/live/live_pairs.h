/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Latency of pairs by group while events arrive: in the last interval, and since the start.
 * analyze/pairs measures them, as for `stackonce latency`.
 */
#ifndef LIVE_PAIRS_H
#define LIVE_PAIRS_H

#include "live_view.h"

struct pair_query;
struct pairs_group;
struct reading;
struct stk_event;

struct live_group {
	unsigned int query; /* its index */
	const struct pairs_group *group;
	struct live_times now, all;
};

struct live_pairs;

/*
 * Starts the queries, which are complete, and selects the pairs of all of them; rd is open.  Both
 * are borrowed.  At least one query.  -ENOMEM.
 */
int live_pairs__new(struct reading *rd, struct pair_query *queries, unsigned int nr,
		    struct live_pairs **ret_pairs);
void live_pairs__free(struct live_pairs *p);
/* Takes an event; returns as pair_query__add(). */
int live_pairs__add(struct live_pairs *p, const struct stk_event *e);
/* Ends the interval: what was measured since the last call is now the last interval. */
void live_pairs__end_interval(struct live_pairs *p);
/* Forgets the pairs so far; starts stay open. */
void live_pairs__zero(struct live_pairs *p);

/* Selects the pairs of one query by its index; negative: of all. */
void live_pairs__select(struct live_pairs *p, int query);
int live_pairs__selected(const struct live_pairs *p);
/* The selected pairs that were measured, in the last interval and in all. */
void live_pairs__sum(const struct live_pairs *p, uint64_t *ret_now, uint64_t *ret_all);
/* Selected pairs that were not measured, because an event may be missing in them. */
uint64_t live_pairs__gaps(const struct live_pairs *p);
/* The name of the query: its preset, or "START to END"; escaped. */
void live_pairs__put_name(const struct live_pairs *p, unsigned int query, struct strbuf *b);
/*
 * The first max groups of the selected pairs.  Returns their number, or -ENOMEM.  *ret_nr is the
 * number of all.
 */
int live_pairs__groups(const struct live_pairs *p, enum live_pair_order order,
		       struct live_group *ret_groups, unsigned int max, unsigned int *ret_nr);
/* The name of the group, after that of its query if all are selected; escaped. */
void live_pairs__put_group(const struct live_pairs *p, const struct live_group *g,
			   struct strbuf *b);
/* As pair_query__check(), for all queries. */
int live_pairs__check(struct live_pairs *p);
/* At the end: warns if a query has no pairs because the recording lacks tasks that it needs. */
void live_pairs__warn_empty(const struct live_pairs *p);

#endif /* LIVE_PAIRS_H */
