// SPDX-License-Identifier: GPL-2.0-only
/* Follows the futex calls of each thread from entry to exit, and matches wakers with waits. */
#include "futex.h"

#include <errno.h>
#include <stdlib.h>

#include "cleanup.h"
#include "event_flags.h"
#include "futex_priv.h"

/* -ERESTART*: only returned to the kernel's entry code, include/linux/errno.h. */
#define ERESTART_FIRST 512
#define ERESTART_LAST 516

#define STEPS_OF_WORK 16 /* steps along the open calls per unit of work */

int futex_analysis__new(struct stk_reader *r, const struct futex_opts *opts,
			struct futex_analysis **ret_analysis)
{
	struct futex_analysis *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->r = r;
	a->opts = *opts;
	futex_sums__init(a);
	err = call_sites__new(r, &a->sites) ?: wait_stacks__new(r, opts->full, &a->parts);
	if (!err)
		err = event_fields__new(futex_roles, nr_futex_roles, &a->fields);
	if (err)
		futex_analysis__free(a);
	else
		*ret_analysis = a;
	return err;
}

void futex_analysis__free(struct futex_analysis *a)
{
	if (!a)
		return;
	event_fields__free(a->fields);
	call_sites__free(a->sites);
	wait_stacks__free(a->parts);
	thread_map__clear(&a->calls);
	futex_sums__clear(a);
	free(a);
}

static bool selected(const struct futex_analysis *a, const struct futex_open_call *c)
{
	return !a->opts.select || a->opts.select(a->opts.ctx, &c->task, c->ts, c->cpu);
}

/* The futex on which the call waits now. */
static uint32_t waits_at(const struct futex_analysis *a, const struct futex_open_call *c)
{
	return futex_place__first(a, c->moved ? c->moved_to : c->place);
}

/* May a futex call be missing, of any thread?  Events without fields still have their thread. */
static bool may_miss_call(struct futex_analysis *a, uint64_t from, uint64_t to)
{
	const struct event_query q = { ROLE_FUTEX, ROLE_LAST_CALL, false, from, to };

	return event_fields__may_miss(a->fields, a->r, &q);
}

static bool may_miss_waking(struct futex_analysis *a, uint64_t from, uint64_t to)
{
	const struct event_query q = { ROLE_WAKING, ROLE_WAKING, true, from, to };

	return event_fields__may_miss(a->fields, a->r, &q);
}

static bool waits_still(const struct futex_open_call *c)
{
	return c->args.does == FUTEX_DOES_WAIT && !c->woken;
}

/* ---- requeues -------------------------------------------------------------------------------- */

/* Marks the waits that a requeue call may move from now on; returns their number. */
static uint32_t mark_movable(struct futex_analysis *a, const struct futex_open_call *by)
{
	uint32_t from = futex_place__first(a, by->place), at = 0, nr = 0;
	struct futex_open_call *c;

	a->steps += a->calls.nr;
	while (from && (c = thread_map__next(&a->calls, &at))) {
		if (!waits_still(c) || waits_at(a, c) != from)
			continue;
		c->moved = false;
		c->moved_to = by->place2;
		c->moved_by = by->task.tid;
		c->moved_at = by->ts;
		nr++;
	}
	return nr;
}

/*
 * The result of a requeue is the number of woken and moved waiters.  Which ones were moved is known
 * if all were; otherwise a wait is known to be moved once it is woken at the other futex.
 */
static void settle_requeue(struct futex_analysis *a, const struct futex_open_call *by, uint64_t ts,
			   int64_t ret)
{
	uint64_t known = (uint64_t)by->woke + by->proved, moved, candidates;
	struct futex_open_call *c;
	uint32_t at = 0;

	/* Wakeups or waits of this call may be missing. */
	if (may_miss_call(a, by->ts, ts) || may_miss_waking(a, by->ts, ts))
		return;
	moved = ret > 0 && (uint64_t)ret > known ? ret - known : 0;
	candidates = moved ? mark_movable(a, by) : 0;
	if (moved > candidates)
		a->unexplained_requeue = by->ts;
	a->steps += a->calls.nr;
	while ((c = thread_map__next(&a->calls, &at))) {
		if (c->moved_by != by->task.tid || c->moved || !waits_still(c))
			continue;
		if (!moved)
			c->moved_to = c->moved_by = 0;
		else if (moved == candidates)
			c->moved = true;
	}
}

