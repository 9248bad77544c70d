// SPDX-License-Identifier: GPL-2.0-only
/* The text output of stackonce offcpu. */
#include "cleanup.h"
#include "offcpu.h"
#include "ui/frames.h"

#define FRAMES 4 /* of each stack, without --stacks */
#define INDENT "                        "

void offcpu__put_time(struct out *o, const struct offcpu_time *time)
{
	column__number(o, "count", 9, time->count);
	column__ns(o, "blocked", 10, time->blocked);
	column__ns(o, "queued", 10, time->queued);
}

void offcpu__put_columns(struct out *o, const struct offcpu_group *g)
{
	offcpu__put_time(o, &g->time);
	waits__durations(o, &g->off, 0);
}

static void put_what(struct offcpu *oc, const struct offcpu_group *g)
{
	struct strbuf *b = &oc->w.out.b;

	switch (oc->opts.by) {
	case OFFCPU_BY_STACK:
		strbuf__puts(b, offcpu__state(g->state));
		stack__put_ids(oc->w.rd.reader, b, g->kstack, g->ustack);
		break;
	case OFFCPU_BY_STATE:
		strbuf__puts(b, offcpu__state(g->state));
		break;
	case OFFCPU_BY_COMM:
		strbuf__text(b, g->task.comm);
		break;
	case OFFCPU_BY_PID:
		strbuf__printf(b, "pid %u", g->task.pid);
		break;
	case OFFCPU_BY_TID:
		waits__put_task(b, g->task.comm, g->task.tid);
		break;
	}
}

/* The innermost functions of a stack in one line, all with --full. */
static void put_functions(struct offcpu *oc, const struct stk_frame *frames, unsigned int nr)
{
	unsigned int shown = oc->w.rd.names.full ? nr : MIN(nr, FRAMES), i;
	struct strbuf *b = &oc->w.out.b;

	if (!nr)
		return;
	strbuf__puts(b, INDENT);
	for (i = 0; i < shown; i++) {
		strbuf__puts(b, i ? " < " : "");
		frame__function(&oc->w.rd.names, b, &frames[i]);
	}
	strbuf__puts(b, shown < nr ? " < ...\n" : "\n");
}

/* One line per stack.  The kernel's begins at the caller of the scheduler. */
static void put_short(struct offcpu *oc, const struct offcpu_stacks *s)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	unsigned int nr = waits__frames(&oc->w, s->kstack, WAIT_TASK, frames);
	unsigned int caller = oc->w.rd.names.full ? 0 : wait_frames__caller(frames, nr);

	out__paint(&oc->w.out, OUT_DIM);
	put_functions(oc, frames + caller, nr - caller);
	put_functions(oc, frames, stack__frames(oc->w.rd.reader, s->ustack, frames));
	out__paint(&oc->w.out, OUT_PLAIN);
}

static void put_waker(struct offcpu *oc, const struct offcpu_stacks *s)
{
	struct strbuf *b = &oc->w.out.b;

	strbuf__puts(b, INDENT);
	if (!s->woken)
		strbuf__puts(b,
			     s->state == SWITCH_PREEMPTED ? "still runnable" : "no waker recorded");
	else if (s->interrupt)
		strbuf__puts(b, "woken by an interrupt");
	else
		strbuf__puts(b, s->state == SWITCH_NEW ? "created by " : "woken by ");
	if (s->woken && !s->interrupt)
		waits__put_task(b, s->waker.comm, s->waker.tid);
	strbuf__putc(b, '\n');
}

static void put_stacks(struct offcpu *oc, const struct offcpu_group *g)
{
	struct strbuf *b = &oc->w.out.b;
	uint32_t i;

	for (i = 0; i < g->nr_stacks && !out__drain(&oc->w.out); i++) {
		const struct offcpu_stacks *s = &g->stacks[i];

		if (!oc->w.stacks && i) {
			strbuf__printf(b, INDENT "and %s of stacks, see --stacks\n",
				       text__count(g->nr_stacks - i, "more pair").s);
			break;
		}
		if (!oc->w.stacks) {
			put_short(oc, s);
			put_waker(oc, s);
			continue;
		}
		out__paint(&oc->w.out, OUT_NUMBER);
		offcpu__put_time(&oc->w.out, &s->time);
		column__ns(&oc->w.out, "max", 10, s->max);
		out__paint(&oc->w.out, OUT_PLAIN);
		strbuf__printf(b, "  %s\n", offcpu__state(s->state));
		waits__put_stacks(&oc->w, INDENT, s->kstack, WAIT_TASK, s->ustack);
		put_waker(oc, s);
		if (s->woken)
			waits__put_stacks(&oc->w, INDENT "  ", s->waker_kstack,
					  s->interrupt ? WAIT_INTERRUPT : WAIT_TASK,
					  s->waker_ustack);
	}
}

