// SPDX-License-Identifier: GPL-2.0-only
/* The text output: a table of the groups, then the histogram and slowest pairs of each. */
#include "latency.h"

#include <inttypes.h>
#include <string.h>

#include "cleanup.h"
#include "ui/frames.h"

#define LINEAR_BINS 16
#define MIN_WIDTH 60
#define MAX_WIDTH 160

/* ---- the table ------------------------------------------------------------------------------- */

void latency__put_columns(struct out *o, const struct durations *d)
{
	column__number(o, "count", 11, d->count);
	column__ns(o, "sum", 10, d->sum);
	column__ns(o, "min", 10, d->min);
	column__ns(o, "mean", 10, latency__mean(d));
	column__ns(o, "p50", 10, durations__percentile(d, 500));
	column__ns(o, "p90", 10, durations__percentile(d, 900));
	column__ns(o, "p99", 10, durations__percentile(d, 990));
	column__ns(o, "p999", 10, durations__percentile(d, 999));
	column__ns(o, "max", 10, d->max);
	column__bool(o, "exact", durations__is_exact(d));
}

static void put_row(struct latency *l, const struct pairs_group *g)
{
	latency__put_columns(&l->out, &g->durations);
	strbuf__puts(&l->out.b, "  ");
	pair_query__group_name(&l->query, g, &l->out.b);
	strbuf__putc(&l->out.b, '\n');
}

static void put_table(struct latency *l)
{
	struct strbuf *b = &l->out.b;
	bool exact = true;
	unsigned int i;

	out__paint(&l->out, OUT_HEAD);
	l->out.heads = true;
	latency__put_columns(&l->out, &(struct durations){ 0 });
	l->out.heads = false;
	strbuf__puts(b, "  group\n");
	out__paint(&l->out, OUT_PLAIN);
	for (i = 0; i < l->res.nr_groups && !out__drain(&l->out); i++) {
		put_row(l, l->res.groups[i]);
		exact = exact && durations__is_exact(&l->res.groups[i]->durations);
	}
	strbuf__puts(b, "All percentiles are exact");
	if (!exact)
		strbuf__printf(b,
			       " in groups of up to %s, in larger ones at most 1/%u (%.1f %%) above"
			       " the exact ones",
			       text__number(DURATIONS_EXACT).s, DURATIONS_ERROR,
			       100.0 / DURATIONS_ERROR);
	strbuf__puts(b, ".\n");
}

/* ---- histograms ------------------------------------------------------------------------------ */

static void put_histogram(struct latency *l, const struct durations *d)
{
	struct bin bins[HISTOGRAM_BINS];
	unsigned int nr = latency__bins(l, d, bins), i, len;
	unsigned int width = MIN(MAX(l->out.width, MIN_WIDTH), MAX_WIDTH) - 40;
	struct strbuf *b = &l->out.b;
	uint64_t most = 0;

	for (i = 0; i < nr; i++)
		most = MAX(most, bins[i].count);
	for (i = 0; i < nr; i++) {
		strbuf__printf(b, "%11s ..%9s%s%12s%s", text__ns(bins[i].from).s,
			       text__ns(bins[i].to).s, out__colour(&l->out, OUT_NUMBER),
			       text__number(bins[i].count).s, out__colour(&l->out, OUT_PLAIN));
		/* A bin that is not empty has at least one mark. */
		len = most ? (unsigned __int128)bins[i].count * width / most : 0;
		if (bins[i].count)
			strbuf__puts(b, "  ");
		strbuf__pad(b, '#', len ?: !!bins[i].count);
		strbuf__putc(b, '\n');
	}
}

/* ---- single pairs ---------------------------------------------------------------------------- */

/* "comm-tid"; "<idle>-0" for idle tasks */
static void put_task(struct latency *l, const struct pairs_end *e)
{
	const char *comm = e->tid ? pairs__comm(l->query.pairs, e->comm) : "<idle>";

	strbuf__text(&l->out.b, comm);
	strbuf__printf(&l->out.b, "-%u", e->tid);
}

static void put_time(struct strbuf *b, uint64_t ts)
{
	strbuf__printf(b, "%" PRIu64 ".%09" PRIu64, ts / 1000000000, ts % 1000000000);
}

