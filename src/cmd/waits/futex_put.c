// SPDX-License-Identifier: GPL-2.0-only
/* The text output of stackonce futex. */
#include <inttypes.h>
#include <string.h>

#include "futex.h"
#include "log.h"
#include "ui/frames.h"

#define WAKERS 3 /* lines of wakers per group */
#define INDENT "                     "

static void put_address(struct strbuf *b, const struct futex_address *a)
{
	if (!a->address) {
		strbuf__puts(b, "several futexes in one call");
		return;
	}
	strbuf__printf(b, "0x%" PRIx64 " pid %u, %s", a->address, a->pid,
		       a->shared ? "shared" : "private");
	if (a->nr_places > 1)
		strbuf__printf(b, " at %u places", a->nr_places);
	if (a->kind != FUTEX_OTHER)
		strbuf__printf(b, ", %s, owner changed %" PRIu64 " times",
			       a->kind == FUTEX_PI ? "priority inheritance" : "like a mutex",
			       a->owner_changes);
}

/* g: the group whose site it is, or NULL. */
static void put_site(struct futex *fx, uint32_t ustack, const struct futex_group *g)
{
	struct stk_frame frame;

	if (!call_site__frame(fx->w.rd.reader, ustack, &frame)) {
		strbuf__puts(&fx->w.out.b, "no user stack");
		return;
	}
	if (g) {
		frame.guessed = false;
		frame__guesses(&fx->w.out.b, g->guesses, g->calls);
	}
	frame__text(&fx->w.rd.names, &fx->w.out.b, &frame);
}

static void put_what(struct futex *fx, const struct futex_group *g)
{
	struct strbuf *b = &fx->w.out.b;

	switch (fx->opts.by) {
	case FUTEX_BY_SITE:
		put_site(fx, g->site_stack, g);
		break;
	case FUTEX_BY_ADDRESS:
		put_address(b, &g->address);
		break;
	case FUTEX_BY_COMM:
		strbuf__text(b, g->comm);
		break;
	case FUTEX_BY_PID:
		strbuf__printf(b, "pid %u", g->pid);
		break;
	}
}

/* "woken by unlock+0x1f/0x40 [prog] in comm" */
static void put_waker(struct futex *fx, const struct futex_waker *w)
{
	const char *omitted = stack__omitted(fx->w.rd.reader, w->first->waker_ustack);
	struct strbuf *b = &fx->w.out.b;

	if (w->first->interrupt) {
		strbuf__puts(b, "woken by an interrupt");
		return;
	}
	/* futex calls of a task that is not selected are not recorded either */
	if (w->first->by_call || omitted)
		strbuf__puts(b, "woken by ");
	else
		strbuf__puts(b, "woken without a recorded futex call by ");
	if (w->frame.kind != STK_FRAME_UNKNOWN) {
		frame__guesses(b, w->guesses, w->count);
		frame__text(&fx->w.rd.names, b, &w->frame);
	} else if (omitted) {
		strbuf__printf(b, "<%s>", omitted);
	}
	if (omitted || w->frame.kind != STK_FRAME_UNKNOWN)
		strbuf__puts(b, " in ");
	strbuf__text(b, w->first->waker.comm);
}

static void put_wakers(struct futex *fx, const struct futex_group *g)
{
	struct strbuf *b = &fx->w.out.b;
	uint64_t rest = 0;
	uint32_t nr, i;

	if (futex__wakers(fx, g, &nr)) {
		b->failed = true;
		return;
	}
	for (i = 0; i < nr; i++) {
		if (i >= WAKERS) {
			rest += fx->wakers[i].count;
			continue;
		}
		out__paint(&fx->w.out, OUT_DIM);
		strbuf__printf(b, "%12s    ", text__number(fx->wakers[i].count).s);
		put_waker(fx, &fx->wakers[i]);
		out__paint(&fx->w.out, OUT_PLAIN);
		strbuf__putc(b, '\n');
	}
	if (rest)
		strbuf__printf(b, "%12s    woken from %u more places\n", text__number(rest).s,
			       nr - WAKERS);
}

static void put_stacks(struct futex *fx, const struct futex_group *g)
{
	struct user_names *names = &fx->w.rd.names;
	struct strbuf *b = &fx->w.out.b;
	uint32_t i;

	for (i = 0; i < g->nr_stacks && !out__drain(&fx->w.out); i++) {
		const struct futex_stacks *s = &g->stacks[i];

		strbuf__printf(b, "%8s%12s", text__number(s->count).s, text__ns(s->sum).s);
		stack__put_ids(names->reader, b, 0, s->ustack);
		strbuf__putc(b, '\n');
		waits__put_stacks(&fx->w, INDENT, s->ustack ? 0 : s->kstack, WAIT_TASK, s->ustack);
		if (!s->woken)
			continue;
		strbuf__puts(b, INDENT);
		if (s->interrupt) {
			strbuf__puts(b, "woken by an interrupt\n");
			waits__put_stacks(&fx->w, INDENT "  ", s->waker_kstack, WAIT_INTERRUPT, 0);
			continue;
		}
		strbuf__puts(b, "woken by ");
		waits__put_task(b, s->waker.comm, s->waker.tid);
		stack__put_ids(names->reader, b, 0, s->waker_ustack);
		strbuf__putc(b, '\n');
		waits__put_stacks(&fx->w, INDENT "  ", s->by_call ? 0 : s->waker_kstack, WAIT_TASK,
				  s->waker_ustack);
	}
}

