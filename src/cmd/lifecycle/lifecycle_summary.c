// SPDX-License-Identifier: GPL-2.0-only
/* stackonce lifecycle: counts, distributions, and what is unknown for lack of events. */
#include <inttypes.h>

#include "lifecycle.h"

/* Prints a line of text unless v is 0 or what is NULL; or a JSON member unless key is NULL. */
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
		put_count(c, "processes", n->processes, "processes created");
		put_count(c, "existed", n->existed, "processes existed before, as far as seen");
		put_count(c, "threads", n->threads, "threads created");
		put_count(c, "execs", n->execs, "programs executed");
	}
	put_fates(c, t);
	put_count(c, "reaped", t->reaped, "reaped by a recorded wait");
	put_count(c, "reaped_unseen", t->reaped_unseen,
		  "reaped without a recorded wait (SIGCHLD ignored, not by a system call, "
		  "or the reaper was not recorded)");
	if (n)
		put_count(c, "orphans", n->orphans, "orphaned");
	put_count(c, "freed", t->freed, "freed");
	put_count(c, "exiting", t->exiting, "exiting at the end");
	put_count(c, "zombies", t->zombies,
		  listed ? "zombies at the end (as in /proc)" : "zombies at the end");
	put_count(c, "unfreed", t->unfreed, NULL);
	put_count(c, NULL, t->unfreed - t->overdue, "waiting for RCU at the end");
	put_count(c, "overdue", t->overdue,
		  lifecycle__has_all_frees(c->l) ?
			  "LEAKS: reaped, but not freed for over a second" :
			  "not freed for over a second, or the free was missed");
	put_count(c, "gone", t->gone, "gone, but their exit, reaping or free was not recorded");
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
	put_count(c, "births_unseen", n->births_unseen, "tasks whose fork was not recorded");
	put_count(c, "exits_unseen", n->exits_unseen, "exits that were not recorded");
	put_count(c, "waits_unmatched", n->waits_unmatched,
		  "wait() calls whose child could not be identified");
	put_count(c, "stop_reports", n->stop_reports, "wait() calls that returned a stopped child");
	put_count(c, "tracer_waits", n->tracer_waits, "ended processes that a tracer waited for");
	put_count(c, "frees_unmatched", n->frees_unmatched,
		  "frees of tasks that ended before the recording");
	put_count(c, "frees_unnamed", n->frees_unnamed,
		  "frees of unknown tasks (events lost, or with fields missing)");
	put_count(c, "frees_ambiguous", n->frees_ambiguous,
		  "frees of a PID that several tasks of the same name had");
	put_count(c, "pid_reuses", n->pid_reuses, "PIDs reused before the previous task was freed");
	/* Nothing was printed: take back the empty line. */
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
			strbuf__puts(b, "\nUnknown because events are missing\n");
		strbuf__printf(b, "  %s:%s ", g.system, g.name);
		if (g.kind == LIFE_GAP_MISSING)
			strbuf__puts(b, "is not in the recording: ");
		else if (g.kind == LIFE_GAP_LOST)
			strbuf__printf(b, "lost %s: ", text__count(g.count, "event").s);
		else if (g.kind == LIFE_GAP_FIELDS)
			strbuf__printf(
				b, "has fields missing in %s: ", text__count(g.count, "event").s);
		else
			strbuf__printf(b, "left out %s %s: ", text__count(g.count, "event").s,
				       g.kind == LIFE_GAP_FILTERED ?
					       "by its filter" :
					       "of tasks that were not selected (record -a)");
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
