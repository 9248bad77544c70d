// SPDX-License-Identifier: GPL-2.0-only
/* The text output of stackonce lifecycle. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "lifecycle.h"
#include "ui/frames.h"

#define SPAN_WIDTH 14

/* ---- last stacks ----------------------------------------------------------------------------- */

static void put_stacks(struct lifecycle_cmd *c, const char *indent, uint32_t kstack,
		       uint32_t ustack)
{
	stack__put_ids(c->rd.reader, &c->out.b, kstack, ustack);
	strbuf__putc(&c->out.b, '\n');
	if (c->stacks)
		stack__put(&c->rd.names, &c->out.b, indent, kstack, ustack);
}

static void put_where(struct lifecycle_cmd *c, const struct life_where *w)
{
	struct strbuf *b = &c->out.b;
	const char *name;

	if (!w->type) {
		strbuf__puts(b, ", none of its events has a stack\n");
		return;
	}
	name = stk_event_type__name(w->type);
	strbuf__puts(b, ", last seen in ");
	strbuf__text(b, name);
	strbuf__printf(b, " %s before the end (tid %u)",
		       text__ns(lifecycle__end_ts(c->l) - w->ts).s, w->tid);
	put_stacks(c, "        ", w->kstack, w->ustack);
}

/* ---- processes ------------------------------------------------------------------------------- */

/* As the text has it: that a process is gone at the end of the recording bounds nothing. */
static struct life_span span_of(const struct lifecycle_cmd *c, const struct life *l,
				unsigned int which)
{
	struct life_span s = life_span_so_far(c, l, which);

	if (l->state == LIFE_GONE && which == SPAN_ZOMBIE && l->reaped.from < l->reaped.to &&
	    l->reaped.to >= lifecycle__end_ts(c->l))
		s.max = LIFE_EVER;
	return s;
}

/* "P did not reap it for 3.53 s and ended"; false, and nothing is printed: it did not leave it. */
static bool put_left(struct strbuf *b, const struct life *l)
{
	struct life_span left = life__left(l);

	if (!left.any)
		return false;
	strbuf__puts(b, "          ");
	put_name(b, &l->parent);
	strbuf__puts(b, " did not reap it for ");
	put_span(b, left);
	strbuf__puts(b, " and ended");
	return true;
}

/* A line that says who reaped it, if it is not the parent; none if nothing is known of that. */
static void put_orphan(struct strbuf *b, const struct life *l)
{
	if (!l->orphan || !l->reaped.to || (!l->reaper.pid && !life__left(l).any))
		return;
	if (!put_left(b, l)) {
		strbuf__puts(b, "          ");
		put_name(b, &l->parent);
		strbuf__puts(b, " ended first");
	}
	strbuf__puts(b, l->reaper.pid ? "; reaped by " : "; who reaped it was not recorded");
	if (l->reaper.pid)
		put_name(b, &l->reaper);
	strbuf__putc(b, '\n');
}

static void put_row(struct lifecycle_cmd *c, const struct life *l, unsigned int indent)
{
	struct strbuf *b = &c->out.b;
	unsigned int i;
	size_t at;

	strbuf__printf(b, "%9u ", l->tid);
	at = b->len;
	strbuf__pad(b, ' ', indent);
	strbuf__text(b, l->self.comm);
	if (l->is_thread)
		strbuf__puts(b, " (thread)");
	out__fill(b, at, 18 + indent);
	if (!c->tree) {
		at = b->len;
		put_name(b, &l->parent);
		out__fill(b, at, 24);
	}
	at = b->len;
	if (l->state == LIFE_ALIVE)
		strbuf__puts(b, "alive");
	else if (l->state == LIFE_GONE && l->how == LIFE_HOW_UNKNOWN)
		strbuf__puts(b, "end unseen");
	else
		put_fate(b, l);
	out__fill(b, at, 12);
	for (i = 0; i < NR_SPANS; i++) {
		at = b->len;
		put_span(b, span_of(c, l, i));
		if (i + 1 < NR_SPANS)
			out__fill(b, at, SPAN_WIDTH);
	}
	strbuf__putc(b, '\n');
}

