// SPDX-License-Identifier: GPL-2.0-only
/* stackonce latency: measures the time between pairs of events. */
#include "latency.h"

#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "ui/flames.h"

#define MAX_TOP 1000 /* pairs kept for each group */

/* ---- options --------------------------------------------------------------------------------- */

static int take_preset(void *into, const struct opt *o, const char *name)
{
	struct latency *l = into;

	return pair_query__take_preset(&l->query, l->rd.command, name);
}

/* clang-format off */
static const struct opt options[] = {
	READING_OPTIONS(struct latency, rd, A_RECORDING),
	PAIR_EVENTS_OPTIONS(struct latency, query, PAIR_SHOWN),
	{ "--preset NAME", "start, end and key for 'stackonce record --preset NAME', see "
	  "'list --presets'; other options override them", OPT_FN(take_preset), PRESET_WORDS },
	PAIR_KEY_OPTIONS(struct latency, query, PAIR_SHOWN),
	{ "--by LIST", "group by these fields of the start, or else of the end; also "
	  "comm,pid,tid,cpu,event,context", OPT_TEXT(struct latency, query.by) },
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
	JSON_OPTION("one JSON object per group, slow pair and open start"),
	HELP_OPTION
};
/* clang-format on */

static int parse_options(struct latency *l, int argc, char **argv)
{
	return reading__options(&l->rd, &cmd_latency, argc, argv) ?:
		       pair_query__complete(&l->query, l->rd.command);
}

/* ---- the run --------------------------------------------------------------------------------- */

static int put_flamegraph(struct latency *l)
{
	_cleanup_(flamegraph__freep) struct flamegraph *flames = NULL;
	_cleanup_(strbuf__free) struct strbuf name = { 0 }, subtitle = { 0 };
	bool has_groups = pairs__nr_by(l->query.pairs);
	struct flame_text text = { .unit = "ns" };
	struct pairs_weight w;
	size_t i;
	int err;

	err = flamegraph__new(&flames);
	for (i = 0; i < pairs__nr_weights(l->query.pairs) && !err; i++) {
		pairs__weight(l->query.pairs, i, &w);
		strbuf__reset(&name);
		if (has_groups)
			pair_query__group_name(&l->query, w.group, &name);
		err = flames__add(flames, l->rd.reader, &l->rd.names, has_groups ? name.s : NULL,
				  w.kstack, w.ustack, w.ns);
	}
	if (err) {
		log_err(err, "draw the flame graph");
		return CMD_FAILURE;
	}
	strbuf__printf(&subtitle, "from %s to %s, stacks of the %s", l->query.start, l->query.end,
		       l->of_end ? "end" : "start");
	text.title = "Latency";
	text.subtitle = subtitle.s;
	return flames__write(flames, &l->rd, &text);
}

static int put_latency(struct latency *l)
{
	int code = CMD_OK, err;

	out__open(&l->out, true);
	err = latency__read(l);
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
	_cleanup_(latency__free) struct latency l = {
		.rd.every = true, .rd.one_boot = true, .top = 5, .shown = 10
	};
	int code;

	code = parse_options(&l, argc, argv) ?:
		       reading__open(&l.rd, STK_WANT_EVENTS | STK_WANT_FIELDS);
	if (code)
		return code;
	return put_latency(&l);
}

const struct cmd cmd_latency = {
	.name = "latency",
	.summary = "time between pairs of events, with the stacks of both ends",
	.run = run,
	.options = options,
	.usage = "--start EVENTS --end EVENTS [OPTIONS] [FILE...]\n"
		 "       stackonce latency --preset NAME [OPTIONS] [FILE...]",
	.text = "Measures the time between pairs of events: distributions, and the slowest pairs\n"
		"with the stacks of both ends.  Unpaired events are counted.\n",
};
