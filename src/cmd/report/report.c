// SPDX-License-Identifier: GPL-2.0-only
/* stackonce report: counts or weighs the call stacks of events. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "losses.h"

static int take_flat(void *into, const struct opt *o, const char *arg)
{
	struct report *rp = into;

	rp->flat = true;
	return arg ? opt__word(o, arg, &rp->unit) : CMD_OK;
}

static int take_tree(void *into, const struct opt *o, const char *arg)
{
	struct report *rp = into;
	unsigned int which = 0;
	int err = arg ? opt__word(o, arg, &which) : 0;

	rp->tree = true;
	rp->callees = which == 1;
	return err;
}

/* clang-format off */
static const struct opt options[] = {
	READING_OPTIONS(struct report, rd, A_RECORDING),
	BY_OPTIONS(struct report, c,
		   "group by event (default), comm, sym, caller, a field, ...",
		   "[:HOW]", "order by a field's sum, avg, p50, p99, max or hist"),
	{ "--top N", "print N stacks (default 10) or functions (30), 0: all",
	  OPT_NUMBER(struct report, top, 0, UINT32_MAX) },
	{ "--flat[=WHAT]", "print a flat profile by %s", OPT_FN(take_flat),
	  WORDS("function", "library", "line") }, /* in the order of enum report_unit */
	{ "--no-children", "order a flat profile by the functions' own share",
	  OPT_FLAG(struct report, no_children) },
	{ "--tree[=BELOW]", "print a tree with the %s below",
	  OPT_FN(take_tree), WORDS("callers", "callees") },
	/* the old name of --tree=callees */
	{ "--callees", NULL, OPT_FLAG(struct report, callees) },
	{ "--depth N", "print N levels of a tree",
	  OPT_NUMBER(struct report, depth, 1, UINT32_MAX) },
	{ "--min PERCENT", "leave out what has a smaller share (default 0.5)",
	  OPT_SECONDS(struct report, min, 100000000000), .expects = "a percentage" },
	FOLD_OPTION(struct report, c),
	FLAMEGRAPH_OPTIONS("write a flame graph for a browser"),
	{ "--folded", "print lines \"group;caller;callee COUNT\" for other tools",
	  OPT_FLAG(struct report, folded) },
	{ "--print-sql", "print the question as a query for 'stackonce sql'",
	  OPT_FLAG(struct report, print_sql) },
	SELECT_OPTIONS("only events",
		       "only these events, separated by commas: 'sched:*,sys_enter_*'"),
	STACKS_OPTIONS(struct report, c),
	FULL_FILES_OPTION,
	INLINE_OPTION,
	NAMES_OPTIONS,
	FOLLOW_OPTION("show the hottest functions, stacks or pairs while the recording grows"),
	{ "--preset NAME", "pairs to follow; or --start and --end, as for 'latency'",
	  OPT_FN(report__take_presets), PRESET_WORDS },
	PAIR_EVENTS_OPTIONS(struct report, query, PAIR_HIDDEN),
	PAIR_KEY_OPTIONS(struct report, query, PAIR_HIDDEN),
	JSON_OPTION("print one JSON object per stack or function"),
	HELP_OPTION
};
/* clang-format on */

static void report__free(struct report *rp)
{
	counting__free(&rp->c);
	report__free_queries(rp);
	string_table__clear(&rp->texts);
	strbuf__free(&rp->indent);
	reading__free(&rp->rd);
}

/* ---- options --------------------------------------------------------------------------------- */

