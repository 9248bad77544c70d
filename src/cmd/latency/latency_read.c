// SPDX-License-Identifier: GPL-2.0-only
/* Reads the pairs of a recording, for latency and for diff. */
#include "latency.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "ui/need.h"

#define ROLE_KNOWN 0x80

void latency__free(struct latency *l)
{
	pairs__free(l->pairs);
	latency__free_values(l);
	free(l->roles);
	free(l->alternatives[0]);
	free(l->alternatives[1]);
	reading__free(&l->rd);
}

int latency__take_preset(void *into, const struct opt *o, const char *name)
{
	struct latency *l = into;

	l->preset = preset__find(name);
	if (!l->preset)
		return preset__usage_error(l->rd.command, name);
	if (!l->preset->start)
		return ui__usage_error(l->rd.command, "preset '%s' is for 'stackonce %s'", name,
				       l->preset->answer);
	return CMD_OK;
}

/* The preset supplies what the command line does not set. */
int latency__complete(struct latency *l)
{
	const char *why;

	if (l->preset) {
		l->start = l->start ?: l->preset->start;
		l->end = l->end ?: l->preset->end;
		l->match = l->match ?: l->preset->match;
		l->by = l->by ?: l->preset->by;
		l->start_if = l->start_if ?: l->preset->start_if;
		l->single = l->single || l->preset->single;
	}
	if (!l->start || !l->end)
		return ui__usage_error(l->rd.command,
				       "--preset, or both --start and --end are required; "
				       "see 'stackonce list --presets'");
	why = pairs__check(l->match, l->by, l->start_if);
	return why ? ui__usage_error(l->rd.command, "%s", why) : CMD_OK;
}

/* ---- alternatives ---------------------------------------------------------------------------- */

static bool matches(struct latency *l, const char *globs, const struct stk_event_type *t)
{
	return selection__keep(&l->rd.sel, event__matches(l->rd.reader, globs, t));
}

/* "A|B": events A, or B if the recording has no event A.  Returns one of them, in copy. */
static const char *choose(struct latency *l, char *copy)
{
	unsigned int i, nr = stk_reader__nr_types(l->rd.reader);
	char *globs, *first = NULL;

	while ((globs = strsep(&copy, "|"))) {
		first = first ?: globs;
		for (i = 0; i < nr; i++)
			if (matches(l, globs, stk_reader__type(l->rd.reader, i)))
				return globs;
	}
	return first;
}

/* Once the event types are known. */
static void choose_events(struct latency *l)
{
	const char **globs[] = { &l->start, &l->end };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(globs); i++) {
		if (!strchr(*globs[i], '|'))
			continue;
		l->alternatives[i] = strdup(*globs[i]);
		if (l->alternatives[i])
			*globs[i] = choose(l, l->alternatives[i]);
	}
	l->chosen = true;
}

/* ---- callbacks of pairs ---------------------------------------------------------------------- */

static unsigned int role_of(void *ctx, const struct stk_event_type *t)
{
	unsigned int i = stk_event_type__index(t);
	struct latency *l = ctx;
	uint8_t role;

	if (!l->chosen)
		choose_events(l);
	if (i < l->nr_roles && l->roles[i])
		return l->roles[i] & ~ROLE_KNOWN;
	role = ROLE_KNOWN | (matches(l, l->start, t) ? PAIRS_START : 0) |
	       (matches(l, l->end, t) ? PAIRS_END : 0);
	if (!array__reach(&l->roles, i, &l->nr_roles))
		l->roles[i] = role;
	return role & ~ROLE_KNOWN;
}

static bool is_selected(void *ctx, const struct stk_event *e)
{
	struct latency *l = ctx;

	return reading__selected(&l->rd, e);
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Without start or end events the recording was not made for this query. */
static int check_types(struct latency *l)
{
	const struct preset *p = l->preset;
	const char *globs[3] = { NULL };
	char how[64];

	if (!l->chosen)
		choose_events(l);
	globs[0] = l->start;
	globs[1] = l->end;
	if (p)
		snprintf(how, sizeof(how), "%s--preset %s", p->needs_all ? "-a " : "", p->name);
	return need__events(&l->rd, globs, p ? how : NULL) ? -ENOENT : 0;
}

static int pair_event(struct latency *l, const struct stk_event *e)
{
	int err = pairs__add(l->pairs, l->rd.reader, e);

	if (err || !charge__is_due(&l->charge))
		return err;
	return charge(&l->charge, l->rd.reader, pairs__memory(l->pairs), 0);
}

int latency__read(struct latency *l)
{
	const struct pairs_opts opts = {
		.role = role_of,
		.selected = l->rd.sel.any ? is_selected : NULL,
		.describe = latency__describe,
		.measured = l->measured,
		.ctx = l,
		.match = l->match,
		.by = l->by,
		.start_if = l->start_if,
		.single = l->single,
		.top = l->top,
		.weigh = !l->rd.flamegraph ? PAIRS_NO_STACKS :
			 l->of_end	   ? PAIRS_END_STACKS :
					     PAIRS_START_STACKS,
	};
	const struct stk_event *e;
	int err;

	err = pairs__new(&opts, &l->pairs);
	while (!err && reading__next(&l->rd, &l->out, NULL, NULL, &e))
		err = pair_event(l, e);
	if (!err)
		err = check_types(l);
	if (!err)
		err = pairs__finish(l->pairs, l->rd.reader, &l->res);
	if (err && err != -ENOENT)
		log_err(err, "match starts and ends");
	if (!err && !l->res.nr_groups)
		need__all_tasks(&l->rd, l->preset);
	return err;
}
