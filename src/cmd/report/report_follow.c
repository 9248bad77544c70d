// SPDX-License-Identifier: GPL-2.0-only
/* The view of --follow: what it excludes, and which pairs it shows. */
#include "report.h"

#include <string.h>

#include "cleanup.h"
#include "live/live_run.h"

int report__take_presets(void *into, const struct opt *o, const char *names)
{
	struct report *rp = into;
	int code = presets__add(rp->rd.command, names, rp->presets, &rp->nr_presets);
	unsigned int i;

	for (i = 0; i < rp->nr_presets && !code; i++)
		code = pair_query__take_preset(&rp->query, rp->rd.command, rp->presets[i]->name);
	return code;
}

static int take_query(struct report *rp, const struct preset *preset)
{
	struct pair_query *q = &rp->queries[rp->nr_queries++];

	*q = rp->query;
	q->preset = preset;
	q->by = rp->c.by;
	return pair_query__complete(q, rp->rd.command);
}

/* Whether options say more about a pair than which preset it is. */
static bool is_refined(const struct report *rp)
{
	const struct pair_query *q = &rp->query;

	return q->start || q->end || q->match || q->start_if || q->single;
}

static int take_queries(struct report *rp)
{
	unsigned int i;
	int code = CMD_OK;

	if (rp->nr_presets > 1 && (is_refined(rp) || rp->c.by))
		return ui__usage_error(rp->rd.command,
				       "--by, --match, --start, --start-if, --end and --single are "
				       "about one pair: give one preset");
	if (!rp->nr_presets && is_refined(rp))
		return take_query(rp, NULL);
	for (i = 0; i < rp->nr_presets && !code; i++)
		code = take_query(rp, rp->presets[i]);
	return code;
}

int report__check_follow(struct report *rp)
{
	int code;

	if (!rp->rd.follow && (rp->nr_presets || is_refined(rp)))
		return ui__usage_error(rp->rd.command,
				       "--preset, --start, --end, --match, --start-if and --single "
				       "are about the pairs of --follow; 'stackonce latency' "
				       "measures the pairs of a whole recording");
	if (!rp->rd.follow)
		return CMD_OK;
	code = take_queries(rp);
	if (code)
		return code;
	if (rp->c.by && strcmp(rp->c.by, "event") && !rp->nr_queries)
		return ui__usage_error(
			rp->rd.command,
			"with --follow, --by groups pairs: give --preset, or --start "
			"and --end");
	if (rp->folded || rp->rd.flamegraph || rp->tree || rp->flat || rp->rd.json ||
	    rp->c.folding || rp->c.weigh || rp->print_sql || rp->rd.names.inlines ||
	    rp->min != MIN_SHARE)
		return ui__usage_error(
			rp->rd.command,
			"--follow shows a view of its own: it excludes --weigh, --json, --min, "
			"--inline, --flat, --tree, --fold, --folded, --flamegraph and --print-sql");
	/* Pairs are made of all events, as those of latency. */
	rp->rd.every = rp->rd.one_boot = rp->nr_queries;
	return CMD_OK;
}

int report__follow(struct report *rp)
{
	unsigned int want = STK_WANT_EVENTS | (rp->nr_queries ? STK_WANT_FIELDS : 0);
	uint64_t top = rp->top == UINT64_MAX ? STACKS_TOP : rp->top ?: UINT16_MAX;
	const struct live_opts opts = {
		.stacks = rp->c.stacks ?: STACKS_KERNEL | STACKS_USER,
		.rows = MIN(top, UINT16_MAX),
		.queries = rp->queries,
		.nr_queries = rp->nr_queries,
	};

	return reading__open(&rp->rd, want) ?: live__run(&rp->rd, &opts);
}

void report__free_queries(struct report *rp)
{
	unsigned int i;

	for (i = 0; i < rp->nr_queries; i++)
		pair_query__free(&rp->queries[i]);
}
