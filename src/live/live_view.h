/* SPDX-License-Identifier: GPL-2.0-only */
/* What is shown while events arrive, and how it looks: plain text of a given size. */
#ifndef LIVE_VIEW_H
#define LIVE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

struct strbuf;

#define LIVE_MAX_ROWS 200 /* however high the terminal is */
#define LIVE_OTHER_LINES 4 /* two of the title, the heads, the keys */

enum live_key { LIVE_FUNCTIONS, LIVE_STACKS, NR_LIVE_KEYS };
enum live_order { LIVE_BY_SELF, LIVE_BY_ALL, NR_LIVE_ORDERS };

struct live_row {
	uint64_t self, all; /* of stacks only all is set */
	char *text; /* escaped; owned */
};

struct live_view {
	enum live_key key;
	enum live_order order; /* of functions */
	const char *file; /* escaped here */
	char *event; /* escaped; NULL: all events; owned */
	uint64_t events; /* selected, in the window; 100 % */
	uint64_t window_ns; /* from the first event, or from zero, to the last event */
	bool zeroed;
	uint64_t rate; /* events per second at present; 0: unknown */
	uint64_t lost; /* since the start */
	struct live_row rows[LIVE_MAX_ROWS];
	unsigned int nr_rows;
	unsigned int nr_all; /* functions or stacks, shown or not */
};

/* The number of rows that fit below and above the other lines. */
unsigned int live_view__room(unsigned int height);
/*
 * At most height lines of at most width columns each; keys: with a line that explains the keys,
 * which is the last one.
 */
void live_view__text(const struct live_view *v, unsigned int width, unsigned int height, bool keys,
		     struct strbuf *b);
/* Frees rows and event. */
void live_view__clear(struct live_view *v);

#endif /* LIVE_VIEW_H */
