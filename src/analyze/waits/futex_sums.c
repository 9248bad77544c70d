// SPDX-License-Identifier: GPL-2.0-only
/* Sums up waits by group and by pair of stacks, and makes the result. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/first_stack.h"
#include "call_site.h"
#include "cleanup.h"
#include "futex_priv.h"

struct group_key {
	uint64_t ip;
	uint32_t number; /* file, place, comm or pid */
	uint32_t zero;
};

struct stacks_key {
	uint32_t group, ustack, kstack;
	uint32_t waker_ustack, waker_kstack;
	uint32_t waker_tid, waker_pid, waker_comm;
	uint32_t woken, by_call, interrupt;
};

struct stacks_value {
	uint64_t count, sum;
};

void futex_sums__init(struct futex_analysis *a)
{
	key_table__init(&a->places, 16, sizeof(struct futex_place));
	key_table__init(&a->groups, sizeof(struct group_key), sizeof(struct futex_group));
	key_table__init(&a->stacks, sizeof(struct stacks_key), sizeof(struct stacks_value));
}

void futex_sums__clear(struct futex_analysis *a)
{
	uint32_t i;

	for (i = 0; i < a->groups.nr; i++)
		durations__clear(&((struct futex_group *)key_table__value(&a->groups, i))->waits);
	for (i = 0; i < a->result.nr_groups; i++) {
		durations__clear(&a->result.groups[i].waits);
		free(a->result.groups[i].stacks);
	}
	free(a->result.groups);
	free(a->result.open);
	key_table__clear(&a->places);
	key_table__clear(&a->groups);
	key_table__clear(&a->stacks);
	string_table__clear(&a->comms);
}

static int group_of(struct futex_analysis *a, const struct futex_open_call *c, uint32_t place,
		    uint32_t *ret_group)
{
	struct group_key key = { 0 };
	struct call_site site = { 0 };
	struct futex_group *g;
	int n = 0;

	if (a->opts.by == FUTEX_BY_SITE) {
		n = call_sites__of(a->sites, c->ustack, &site);
		key.ip = site.ip;
		key.number = site.file;
	} else if (a->opts.by == FUTEX_BY_ADDRESS) {
		key.number = place;
	} else if (a->opts.by == FUTEX_BY_COMM) {
		n = string_table__intern(&a->comms, c->task.comm, &key.number);
	} else {
		key.number = c->task.pid;
	}
	if (n < 0)
		return n;
	n = key_table__at(&a->groups, &key, ret_group);
	if (n < 0)
		return n;
	g = key_table__value(&a->groups, *ret_group);
	g->calls++;
	g->guesses += site.guessed;
	if (!n)
		return 0;
	g->site_stack = a->opts.by == FUTEX_BY_SITE ? c->ustack : 0;
	g->pid = a->opts.by == FUTEX_BY_PID ? c->task.pid : 0;
	g->comm = a->opts.by == FUTEX_BY_COMM ? c->task.comm : NULL;
	return 0;
}

static int add_stacks(struct futex_analysis *a, const struct futex_open_call *c, uint32_t group,
		      uint64_t ns, bool woken)
{
	struct stacks_key key = { .group = group,
				  .ustack = stack__first(a->r, c->ustack),
				  .kstack = stack__first(a->r, c->kstack) };
	struct stacks_value *v;
	uint32_t number;
	int n;

	if (woken) {
		n = string_table__intern(&a->comms, c->by_interrupt ? "" : c->waker.comm,
					 &key.waker_comm);
		if (n)
			return n;
		key.woken = 1;
		key.by_call = c->by_call;
		key.interrupt = c->by_interrupt;
	}
	/* An interrupt hits an arbitrary task: it is not the waker. */
	if (woken && c->by_interrupt) {
		n = wait_stacks__of(a->parts, c->waker_kstack, WAIT_INTERRUPT, &key.waker_kstack);
		if (n)
			return n;
	} else if (woken) {
		key.waker_tid = c->waker.tid;
		key.waker_pid = c->waker.pid;
		key.waker_ustack = stack__first(a->r, c->waker_ustack);
		key.waker_kstack = stack__first(a->r, c->waker_kstack);
	}
	n = key_table__at(&a->stacks, &key, &number);
	if (n < 0)
		return n;
	v = key_table__value(&a->stacks, number);
	v->count++;
	v->sum += ns;
	return 0;
}

