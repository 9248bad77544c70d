// SPDX-License-Identifier: GPL-2.0-only
/* stackonce lifecycle: counts, distributions, and what cannot be known. */
#include <inttypes.h>
#include <string.h>

#include "cleanup.h"
#include "lifecycle.h"

static void put_count(struct strbuf *b, uint64_t v, const char *what, const char *detail)
{
	if (!v)
		return;
	strbuf__printf(b, "%10s %s", text__number(v).s, what);
	if (detail)
		strbuf__printf(b, " (%s)", detail);
	strbuf__putc(b, '\n');
}

static void put_fates(struct strbuf *b, const struct lifecycle_totals *t)
{
	strbuf__printf(b,
		       "%10s ended: %" PRIu64 " with exit 0, %" PRIu64
		       " with another status, %" PRIu64 " by a signal, %" PRIu64 " unknown",
		       text__number(t->ended).s, t->status_0, t->status_other, t->signals,
		       t->unknown);
	if (t->uncertain)
		strbuf__printf(b, "; %" PRIu64 " of them uncertain", t->uncertain);
	strbuf__putc(b, '\n');
}

static void put_totals(struct lifecycle_cmd *c, const struct lifecycle_totals *t,
		       const struct lifecycle_counts *n)
{
	struct strbuf *b = &c->out.b;

	put_count(b, n->processes, "processes were born", NULL);
	put_count(b, n->existed, "were there before, as far as seen", NULL);
	put_count(b, n->threads, "threads were born besides", NULL);
	put_count(b, n->execs, "programs were executed", NULL);
	put_fates(b, t);
	put_count(b, t->reaped, "reaped by a wait that was seen", NULL);
	put_count(b, t->reaped_unseen, "reaped unseen", "SIGCHLD ignored, or not by a system call");
	put_count(b, n->orphans, "lost their parent", NULL);
	put_count(b, t->freed, "freed", NULL);
	put_count(b, t->exiting, "exiting at the end", NULL);
	put_count(b, t->zombies, "zombies at the end",
		  lifecycle__has_end_list(c->l) ? "as in /proc" : NULL);
	put_count(b, t->unfreed - t->overdue, "waiting for RCU at the end", NULL);
	put_count(b, t->overdue,
		  n->frees_unnamed ? "not freed for more than a second, or it was missed" :
				     "LEAKS: exited, and not freed for more than a second",
		  NULL);
	put_count(b, t->gone, "gone without their end or their free being seen", NULL);
}

void lifecycle__put_durations(struct out *o, const struct durations *d)
{
	column__ns(o, "min", 11, d->min);
	column__ns(o, "p50", 11, durations__percentile(d, 500));
	column__ns(o, "p90", 11, durations__percentile(d, 900));
	column__ns(o, "p99", 11, durations__percentile(d, 990));
	column__ns(o, "max", 11, d->max);
	column__bool(o, "exact", durations__is_exact(d));
}

static void put_distribution(struct lifecycle_cmd *c, const char *name, const struct span_stats *s)
{
	struct strbuf *b = &c->out.b;

	if (!s->known.count && !s->between)
		return;
	strbuf__printf(b, "%-14s", name);
	column__number(&c->out, "known", 9, s->known.count);
	if (s->known.count)
		lifecycle__put_durations(&c->out, &s->known);
	if (s->between)
		strbuf__printf(b, "   and %" PRIu64 " known as intervals only", s->between);
	strbuf__putc(b, '\n');
}

static void put_distributions(struct lifecycle_cmd *c)
{
	struct strbuf *b = &c->out.b;
	bool exact = true;
	unsigned int i;

	if (!c->processes.ended)
		return;
	strbuf__printf(b, "\n%s%14s", out__colour(&c->out, OUT_HEAD), "");
	c->out.heads = true;
	column__number(&c->out, "known", 9, 0);
	lifecycle__put_durations(&c->out, &c->processes.spans[0].known);
	c->out.heads = false;
	strbuf__printf(b, "%s\n", out__colour(&c->out, OUT_PLAIN));
	for (i = 0; i < NR_SPANS; i++) {
		put_distribution(c, span_names[i], &c->processes.spans[i]);
		exact &= durations__is_exact(&c->processes.spans[i].known);
	}
	if (!exact)
		strbuf__printf(b, "(percentiles of many values are at most 1/%u too high)\n",
			       DURATIONS_ERROR);
}

void lifecycle__put_unmatched(struct lifecycle_cmd *c, const struct lifecycle_counts *n)
{
	const struct {
		const char *key;
		uint64_t count;
		const char *what;
	} rows[] = {
		{ "births_unseen", n->births_unseen, "tasks were met whose birth was not seen" },
		{ "exits_unseen", n->exits_unseen, "exits were not seen" },
		{ "waits_unmatched", n->waits_unmatched,
		  "waits returned somebody that is not known, or one of several" },
		{ "stop_reports", n->stop_reports,
		  "waits returned somebody who had stopped, not ended" },
		{ "tracer_waits", n->tracer_waits, "ends were seen by a tracer" },
		{ "frees_unmatched", n->frees_unmatched,
		  "were freed who had ended before the recording" },
		{ "frees_unnamed", n->frees_unnamed,
		  "were freed and it is not known who: events lost, or without fields" },
		{ "frees_ambiguous", n->frees_ambiguous,
		  "were freed where two had had the same pid and name" },
		{ "pid_reuses", n->pid_reuses,
		  "pids were used again before those who had had them were freed" },
	};
	unsigned int i;
	bool any = false;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (c->rd.json) {
			json__u64(&c->out.json, rows[i].key, rows[i].count);
			continue;
		}
		if (rows[i].count && !any)
			strbuf__putc(&c->out.b, '\n');
		any |= rows[i].count;
		put_count(&c->out.b, rows[i].count, rows[i].what, NULL);
	}
}

static void put_gaps(struct lifecycle_cmd *c)
{
	struct strbuf *b = &c->out.b;
	struct life_gap g;
	unsigned int i;

	for (i = 0; lifecycle__gap(c->l, i, &g); i++) {
		if (!i)
			strbuf__puts(b, "\nNot known in full\n");
		strbuf__printf(b, "  %s:%s ", g.system, g.name);
		if (g.kind == LIFE_GAP_MISSING)
			strbuf__puts(b, "is not in the recording: ");
		else if (g.kind == LIFE_GAP_LOST)
			strbuf__printf(b, "lost %" PRIu64 " times: ", g.count);
		else
			strbuf__printf(b, "left out %" PRIu64 " times %s: ", g.count,
				       g.kind == LIFE_GAP_FILTERED ?
					       "by its filter" :
					       "in tasks that were not recorded (record -a)");
		strbuf__printf(b, "%s\n", g.means);
	}
}

void lifecycle__summary(struct lifecycle_cmd *c)
{
	struct lifecycle_counts n;

	lifecycle__counts(c->l, &n);
	put_totals(c, &c->processes, &n);
	put_distributions(c);
	lifecycle__put_unmatched(c, &n);
	put_gaps(c);
}