/* Refuses options that contradict each other. */
static int check_options(const struct report *rp)
{
	const char *flames = rp->folded ? "folded" : rp->rd.flamegraph ? "flamegraph" : NULL;

	if (flames && (rp->tree || rp->flat || rp->rd.json))
		return ui__usage_error(rp->rd.command, "--%s excludes --json, --flat and --tree",
				       flames);
	if (rp->folded && rp->rd.flamegraph && !strcmp(rp->rd.flamegraph, "-"))
		return ui__usage_error(rp->rd.command,
				       "--folded and --flamegraph - both write to standard output");
	if (rp->unit == UNIT_LINE && rp->rd.names.no_symbols)
		return ui__usage_error(rp->rd.command, "--flat=line reads files, --no-symbols "
						       "forbids that: give one of them");
	if (rp->flat && rp->tree)
		return ui__usage_error(rp->rd.command, "give one of --flat and --tree");
	if (rp->depth != UINT32_MAX && !rp->tree)
		return ui__usage_error(rp->rd.command, "--depth is for trees: add --tree");
	if (rp->print_sql && (flames || rp->tree || rp->flat || rp->rd.json || rp->c.folding))
		return ui__usage_error(rp->rd.command,
				       "--print-sql is for lists of stacks: it excludes --flat, "
				       "--tree, --fold, --folded, --flamegraph and --json");
	return CMD_OK;
}

/* The same for --weigh, which is known once the recording is open. */
static int check_weight(const struct report *rp)
{
	if ((rp->folded || rp->rd.flamegraph) && !counting__has_shares(&rp->c))
		return ui__usage_error(rp->rd.command,
				       "--folded and --flamegraph need weights that add up: give "
				       "--weigh %s:sum",
				       rp->c.weight_name);
	if (rp->c.spec.weighed && rp->c.spec.how == WEIGH_HIST && (rp->flat || rp->tree))
		return ui__usage_error(rp->rd.command,
				       "--weigh %s:hist prints a histogram of each stack: it "
				       "excludes --flat and --tree",
				       rp->c.weight_name);
	return CMD_OK;
}

static int parse_options(struct report *rp, int argc, char **argv)
{
	int code = reading__options(&rp->rd, &cmd_report, argc, argv);

	rp->tree |= rp->callees;
	rp->rd.no_notes = rp->folded || rp->print_sql;
	rp->flat |= rp->no_children;
	rp->rd.names.inlines |= rp->unit == UNIT_LINE;
	code = code ?: check_options(rp) ?: report__check_follow(rp);
	rp->c.by = rp->c.by ?: "event";
	return code;
}

/* ---- what is printed ------------------------------------------------------------------------- */

/* What is wrong with sums of more than UINT64_MAX.  False: there are none. */
static bool describe_sums(const struct report *rp, struct strbuf *b)
{
	if (!rp->sum_is_cut)
		return false;
	strbuf__puts(b, "sums of '");
	strbuf__text(b, rp->c.weight_name);
	strbuf__printf(b, "' of more than %s have this value, and shares are too large",
		       text__number(UINT64_MAX).s);
	return true;
}

static void put_notes(struct report *rp)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };

	if (counting__left_out(&rp->c, &text))
		strbuf__printf(&rp->out.b, "# %s left out\n", text.s);
	strbuf__reset(&text);
	if (describe_sums(rp, &text))
		strbuf__printf(&rp->out.b, "# %s\n", text.s);
	rp->out.b.failed |= strbuf__failed(&text);
}

static void warn_notes(struct report *rp)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };

	if (counting__left_out(&rp->c, &text))
		log_warn("%s left out", text.s);
	strbuf__reset(&text);
	if (describe_sums(rp, &text))
		log_warn("%s", text.s);
}

/* Timer samples show where time is spent: by function. */
static bool is_profile(const struct stack_group *g)
{
	return stk_event_type__kind(g->type) == STK_KIND_SAMPLE && !g->other_types &&
	       !(g->weighed && g->how == WEIGH_HIST);
}

