// SPDX-License-Identifier: GPL-2.0-only
/* What the futex command prints for people. */
#include <inttypes.h>
#include <string.h>

#include "futex.h"
#include "log.h"
#include "ui/frames.h"
#include "ui/times.h"

#define WAKERS 3 /* lines below a group */
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

static void put_site(struct futex *fx, uint32_t ustack)
{
	struct stk_frame frame;

	if (call_site__frame(fx->w.rd.reader, ustack, &frame))
		frame__text(&fx->w.rd.names, &fx->w.out.b, &frame);
	else
		strbuf__puts(&fx->w.out.b, "no user stack");
}

static void put_what(struct futex *fx, const struct futex_group *g)
{
	struct strbuf *b = &fx->w.out.b;

	switch (fx->by) {
	case FUTEX_BY_SITE:
		put_site(fx, g->site_stack);
		break;
	case FUTEX_BY_ADDRESS:
		put_address(b, &g->address);
		break;
	case FUTEX_BY_COMM:
		out__safe(b, g->comm, strlen(g->comm));
		break;
	case FUTEX_BY_PID:
		strbuf__printf(b, "pid %u", g->pid);
		break;
	}
}

/* "woken by unlock+0x1f/0x40 [prog] in comm" */
static void put_waker(struct futex *fx, const struct futex_waker *w)
{
	struct strbuf *b = &fx->w.out.b;

	if (w->first->interrupt) {
		strbuf__puts(b, "woken by an interrupt");
		return;
	}
	strbuf__puts(b, w->first->by_call ? "woken by " : "woken without a call by ");
	if (w->frame.kind != STK_FRAME_UNKNOWN) {
		frame__text(&fx->w.rd.names, b, &w->frame);
		strbuf__puts(b, " in ");
	}
	out__safe(b, w->first->waker.comm, strlen(w->first->waker.comm));
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
		strbuf__puts(b, out__colour(&fx->w.out, OUT_DIM));
		out__number(b, fx->wakers[i].count, 12);
		strbuf__puts(b, "    ");
		put_waker(fx, &fx->wakers[i]);
		strbuf__puts(b, out__colour(&fx->w.out, OUT_PLAIN));
		strbuf__putc(b, '\n');
	}
	if (rest) {
		out__number(b, rest, 12);
		strbuf__printf(b, "    woken from %u more places\n", nr - WAKERS);
	}
}

static void put_stacks(struct futex *fx, const struct futex_group *g)
{
	struct strbuf *b = &fx->w.out.b;
	uint32_t i;

	for (i = 0; i < g->nr_stacks && !out__drain(&fx->w.out); i++) {
		const struct futex_stacks *s = &g->stacks[i];

		out__number(b, s->count, 8);
		out__ns(b, s->sum, 12);
		strbuf__printf(b, " user stack_id %u\n", stack__id(fx->w.rd.reader, s->ustack));
		waits__put_stack(&fx->w, INDENT, s->ustack ? 0 : s->kstack, s->ustack);
		if (!s->woken)
			continue;
		strbuf__puts(b, INDENT);
		if (s->interrupt) {
			strbuf__puts(b, "woken by an interrupt\n");
			waits__put_stack(&fx->w, INDENT "  ", s->waker_kstack, 0);
			continue;
		}
		strbuf__puts(b, "woken by ");
		waits__put_task(b, s->waker.comm, s->waker.tid);
		strbuf__printf(b, ", user stack_id %u\n",
			       stack__id(fx->w.rd.reader, s->waker_ustack));
		waits__put_stack(&fx->w, INDENT "  ", s->by_call ? 0 : s->waker_kstack,
				 s->waker_ustack);
	}
}

static void put_group(struct futex *fx, const struct futex_group *g)
{
	struct strbuf *b = &fx->w.out.b;
	const struct durations *d = &g->waits;

	strbuf__puts(b, out__colour(&fx->w.out, OUT_NUMBER));
	out__number(b, d->count, 8);
	out__ns(b, d->sum > UINT64_MAX ? UINT64_MAX : (uint64_t)d->sum, 10);
	out__ns(b, durations__percentile(d, 500), 10);
	out__ns(b, durations__percentile(d, 990), 10);
	out__ns(b, d->max, 10);
	strbuf__puts(b, out__colour(&fx->w.out, OUT_PLAIN));
	out__number(b, g->timeouts, 8);
	out__number(b, g->interrupted, 6);
	out__number(b, g->again, 7);
	out__number(b, g->requeued, 7);
	out__number(b, g->wakes, 8);
	out__number(b, g->wasted, 8);
	strbuf__puts(b, "  ");
	strbuf__puts(b, out__colour(&fx->w.out, OUT_HEAD));
	put_what(fx, g);
	strbuf__puts(b, out__colour(&fx->w.out, OUT_PLAIN));
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
	strbuf__puts(b, "\n# Waiting still when the recording ended:\n");
	for (i = 0; i < top && !out__drain(&fx->w.out); i++) {
		const struct futex_open *o = &r->open[i];

		out__ns(b, r->sums.last - o->since, 18);
		strbuf__puts(b, "  ");
		waits__put_task(b, o->task.comm, o->task.tid);
		strbuf__puts(b, " at ");
		put_address(b, &o->address);
		strbuf__puts(b, ", ");
		put_site(fx, o->ustack);
		strbuf__putc(b, '\n');
		if (fx->w.stacks)
			waits__put_stack(&fx->w, INDENT, o->ustack ? 0 : o->kstack, o->ustack);
	}
	if (top < r->nr_open)
		strbuf__printf(b, "  and %u more\n", r->nr_open - top);
}

static void put_title(struct futex *fx)
{
	const struct futex_sums *s = &fx->result->sums;
	struct strbuf *b = &fx->w.out.b;

	strbuf__puts(b, "# ");
	out__number(b, s->waits, 0);
	strbuf__puts(b, s->waits == 1 ? " wait, " : " waits, ");
	out__ns(b, s->ns > UINT64_MAX ? UINT64_MAX : (uint64_t)s->ns, 0);
	strbuf__printf(b,
		       " in all, recorded in %.3f s; %" PRIu64 " futexes, %" PRIu64
		       " at several places\n",
		       (double)(s->last - s->first) / 1e9, s->addresses, s->shared);
	waits__note(&fx->w, s->no_enter, "calls began before the recording: not counted");
	waits__note(&fx->w, s->no_exit, "calls whose end is missing: not counted");
	waits__note(&fx->w, s->no_fields, "calls came without their fields: not counted");
	waits__note(&fx->w, s->no_whom, "wakeups came without saying whom: not attributed");
	waits__note(&fx->w, s->lost, "events of futex calls were lost");
	waits__note(&fx->w, s->gaps, "waits touch a time in which events were lost: not counted");
	waits__note(&fx->w, s->maybe_requeued, "waits may have been moved to another futex");
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
	strbuf__puts(b, "#  waits     total       p50       p99       max timeout  intr  again"
			"  moved   wakes  wasted  where\n");
	for (i = 0; i < top && !out__drain(&fx->w.out); i++)
		put_group(fx, &r->groups[i]);
	if (top < r->nr_groups)
		strbuf__printf(b, "  and %u more lines\n", r->nr_groups - top);
	put_open(fx);
}
