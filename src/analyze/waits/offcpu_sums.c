// SPDX-License-Identifier: GPL-2.0-only
/* Sums up intervals by group and by pair of stacks, and makes the result. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/first_stack.h"
#include "cleanup.h"
#include "offcpu_priv.h"

struct group_key {
	uint32_t a, b, c;
};

struct stacks_key {
	uint32_t group, state, kstack, ustack;
	uint32_t woken, interrupt;
	uint32_t waker_kstack, waker_ustack, waker_tid, waker_pid, waker_comm;
};

struct stacks_value {
	struct offcpu_time time;
	uint64_t max;
};

void offcpu_sums__init(struct offcpu_analysis *a)
{
	key_table__init(&a->groups, sizeof(struct group_key), sizeof(struct offcpu_group));
	key_table__init(&a->stacks, sizeof(struct stacks_key), sizeof(struct stacks_value));
}

void offcpu_sums__clear(struct offcpu_analysis *a)
{
	uint32_t i;

	for (i = 0; i < a->groups.nr; i++)
		durations__clear(&((struct offcpu_group *)key_table__value(&a->groups, i))->off);
	for (i = 0; i < a->result.nr_groups; i++) {
		durations__clear(&a->result.groups[i].off);
		free(a->result.groups[i].stacks);
	}
	free(a->result.groups);
	free(a->result.open);
	key_table__clear(&a->groups);
	key_table__clear(&a->stacks);
	string_table__clear(&a->comms);
}

/* Fills in the key of the group; kstack is the part that the interval is grouped by. */
static void describe_group(const struct offcpu_analysis *a, const struct offcpu_off *off,
			   uint32_t kstack, struct offcpu_group *g)
{
	switch (a->opts.by) {
	case OFFCPU_BY_STACK:
		g->kstack = kstack;
		g->ustack = stack__first(a->r, off->ustack);
		g->state = off->state;
		break;
	case OFFCPU_BY_STATE:
		g->state = off->state;
		break;
	case OFFCPU_BY_COMM:
		g->task.comm = off->task.comm;
		break;
	case OFFCPU_BY_PID:
		g->task.pid = off->task.pid;
		break;
	case OFFCPU_BY_TID:
		g->task = off->task;
		break;
	}
}

static int group_of(struct offcpu_analysis *a, const struct offcpu_off *off, uint32_t kstack,
		    uint32_t *ret_group)
{
	struct offcpu_group d = { 0 };
	struct group_key key = { 0 };
	int n = 0;

	describe_group(a, off, kstack, &d);
	key.a = d.kstack;
	key.b = d.ustack;
	key.c = d.state;
	if (a->opts.by == OFFCPU_BY_COMM)
		n = string_table__intern(&a->comms, off->task.comm, &key.a);
	else if (a->opts.by == OFFCPU_BY_PID)
		key.a = off->task.pid;
	else if (a->opts.by == OFFCPU_BY_TID)
		key.a = off->task.tid;
	if (n)
		return n;
	n = key_table__at(&a->groups, &key, ret_group);
	if (n > 0)
		*(struct offcpu_group *)key_table__value(&a->groups, *ret_group) = d;
	return MIN(n, 0);
}

static void add_time(struct offcpu_time *t, uint64_t blocked, uint64_t queued)
{
	t->count++;
	t->blocked += blocked;
	t->queued += queued;
}

static int stacks_of(struct offcpu_analysis *a, const struct offcpu_off *off, uint32_t group,
		     uint32_t kstack, struct stacks_value **ret_value)
{
	struct stacks_key key = { .group = group,
				  .state = off->state,
				  .kstack = kstack,
				  .ustack = stack__first(a->r, off->ustack) };
	uint32_t number;
	int n;

	if (off->woken) {
		key.woken = 1;
		key.interrupt = off->interrupt;
		key.waker_kstack = stack__first(a->r, off->waker_kstack);
		key.waker_ustack = stack__first(a->r, off->waker_ustack);
		key.waker_tid = off->waker.tid;
		key.waker_pid = off->waker.pid;
		n = string_table__intern(&a->comms, off->waker.comm ?: "", &key.waker_comm);
		if (!n && off->interrupt)
			n = wait_stacks__of(a->parts, off->waker_kstack, WAIT_INTERRUPT,
					    &key.waker_kstack);
		if (n)
			return n;
	}
	n = key_table__at(&a->stacks, &key, &number);
	if (n < 0)
		return n;
	*ret_value = key_table__value(&a->stacks, number);
	return 0;
}

int offcpu_sums__add(struct offcpu_analysis *a, const struct offcpu_off *off, uint64_t ts)
{
	uint64_t blocked = ts - off->ts, queued = 0;
	bool runs = off->state == SWITCH_PREEMPTED || off->state == SWITCH_NEW;
	struct stacks_value *v;
	struct offcpu_group *g;
	uint32_t group, kstack;
	int err;

	if (runs) {
		queued = blocked;
		blocked = 0;
	} else if (off->woken && off->woken_at <= ts && off->woken_at >= off->ts) {
		queued = ts - off->woken_at;
		blocked -= queued;
	}
	err = wait_stacks__of(a->parts, off->kstack, WAIT_TASK, &kstack);
	err = err ?: group_of(a, off, kstack, &group);
	err = err ?: stacks_of(a, off, group, kstack, &v);
	if (err)
		return err;
	g = key_table__value(&a->groups, group);
	err = durations__add(&g->off, blocked + queued);
	if (err)
		return err;
	a->sums.no_waking += !runs && !off->woken;
	v->max = MAX(v->max, blocked + queued);
	add_time(&v->time, blocked, queued);
	add_time(&g->time, blocked, queued);
	add_time(&g->states[off->state], blocked, queued);
	add_time(&a->sums.time, blocked, queued);
	add_time(&a->sums.states[off->state], blocked, queued);
	return 0;
}