/* ---- wakes ----------------------------------------------------------------------------------- */

/* Concludes from a call at one futex that wakes a wait at another: moved, or the same futex. */
static void learn_from_wake(struct futex_analysis *a, struct futex_open_call *wait,
			    const struct futex_open_call *call)
{
	const uint32_t at = waits_at(a, wait), by = futex_place__first(a, call->place);
	struct futex_open_call *mover;

	if (!by || (at && at == futex_place__first(a, call->place2)))
		return;
	if (at == by) {
		/* The requeue did not move this one. */
		if (!wait->moved)
			wait->moved_to = wait->moved_by = 0;
		return;
	}
	if (!at) {
		wait->place = call->place;
	} else if (wait->moved_to && futex_place__first(a, wait->moved_to) == by) {
		wait->moved = true;
		mover = thread_map__find(&a->calls, wait->moved_by);
		if (mover && mover->args.requeues && mover->ts == wait->moved_at)
			mover->proved++;
	} else if (futex_place__is_shared(a, at) && futex_place__is_shared(a, by) &&
		   wait->ts > a->unexplained_requeue) {
		futex_place__unite(a, at, by);
	}
}

static int on_waking(struct futex_analysis *a, const struct event_known *known,
		     const struct stk_event *e)
{
	struct futex_open_call *wait, *call;
	uint64_t tid;

	if (!event_fields__u64(known->fields[0], e, &tid)) {
		a->sums.no_target++;
		return 0;
	}
	wait = thread_map__find(&a->calls, (uint32_t)tid);
	if (!wait || wait->args.does != FUTEX_DOES_WAIT)
		return 0;
	wait->woken = true;
	wait->woken_at = stk_event__ts(e);
	wait->waker = wait_task__of(e);
	wait->waker_ustack = stk_event__ustack(e);
	wait->waker_kstack = stk_event__kstack(e);
	wait->by_call = false;
	wait->by_interrupt = stk_event__flags(e) & EVENT_FLAG_INTERRUPT;
	if (wait->by_interrupt)
		return 0;
	call = thread_map__find(&a->calls, stk_event__tid(e));
	if (!call || call->args.does != FUTEX_DOES_WAKE)
		return 0;
	wait->by_call = true;
	call->woke++;
	learn_from_wake(a, wait, call);
	return 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int begin_call(struct futex_analysis *a, struct futex_open_call *c)
{
	struct futex_place *p;
	int err;

	err = futex_place__at(a, c->task.pid, c->args.shared, c->args.address, &c->place);
	if (!err)
		err = futex_place__at(a, c->task.pid, c->args.shared, c->args.address2, &c->place2);
	if (err || !c->place)
		return err;
	p = futex_place__get(a, futex_place__first(a, c->place));
	p->pi |= c->args.pi;
	if (c->args.does == FUTEX_DOES_WAIT && !c->args.pi) {
		p->waits++;
		p->locked_waits += c->args.locked;
	}
	if (c->args.unlocks)
		futex_place__owned(a, c->place, c->task.tid);
	if (c->args.requeues)
		mark_movable(a, c);
	return 0;
}

static int call_begins(struct futex_analysis *a, const struct event_known *known,
		       const struct stk_event *e)
{
	struct futex_open_call *c = thread_map__remove(&a->calls, stk_event__tid(e));
	int err;

	if (c)
		a->sums.no_exit++;
	else
		c = malloc(sizeof(*c));
	if (!c)
		return -ENOMEM;
	*c = (struct futex_open_call){ .task = wait_task__of(e),
				       .role = known->role,
				       .ts = stk_event__ts(e),
				       .cpu = stk_event__cpu(e),
				       .ustack = stk_event__ustack(e),
				       .kstack = stk_event__kstack(e) };
	if (!futex_call__args(known, e, &c->args)) {
		a->sums.no_fields++;
		free(c);
		return 0;
	}
	err = begin_call(a, c) ?: thread_map__put(&a->calls, c->task.tid, c);
	if (err)
		free(c);
	return err;
}

static enum futex_outcome outcome_of(const struct futex_open_call *c, int64_t ret)
{
	if (ret == 0 || (ret > 0 && c->role == ROLE_FUTEX_WAITV))
		return FUTEX_WOKEN;
	if (ret == -ETIMEDOUT)
		return FUTEX_TIMEOUT;
	if (ret == -EAGAIN)
		return FUTEX_AGAIN;
	if (ret == -EINTR || (ret <= -ERESTART_FIRST && ret >= -ERESTART_LAST))
		return FUTEX_INTERRUPTED;
	return FUTEX_FAILED;
}

static int end_wait(struct futex_analysis *a, struct futex_open_call *c, uint64_t ts, int64_t ret)
{
	enum futex_outcome outcome = outcome_of(c, ret);
	bool waited = outcome != FUTEX_AGAIN && outcome != FUTEX_FAILED;
	uint64_t from = c->ts;
	int err = 0;

	if (c->args.pi && outcome == FUTEX_WOKEN && c->place)
		futex_place__owned(a, c->place, c->task.tid);
	/* Another task may have woken it last. */
	if (outcome != FUTEX_WOKEN || (c->woken && may_miss_waking(a, c->woken_at, ts)))
		c->woken = false;
	if (!selected(a, c))
		return 0;
	if (may_miss_call(a, c->ts, ts)) {
		a->sums.gaps++;
		return 0;
	}
	if (waited && c->moved_to && !c->moved)
		a->sums.maybe_requeued++;
	if (waited) {
		a->sums.waits++;
		a->sums.ns += ts - c->ts;
	}
	if (waited && c->moved && a->opts.by == FUTEX_BY_ADDRESS) {
		err = futex_sums__wait(a, c, c->place, c->ts, c->moved_at, FUTEX_MOVED);
		from = c->moved_at;
	}
	return err ?: futex_sums__wait(a, c, c->moved ? c->moved_to : c->place, from, ts, outcome);
}

static int end_wake(struct futex_analysis *a, const struct futex_open_call *c, uint64_t ts,
		    int64_t ret)
{
	if (c->args.requeues)
		settle_requeue(a, c, ts, ret);
	if (ret < 0 || !selected(a, c))
		return 0;
	/* The result of FUTEX_UNLOCK_PI does not say whether a task waited. */
	return futex_sums__wake(a, c, !ret && !c->args.pi);
}

static int call_ends(struct futex_analysis *a, const struct event_known *known,
		     const struct stk_event *e)
{
	struct futex_open_call *c = thread_map__remove(&a->calls, stk_event__tid(e));
	int64_t ret;
	int err = 0;

	if (!c) {
		a->sums.no_enter++;
		return 0;
	}
	if (c->role + 1 != known->role || c->task.pid != stk_event__pid(e)) {
		a->sums.no_exit++;
		a->sums.no_enter++;
	} else if (!futex_call__result(known, e, &ret)) {
		a->sums.no_fields++;
	} else if (c->args.does == FUTEX_DOES_WAIT) {
		err = end_wait(a, c, stk_event__ts(e), ret);
	} else if (c->args.does == FUTEX_DOES_WAKE) {
		err = end_wake(a, c, stk_event__ts(e), ret);
	}
	free(c);
	return err;
}

/* The result at the end needs at most as much again. */
static int charge_all(struct futex_analysis *a)
{
	uint64_t memory = key_table__memory(&a->places) + key_table__memory(&a->groups) +
			  key_table__memory(&a->stacks) + string_table__memory(&a->comms) +
			  thread_map__memory(&a->calls, sizeof(struct futex_open_call)) +
			  wait_stacks__memory(a->parts);

	return charge(&a->charge, a->r, memory,
		      a->steps / STEPS_OF_WORK + wait_stacks__work(a->parts));
}

int futex_analysis__add(struct futex_analysis *a, const struct stk_event *e)
{
	const struct event_known *known;
	int err;

	known = event_fields__of(a->fields, stk_event__type(e));
	if (!known)
		return -ENOMEM;
	wait_times__add(&a->sums.first, &a->sums.last, e);
	if (!known->role)
		return 0;
	if (known->role == ROLE_WAKING)
		return on_waking(a, known, e);
	err = known->role & 1 ? call_begins(a, known, e) : call_ends(a, known, e);
	return err || !charge__is_due(&a->charge) ? err : charge_all(a);
}
