// SPDX-License-Identifier: GPL-2.0-only
/* Follows each task from the switch away from it to the switch back. */
#include "offcpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "event_flags.h"
#include "offcpu_priv.h"

enum { PREV_PID, PREV_STATE, NEXT_PID };

static const struct event_role roles[] = {
	{ ROLE_SWITCH, "sched", "sched_switch", { "prev_pid", "prev_state", "next_pid" } },
	{ ROLE_WAKING, "sched", "sched_waking", { "pid" } },
	{ ROLE_NEW, "sched", "sched_wakeup_new", { "pid" } },
};

int offcpu_analysis__new(struct stk_reader *r, const struct offcpu_opts *opts,
			 struct offcpu_analysis **ret_analysis)
{
	struct offcpu_analysis *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->r = r;
	a->opts = *opts;
	offcpu_sums__init(a);
	err = event_fields__new(roles, ARRAY_SIZE(roles), &a->fields) ?:
		      wait_stacks__new(r, opts->full, &a->parts);
	if (err)
		offcpu_analysis__free(a);
	else
		*ret_analysis = a;
	return err;
}

void offcpu_analysis__free(struct offcpu_analysis *a)
{
	if (!a)
		return;
	event_fields__free(a->fields);
	wait_stacks__free(a->parts);
	thread_map__clear(&a->off);
	thread_map__clear(&a->members);
	offcpu_sums__clear(a);
	free(a);
}

/* ---- recorded tasks -------------------------------------------------------------------------- */

static int add_member(struct offcpu_analysis *a, uint32_t tid)
{
	void *value;

	if (thread_map__find(&a->members, tid))
		return 0;
	value = malloc(1); /* the map owns its values: one byte each */
	if (!value || thread_map__put(&a->members, tid, value)) {
		free(value);
		return -ENOMEM;
	}
	return 0;
}

/*
 * A recording of selected tasks has all switches from and to these.  It has switches of other tasks
 * only from or to a selected one, which would make wrong pairs.  A task that is selected by its id,
 * or that of its parent, stays so; one that is selected by its cgroup or user is so for a time, and
 * its other events have a mark.
 */
static int read_target(struct offcpu_analysis *a)
{
	const char *at = stk_reader__meta(a->r, "target");
	unsigned long pid;
	char *end;
	int err = 0;

	a->marked = stk_reader__meta(a->r, "selected.cgroups") ||
		    stk_reader__meta(a->r, "selected.uids");
	a->chosen = a->marked || (at && strcmp(at, "all"));
	while (a->chosen && !a->marked && *at && !err) {
		pid = strtoul(at, &end, 10);
		if (end == at)
			break;
		err = add_member(a, (uint32_t)pid);
		at = *end == ',' ? end + 1 : end;
	}
	a->target_read = true;
	return err;
}

static bool is_member(const struct offcpu_analysis *a, uint32_t tid)
{
	return !a->chosen || thread_map__find(&a->members, tid);
}

/* Adds the task of an event as a member if it is selected, or its process is a member. */
static int note_task(struct offcpu_analysis *a, const struct stk_event *e)
{
	if (a->marked && stk_event__marks(e) & STK_MARK_NOT_SELECTED) {
		free(thread_map__remove(&a->members, stk_event__tid(e)));
		return 0;
	}
	if (a->marked)
		return add_member(a, stk_event__tid(e));
	if (!a->chosen || is_member(a, stk_event__tid(e)) || !is_member(a, stk_event__pid(e)))
		return 0;
	return add_member(a, stk_event__tid(e));
}

/* May another switch be missing between the two that limit an interval? */
static bool may_miss(struct offcpu_analysis *a, uint64_t from, uint64_t to)
{
	const struct event_query q = { ROLE_SWITCH, ROLE_SWITCH, true, from, to };

	return event_fields__may_miss(a->fields, a->r, &q);
}

bool offcpu_off__is_selected(const struct offcpu_analysis *a, const struct offcpu_off *off)
{
	return !a->opts.select ||
	       a->opts.select(a->opts.ctx, &off->task, off->ts, off->cpu, off->state);
}

/* The interval of a task that is off the CPU, or NULL. */
static struct offcpu_off *find_off(const struct offcpu_analysis *a, uint32_t tid)
{
	struct offcpu_off *off = thread_map__find(&a->off, tid);

	return off && !off->ended ? off : NULL;
}

static int begin(struct offcpu_analysis *a, const struct offcpu_off *off)
{
	struct offcpu_off *room = thread_map__find(&a->off, off->task.tid);

	if (!room) {
		room = malloc(sizeof(*room));
		if (!room || thread_map__put(&a->off, off->task.tid, room)) {
			free(room);
			return -ENOMEM;
		}
	}
	*room = *off;
	return 0;
}

/* ---- switches -------------------------------------------------------------------------------- */

