// SPDX-License-Identifier: GPL-2.0-only
/* stackonce report: counts the call stacks of events, as lists or as a tree. */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "live/live_run.h"
#include "losses.h"
#include "ui/flames.h"

/* clang-format off */
static const struct opt options[] = {
	READING_OPTIONS(struct report, rd, A_RECORDING),
	{ "--by LIST", "print one list per %s (default event)", OPT_WORDS(struct report, by),
	  WORDS("event", "comm", "pid", "tid", "cpu") }, /* in the order of the bits BY_... */
	{ "--top N", "print N stacks per list, 0: all (default 10)",
	  OPT_NUMBER(struct report, top, 0, UINT32_MAX) },
	{ "--tree", "print a tree, with the callers below each function",
	  OPT_FLAG(struct report, tree) },
	{ "--callees", "print a tree, with the callees below each function",
	  OPT_FLAG(struct report, callees) },
	{ "--min PERCENT", "leave out branches below this share (default 0.5)",
	  OPT_SECONDS(struct report, min, 100000000000), .expects = "a percentage" },
	FLAMEGRAPH_OPTIONS("write a flame graph with search and zoom, for a browser"),
	{ "--folded", "print lines \"group;caller;callee COUNT\" for other tools",
	  OPT_FLAG(struct report, folded) },
	SELECT_OPTIONS("only events",
		       "only these events, separated by commas: 'sched:*,sys_enter_*'"),
	{ "--kernel", "kernel stacks only", OPT_BIT(struct report, stacks, STACKS_KERNEL) },
	{ "--user", "user stacks only", OPT_BIT(struct report, stacks, STACKS_USER) },
	FULL_FILES_OPTION,
	INLINE_OPTION,
	NAMES_OPTIONS,
	FOLLOW_OPTION("show the hottest functions or stacks while the recording grows"),
	JSON_OPTION("print one JSON object per stack, or per function of the tree"),
	HELP_OPTION
};
/* clang-format on */

static void report__free(struct report *rp)
{
	stack_counts__free(rp->counts);
	strbuf__free(&rp->indent);
	reading__free(&rp->rd);
}

/* Refuses options that contradict each other. */
static int check_options(const struct report *rp)
{
	if ((rp->folded || rp->rd.flamegraph) && (rp->tree || rp->rd.json))
		return ui__usage_error(rp->rd.command, "--%s excludes --json, --tree and --callees",
				       rp->folded ? "folded" : "flamegraph");
	if (rp->folded && rp->rd.flamegraph && !strcmp(rp->rd.flamegraph, "-"))
		return ui__usage_error(rp->rd.command,
				       "--folded and --flamegraph - both write to standard output");
	if (rp->rd.follow && (rp->folded || rp->rd.flamegraph || rp->tree || rp->rd.json ||
			      rp->by != BY_EVENT || rp->rd.names.inlines))
		return ui__usage_error(
			rp->rd.command,
			"--follow shows a view of its own: it excludes --by, --json, "
			"--inline, --tree, --callees, --folded and --flamegraph");
	return CMD_OK;
}

static int parse_options(struct report *rp, int argc, char **argv)
{
	int code = reading__options(&rp->rd, &cmd_report, argc, argv);

	rp->tree |= rp->callees;
	rp->rd.no_notes = rp->folded;
	return code ?: check_options(rp);
}

/* Lost events of all types. */
static uint64_t sum_lost(const struct stk_reader *r)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < stk_reader__nr_types(r); i++)
		sum += losses__of(r, stk_reader__type(r, i), true);
	return sum;
}

/* Prints the number of events, which is 100 % below, and the losses. */
static void put_title(struct report *rp)
{
	struct strbuf *b = &rp->out.b;
	struct stk_totals t;
	uint64_t lost;

	stk_reader__totals(rp->rd.reader, &t);
	lost = sum_lost(rp->rd.reader);
	strbuf__printf(b, "# %s", text__number(rp->total).s);
	if (rp->rd.sel.any)
		strbuf__printf(b, " of %s", text__number(t.events).s);
	strbuf__printf(b, " events, recorded in %s", text__ns(t.last_ts - t.first_ts).s);
	if (lost)
		strbuf__printf(b, ", %s lost (see stackonce info)", text__number(lost).s);
	strbuf__putc(b, '\n');
	if (!rp->tree)
		report__put_columns(rp);
	strbuf__putc(b, '\n');
}

/* ---- flame graphs ---------------------------------------------------------------------------- */

/* The outermost frame of a group's stacks: "bash", "sched:sched_switch bash pid 12". */
static void put_label(struct strbuf *b, unsigned int by, const struct stack_group *g)
{
	if (g->type)
		strbuf__printf(b, " %s:%s", stk_event_type__system(g->type),
			       stk_event_type__name(g->type));
	if (by & BY_COMM)
		strbuf__printf(b, " %s", g->comm);
	if (by & BY_PID)
		strbuf__printf(b, " pid %u", g->pid);
	if (by & BY_TID)
		strbuf__printf(b, " tid %u", g->tid);
	if (by & BY_CPU)
		strbuf__printf(b, " cpu %u", g->cpu);
}

