// SPDX-License-Identifier: GPL-2.0-only
/* stackonce report: counts or weighs the call stacks of events. */
#include "report.h"

#include <errno.h>
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
	{ "--by LIST", "group by event (default), comm, sym, caller, a field, ...",
	  OPT_TEXT(struct report, by),
	  WORDS("event", "comm", "pid", "tid", "cpu", "sym", "caller", "file") },
	{ "--weigh FIELD[:HOW]", "order by a field's sum, avg, p50, p99, max or hist",
	  OPT_TEXT(struct report, weigh) },
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
	{ "--fold LIST", "fold parts of stacks: %s", OPT_WORDS(struct report, folding),
	  WORDS("idle", "interrupts", "guesses") }, /* in the order of the bits FOLD_... */
	FLAMEGRAPH_OPTIONS("write a flame graph for a browser"),
	{ "--folded", "print lines \"group;caller;callee COUNT\" for other tools",
	  OPT_FLAG(struct report, folded) },
	{ "--print-sql", "print the question as a query for 'stackonce sql'",
	  OPT_FLAG(struct report, print_sql) },
	SELECT_OPTIONS("only events",
		       "only these events, separated by commas: 'sched:*,sys_enter_*'"),
	{ "--kernel", "kernel stacks only", OPT_BIT(struct report, stacks, STACKS_KERNEL) },
	{ "--user", "user stacks only", OPT_BIT(struct report, stacks, STACKS_USER) },
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
	stack_counts__free(rp->counts);
	stack_fold__free(rp->fold);
	report__free_keys(rp);
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
	if (rp->print_sql && (flames || rp->tree || rp->flat || rp->rd.json || rp->folding))
		return ui__usage_error(rp->rd.command,
				       "--print-sql is for lists of stacks: it excludes --flat, "
				       "--tree, --fold, --folded, --flamegraph and --json");
	return CMD_OK;
}

/* The same for --weigh, which is known once the recording is open. */
static int check_weight(const struct report *rp)
{
	if ((rp->folded || rp->rd.flamegraph) && !report__has_shares(rp))
		return ui__usage_error(rp->rd.command,
				       "--folded and --flamegraph need weights that add up: give "
				       "--weigh %s:sum",
				       rp->weight_name);
	if (rp->spec.weighed && rp->spec.how == WEIGH_HIST && (rp->flat || rp->tree))
		return ui__usage_error(rp->rd.command,
				       "--weigh %s:hist prints a histogram of each stack: it "
				       "excludes --flat and --tree",
				       rp->weight_name);
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
	rp->by = rp->by ?: "event";
	return code;
}

/* ---- what is printed ------------------------------------------------------------------------- */

/* "3 events without bytes_alloc, 1 with a negative one": what has no weight.  False: nothing. */
static bool describe_left_out(const struct report *rp, struct strbuf *b)
{
	const struct stack_left_out left = stack_counts__left_out(rp->counts);

	if (left.missing) {
		strbuf__printf(b, "%s event%s without a number '", text__number(left.missing).s,
			       left.missing == 1 ? "" : "s");
		strbuf__text(b, rp->weight_name);
		strbuf__putc(b, '\'');
	}
	if (left.negative) {
		strbuf__printf(b, "%s%s event%s with a negative '", left.missing ? " and " : "",
			       text__number(left.negative).s, left.negative == 1 ? "" : "s");
		strbuf__text(b, rp->weight_name);
		strbuf__putc(b, '\'');
	}
	return left.missing || left.negative;
}

/* What is wrong with sums of more than UINT64_MAX.  False: there are none. */
static bool describe_sums(const struct report *rp, struct strbuf *b)
{
	if (!rp->sum_is_cut)
		return false;
	strbuf__puts(b, "sums of '");
	strbuf__text(b, rp->weight_name);
	strbuf__printf(b, "' of more than %s have this value, and shares are too large",
		       text__number(UINT64_MAX).s);
	return true;
}