static int on_leave(struct offcpu_analysis *a, const struct event_known *known,
		    const struct stk_event *e)
{
	struct offcpu_off off = { .task = wait_task__of(e),
				  .ts = stk_event__ts(e),
				  .cpu = stk_event__cpu(e),
				  .kstack = stk_event__kstack(e),
				  .ustack = stk_event__ustack(e) };
	struct offcpu_off *old = find_off(a, off.task.tid);
	uint64_t state;

	if (old) {
		a->sums.no_return += offcpu_off__is_selected(a, old);
		old->ended = true;
	}
	if (!is_member(a, off.task.tid)) {
		a->sums.others++;
		return 0;
	}
	if (!event_fields__u64(known->fields[PREV_STATE], e, &state)) {
		a->sums.no_fields++;
		return 0;
	}
	off.state = switch_states__of(&a->states, known->format, known->fields[PREV_STATE], state);
	if (a->states.failed)
		return -ENOMEM;
	if (off.state == SWITCH_DEAD) {
		free(thread_map__remove(&a->members, off.task.tid));
		free(thread_map__remove(&a->off, off.task.tid));
	}
	if (off.state == SWITCH_DEAD || off.state == SWITCH_UNKNOWN) {
		a->sums.dead += off.state == SWITCH_DEAD;
		a->sums.unknown += off.state == SWITCH_UNKNOWN;
		return 0;
	}
	return begin(a, &off);
}

static int count(struct offcpu_analysis *a, const struct offcpu_off *off, uint64_t ts)
{
	if (!offcpu_off__is_selected(a, off))
		return 0;
	if (may_miss(a, off->ts, ts)) {
		a->sums.gaps++;
		return 0;
	}
	if (ts < off->ts || ts - off->ts < a->opts.min) {
		a->sums.too_short++;
		return 0;
	}
	return offcpu_sums__add(a, off, ts);
}

static int on_return(struct offcpu_analysis *a, uint32_t tid, uint64_t ts)
{
	struct offcpu_off *off = find_off(a, tid);

	if (!off) {
		a->sums.before += is_member(a, tid);
		return 0;
	}
	off->ended = true;
	return count(a, off, ts);
}

static int on_switch(struct offcpu_analysis *a, const struct event_known *known,
		     const struct stk_event *e)
{
	uint64_t next = 0;
	int err = 0;

	if (stk_event__tid(e))
		err = on_leave(a, known, e);
	if (err || !event_fields__u64(known->fields[NEXT_PID], e, &next))
		return err;
	return (uint32_t)next ? on_return(a, (uint32_t)next, stk_event__ts(e)) : 0;
}

/* ---- wakes ----------------------------------------------------------------------------------- */

static void woken_by(struct offcpu_off *off, const struct stk_event *e)
{
	off->woken = true;
	off->woken_at = stk_event__ts(e);
	off->waker_kstack = stk_event__kstack(e);
	off->interrupt = stk_event__flags(e) & EVENT_FLAG_INTERRUPT;
	/* An interrupt hits an arbitrary task: it is not the waker. */
	if (off->interrupt)
		return;
	off->waker = wait_task__of(e);
	off->waker_ustack = stk_event__ustack(e);
}

static int on_new(struct offcpu_analysis *a, uint32_t tid, const struct stk_event *e)
{
	/* A new task has the comm of its parent. */
	struct offcpu_off off = { .task = { .tid = tid, .comm = stk_event__comm(e) },
				  .state = SWITCH_NEW,
				  .ts = stk_event__ts(e),
				  .cpu = stk_event__cpu(e) };

	int err = a->chosen ? add_member(a, tid) : 0;

	woken_by(&off, e);
	return err ?: begin(a, &off);
}

static int on_wake(struct offcpu_analysis *a, const struct event_known *known,
		   const struct stk_event *e)
{
	struct offcpu_off *off;
	uint64_t tid;

	if (!event_fields__u64(known->fields[0], e, &tid)) {
		a->sums.no_fields++;
		return 0;
	}
	if (known->role == ROLE_NEW)
		return on_new(a, (uint32_t)tid, e);
	off = find_off(a, (uint32_t)tid);
	/* A preempted task is on a run queue already and need not be woken. */
	if (off && !off->woken && off->state != SWITCH_PREEMPTED)
		woken_by(off, e);
	return 0;
}

/* The result at the end needs at most as much again. */
static int charge_all(struct offcpu_analysis *a)
{
	uint64_t memory = key_table__memory(&a->groups) + key_table__memory(&a->stacks) +
			  string_table__memory(&a->comms) + thread_map__memory(&a->members, 1) +
			  thread_map__memory(&a->off, sizeof(struct offcpu_off)) +
			  wait_stacks__memory(a->parts);

	return charge(&a->charge, a->r, memory, wait_stacks__work(a->parts));
}

int offcpu_analysis__add(struct offcpu_analysis *a, const struct stk_event *e)
{
	const struct event_known *known;
	int err;

	known = event_fields__of(a->fields, stk_event__type(e));
	if (!known)
		return -ENOMEM;
	wait_times__add(&a->sums.first, &a->sums.last, e);
	if (!known->role)
		return 0;
	err = a->target_read ? 0 : read_target(a);
	if (!err)
		err = note_task(a, e);
	if (err)
		return err;
	err = known->role == ROLE_SWITCH ? on_switch(a, known, e) : on_wake(a, known, e);
	return err || !charge__is_due(&a->charge) ? err : charge_all(a);
}
