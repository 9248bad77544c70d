// SPDX-License-Identifier: GPL-2.0-only
/* stackonce lifecycle: counts, distributions, and what cannot be known. */
#include <inttypes.h>

#include "lifecycle.h"

/* A line of text unless it is 0 or nothing to say, or a member unless it has no key. */
static void put_count(struct lifecycle_cmd *c, const char *key, uint64_t v, const char *what)
{
	if (c->rd.json && key)
		json__u64(&c->out.json, key, v);
	else if (!c->rd.json && v && what)
		strbuf__printf(&c->out.b, "%10s %s\n", text__number(v).s, what);
}

static void put_fates(struct lifecycle_cmd *c, const struct lifecycle_totals *t)
{
	struct strbuf *b = &c->out.b;

	put_count(c, "ended", t->ended, NULL);
	put_count(c, "exit_0", t->status_0, NULL);
	put_count(c, "exit_other", t->status_other, NULL);
	put_count(c, "signaled", t->signals, NULL);
	put_count(c, "unknown", t->unknown, NULL);
	put_count(c, "uncertain", t->uncertain, NULL);
	if (c->rd.json)
		return;
	strbuf__printf(b,
		       "%10s ended: %" PRIu64 " with exit 0, %" PRIu64
		       " with another status, %" PRIu64 " by a signal, %" PRIu64 " unknown",
		       text__number(t->ended).s, t->status_0, t->status_other, t->signals,
		       t->unknown);
	if (t->uncertain)
		strbuf__printf(b, "; %" PRIu64 " of them uncertain", t->uncertain);
	strbuf__putc(b, '\n');
}

void lifecycle__put_totals(struct lifecycle_cmd *c, const struct lifecycle_totals *t,
			   const struct lifecycle_counts *n)
{
	bool listed = lifecycle__has_end_list(c->l);

	if (n) {
		put_count(c, "processes", n->processes, "processes were born");
		put_count(c, "existed", n->existed, "were there before, as far as seen");
		put_count(c, "threads", n->threads, "threads were born besides");
		put_count(c, "execs", n->execs, "programs were executed");
	}
	put_fates(c, t);
	put_count(c, "reaped", t->reaped, "reaped by a wait that was seen");
	put_count(c, "reaped_unseen", t->reaped_unseen,
		  "reaped unseen (SIGCHLD ignored, or not by a system call)");
	if (n)
		put_count(c, "orphans", n->orphans, "lost their parent");
	put_count(c, "freed", t->freed, "freed");
	put_count(c, "exiting", t->exiting, "exiting at the end");
	put_count(c, "zombies", t->zombies,
		  listed ? "zombies at the end (as in /proc)" : "zombies at the end");
	put_count(c, "unfreed", t->unfreed, NULL);
	put_count(c, NULL, t->unfreed - t->overdue, "waiting for RCU at the end");
	put_count(c, "overdue", t->overdue,
		  n && n->frees_unnamed ? "not freed for more than a second, or it was missed" :
					  "LEAKS: exited, and not freed for more than a second");
	put_count(c, "gone", t->gone, "gone without their end or their free being seen");
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
	size_t start = c->out.b.len;

	if (!c->rd.json)
		strbuf__putc(&c->out.b, '\n');
	put_count(c, "births_unseen", n->births_unseen, "tasks were met whose birth was not seen");
	put_count(c, "exits_unseen", n->exits_unseen, "exits were not seen");
	put_count(c, "waits_unmatched", n->waits_unmatched,
		  "waits returned somebody that is not known, or one of several");
	put_count(c, "stop_reports", n->stop_reports,
		  "waits returned somebody who had stopped, not ended");
	put_count(c, "tracer_waits", n->tracer_waits, "ends were seen by a tracer");
	put_count(c, "frees_unmatched", n->frees_unmatched,
		  "were freed who had ended before the recording");
	put_count(c, "frees_unnamed", n->frees_unnamed,
		  "were freed and it is not known who: events lost, or without fields");
	put_count(c, "frees_ambiguous", n->frees_ambiguous,
		  "were freed where two had had the same pid and name");
	put_count(c, "pid_reuses", n->pid_reuses,
		  "pids were used again before those who had had them were freed");
	/* Nothing to set apart. */
	if (!c->rd.json && c->out.b.len == start + 1)
		c->out.b.len = start;
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
	lifecycle__put_totals(c, &c->processes, &n);
	put_distributions(c);
	lifecycle__put_unmatched(c, &n);
	put_gaps(c);
}