static void put_open(struct offcpu *oc)
{
	const struct offcpu_result *r = oc->result;
	struct strbuf *b = &oc->w.out.b;
	uint32_t i, top = waits__top(&oc->w, r->nr_open);

	if (!r->nr_open)
		return;
	strbuf__puts(b, "\n# Still off CPU at the end of the recording:\n");
	for (i = 0; i < top && !out__drain(&oc->w.out); i++) {
		const struct offcpu_open *o = &r->open[i];

		strbuf__printf(b, "%19s  ", text__ns(r->sums.last - o->since).s);
		waits__put_task(b, o->task.comm, o->task.tid);
		strbuf__printf(b, ", %s%s\n", offcpu__state(o->state),
			       o->woken_at && o->state != SWITCH_NEW ? ", woken since" : "");
		if (oc->w.stacks)
			waits__put_stacks(&oc->w, INDENT, o->kstack, WAIT_TASK, o->ustack);
	}
	if (top < r->nr_open)
		strbuf__printf(b, INDENT "and %u more\n", r->nr_open - top);
}

void offcpu__put_notes(struct offcpu *oc)
{
	const struct offcpu_sums *s = &oc->result->sums;
	struct waits *w = &oc->w;

	waits__note(w, "no_waking", s->no_waking,
		    "blocked times without a wakeup: counted as blocked until they end");
	waits__note(w, "others", s->others,
		    "switches from tasks that were not selected: not counted");
	waits__note(w, "before", s->before,
		    "tasks were off CPU when the recording began: not counted");
	waits__note(w, "no_return", s->no_return, "times without a switch back: not counted");
	waits__note(w, "no_fields", s->no_fields,
		    "events were recorded without fields: not counted");
	waits__note(w, "unknown", s->unknown, "times in an unknown state: not counted");
	waits__note(w, "dead", s->dead, NULL);
	waits__note(w, "lost", s->lost, "switches were lost");
	waits__note(w, "gaps", s->gaps, "times during which switches may be missing: not counted");
	waits__note(w, "too_short", s->too_short, "times are shorter than --min: not counted");
}

static void put_title(struct offcpu *oc)
{
	const struct offcpu_sums *s = &oc->result->sums;
	struct strbuf *b = &oc->w.out.b;
	unsigned int i;

	strbuf__printf(b, "# Off CPU %s: %s blocked, %s waiting to run; recorded in %s\n",
		       text__count(s->time.count, "time").s, text__ns(s->time.blocked).s,
		       text__ns(s->time.queued).s, text__ns(s->last - s->first).s);
	for (i = 0; i < SWITCH_NR_STATES; i++)
		if (s->states[i].count)
			strbuf__printf(b, "#   %-10s%9s times%10s blocked%10s waiting to run\n",
				       offcpu__state(i), text__number(s->states[i].count).s,
				       text__ns(s->states[i].blocked).s,
				       text__ns(s->states[i].queued).s);
	offcpu__put_notes(oc);
}

void offcpu__put_text(struct offcpu *oc)
{
	const struct offcpu_result *r = oc->result;
	uint32_t i, top = waits__top(&oc->w, r->nr_groups);
	struct strbuf *b = &oc->w.out.b;

	put_title(oc);
	if (!r->nr_groups && !r->nr_open) {
		strbuf__puts(b, "No times off CPU were selected.\n");
		return;
	}
	oc->w.out.heads = true;
	offcpu__put_columns(&oc->w.out, &(struct offcpu_group){ 0 });
	oc->w.out.heads = false;
	strbuf__puts(b, "  where\n");
	for (i = 0; i < top && !out__drain(&oc->w.out); i++) {
		const struct offcpu_group *g = &r->groups[i];

		out__paint(&oc->w.out, OUT_NUMBER);
		offcpu__put_columns(&oc->w.out, g);
		out__paint(&oc->w.out, OUT_PLAIN);
		strbuf__puts(b, "  ");
		out__paint(&oc->w.out, OUT_HEAD);
		put_what(oc, g);
		out__paint(&oc->w.out, OUT_PLAIN);
		strbuf__putc(b, '\n');
		if (oc->w.stacks || oc->opts.by == OFFCPU_BY_STACK)
			put_stacks(oc, g);
	}
	if (top < r->nr_groups)
		strbuf__printf(b, "  and %s\n", text__count(r->nr_groups - top, "more line").s);
	put_open(oc);
}
