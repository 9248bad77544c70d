// SPDX-License-Identifier: GPL-2.0-only
/* The offcpu command's JSON; the names are listed in stackonce-offcpu(1). */
#include <inttypes.h>

#include "offcpu.h"
#include "ui/frames.h"

/* "count":1,"blocked_ns":2,"queued_ns":3 */
static void put_time(struct strbuf *b, const struct offcpu_time *t)
{
	strbuf__printf(b, "\"count\":%" PRIu64 ",\"blocked_ns\":%" PRIu64 ",\"queued_ns\":%" PRIu64,
		       t->count, t->blocked, t->queued);
}

/* "states":{"sleep":{...},...}: those that occurred. */
static void put_states(struct strbuf *b, const struct offcpu_time *states)
{
	bool any = false;
	unsigned int i;

	strbuf__puts(b, ",\"states\":{");
	for (i = 0; i < SWITCH_NR_STATES; i++) {
		if (!states[i].count)
			continue;
		strbuf__printf(b, "%s\"%s\":{", any ? "," : "", offcpu__state(i));
		put_time(b, &states[i]);
		strbuf__putc(b, '}');
		any = true;
	}
	strbuf__putc(b, '}');
}

static void put_waker(struct offcpu *oc, const struct offcpu_stacks *s)
{
	struct strbuf *b = &oc->w.out.b;

	if (!s->woken) {
		strbuf__puts(b, ",\"waker\":null");
		return;
	}
	strbuf__printf(b, ",\"waker\":{\"by\":\"%s\"", s->interrupt ? "interrupt" : "task");
	if (!s->interrupt)
		waits__json_task(b, &s->waker);
	waits__json_stack(&oc->w, "kstack", s->waker_kstack);
	waits__json_stack(&oc->w, "ustack", s->waker_ustack);
	waits__json_frames(&oc->w, s->waker_kstack, s->waker_ustack);
	strbuf__putc(b, '}');
}

static void put_stacks(struct offcpu *oc, const struct offcpu_group *g)
{
	struct strbuf *b = &oc->w.out.b;
	uint32_t i;

	strbuf__puts(b, ",\"stacks\":[");
	for (i = 0; i < g->nr_stacks && !out__drain(&oc->w.out); i++) {
		const struct offcpu_stacks *s = &g->stacks[i];

		strbuf__puts(b, i ? ",{" : "{");
		put_time(b, &s->time);
		waits__json_u64(b, "max_ns", s->max);
		waits__json_string(b, "state", offcpu__state(s->state));
		waits__json_stack(&oc->w, "kstack", s->kstack);
		waits__json_stack(&oc->w, "ustack", s->ustack);
		waits__json_end(&oc->w, "ustack_end", s->ustack);
		waits__json_frames(&oc->w, s->kstack, s->ustack);
		put_waker(oc, s);
		strbuf__putc(b, '}');
	}
	strbuf__putc(b, ']');
}

static void put_what(struct offcpu *oc, const struct offcpu_group *g)
{
	struct strbuf *b = &oc->w.out.b;

	switch (oc->opts.by) {
	case OFFCPU_BY_STACK:
		waits__json_string(b, "state", offcpu__state(g->state));
		waits__json_stack(&oc->w, "kstack", g->kstack);
		waits__json_stack(&oc->w, "ustack", g->ustack);
		break;
	case OFFCPU_BY_STATE:
		waits__json_string(b, "state", offcpu__state(g->state));
		break;
	case OFFCPU_BY_COMM:
		waits__json_string(b, "comm", g->task.comm);
		break;
	case OFFCPU_BY_TID:
		waits__json_u64(b, "tid", g->task.tid);
		waits__json_string(b, "comm", g->task.comm);
		/* fall through */
	case OFFCPU_BY_PID:
		waits__json_u64(b, "pid", g->task.pid);
		break;
	}
}

static void put_group(struct offcpu *oc, const struct offcpu_group *g)
{
	struct strbuf *b = &oc->w.out.b;

	strbuf__puts(b, "{\"kind\":\"group\"");
	put_what(oc, g);
	strbuf__putc(b, ',');
	put_time(b, &g->time);
	waits__json_durations(b, &g->off);
	put_states(b, g->states);
	put_stacks(oc, g);
	strbuf__puts(b, "}\n");
}

static void put_open(struct offcpu *oc, const struct offcpu_open *o)
{
	struct strbuf *b = &oc->w.out.b;

	strbuf__puts(b, "{\"kind\":\"open\"");
	waits__json_task(b, &o->task);
	waits__json_string(b, "state", offcpu__state(o->state));
	waits__json_u64(b, "since", o->since);
	waits__json_u64(b, "age_ns", oc->result->sums.last - o->since);
	if (o->woken_at)
		waits__json_u64(b, "woken_at", o->woken_at);
	else
		strbuf__puts(b, ",\"woken_at\":null");
	waits__json_stack(&oc->w, "kstack", o->kstack);
	waits__json_stack(&oc->w, "ustack", o->ustack);
	waits__json_frames(&oc->w, o->kstack, o->ustack);
	strbuf__puts(b, "}\n");
}

static void put_sums(struct offcpu *oc)
{
	const struct offcpu_sums *s = &oc->result->sums;
	struct strbuf *b = &oc->w.out.b;

	strbuf__puts(b, "{\"kind\":\"sums\",");
	put_time(b, &s->time);
	put_states(b, s->states);
	waits__json_u64(b, "open", oc->result->nr_open);
	waits__json_u64(b, "no_waking", s->no_waking);
	waits__json_u64(b, "others", s->others);
	waits__json_u64(b, "before", s->before);
	waits__json_u64(b, "no_return", s->no_return);
	waits__json_u64(b, "no_fields", s->no_fields);
	waits__json_u64(b, "unknown", s->unknown);
	waits__json_u64(b, "dead", s->dead);
	waits__json_u64(b, "lost", s->lost);
	waits__json_u64(b, "gaps", s->gaps);
	waits__json_u64(b, "too_short", s->too_short);
	waits__json_u64(b, "first", s->first);
	waits__json_u64(b, "last", s->last);
	strbuf__puts(b, "}\n");
}

void offcpu__put_json(struct offcpu *oc)
{
	const struct offcpu_result *r = oc->result;
	uint32_t i, top = waits__top(&oc->w, r->nr_groups);

	for (i = 0; i < top && !out__drain(&oc->w.out); i++)
		put_group(oc, &r->groups[i]);
	for (i = 0; i < r->nr_open && !out__drain(&oc->w.out); i++)
		put_open(oc, &r->open[i]);
	put_sums(oc);
}