/* ---- the result ------------------------------------------------------------------------------ */

static int by_time(const struct offcpu_time *a, const struct offcpu_time *b)
{
	uint64_t x = a->blocked + a->queued, y = b->blocked + b->queued;

	return CMP(y, x) ?: CMP(b->count, a->count);
}

static int by_group_time(const void *x, const void *y)
{
	const struct offcpu_group *a = x, *b = y;

	return by_time(&a->time, &b->time);
}

static int by_stack_time(const void *x, const void *y)
{
	const struct offcpu_stacks *a = x, *b = y;

	return by_time(&a->time, &b->time) ?: (a->kstack > b->kstack) - (a->kstack < b->kstack);
}

static int by_age(const void *x, const void *y)
{
	const struct offcpu_open *a = x, *b = y;

	return a->since != b->since ? (a->since < b->since ? -1 : 1) :
				      (a->task.tid > b->task.tid) - (a->task.tid < b->task.tid);
}

static void fill_stacks(const struct offcpu_analysis *a, uint32_t number, struct offcpu_stacks *s)
{
	const struct stacks_value *v = key_table__value(&a->stacks, number);
	const struct stacks_key *key = key_table__key(&a->stacks, number);

	*s = (struct offcpu_stacks){ .state = key->state,
				     .kstack = key->kstack,
				     .ustack = key->ustack,
				     .woken = key->woken,
				     .interrupt = key->interrupt,
				     .waker_kstack = key->waker_kstack,
				     .waker_ustack = key->waker_ustack,
				     .time = v->time,
				     .max = v->max };
	if (!key->woken)
		return;
	s->waker = (struct wait_task){ .tid = key->waker_tid,
				       .pid = key->waker_pid,
				       .comm = string_table__get(&a->comms, key->waker_comm) };
}

static int assign_stacks(struct offcpu_analysis *a)
{
	struct offcpu_group *groups = a->result.groups;
	uint32_t i, *nr;

	for (i = 0; i < a->stacks.nr; i++)
		groups[*(const uint32_t *)key_table__key(&a->stacks, i)].nr_stacks++;
	for (i = 0; i < a->result.nr_groups; i++) {
		groups[i].stacks = calloc(groups[i].nr_stacks ?: 1, sizeof(*groups[i].stacks));
		if (!groups[i].stacks)
			return -ENOMEM;
		groups[i].nr_stacks = 0;
	}
	for (i = 0; i < a->stacks.nr; i++) {
		struct offcpu_group *g = &groups[*(const uint32_t *)key_table__key(&a->stacks, i)];

		nr = &g->nr_stacks;
		fill_stacks(a, i, &g->stacks[(*nr)++]);
	}
	for (i = 0; i < a->result.nr_groups; i++)
		if (groups[i].nr_stacks)
			qsort(groups[i].stacks, groups[i].nr_stacks, sizeof(*groups[i].stacks),
			      by_stack_time);
	return 0;
}

static int list_open(struct offcpu_analysis *a)
{
	const struct offcpu_off *off;
	uint32_t at = 0, nr = 0;

	a->result.open = calloc(a->off.nr ?: 1, sizeof(*a->result.open));
	if (!a->result.open)
		return -ENOMEM;
	while ((off = thread_map__next(&a->off, &at))) {
		if (off->ended || !offcpu_off__is_selected(a, off))
			continue;
		a->result.open[nr++] =
			(struct offcpu_open){ .task = off->task,
					      .state = off->state,
					      .since = off->ts,
					      .woken_at = off->woken ? off->woken_at : 0,
					      .kstack = off->kstack,
					      .ustack = off->ustack };
	}
	a->result.nr_open = nr;
	if (nr)
		qsort(a->result.open, nr, sizeof(*a->result.open), by_age);
	return 0;
}

int offcpu_analysis__finish(struct offcpu_analysis *a, const struct offcpu_result **ret_result)
{
	struct offcpu_result *result = &a->result;
	uint32_t i;
	int err;

	result->groups = calloc(a->groups.nr ?: 1, sizeof(*result->groups));
	if (!result->groups)
		return -ENOMEM;
	for (i = 0; i < a->groups.nr; i++) {
		struct offcpu_group *g = key_table__value(&a->groups, i);

		/* The result owns the durations from here on. */
		result->groups[i] = *g;
		g->off = (struct durations){ 0 };
	}
	result->nr_groups = a->groups.nr;
	err = assign_stacks(a);
	if (!err)
		err = list_open(a);
	if (err)
		return err;
	if (result->nr_groups)
		qsort(result->groups, result->nr_groups, sizeof(*result->groups), by_group_time);
	a->sums.lost = event_fields__lost(a->fields, a->r, ROLE_SWITCH, ROLE_SWITCH);
	err = event_fields__error(a->fields);
	if (err)
		return err;
	result->sums = a->sums;
	*ret_result = result;
	return 0;
}