static int add_flames(struct report *rp, struct flamegraph *f, const struct stack_group *g)
{
	_cleanup_(strbuf__free) struct strbuf label = { 0 };
	unsigned int i;
	int err;

	put_label(&label, rp->by, g);
	err = strbuf__failed(&label) ? -ENOMEM : 0;
	for (i = 0; i < g->nr_stacks && !err; i++)
		err = flames__add(f, rp->rd.reader, &rp->rd.names, label.len ? label.s + 1 : NULL,
				  g->stacks[i].kstack, g->stacks[i].ustack, g->stacks[i].count);
	return err;
}

static int write_flames(struct report *rp, const struct flamegraph *f)
{
	_cleanup_(strbuf__free) struct strbuf subtitle = { 0 };
	uint64_t lost = sum_lost(rp->rd.reader);
	struct stk_totals t;

	stk_reader__totals(rp->rd.reader, &t);
	strbuf__printf(&subtitle, "%s, %s", rp->rd.path, text__ns(t.last_ts - t.first_ts).s);
	if (rp->rd.sel.any)
		strbuf__printf(&subtitle, ", selected from %" PRIu64 " events", t.events);
	if (lost)
		strbuf__printf(&subtitle, ", %" PRIu64 " lost", lost);
	if (strbuf__failed(&subtitle))
		return log_err(-ENOMEM, "draw the flame graph");
	return flames__write(f, &rp->rd,
			     &(struct flame_text){ .title = "Events by call stack",
						   .subtitle = subtitle.s,
						   .unit = "events" });
}

static int put_flames(struct report *rp, const struct stack_group *groups, unsigned int nr)
{
	_cleanup_(flamegraph__freep) struct flamegraph *f = NULL;
	unsigned int i;
	int err = flamegraph__new(&f);

	for (i = 0; i < nr && !err; i++)
		err = add_flames(rp, f, &groups[i]);
	if (err)
		return log_err(err, "sum up the stacks");
	if (rp->folded)
		flamegraph__folded(f, &rp->out.b);
	return rp->rd.flamegraph ? write_flames(rp, f) : 0;
}

static int put_report(struct report *rp)
{
	const struct stack_group *groups;
	unsigned int nr, i;
	int err;

	err = stack_counts__finish(rp->counts, rp->rd.reader, &groups, &nr);
	if (err)
		return log_err(err, "sort the stacks");
	if (rp->folded || rp->rd.flamegraph)
		return put_flames(rp, groups, nr);
	for (i = 0; i < nr; i++)
		rp->total += groups[i].count;
	if (nr && !rp->rd.json)
		put_title(rp);
	if (!nr && !rp->rd.json)
		strbuf__puts(&rp->out.b, rp->rd.sel.any ? "No events were selected.\n" :
							  "The recording has no events.\n");
	for (i = 0; i < nr && !err && !out__drain(&rp->out); i++) {
		if (rp->tree)
			err = report__put_tree(rp, &groups[i]);
		else
			report__put_stacks(rp, &groups[i]);
	}
	return err;
}

static int count_events(struct report *rp, const struct stk_event *e, uint64_t count)
{
	int err = stack_counts__add(rp->counts, e, count);

	if (err || !charge__is_due(&rp->charge))
		return err;
	return charge(&rp->charge, rp->rd.reader, stack_counts__memory(rp->counts), 0);
}

static int run(int argc, char **argv)
{
	_cleanup_(report__free) struct report rp = { .by = BY_EVENT, .top = 10, .min = 500000000 };
	const struct stk_event *e;
	uint64_t count;
	int code, err;

	code = parse_options(&rp, argc, argv) ?: reading__open(&rp.rd, STK_WANT_EVENTS);
	if (code)
		return code;
	if (rp.rd.follow)
		return live__run(&rp.rd, &(struct live_opts){
						 .stacks = rp.stacks ?: STACKS_KERNEL | STACKS_USER,
						 .rows = MIN(rp.top ?: UINT32_MAX, UINT16_MAX) });
	out__open(&rp.out, true);
	err = stack_counts__new(rp.by, rp.stacks ?: STACKS_KERNEL | STACKS_USER, &rp.counts);
	while (!err && reading__next_counted(&rp.rd, &rp.out, NULL, NULL, &e, &count))
		err = count_events(&rp, e, count);
	if (err)
		log_err(err, "count the stacks");
	else
		err = put_report(&rp);
	return out__close(&rp.out, err ? CMD_FAILURE : reading__finish(&rp.rd));
}

const struct cmd cmd_report = {
	.name = "report",
	.summary = "the call stacks that events come from, most frequent first",
	.run = run,
	.options = options,
	.text = "Prints which call stacks events come from, most frequent first.\n",
};
