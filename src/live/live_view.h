/* SPDX-License-Identifier: GPL-2.0-only */
/* What is shown while events arrive, and how it looks: plain text of a given size. */
#ifndef LIVE_VIEW_H
#define LIVE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

struct strbuf;

#define LIVE_OTHER_LINES 4 /* two of the title, the heads, the keys */

enum live_key { LIVE_FUNCTIONS, LIVE_STACKS, LIVE_PAIRS, NR_LIVE_KEYS };
enum live_order { LIVE_BY_SELF, LIVE_BY_ALL, NR_LIVE_ORDERS };
enum live_pair_order {
	LIVE_BY_SUM,
	LIVE_BY_COUNT,
	LIVE_BY_P50,
	LIVE_BY_P99,
	LIVE_BY_MAX,
	NR_LIVE_PAIR_ORDERS,
};

/* Latency of the pairs of a group; ns. */
struct live_times {
	uint64_t count;
	unsigned __int128 sum;
	uint64_t p50, p99, max;
};

struct live_row {
	uint64_t self, all; /* of stacks only all is set */
	struct live_times now, since; /* of pairs: in the last interval, and in the window */
	char *text; /* escaped; owned */
};

struct live_view {
	enum live_key key;
	enum live_order order; /* of functions */
	enum live_pair_order pair_order; /* of groups of pairs, by their whole window */
	const char *file; /* escaped here */
	char *event; /* escaped; NULL: all events; owned */
	unsigned int nr_queries; /* pairs that can be selected; 0: there is no view of pairs */
	char *pairs; /* which are selected, escaped; NULL: all; owned */
	uint64_t events; /* selected, in the window; 100 % */
	uint64_t window_ns; /* from the first event, or from zero, to the last event */
	bool zeroed;
	uint64_t interval_ns; /* length of the last interval; 0: before the first one ended */
	uint64_t rate; /* events, or pairs, per second in it */
	uint64_t lost; /* since the start */
	uint64_t nr_pairs, gaps; /* selected pairs in the window: measured, and across a gap */
	struct live_row *rows;
	unsigned int nr_rows;
	unsigned int nr_all; /* functions, stacks or groups, shown or not */
};

/* The number of rows that fit below and above the other lines. */
unsigned int live_view__room(unsigned int height);
/* Appends a row, and takes its text.  -ENOMEM. */
int live_view__add(struct live_view *v, struct live_row row);
/*
 * At most height lines of at most width columns each; keys: with a line that explains the keys,
 * which is the last one.
 */
void live_view__text(const struct live_view *v, unsigned int width, unsigned int height, bool keys,
		     struct strbuf *b);
/* Frees rows and names. */
void live_view__clear(struct live_view *v);

#endif /* LIVE_VIEW_H */
