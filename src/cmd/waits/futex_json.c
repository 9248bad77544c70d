// SPDX-License-Identifier: GPL-2.0-only
/* The JSON output of stackonce futex; docs/json.md lists the members. */
#include <inttypes.h>

#include "futex.h"
#include "ui/frames.h"

/* g: the group whose site it is, or NULL. */
static void put_site(struct futex *fx, uint32_t ustack, const struct futex_group *g)
{
	struct json *j = &fx->w.out.json;
	struct stk_frame frame;

	if (!call_site__frame(fx->w.rd.reader, ustack, &frame)) {
		json__null(j, "site");
		return;
	}
	if (g)
		frame.guessed = g->guesses == g->calls;
	frame__json(&fx->w.rd.names, j, "site", &frame);
	if (g && g->guesses)
		json__u64(j, "guesses", g->guesses);
}

/* Members of a futex; address is null if the call has it in user memory. */
static void put_address(struct json *j, const struct futex_address *a)
{
	if (!a->address) {
		json__null(j, "address");
		return;
	}
	json__printf(j, "address", "0x%" PRIx64, a->address);
	json__u64(j, "address_pid", a->pid);
	json__bool(j, "shared", a->shared);
	json__u64(j, "places", a->nr_places);
	json__string(j, "lock", futex__kind(a));
	json__maybe(j, "owner_changes", a->kind != FUTEX_OTHER, a->owner_changes);
}

static void put_waker(struct futex *fx, const struct futex_stacks *s)
{
	struct json *j = &fx->w.out.json;

	if (!s->woken) {
		json__null(j, "waker");
		return;
	}
	json__object(j, "waker");
	json__string(j, "by", s->interrupt ? "interrupt" : s->by_call ? "call" : "other");
	if (!s->interrupt)
		waits__json_task(j, &s->waker);
	waits__json_stacks(&fx->w, s->waker_kstack, s->interrupt ? WAIT_INTERRUPT : WAIT_TASK,
			   s->waker_ustack);
	waits__json_end(&fx->w, s->waker_ustack);
	put_site(fx, s->waker_ustack, NULL);
	json__end(j);
}

static void put_stacks(struct futex *fx, const struct futex_group *g)
{
	struct json *j = &fx->w.out.json;
	uint32_t i;

	json__array(j, "stacks");
	for (i = 0; i < g->nr_stacks && !out__drain(&fx->w.out); i++) {
		const struct futex_stacks *s = &g->stacks[i];

		json__object(j, NULL);
		json__u64(j, "count", s->count);
		json__u64(j, "sum_ns", s->sum);
		waits__json_stacks(&fx->w, s->kstack, WAIT_TASK, s->ustack);
		waits__json_end(&fx->w, s->ustack);
		put_waker(fx, s);
		json__end(j);
	}
	json__end(j);
}

static void put_group(struct futex *fx, const struct futex_group *g)
{
	struct json *j = &fx->w.out.json;

	json__record(j, "group");
	if (fx->opts.by == FUTEX_BY_SITE)
		put_site(fx, g->site_stack, g);
	else if (fx->opts.by == FUTEX_BY_ADDRESS)
		put_address(j, &g->address);
	else if (fx->opts.by == FUTEX_BY_COMM)
		json__string(j, "comm", g->comm);
	else
		json__u64(j, "pid", g->pid);
	futex__put_columns(&fx->w.out, g);
	put_stacks(fx, g);
	json__end(j);
}

static void put_open(struct futex *fx, const struct futex_open *o)
{
	struct json *j = &fx->w.out.json;

	json__record(j, "open");
	waits__json_task(j, &o->task);
	put_address(j, &o->address);
	json__u64(j, "since", o->since);
	json__u64(j, "age_ns", fx->result->sums.last - o->since);
	waits__json_stacks(&fx->w, o->kstack, WAIT_TASK, o->ustack);
	put_site(fx, o->ustack, NULL);
	json__end(j);
}

static void put_sums(struct futex *fx)
{
	const struct futex_sums *s = &fx->result->sums;
	struct json *j = &fx->w.out.json;

	json__record(j, "sums");
	json__u64(j, "waits", s->waits);
	column__ns(&fx->w.out, "sum", 0, s->ns);
	json__u64(j, "open", fx->result->nr_open);
	futex__put_notes(fx);
	json__u64(j, "futexes", s->addresses);
	json__u64(j, "at_several_places", s->shared);
	json__u64(j, "first", s->first);
	json__u64(j, "last", s->last);
	json__end(j);
}

void futex__put_json(struct futex *fx)
{
	const struct futex_result *r = fx->result;
	uint32_t i, top = waits__top(&fx->w, r->nr_groups);

	for (i = 0; i < top && !out__drain(&fx->w.out); i++)
		put_group(fx, &r->groups[i]);
	for (i = 0; i < r->nr_open && !out__drain(&fx->w.out); i++)
		put_open(fx, &r->open[i]);
	put_sums(fx);
}