int futex_sums__wait(struct futex_analysis *a, const struct futex_open_call *c, uint32_t place,
		     uint64_t from, uint64_t to, enum futex_outcome outcome)
{
	uint64_t ns = to > from ? to - from : 0;
	struct futex_group *g;
	uint32_t group;
	int err;

	err = group_of(a, c, place, &group);
	if (err)
		return err;
	g = key_table__value(&a->groups, group);
	if (outcome == FUTEX_AGAIN || outcome == FUTEX_FAILED) {
		g->again += outcome == FUTEX_AGAIN;
		g->failed += outcome == FUTEX_FAILED;
		return 0;
	}
	err = durations__add(&g->waits, ns);
	if (err)
		return err;
	g->timeouts += outcome == FUTEX_TIMEOUT;
	g->interrupted += outcome == FUTEX_INTERRUPTED;
	g->requeued += outcome == FUTEX_MOVED || (c->moved && a->opts.by != FUTEX_BY_ADDRESS);
	g->no_waker += outcome == FUTEX_WOKEN && !c->woken;
	return add_stacks(a, c, group, ns, outcome == FUTEX_WOKEN && c->woken);
}

int futex_sums__wake(struct futex_analysis *a, const struct futex_open_call *c, bool wasted)
{
	struct futex_group *g;
	uint32_t group;
	int err;

	err = group_of(a, c, c->place, &group);
	if (err)
		return err;
	g = key_table__value(&a->groups, group);
	g->wakes++;
	g->wasted += wasted;
	return 0;
}

/* ---- the result ------------------------------------------------------------------------------ */

static int by_sum(const void *x, const void *y)
{
	const struct futex_group *a = x, *b = y;

	if (a->waits.sum != b->waits.sum)
		return a->waits.sum > b->waits.sum ? -1 : 1;
	if (a->waits.count != b->waits.count)
		return a->waits.count > b->waits.count ? -1 : 1;
	return a->wakes != b->wakes ? (a->wakes > b->wakes ? -1 : 1) : 0;
}

static int by_time(const void *x, const void *y)
{
	const struct futex_stacks *a = x, *b = y;

	if (a->sum != b->sum)
		return a->sum > b->sum ? -1 : 1;
	return a->ustack != b->ustack ?
		       (a->ustack < b->ustack ? -1 : 1) :
		       (a->waker_ustack > b->waker_ustack) - (a->waker_ustack < b->waker_ustack);
}

static int by_age(const void *x, const void *y)
{
	const struct futex_open *a = x, *b = y;

	return a->since != b->since ? (a->since < b->since ? -1 : 1) :
				      (a->task.tid > b->task.tid) - (a->task.tid < b->task.tid);
}

/* Merges g into a group of the same futex. */
static int merge_group(struct futex_group *into, struct futex_group *g)
{
	int err = durations__merge(&into->waits, &g->waits);

	durations__clear(&g->waits);
	into->timeouts += g->timeouts;
	into->interrupted += g->interrupted;
	into->requeued += g->requeued;
	into->no_waker += g->no_waker;
	into->again += g->again;
	into->failed += g->failed;
	into->wakes += g->wakes;
	into->wasted += g->wasted;
	return err;
}

/*
 * Makes the groups of the result; ret_into[i] is the index of the group into which group i of the
 * table went.  Groups are merged only if two places turned out to be the same futex.
 */
static int fold_groups(struct futex_analysis *a, uint32_t *ret_into)
{
	_cleanup_free_ uint32_t *of_place = calloc(a->places.nr + 1, sizeof(*of_place));
	struct futex_group *groups = calloc(a->groups.nr ?: 1, sizeof(*groups));
	uint32_t i, place, nr = 0;
	int err = 0;

	a->result.groups = groups;
	if (!of_place || !groups)
		return -ENOMEM;
	for (i = 0; i < a->groups.nr && !err; i++) {
		const struct group_key *key = key_table__key(&a->groups, i);
		struct futex_group *g = key_table__value(&a->groups, i);

		place = a->opts.by == FUTEX_BY_ADDRESS ? futex_place__first(a, key->number) : 0;
		if (place && of_place[place]) {
			ret_into[i] = of_place[place] - 1;
			err = merge_group(&groups[ret_into[i]], g);
			continue;
		}
		/* The result owns the durations from here on. */
		groups[nr] = *g;
		g->waits = (struct durations){ 0 };
		futex_place__describe(a, place, &groups[nr].address);
		ret_into[i] = nr++;
		of_place[place] = nr;
		a->result.nr_groups = nr;
	}
	return err;
}

