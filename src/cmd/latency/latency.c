// SPDX-License-Identifier: GPL-2.0-only
/* stackonce latency: measures the time between pairs of events. */
#include "latency.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "ui/flames.h"
#include "ui/need.h"

#define ROLE_KNOWN 0x80
#define MAX_TOP 1000 /* pairs kept for each group */

static void latency__free(struct latency *l)
{
	pairs__free(l->pairs);
	latency__free_values(l);
	free(l->roles);
	free(l->alternatives[0]);
	free(l->alternatives[1]);
	reading__free(&l->rd);
}

/* ---- options --------------------------------------------------------------------------------- */

static int take_preset(void *into, const struct opt *o, const char *name)
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

/* clang-format off */
static const struct opt options[] = {
	READING_OPTIONS(struct latency, rd, A_RECORDING),
	{ "--start EVENTS", "start events, separated by commas",
	  OPT_TEXT(struct latency, start) },
	{ "--end EVENTS", "end events", OPT_TEXT(struct latency, end) },
	{ "--preset NAME", "start, end and key for 'stackonce record --preset NAME', see "
	  "'list --presets'; other options override them", OPT_FN(take_preset), PRESET_WORDS },
	{ "--match LIST", "the key: fields equal in start and end, as dev,sector or pid=next_pid "
	  "(default tid,context: pairs of one thread)", OPT_TEXT(struct latency, match) },
	{ "--start-if COND", "FIELD=VALUE or FIELD&MASK=VALUE: start events that have this field "
	  "must have this value", OPT_TEXT(struct latency, start_if) },
	{ "--single", "starts do not nest: a start replaces the open one",
	  OPT_FLAG(struct latency, single) },
	{ "--by LIST", "group by these fields of the start, or else of the end; also "
	  "comm,pid,tid,cpu,event,context", OPT_TEXT(struct latency, by) },
	{ "--groups N", "print histograms of N groups, 0: all (default 10)",
	  OPT_NUMBER(struct latency, shown, 0, UINT32_MAX) },
	{ "--top N", "print the N slowest pairs of each group (default 5)",
	  OPT_NUMBER(struct latency, top, 0, MAX_TOP) },
	{ "--linear", "histogram bins of equal width instead of powers of two",
	  OPT_FLAG(struct latency, linear) },
	{ "--stacks", "print the full stacks of both ends", OPT_FLAG(struct latency, stacks) },
	FLAMEGRAPH_OPTIONS("write a flame graph of the starts' stacks, by time"),
	{ "--stack-of SIDE", "stacks of the flame graph: %s (default start)",
	  OPT_WORD(struct latency, of_end), WORDS("start", "end") },
	SELECT_OPTIONS("only pairs that start", "only pairs that start with these events"),
	FULL_FILES_OPTION,
	NAMES_OPTIONS,
	JSON_OPTION("print one JSON object per group, slowest pair and open start, and for the "
		    "accounting"),
	HELP_OPTION
};
/* clang-format on */

/* The preset supplies what the command line does not set. */
static int complete(struct latency *l)
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

static int parse_options(struct latency *l, int argc, char **argv)
{
	return reading__options(&l->rd, &cmd_latency, argc, argv) ?: complete(l);
}

/* ---- alternatives ---------------------------------------------------------------------------- */

/* "A|B": events A, or B if the recording has no event A.  Returns one of them, in copy. */
static const char *choose(const struct latency *l, char *copy)
{
	unsigned int i, nr = stk_reader__nr_types(l->rd.reader);
	char *globs, *first = NULL;

	while ((globs = strsep(&copy, "|"))) {
		first = first ?: globs;
		for (i = 0; i < nr; i++)
			if (event__matches(l->rd.reader, globs, stk_reader__type(l->rd.reader, i)))
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

static bool matches(struct latency *l, const char *globs, const struct stk_event_type *t)
{
	return event__matches(l->rd.reader, globs, t);
}

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

static int read_pairs(struct latency *l)
{
	const struct pairs_opts opts = {
		.role = role_of,
		.selected = l->rd.sel.any ? is_selected : NULL,
		.describe = latency__describe,
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

static int put_flamegraph(struct latency *l)
{
	_cleanup_(flamegraph__freep) struct flamegraph *flames = NULL;
	_cleanup_(strbuf__free) struct strbuf name = { 0 }, subtitle = { 0 };
	bool has_groups = pairs__nr_by(l->pairs);
	struct flame_text text = { .unit = "ns" };
	struct pairs_weight w;
	size_t i;
	int err;

	err = flamegraph__new(&flames);
	for (i = 0; i < pairs__nr_weights(l->pairs) && !err; i++) {
		pairs__weight(l->pairs, i, &w);
		strbuf__reset(&name);
		if (has_groups)
			latency__group_name(l, w.group, &name);
		err = flames__add(flames, l->rd.reader, &l->rd.names, has_groups ? name.s : NULL,
				  w.kstack, w.ustack, w.ns);
	}
	if (err) {
		log_err(err, "draw the flame graph");
		return CMD_FAILURE;
	}
	strbuf__printf(&subtitle, "from %s to %s, stacks of the %s", l->start, l->end,
		       l->of_end ? "end" : "start");
	text.title = "Latency";
	text.subtitle = subtitle.s;
	return flames__write(flames, &l->rd, &text);
}

static int put_latency(struct latency *l)
{
	int code = CMD_OK, err;

	out__open(&l->out, true);
	err = read_pairs(l);
	if (err)
		return out__close(&l->out, CMD_FAILURE);
	/* The flame graph may go to standard output instead. */
	if (l->rd.flamegraph && !strcmp(l->rd.flamegraph, "-"))
		;
	else if (l->rd.json)
		latency__put_json(l);
	else
		latency__put_text(l);
	if (l->rd.flamegraph)
		code = put_flamegraph(l);
	return out__close(&l->out, code ?: reading__finish(&l->rd));
}

static int run(int argc, char **argv)
{
	_cleanup_(latency__free) struct latency l = { .rd.every = true, .top = 5, .shown = 10 };
	int code;

	code = parse_options(&l, argc, argv) ?:
		       reading__open(&l.rd, STK_WANT_EVENTS | STK_WANT_FIELDS);
	if (code)
		return code;
	latency__start_values(&l);
	return put_latency(&l);
}

const struct cmd cmd_latency = {
	.name = "latency",
	.summary = "time between pairs of events, with the stacks of both ends",
	.run = run,
	.options = options,
	.usage = "--start EVENTS --end EVENTS [OPTIONS] [FILE]\n"
		 "       stackonce latency --preset NAME [OPTIONS] [FILE]",
	.text = "Measures the time between pairs of events: distributions, and the slowest pairs\n"
		"with the stacks of both ends.  Unpaired events are counted.\n",
};