static void put_heading(struct lifecycle_cmd *c)
{
	struct strbuf *b = &c->out.b;
	unsigned int i;

	out__paint(&c->out, OUT_HEAD);
	strbuf__printf(b, "%9s %-17s %-*s%-11s ", "pid", "comm", c->tree ? 0 : 24,
		       c->tree ? "" : "parent", "how");
	for (i = 0; i < NR_SPANS; i++)
		strbuf__printf(b, i + 1 < NR_SPANS ? "%-*s" : "%.*s%s",
			       i + 1 < NR_SPANS ? SPAN_WIDTH : 0,
			       i + 1 < NR_SPANS ? span_names[i] : "", span_names[i]);
	out__paint(&c->out, OUT_PLAIN);
	strbuf__putc(b, '\n');
}

static const char *state_text(const struct lifecycle_cmd *c, const struct life *l)
{
	switch (l->state) {
	case LIFE_ZOMBIE:
		return l->live_threads ? "zombie with live threads" : "zombie";
	case LIFE_REAPED:
		return life_is_leak(c, l)    ? "LEAK: reaped, but not freed" :
		       life_is_overdue(c, l) ? "reaped, no free seen" :
					       "waits for RCU";
	case LIFE_EXITING:
		return "exiting";
	default:
		return "alive";
	}
}

void lifecycle__text_remaining(struct lifecycle_cmd *c, const struct life *l)
{
	const struct life_name *parent = l->new_parent.pid ? &l->new_parent : &l->parent;
	bool bad = l->state == LIFE_ZOMBIE || life_is_leak(c, l);
	struct strbuf *b = &c->out.b;

	strbuf__puts(b, out__colour(&c->out, bad ? OUT_WARN : OUT_PLAIN));
	strbuf__printf(b, "%9u ", l->tid);
	strbuf__text(b, l->self.comm);
	strbuf__printf(b, ": %s", state_text(c, l));
	if (l->state != LIFE_ALIVE) {
		strbuf__puts(b, " for ");
		put_span(b, life_time_in_state(c, l));
		strbuf__puts(b, ", ended by ");
		put_fate(b, l);
	}
	out__paint(&c->out, OUT_PLAIN);
	strbuf__putc(b, '\n');
	if (l->state != LIFE_ZOMBIE || l->is_thread)
		return;
	if (put_left(b, l))
		strbuf__putc(b, '\n');
	strbuf__puts(b, "          parent ");
	put_name(b, parent);
	if (l->orphan && !l->new_parent.pid) {
		strbuf__puts(b, " ended: reparented to init or to a subreaper\n");
		return;
	}
	put_where(c, &l->parent_where);
}

void lifecycle__text_life(struct lifecycle_cmd *c, const struct life *l)
{
	struct strbuf *b = &c->out.b;
	unsigned int i;

	strbuf__printf(b, "%u ", l->tid);
	strbuf__text(b, l->self.comm);
	strbuf__puts(b, ": ");
	put_fate(b, l);
	for (i = 0; i < NR_SPANS; i++) {
		strbuf__printf(b, ", %s ", span_names[i]);
		put_span(b, span_of(c, l, i));
	}
	strbuf__putc(b, '\n');
	put_orphan(b, l);
}

static void put_remaining(struct lifecycle_cmd *c)
{
	size_t i;

	if (!c->nr_remaining)
		return;
	strbuf__printf(&c->out.b, "\n%sNot freed at the end%s\n", out__colour(&c->out, OUT_HEAD),
		       out__colour(&c->out, OUT_PLAIN));
	for (i = 0; i < c->nr_remaining && !out__drain(&c->out); i++)
		lifecycle__text_remaining(c, &c->remaining[i].life);
}

static uint64_t nr_reaped(const struct lifecycle_totals *t)
{
	return t->freed + t->gone + t->unfreed;
}

/* The ended processes, and those of the remaining ones that only wait for RCU, in their order. */
static void put_ended(struct lifecycle_cmd *c, const struct kept *rows, size_t nr)
{
	uint64_t all = nr_reaped(&c->processes) + nr_reaped(&c->thread_totals);
	size_t i;

	if (!nr)
		return;
	strbuf__putc(&c->out.b, '\n');
	put_heading(c);
	for (i = 0; i < nr && !out__drain(&c->out); i++) {
		put_row(c, &rows[i].life, 0);
		put_orphan(&c->out.b, &rows[i].life);
	}
	if (all > nr)
		strbuf__printf(&c->out.b, "          and %" PRIu64 " more (--top)\n", all - nr);
}