/* Prints the number of events, which is 100 % below, and the losses. */
static void put_title(struct report *rp, const struct stack_group *first)
{
	struct strbuf *b = &rp->out.b;
	struct stk_totals t;
	uint64_t lost;

	stk_reader__totals(rp->rd.reader, &t);
	lost = losses__all(rp->rd.reader);
	strbuf__puts(b, "# ");
	if (rp->rd.sel.any)
		strbuf__printf(b, "%s of ", text__number(rp->total).s);
	strbuf__printf(b, "%s, recorded in %s",
		       text__count(rp->rd.sel.any ? t.events : rp->total, "event").s,
		       text__ns(t.last_ts - t.first_ts).s);
	if (lost)
		strbuf__printf(b, ", %s lost (see stackonce info)", text__number(lost).s);
	strbuf__putc(b, '\n');
	put_notes(rp);
	if (!rp->tree && !rp->flat && !is_profile(first))
		report__put_columns(rp);
	strbuf__putc(b, '\n');
}

static int put_group(struct report *rp, const struct stack_group *g)
{
	bool functions = is_profile(g) && !rp->rd.json;
	int err = 0;

	if (!rp->rd.json)
		report__put_head(rp, g);
	if (rp->tree)
		return report__put_tree(rp, g);
	if (rp->flat || functions)
		err = report__put_flat(rp, g);
	if (err || rp->flat)
		return err;
	if (functions)
		report__put_columns(rp);
	report__put_stacks(rp, g);
	return 0;
}

static void put_nothing(struct report *rp)
{
	const struct stack_left_out left = stack_counts__left_out(rp->c.counts);

	if (left.missing || left.negative)
		put_notes(rp);
	strbuf__puts(&rp->out.b, left.missing || left.negative ? "No event has a weight.\n" :
				 rp->rd.sel.any		       ? "No events were selected.\n" :
								 "The recording has no events.\n");
}

static void add_up(struct report *rp, const struct stack_group *groups, unsigned int nr)
{
	unsigned __int128 sum = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		rp->total += groups[i].count;
		sum += groups[i].weight.sum;
	}
	rp->total_weight = MIN(sum, UINT64_MAX);
	rp->sum_is_cut = sum > UINT64_MAX && counting__has_shares(&rp->c);
}

static int put_report(struct report *rp)
{
	const struct stack_group *groups = rp->c.groups;
	unsigned int nr = rp->c.nr_groups, i;
	int err = 0;

	add_up(rp, groups, nr);
	if (rp->rd.json || rp->folded || rp->rd.flamegraph)
		warn_notes(rp);
	if (rp->folded || rp->rd.flamegraph)
		return report__put_flames(rp);
	if (nr && !rp->rd.json)
		put_title(rp, &groups[0]);
	else if (!rp->rd.json)
		put_nothing(rp);
	for (i = 0; i < nr && !err && !out__drain(&rp->out); i++)
		err = put_group(rp, &groups[i]);
	return err;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Opens the recording: fields are decoded only if they are asked for. */
static int open_recording(struct report *rp)
{
	unsigned int want = counting__wants(&rp->c);

	/* A query is about what the tables say. */
	want = rp->print_sql ? STK_WANT_FIELDS : want | STK_WANT_EVENTS;
	return reading__open(&rp->rd, want) ?: counting__start(&rp->c, &rp->rd) ?: check_weight(rp);
}

static int run(int argc, char **argv)
{
	_cleanup_(report__free) struct report rp = { .top = UINT64_MAX,
						     .depth = UINT32_MAX,
						     .min = MIN_SHARE };
	int code = parse_options(&rp, argc, argv);

	if (!code && rp.rd.follow)
		return report__follow(&rp);
	code = code ?: open_recording(&rp);
	if (code)
		return code;
	out__open(&rp.out, true);
	if (rp.print_sql)
		return out__close(&rp.out, report__put_sql(&rp));
	code = counting__run(&rp.c, &rp.out) ?: counting__finish(&rp.c);
	if (!code && put_report(&rp))
		code = CMD_FAILURE;
	return out__close(&rp.out, code ?: reading__finish(&rp.rd));
}

const struct cmd cmd_report = {
	.name = "report",
	.summary = "the call stacks that events come from, most frequent first",
	.run = run,
	.options = options,
	.text = "Prints which call stacks events come from, most frequent first.\n",
};