/* "start 12.000000001 cpu 0 bash-12 stack 3", then the full stacks with --stacks */
static void put_end(struct latency *l, const char *what, const struct pairs_end *e)
{
	struct strbuf *b = &l->out.b;

	strbuf__puts(b, what);
	put_time(b, e->ts);
	strbuf__printf(b, " cpu %u ", e->cpu);
	put_task(l, e);
	if (!stack__put_ids(l->rd.reader, b, e->kstack, e->ustack))
		strbuf__puts(b, " no stack");
	strbuf__putc(b, '\n');
	if (l->stacks)
		stack__put(&l->rd.names, b, "                  ", e->kstack, e->ustack);
}

static void put_slowest(struct latency *l, const struct pairs_group *g)
{
	struct strbuf *b = &l->out.b;
	unsigned int i;

	if (g->nr_slowest)
		strbuf__puts(b, "  slowest:\n");
	for (i = 0; i < g->nr_slowest && !out__drain(&l->out); i++) {
		const struct pairs_pair *p = &g->slowest[i];

		strbuf__printf(b, "%11s", text__ns(p->end.ts - p->start.ts).s);
		put_end(l, "  start ", &p->start);
		put_end(l, "             end   ", &p->end);
	}
}

static void put_group(struct latency *l, const struct pairs_group *g)
{
	struct strbuf *b = &l->out.b;

	strbuf__putc(b, '\n');
	out__paint(&l->out, OUT_HEAD);
	pair_query__group_name(&l->query, g, b);
	out__paint(&l->out, OUT_PLAIN);
	strbuf__printf(b, ": %s, %s\n", text__count(g->durations.count, "pair").s,
		       text__ns(g->durations.sum).s);
	put_histogram(l, &g->durations);
	put_slowest(l, g);
}

/* ---- accounting ------------------------------------------------------------------------------ */

/* A number of starts or ends: its JSON key, and its text in the sum of starts and of ends. */
struct count {
	const char *key;
	uint64_t nr;
	const char *start, *end;
};

static void put_note(struct strbuf *b, uint64_t nr, const char *noun, const char *what)
{
	if (nr)
		strbuf__printf(b, "%s %s\n", text__count(nr, noun).s, what);
}

static void put_notes(struct latency *l)
{
	const struct pairs_counts *c = &l->res.counts;
	struct strbuf *b = &l->out.b;

	if (c->lost_starts || c->lost_ends)
		strbuf__printf(b,
			       "Lost while recording: %s, %s.  Pairs during which one"
			       " of them may have happened are not measured (see stackonce info;"
			       " record --buffer-size).\n",
			       text__count(c->lost_starts, "start").s,
			       text__count(c->lost_ends, "end").s);
	if (c->filtered_starts || c->filtered_ends)
		strbuf__printf(b,
			       "Filtered while recording: %s, %s.  Only the others are"
			       " matched.\n",
			       text__count(c->filtered_starts, "start").s,
			       text__count(c->filtered_ends, "end").s);
	put_note(b, c->open_gap, "open start", "before a gap, which may hold the end.");
	put_note(b, c->start_late + c->end_late, "event",
		 "out of order: pairs that ended before are not checked.");
	put_note(b, c->others, "pair", "in the group (others).");
}

/* "12 starts = 10 paired + 2 still open\n" */
static void put_sum(struct strbuf *b, uint64_t sum, const char *what, const struct count *rows,
		    bool of_end)
{
	const char *before = " = ";

	strbuf__printf(b, "%s", text__count(sum, what).s);
	for (; rows->key; rows++) {
		if (!rows->nr || !(of_end ? rows->end : rows->start))
			continue;
		strbuf__printf(b, "%s%s%s", before, text__number(rows->nr).s,
			       of_end ? rows->end : rows->start);
		before = " + ";
	}
	strbuf__putc(b, '\n');
}