void lifecycle__text(struct lifecycle_cmd *c)
{
	_cleanup_free_ struct kept *rows = calloc(c->nr_ended + c->nr_remaining + 1, sizeof(*rows));
	size_t i, nr = 0;

	if (!rows) {
		c->err = -ENOMEM;
		return;
	}
	lifecycle__summary(c);
	put_remaining(c);
	for (i = 0; i < c->nr_ended; i++)
		rows[nr++] = c->ended[i];
	for (i = 0; i < c->nr_remaining; i++)
		if (c->remaining[i].life.state == LIFE_REAPED)
			rows[nr++] = c->remaining[i];
	qsort(rows, nr, sizeof(*rows), kept__compare);
	put_ended(c, rows, c->top ? MIN(nr, c->top) : nr);
}

static void put_branch(struct lifecycle_cmd *c, const struct life *l, int depth)
{
	put_row(c, l, 2 * MIN(depth, 32));
}

void lifecycle__text_tree(struct lifecycle_cmd *c)
{
	put_heading(c);
	c->err = lifecycle__walk(c, put_branch);
	strbuf__putc(&c->out.b, '\n');
	lifecycle__summary(c);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void put_text(struct strbuf *b, const struct life_step *s)
{
	strbuf__safe(b, s->text ?: "?", s->text ? s->text_len : 1);
}

static void put_what(struct strbuf *b, const struct life_step *s, const char *what)
{
	strbuf__puts(b, what);
	put_name(b, &s->other);
}

static void put_sent(struct strbuf *b, const struct life_step *s)
{
	static const char *const results[] = { "", " (ignored)", " (was pending)", " (queue full)",
					       "" };

	put_signal(b, s->number);
	put_what(b, s, " sent by ");
	if (s->detail > 0 && s->detail < (int)ARRAY_SIZE(results))
		strbuf__puts(b, results[s->detail]);
}

static void put_number(struct strbuf *b, const char *before, const struct life_step *s)
{
	strbuf__printf(b, "%s%" PRId64, before, s->number);
}

static void put_step(struct strbuf *b, const struct life_step *s)
{
	switch (s->kind) {
	case LIFE_STEP_BORN:
		return put_what(b, s, "created by ");
	case LIFE_STEP_FORK:
		return put_what(b, s, "forks ");
	case LIFE_STEP_THREAD:
		return put_number(b, "starts thread ", s);
	case LIFE_STEP_RUNNABLE:
		return strbuf__puts(b, "becomes runnable");
	case LIFE_STEP_EXEC:
		strbuf__puts(b, "executes ");
		put_text(b, s);
		if (s->number)
			put_number(b, " from thread ", s);
		return;
	case LIFE_STEP_RENAMED:
		strbuf__puts(b, "is renamed to ");
		return put_text(b, s);
	case LIFE_STEP_SENT:
		return put_sent(b, s);
	case LIFE_STEP_SIGNAL:
		put_signal(b, s->number);
		return strbuf__puts(b, s->detail ? ": handler runs" : ": default action");
	case LIFE_STEP_EXIT_CALL:
		return put_number(b, s->detail ? "calls exit_group " : "calls exit ", s);
	case LIFE_STEP_THREAD_EXIT:
		return strbuf__puts(b, "thread exits");
	case LIFE_STEP_EXIT:
		return strbuf__puts(b, "exits with its last thread");
	case LIFE_STEP_ORPHAN:
		put_what(b, s, "is orphaned by ");
		return;
	case LIFE_STEP_OFF:
		return strbuf__puts(b, "last switch of the thread");
	case LIFE_STEP_ZOMBIE:
		return strbuf__puts(b, "last switch: a zombie, or released already");
	case LIFE_STEP_WAITS:
		if (s->number)
			return put_number(b, "waits for ", s);
		return strbuf__puts(b, "waits for any child");
	case LIFE_STEP_REAPS:
		return put_what(b, s, "reaps ");
	case LIFE_STEP_TRACER:
		return put_what(b, s, "is waited for by its tracer ");
	case LIFE_STEP_REAPED:
		return put_what(b, s, "reaped by ");
	case LIFE_STEP_THREAD_FREED:
		return strbuf__puts(b, "thread freed");
	case LIFE_STEP_FREED:
		return strbuf__puts(b, "freed");
	}
}

void lifecycle__text_step(struct lifecycle_cmd *c, const struct life_step *s)
{
	struct strbuf *b = &c->out.b;

	strbuf__printf(b, "%13s %8u %8u  ", text__time(s->ts).s, s->self.pid, s->tid);
	put_step(b, s);
	put_stacks(c, "            ", s->kstack, s->ustack);
}
