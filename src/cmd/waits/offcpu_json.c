// SPDX-License-Identifier: GPL-2.0-only
/* The JSON output of stackonce offcpu; docs/json.md lists the members. */
#include "offcpu.h"
#include "ui/frames.h"

/* "states": the states that occurred, by name. */
static void put_states(struct offcpu *oc, const struct offcpu_time *states)
{
	struct json *j = &oc->w.out.json;
	unsigned int i;

	json__object(j, "states");
	for (i = 0; i < SWITCH_NR_STATES; i++) {
		if (!states[i].count)
			continue;
		json__object(j, offcpu__state(i));
		offcpu__put_time(&oc->w.out, &states[i]);
		json__end(j);
	}
	json__end(j);
}

static void put_waker(struct offcpu *oc, const struct offcpu_stacks *s)
{
	struct json *j = &oc->w.out.json;

	if (!s->woken) {
		json__null(j, "waker");
		return;
	}
	json__object(j, "waker");
	json__string(j, "by", s->interrupt ? "interrupt" : "task");
	if (!s->interrupt)
		waits__json_task(j, &s->waker);
	waits__json_stacks(&oc->w, s->waker_kstack, s->interrupt ? WAIT_INTERRUPT : WAIT_TASK,
			   s->waker_ustack);
	waits__json_end(&oc->w, s->waker_ustack);
	json__end(j);
}

static void put_stacks(struct offcpu *oc, const struct offcpu_group *g)
{
	struct json *j = &oc->w.out.json;
	uint32_t i;

	json__array(j, "stacks");
	for (i = 0; i < g->nr_stacks && !out__drain(&oc->w.out); i++) {
		const struct offcpu_stacks *s = &g->stacks[i];

		json__object(j, NULL);
		offcpu__put_time(&oc->w.out, &s->time);
		json__u64(j, "max_ns", s->max);
		json__string(j, "state", offcpu__state(s->state));
		waits__json_stacks(&oc->w, s->kstack, WAIT_TASK, s->ustack);
		waits__json_end(&oc->w, s->ustack);
		put_waker(oc, s);
		json__end(j);
	}
	json__end(j);
}

static void put_what(struct offcpu *oc, const struct offcpu_group *g)
{
	struct json *j = &oc->w.out.json;

	switch (oc->opts.by) {
	case OFFCPU_BY_STACK:
		json__string(j, "state", offcpu__state(g->state));
		stack__json(&oc->w.rd.names, j, g->kstack, g->ustack, false);
		break;
	case OFFCPU_BY_STATE:
		json__string(j, "state", offcpu__state(g->state));
		break;
	case OFFCPU_BY_COMM:
		json__string(j, "comm", g->task.comm);
		break;
	case OFFCPU_BY_TID:
		waits__json_task(j, &g->task);
		break;
	case OFFCPU_BY_PID:
		json__u64(j, "pid", g->task.pid);
		break;
	}
}

static void put_group(struct offcpu *oc, const struct offcpu_group *g)
{

	json__record(&oc->w.out.json, "group");
	put_what(oc, g);
	offcpu__put_columns(&oc->w.out, g);
	put_states(oc, g->states);
	put_stacks(oc, g);
	json__end(&oc->w.out.json);
}

static void put_open(struct offcpu *oc, const struct offcpu_open *o)
{
	struct json *j = &oc->w.out.json;

	json__record(j, "open");
	waits__json_task(j, &o->task);
	json__string(j, "state", offcpu__state(o->state));
	json__u64(j, "since", o->since);
	json__u64(j, "age_ns", oc->result->sums.last - o->since);
	json__maybe(j, "woken_at", o->woken_at, o->woken_at);
	waits__json_stacks(&oc->w, o->kstack, WAIT_TASK, o->ustack);
	json__end(j);
}

static void put_sums(struct offcpu *oc)
{
	const struct offcpu_sums *s = &oc->result->sums;
	struct json *j = &oc->w.out.json;

	json__record(j, "sums");
	offcpu__put_time(&oc->w.out, &s->time);
	put_states(oc, s->states);
	json__u64(j, "open", oc->result->nr_open);
	offcpu__put_notes(oc);
	json__u64(j, "first", s->first);
	json__u64(j, "last", s->last);
	json__end(j);
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