static void put_notes(struct report *rp)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };

	if (describe_left_out(rp, &text))
		strbuf__printf(&rp->out.b, "# %s left out\n", text.s);
	strbuf__reset(&text);
	if (describe_sums(rp, &text))
		strbuf__printf(&rp->out.b, "# %s\n", text.s);
	rp->out.b.failed |= strbuf__failed(&text);
}

static void warn_notes(struct report *rp)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };

	if (describe_left_out(rp, &text))
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
	strbuf__printf(b, "# %s", text__number(rp->total).s);
	if (rp->rd.sel.any)
		strbuf__printf(b, " of %s", text__number(t.events).s);
	strbuf__printf(b, " events, recorded in %s", text__ns(t.last_ts - t.first_ts).s);
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
	const struct stack_left_out left = stack_counts__left_out(rp->counts);

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
	rp->sum_is_cut = sum > UINT64_MAX && report__has_shares(rp);
}

static int put_report(struct report *rp)
{
	const struct stack_group *groups;
	unsigned int nr, i;
	int err;

	err = stack_counts__finish(rp->counts, rp->fold, &groups, &nr);
	if (err)
		return log_err(err, "sort the stacks");
	add_up(rp, groups, nr);
	if (rp->rd.json || rp->folded || rp->rd.flamegraph)
		warn_notes(rp);
	if (rp->folded || rp->rd.flamegraph)
		return report__put_flames(rp, groups, nr);
	if (nr && !rp->rd.json)
		put_title(rp, &groups[0]);
	else if (!rp->rd.json)
		put_nothing(rp);
	for (i = 0; i < nr && !err && !out__drain(&rp->out); i++)
		err = put_group(rp, &groups[i]);
	return err;
}

/* ---- the loop -------------------------------------------------------------------------------- */

static int count_event(struct report *rp, const struct stk_event *e, uint64_t count)
{
	int err = stack_counts__add(rp->counts, e, count);

	if (err || !charge__is_due(&rp->charge))
		return err;
	return charge(&rp->charge, rp->rd.reader,
		      stack_counts__memory(rp->counts) + values__memory(rp->values), 0);
}

static int count_events(struct report *rp)
{
	/* Events that are counted at once differ in their fields and times. */
	bool one_by_one = report__needs_events(rp);
	const struct stk_event *e;
	uint64_t count = 1;
	int err = stack_fold__new(rp->rd.reader, rp->folding, &rp->fold) ?:
			  stack_counts__new(&rp->spec, &rp->counts);

	while (!err &&
	       (one_by_one ? reading__next(&rp->rd, &rp->out, NULL, NULL, &e) :
			     reading__next_counted(&rp->rd, &rp->out, NULL, NULL, &e, &count)))
		err = count_event(rp, e, count);
	return err ? log_err(err, "count the stacks") : 0;
}

/* Opens the recording: fields are decoded only if they are asked for. */
static int open_recording(struct report *rp)
{
	unsigned int want = report__needs_fields(rp) ? STK_WANT_FIELDS : 0;

	/* A query is about what the tables say. */
	want = rp->print_sql ? STK_WANT_FIELDS : want | STK_WANT_EVENTS;
	return reading__open(&rp->rd, want) ?: report__take_keys(rp) ?: check_weight(rp);
}

static int run(int argc, char **argv)
{
	_cleanup_(report__free) struct report rp = { .top = UINT64_MAX,
						     .depth = UINT32_MAX,
						     .min = MIN_SHARE };
	int code = parse_options(&rp, argc, argv), err;

	if (!code && rp.rd.follow)
		return report__follow(&rp);
	code = code ?: open_recording(&rp);
	if (code)
		return code;
	out__open(&rp.out, true);
	if (rp.print_sql)
		return out__close(&rp.out, report__put_sql(&rp));
	err = count_events(&rp);
	if (!err && report__check_keys(&rp))
		return out__close(&rp.out, CMD_FAILURE);
	err = err ?: put_report(&rp);
	return out__close(&rp.out, err ? CMD_FAILURE : reading__finish(&rp.rd));
}

const struct cmd cmd_report = {
	.name = "report",
	.summary = "the call stacks that events come from, most frequent first",
	.run = run,
	.options = options,
	.text = "Prints which call stacks events come from, most frequent first.\n",
};