void futex__put_columns(struct out *o, const struct futex_group *g)
{
	column__number(o, "waits", 8, g->waits.count);
	waits__durations(o, &g->waits, 10);
	column__number(o, "timeouts", 10, g->timeouts);
	column__number(o, "interrupted", 13, g->interrupted);
	column__number(o, "requeued", 10, g->requeued);
	column__number(o, "no_waker", 0, g->no_waker);
	column__number(o, "again", 7, g->again);
	column__number(o, "failed", 0, g->failed);
	column__number(o, "wakes", 8, g->wakes);
	column__number(o, "wasted", 8, g->wasted);
}

static void put_group(struct futex *fx, const struct futex_group *g)
{
	struct strbuf *b = &fx->w.out.b;

	out__paint(&fx->w.out, OUT_NUMBER);
	futex__put_columns(&fx->w.out, g);
	out__paint(&fx->w.out, OUT_PLAIN);
	strbuf__puts(b, "  ");
	out__paint(&fx->w.out, OUT_HEAD);
	put_what(fx, g);
	out__paint(&fx->w.out, OUT_PLAIN);
	strbuf__putc(b, '\n');
	if (fx->w.stacks)
		put_stacks(fx, g);
	else
		put_wakers(fx, g);
}

static void put_open(struct futex *fx)
{
	const struct futex_result *r = fx->result;
	struct strbuf *b = &fx->w.out.b;
	uint32_t i, top = waits__top(&fx->w, r->nr_open);

	if (!r->nr_open)
		return;
	strbuf__puts(b, "\n# Still waiting at the end of the recording:\n");
	for (i = 0; i < top && !out__drain(&fx->w.out); i++) {
		const struct futex_open *o = &r->open[i];

		strbuf__printf(b, "%18s  ", text__ns(r->sums.last - o->since).s);
		waits__put_task(b, o->task.comm, o->task.tid);
		strbuf__puts(b, " at ");
		put_address(b, &o->address);
		strbuf__puts(b, ", ");
		put_site(fx, o->ustack, NULL);
		strbuf__putc(b, '\n');
		if (fx->w.stacks)
			waits__put_stacks(&fx->w, INDENT, o->ustack ? 0 : o->kstack, WAIT_TASK,
					  o->ustack);
	}
	if (top < r->nr_open)
		strbuf__printf(b, "  and %u more\n", r->nr_open - top);
}

void futex__put_notes(struct futex *fx)
{
	const struct futex_sums *s = &fx->result->sums;
	struct waits *w = &fx->w;

	waits__note(w, "no_enter", s->no_enter, "calls began before the recording: not counted");
	waits__note(w, "no_exit", s->no_exit, "calls lack their exit event: not counted");
	waits__note(w, "no_fields", s->no_fields,
		    "calls were recorded without fields: not counted");
	waits__note(w, "no_target", s->no_target, "wakeups without a target PID: not attributed");
	waits__note(w, "lost", s->lost, "events of futex calls were lost");
	waits__note(w, "gaps", s->gaps, "waits during which events may be missing: not counted");
	waits__note(w, "maybe_requeued", s->maybe_requeued,
		    "waits may have been moved to another futex");
}

static void put_title(struct futex *fx)
{
	const struct futex_sums *s = &fx->result->sums;

	strbuf__printf(&fx->w.out.b,
		       "# %s, %s in all, recorded in %s; %" PRIu64 " futexes, %" PRIu64
		       " at several places\n",
		       text__count(s->waits, "wait").s, text__ns(s->ns).s,
		       text__ns(s->last - s->first).s, s->addresses, s->shared);
	futex__put_notes(fx);
}

void futex__put_text(struct futex *fx)
{
	const struct futex_result *r = fx->result;
	uint32_t i, top = waits__top(&fx->w, r->nr_groups);
	struct strbuf *b = &fx->w.out.b;

	put_title(fx);
	if (!r->nr_groups && !r->nr_open) {
		strbuf__puts(b, "No futex calls were selected.\n");
		return;
	}
	fx->w.out.heads = true;
	futex__put_columns(&fx->w.out, &(struct futex_group){ 0 });
	fx->w.out.heads = false;
	strbuf__puts(b, "  where\n");
	for (i = 0; i < top && !out__drain(&fx->w.out); i++)
		put_group(fx, &r->groups[i]);
	if (top < r->nr_groups)
		strbuf__printf(b, "  and %s\n", text__count(r->nr_groups - top, "more line").s);
	put_open(fx);
}
