// SPDX-License-Identifier: GPL-2.0-only
/* The futex command's JSON; the names are listed in stackonce-futex(1). */
#include <inttypes.h>

#include "futex.h"
#include "ui/frames.h"

static void put_site(struct futex *fx, const char *key, uint32_t ustack)
{
	struct strbuf *b = &fx->w.out.b;
	struct stk_frame frame;

	strbuf__printf(b, ",\"%s\":", key);
	if (call_site__frame(fx->w.rd.reader, ustack, &frame))
		frame__json(&fx->w.rd.names, b, &frame);
	else
		strbuf__puts(b, "null");
}

/* Members of a futex; address is null where the call does not name it. */
static void put_address(struct strbuf *b, const struct futex_address *a)
{
	if (!a->address) {
		strbuf__puts(b, ",\"address\":null");
		return;
	}
	strbuf__printf(b, ",\"address\":\"0x%" PRIx64 "\"", a->address);
	waits__json_u64(b, "address_pid", a->pid);
	strbuf__puts(b, a->shared ? ",\"shared\":true" : ",\"shared\":false");
	waits__json_u64(b, "places", a->nr_places);
	waits__json_string(b, "lock", futex__kind(a));
	if (a->kind != FUTEX_OTHER)
		waits__json_u64(b, "owner_changes", a->owner_changes);
	else
		strbuf__puts(b, ",\"owner_changes\":null");
}

static void put_waker(struct futex *fx, const struct futex_stacks *s)
{
	struct strbuf *b = &fx->w.out.b;

	if (!s->woken) {
		strbuf__puts(b, ",\"waker\":null");
		return;
	}
	strbuf__printf(b, ",\"waker\":{\"by\":\"%s\"",
		       s->interrupt ? "interrupt" :
		       s->by_call   ? "call" :
				      "other");
	if (!s->interrupt)
		waits__json_task(b, &s->waker);
	waits__json_stack(&fx->w, "kstack", s->waker_kstack);
	waits__json_stack(&fx->w, "ustack", s->waker_ustack);
	put_site(fx, "site", s->waker_ustack);
	waits__json_frames(&fx->w, s->waker_kstack, s->waker_ustack);
	strbuf__putc(b, '}');
}

static void put_stacks(struct futex *fx, const struct futex_group *g)
{
	struct strbuf *b = &fx->w.out.b;
	uint32_t i;

	strbuf__puts(b, ",\"stacks\":[");
	for (i = 0; i < g->nr_stacks && !out__drain(&fx->w.out); i++) {
		const struct futex_stacks *s = &g->stacks[i];

		strbuf__printf(b, "%s{\"count\":%" PRIu64 ",\"sum_ns\":%" PRIu64, i ? "," : "",
			       s->count, s->sum);
		waits__json_stack(&fx->w, "kstack", s->kstack);
		waits__json_stack(&fx->w, "ustack", s->ustack);
		waits__json_end(&fx->w, "ustack_end", s->ustack);
		waits__json_frames(&fx->w, s->kstack, s->ustack);
		put_waker(fx, s);
		strbuf__putc(b, '}');
	}
	strbuf__putc(b, ']');
}

static void put_group(struct futex *fx, const struct futex_group *g)
{
	struct strbuf *b = &fx->w.out.b;

	strbuf__puts(b, "{\"kind\":\"group\"");
	if (fx->by == FUTEX_BY_SITE)
		put_site(fx, "site", g->site_stack);
	else if (fx->by == FUTEX_BY_ADDRESS)
		put_address(b, &g->address);
	else if (fx->by == FUTEX_BY_COMM)
		waits__json_string(b, "comm", g->comm);
	else
		waits__json_u64(b, "pid", g->pid);
	waits__json_u64(b, "waits", g->waits.count);
	waits__json_durations(b, &g->waits);
	waits__json_u64(b, "timeouts", g->timeouts);
	waits__json_u64(b, "interrupted", g->interrupted);
	waits__json_u64(b, "requeued", g->requeued);
	waits__json_u64(b, "no_waker", g->no_waker);
	waits__json_u64(b, "again", g->again);
	waits__json_u64(b, "failed", g->failed);
	waits__json_u64(b, "wakes", g->wakes);
	waits__json_u64(b, "wasted", g->wasted);
	put_stacks(fx, g);
	strbuf__puts(b, "}\n");
}

static void put_open(struct futex *fx, const struct futex_open *o)
{
	struct strbuf *b = &fx->w.out.b;

	strbuf__puts(b, "{\"kind\":\"open\"");
	waits__json_task(b, &o->task);
	put_address(b, &o->address);
	waits__json_u64(b, "since", o->since);
	waits__json_u64(b, "age_ns", fx->result->sums.last - o->since);
	waits__json_stack(&fx->w, "kstack", o->kstack);
	waits__json_stack(&fx->w, "ustack", o->ustack);
	put_site(fx, "site", o->ustack);
	waits__json_frames(&fx->w, o->kstack, o->ustack);
	strbuf__puts(b, "}\n");
}

static void put_sums(struct futex *fx)
{
	const struct futex_sums *s = &fx->result->sums;
	struct strbuf *b = &fx->w.out.b;

	strbuf__puts(b, "{\"kind\":\"sums\"");
	waits__json_u64(b, "waits", s->waits);
	waits__json_u64(b, "sum_ns", s->ns > UINT64_MAX ? UINT64_MAX : (uint64_t)s->ns);
	waits__json_u64(b, "open", fx->result->nr_open);
	waits__json_u64(b, "no_enter", s->no_enter);
	waits__json_u64(b, "no_exit", s->no_exit);
	waits__json_u64(b, "no_fields", s->no_fields);
	waits__json_u64(b, "no_whom", s->no_whom);
	waits__json_u64(b, "lost", s->lost);
	waits__json_u64(b, "gaps", s->gaps);
	waits__json_u64(b, "maybe_requeued", s->maybe_requeued);
	waits__json_u64(b, "futexes", s->addresses);
	waits__json_u64(b, "at_several_places", s->shared);
	waits__json_u64(b, "first", s->first);
	waits__json_u64(b, "last", s->last);
	strbuf__puts(b, "}\n");
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
