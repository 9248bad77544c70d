/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which pairs of events a command measures: the options that say so, the preset that completes
 * them, and the analysis that they set up.  pair_values.c formats the values of --by.
 */
#ifndef UI_PAIR_QUERY_H
#define UI_PAIR_QUERY_H

#include "analyze/charge.h"
#include "analyze/pairs/pairs.h"
#include "events/format.h"
#include "ui/kernel_strings.h"
#include "ui/presets.h"
#include "ui/reading.h"

struct pair_query {
	/* The options; what is not given comes from the preset.  Borrowed. */
	const char *start, *end, *match, *by, *start_if;
	bool single;
	const struct preset *preset;
	/* As in struct pairs_opts; NULL: not called. */
	int (*measured)(void *ctx, const struct pairs_group *group, const struct pairs_pair *pair);
	void *ctx; /* of measured */
	bool quiet; /* as in struct pairs_opts */
	struct pairs *pairs; /* after pair_query__start() */
	/* private */
	struct reading *rd;
	char *alternatives[2]; /* what start and end point into once one is chosen; NULL: not yet */
	uint8_t *roles; /* by event type: PAIRS_START, PAIRS_END, ROLE_KNOWN */
	unsigned int nr_roles;
	struct charge charge; /* of pairs */
	struct ev_print_ctx print;
	struct kernel_text text; /* for print */
};

/* clang-format off */
/*
 * Option rows; query is a struct pair_query in the command's struct.  With PAIR_HIDDEN as help they
 * are left to the manual: the help of a command fits a screen.
 */
#define PAIR_SHOWN(text) text
#define PAIR_HIDDEN(text) NULL
#define PAIR_EVENTS_OPTIONS(type, query, help) \
	{ "--start EVENTS", help("start events, separated by commas"), \
	  OPT_TEXT(type, query.start) }, \
	{ "--end EVENTS", help("end events"), OPT_TEXT(type, query.end) }
#define PAIR_KEY_OPTIONS(type, query, help) \
	{ "--match LIST", help("the key: fields equal in start and end, as dev,sector or " \
	  "pid=next_pid (default tid,context: pairs of one thread)"), OPT_TEXT(type, query.match) }, \
	{ "--start-if COND", help("FIELD=VALUE or FIELD&MASK=VALUE: start events that have this " \
	  "field must have this value"), OPT_TEXT(type, query.start_if) }, \
	{ "--single", help("starts do not nest: a start replaces the open one"), \
	  OPT_FLAG(type, query.single) }
/* clang-format on */

/*
 * Finds a preset that pairs events, which completes the options.  CMD_OK, or CMD_USAGE after a
 * message.
 */
int pair_query__take_preset(struct pair_query *q, const char *command, const char *name);
/* Completes and checks the options: an exit code, after a message. */
int pair_query__complete(struct pair_query *q, const char *command);

/* Creates q->pairs for an open recording; top and weigh as in struct pairs_opts.  -ENOMEM. */
int pair_query__start(struct pair_query *q, struct reading *rd, unsigned int top,
		      enum pairs_weigh weigh);
/*
 * Takes an event, whether or not it is selected: reading.every must be set.  Returns as
 * pairs__add(), and -ENOBUFS.
 */
int pair_query__add(struct pair_query *q, const struct stk_event *e);
/*
 * Once all event types are known: -ENOENT, after a message, if the recording has no start or no end
 * events, which means that it was not made for this query.
 */
int pair_query__check(struct pair_query *q);
void pair_query__free(struct pair_query *q);

/* "name=value name=value", escaped for a terminal; "all" without --by. */
void pair_query__group_name(const struct pair_query *q, const struct pairs_group *g,
			    struct strbuf *out);
/* For pairs_opts.describe; ctx is the struct pair_query (pair_values.c). */
void pair_query__describe(void *ctx, const struct pairs_value *v, struct strbuf *ret_text);

#endif /* UI_PAIR_QUERY_H */
