// SPDX-License-Identifier: GPL-2.0-only
/* Finds the events of a query, and runs the analysis of its pairs. */
#include "pair_query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "ui/need.h"

#define ROLE_KNOWN 0x80

/* ---- options --------------------------------------------------------------------------------- */

int pair_query__take_preset(struct pair_query *q, const char *command, const char *name)
{
	q->preset = preset__find(name);
	if (!q->preset)
		return preset__usage_error(command, name);
	if (!q->preset->start)
		return ui__usage_error(command, "preset '%s' is for 'stackonce %s'", name,
				       q->preset->answer);
	return CMD_OK;
}

int pair_query__complete(struct pair_query *q, const char *command)
{
	const struct preset *p = q->preset;
	const char *why;

	if (p) {
		q->start = q->start ?: p->start;
		q->end = q->end ?: p->end;
		q->match = q->match ?: p->match;
		q->by = q->by ?: p->by;
		q->start_if = q->start_if ?: p->start_if;
		q->single = q->single || p->single;
	}
	if (!q->start || !q->end)
		return ui__usage_error(command, "--preset, or both --start and --end are required; "
						"see 'stackonce list --presets'");
	why = pairs__check(q->match, q->by, q->start_if);
	if (why == pairs_no_memory) {
		log_err(-ENOMEM, "choose pairs");
		return CMD_FAILURE;
	}
	return why ? ui__usage_error(command, "%s", why) : CMD_OK;
}

/* ---- alternatives ---------------------------------------------------------------------------- */

static bool matches(struct pair_query *q, const char *globs, const struct stk_event_type *t)
{
	return selection__keep(&q->rd->sel, event__matches(q->rd->reader, globs, t));
}

/*
 * Of the alternatives in copy, "A|B", the first of which the recording has an event type so far;
 * NULL: none.
 */
static const char *choose(struct pair_query *q, char *copy)
{
	unsigned int i, nr = stk_reader__nr_types(q->rd->reader);
	char *globs;

	while ((globs = strsep(&copy, "|")))
		for (i = 0; i < nr; i++)
			if (matches(q, globs, stk_reader__type(q->rd->reader, i)))
				return globs;
	return NULL;
}

/*
 * Decides which alternative the starts (side 0) or the ends (side 1) are, once the recording has an
 * event type of one, or at its end.  False: it is too early.
 */
static bool decide(struct pair_query *q, unsigned int side, bool at_end)
{
	const char **globs = side ? &q->end : &q->start, *chosen;
	char *copy;

	if (!strchr(*globs, '|'))
		return true;
	copy = strdup(*globs);
	chosen = copy ? choose(q, copy) : NULL;
	if (!chosen && at_end)
		chosen = copy; /* the first of them */
	if (!chosen) {
		selection__keep(&q->rd->sel, copy ? 0 : -ENOMEM);
		free(copy);
		return false;
	}
	q->alternatives[side] = copy;
	*globs = chosen;
	return true;
}

/* ---- callbacks of pairs ---------------------------------------------------------------------- */

static unsigned int role_of(void *ctx, const struct stk_event_type *t)
{
	unsigned int i = stk_event_type__index(t);
	struct pair_query *q = ctx;
	uint8_t role;

	if (i < q->nr_roles && q->roles[i])
		return q->roles[i] & ~ROLE_KNOWN;
	role = ROLE_KNOWN | (decide(q, 0, false) && matches(q, q->start, t) ? PAIRS_START : 0) |
	       (decide(q, 1, false) && matches(q, q->end, t) ? PAIRS_END : 0);
	if (!array__reach(&q->roles, i, &q->nr_roles))
		q->roles[i] = role;
	return role & ~ROLE_KNOWN;
}

static bool is_selected(void *ctx, const struct stk_event *e)
{
	struct pair_query *q = ctx;

	return reading__selected(q->rd, e);
}

static int measured(void *ctx, const struct pairs_group *group, const struct pairs_pair *pair)
{
	struct pair_query *q = ctx;

	return q->measured(q->ctx, group, pair);
}

/* ---- the analysis ---------------------------------------------------------------------------- */

int pair_query__start(struct pair_query *q, struct reading *rd, unsigned int top,
		      enum pairs_weigh weigh)
{
	const struct pairs_opts opts = {
		.role = role_of,
		.selected = rd->sel.any ? is_selected : NULL,
		.describe = pair_query__describe,
		.measured = q->measured ? measured : NULL,
		.ctx = q,
		.match = q->match,
		.by = q->by,
		.start_if = q->start_if,
		.single = q->single,
		.quiet = q->quiet,
		.top = top,
		.weigh = weigh,
	};

	q->rd = rd;
	q->print.long_size = 8;
	kernel_text__init(&q->text, rd->reader, &q->print);
	return pairs__new(&opts, &q->pairs);
}

int pair_query__add(struct pair_query *q, const struct stk_event *e)
{
	struct stk_reader *r = q->rd->reader;
	int err = pairs__add(q->pairs, r, e);

	if (err || !charge__is_due(&q->charge))
		return err;
	return charge(&q->charge, r, pairs__memory(q->pairs), 0);
}

int pair_query__check(struct pair_query *q)
{
	const struct preset *p = q->preset;
	const char *globs[3] = { NULL };
	char how[64];

	decide(q, 0, true);
	decide(q, 1, true);
	globs[0] = q->start;
	globs[1] = q->end;
	if (p)
		snprintf(how, sizeof(how), "%s--preset %s", p->needs_all ? "-a " : "", p->name);
	return need__events(q->rd, globs, p ? how : NULL) ? -ENOENT : 0;
}

void pair_query__free(struct pair_query *q)
{
	pairs__free(q->pairs);
	kernel_text__clear(&q->text);
	free(q->roles);
	free(q->alternatives[0]);
	free(q->alternatives[1]);
}

void pair_query__group_name(const struct pair_query *q, const struct pairs_group *g,
			    struct strbuf *out)
{
	unsigned int i, nr = pairs__nr_by(q->pairs);

	if (!nr)
		strbuf__puts(out, "all");
	else if (g->others)
		strbuf__puts(out, "(others)");
	for (i = 0; i < nr && !g->others; i++) {
		if (i)
			strbuf__putc(out, ' ');
		strbuf__text(out, pairs__by_name(q->pairs, i));
		strbuf__putc(out, '=');
		strbuf__text(out, g->by[i].text);
	}
}