static void fill_stacks(const struct futex_analysis *a, uint32_t number, struct futex_stacks *s)
{
	const struct stacks_value *v = key_table__value(&a->stacks, number);
	const struct stacks_key *key = key_table__key(&a->stacks, number);

	*s = (struct futex_stacks){ .ustack = key->ustack,
				    .kstack = key->kstack,
				    .woken = key->woken,
				    .by_call = key->by_call,
				    .interrupt = key->interrupt,
				    .waker_ustack = key->waker_ustack,
				    .waker_kstack = key->waker_kstack,
				    .count = v->count,
				    .sum = v->sum };
	if (key->woken)
		s->waker =
			(struct wait_task){ .tid = key->waker_tid,
					    .pid = key->waker_pid,
					    .comm = string_table__get(&a->comms, key->waker_comm) };
}

static int assign_stacks(struct futex_analysis *a, const uint32_t *into)
{
	struct futex_group *g;
	uint32_t i;

	for (i = 0; i < a->stacks.nr; i++)
		a->result.groups[into[*(const uint32_t *)key_table__key(&a->stacks, i)]]
			.nr_stacks++;
	for (i = 0; i < a->result.nr_groups; i++) {
		g = &a->result.groups[i];
		g->stacks = calloc(g->nr_stacks ?: 1, sizeof(*g->stacks));
		if (!g->stacks)
			return -ENOMEM;
		g->nr_stacks = 0;
	}
	for (i = 0; i < a->stacks.nr; i++) {
		g = &a->result.groups[into[*(const uint32_t *)key_table__key(&a->stacks, i)]];
		fill_stacks(a, i, &g->stacks[g->nr_stacks++]);
	}
	for (i = 0; i < a->result.nr_groups; i++) {
		g = &a->result.groups[i];
		if (g->nr_stacks)
			qsort(g->stacks, g->nr_stacks, sizeof(*g->stacks), by_time);
	}
	return 0;
}

static int list_open(struct futex_analysis *a)
{
	const struct futex_open_call *c;
	uint32_t at = 0, nr = 0;

	a->result.open = calloc(a->calls.nr ?: 1, sizeof(*a->result.open));
	if (!a->result.open)
		return -ENOMEM;
	while ((c = thread_map__next(&a->calls, &at))) {
		struct futex_open *o = &a->result.open[nr];

		if (c->args.does != FUTEX_DOES_WAIT ||
		    (a->opts.select && !a->opts.select(a->opts.ctx, &c->task, c->ts, c->cpu)))
			continue;
		*o = (struct futex_open){
			.task = c->task, .since = c->ts, .ustack = c->ustack, .kstack = c->kstack
		};
		futex_place__describe(a, c->moved ? c->moved_to : c->place, &o->address);
		nr++;
	}
	a->result.nr_open = nr;
	if (nr)
		qsort(a->result.open, nr, sizeof(*a->result.open), by_age);
	return 0;
}

int futex_analysis__finish(struct futex_analysis *a, const struct futex_result **ret_result)
{
	_cleanup_free_ uint32_t *into = calloc(a->groups.nr ?: 1, sizeof(*into));
	int err;

	if (!into)
		return -ENOMEM;
	err = fold_groups(a, into);
	err = err ?: assign_stacks(a, into);
	err = err ?: list_open(a);
	if (err)
		return err;
	if (a->result.nr_groups)
		qsort(a->result.groups, a->result.nr_groups, sizeof(*a->result.groups), by_sum);
	a->sums.lost = event_fields__lost(a->fields, a->r, ROLE_FUTEX, ROLE_LAST_CALL);
	err = event_fields__error(a->fields);
	if (err)
		return err;
	futex_place__count(a, &a->sums.addresses, &a->sums.shared);
	a->result.sums = a->sums;
	*ret_result = &a->result;
	return 0;
}