void latency__put_accounting(struct latency *l)
{
	static const char paired[] = " paired", gap[] = " across a gap", late[] = " out of order",
			  no_fields[] = " without fields", idle[] = " of idle tasks",
			  other[] = " not selected";
	const struct pairs_counts *c = &l->res.counts;
	const struct count rows[] = {
		{ "starts", c->starts, NULL, NULL },
		{ "ends", c->ends, NULL, NULL },
		{ "paired", c->paired, paired, paired },
		{ "across_gap", c->gap, gap, gap },
		{ "open", c->open, " still open", NULL },
		{ "open_before_gap", c->open_gap, NULL, NULL },
		{ "thread_ended", c->gone, " whose thread ended", NULL },
		{ "replaced", c->replaced, " replaced by a later one", NULL },
		{ "without_start", c->without_start, NULL, " without a start" },
		{ "late_starts", c->start_late, late, NULL },
		{ "late_ends", c->end_late, NULL, late },
		{ "starts_without_fields", c->start_unknown, no_fields, NULL },
		{ "ends_without_fields", c->end_unknown, NULL, no_fields },
		{ "idle_starts", c->start_idle, idle, NULL },
		{ "idle_ends", c->end_idle, NULL, idle },
		{ "starts_over_limit", c->start_over, " beyond the limit of open starts", NULL },
		{ "unselected_starts", c->start_unselected, other, NULL },
		{ "unselected_ends", c->end_unselected, NULL, other },
		{ "pairs_in_others", c->others, NULL, NULL },
		{ "lost_starts", c->lost_starts, NULL, NULL },
		{ "lost_ends", c->lost_ends, NULL, NULL },
		{ "filtered_starts", c->filtered_starts, NULL, NULL },
		{ "filtered_ends", c->filtered_ends, NULL, NULL },
		{ NULL, 0, NULL, NULL },
	};
	size_t i;

	for (i = 0; rows[i].key && l->rd.json; i++)
		json__u64(&l->out.json, rows[i].key, rows[i].nr);
	if (l->rd.json)
		return;
	strbuf__putc(&l->out.b, '\n');
	put_sum(&l->out.b, c->starts, "start", rows, false);
	put_sum(&l->out.b, c->ends, "end", rows, true);
	put_notes(l);
}

static void put_open(struct latency *l)
{
	struct strbuf *b = &l->out.b;
	struct stk_totals t;
	unsigned int i;

	if (!l->res.nr_open)
		return;
	stk_reader__totals(l->rd.reader, &t);
	strbuf__puts(b, "\nStill open at the end of the recording, oldest first:\n");
	for (i = 0; i < l->res.nr_open && !out__drain(&l->out); i++) {
		const struct pairs_end *e = &l->res.open[i];

		strbuf__printf(b, "%11s", text__ns(t.last_ts > e->ts ? t.last_ts - e->ts : 0).s);
		put_end(l, "  since ", e);
	}
}

void latency__put_text(struct latency *l)
{
	struct strbuf *b = &l->out.b;
	unsigned int i, nr = l->res.nr_groups;

	if (nr)
		put_table(l);
	else
		strbuf__puts(b, "There are no pairs.\n");
	if (l->shown && nr > l->shown)
		nr = l->shown;
	for (i = 0; i < nr && !out__drain(&l->out); i++)
		put_group(l, l->res.groups[i]);
	if (nr < l->res.nr_groups)
		strbuf__printf(b, "\n%s: --groups 0 prints all\n",
			       text__count(l->res.nr_groups - nr, "more group").s);
	put_open(l);
	latency__put_accounting(l);
}

/* ---- shared with JSON ------------------------------------------------------------------------ */

uint64_t latency__mean(const struct durations *d)
{
	return d->count ? d->sum / d->count : 0;
}

static unsigned int powers_of_two(const struct durations *d, struct bin *bins)
{
	unsigned int first = d->min ? 63 - __builtin_clzll(d->min) : 0;
	unsigned int last = d->max ? 63 - __builtin_clzll(d->max) : 0, i;

	for (i = first; i <= last; i++) {
		struct bin *bin = &bins[i - first];

		bin->from = i ? 1ull << i : 0;
		bin->to = (1ull << i) + ((1ull << i) - 1);
		bin->count = durations__between(d, bin->from, bin->to);
	}
	return last - first + 1;
}

static unsigned int equal_parts(const struct durations *d, struct bin *bins)
{
	uint64_t step = (d->max - d->min) / LINEAR_BINS + 1;
	unsigned int i;

	for (i = 0; i < LINEAR_BINS && i * step <= d->max - d->min; i++) {
		bins[i].from = d->min + i * step;
		bins[i].to = MIN(bins[i].from + (step - 1), d->max);
		/* A bucket counts by its lower bound, which may be below the minimum. */
		bins[i].count = durations__between(d, i ? bins[i].from : 0, bins[i].to);
	}
	return i;
}

unsigned int latency__bins(const struct latency *l, const struct durations *d,
			   struct bin ret_bins[HISTOGRAM_BINS])
{
	if (!d->count)
		return 0;
	return l->linear ? equal_parts(d, ret_bins) : powers_of_two(d, ret_bins);
}
