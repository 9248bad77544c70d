// SPDX-License-Identifier: GPL-2.0-only
/* Fills struct life of a task and calls the user's callbacks. */
#include "lifecycle_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

/* ---- spans ----------------------------------------------------------------------------------- */

static struct life_span between(struct life_time a, struct life_time b)
{
	struct life_span s = { 0, LIFE_EVER, true };

	if (!a.to || !b.to)
		return (struct life_span){ 0 };
	if (b.from > a.to)
		s.min = b.from - a.to;
	if (a.from && b.to != LIFE_EVER)
		s.max = b.to > a.from ? b.to - a.from : 0;
	return s;
}

/* If an event may be missing, the end may belong to another task, or not be the first one. */
static struct life_span doubted(const struct life *l, unsigned int doubts, struct life_span s)
{
	if (l->doubts & doubts)
		s.min = 0;
	return s;
}

struct life_span life__lifetime(const struct life *l)
{
	return doubted(l, LIFE_DOUBT_LIFETIME, between(l->born, l->exit));
}

struct life_span life__teardown(const struct life *l)
{
	return doubted(l, LIFE_DOUBT_TEARDOWN, between(l->exit, l->zombie));
}

struct life_span life__zombie(const struct life *l)
{
	if (l->early)
		return (struct life_span){ 0, 0, true };
	return doubted(l, LIFE_DOUBT_ZOMBIE | LIFE_DOUBT_LEFT, between(l->zombie, l->reaped));
}

struct life_span life__left(const struct life *l)
{
	if (l->doubts & LIFE_DOUBT_LEFT)
		return (struct life_span){ 0 };
	return between(l->zombie, (struct life_time){ l->left, l->left });
}

struct life_span life__unfreed(const struct life *l)
{
	return doubted(l, LIFE_DOUBT_UNFREED, between(l->reaped, l->freed));
}

/* ---- a process ------------------------------------------------------------------------------- */

static void fill_common(const struct lifecycle *l, const struct lc_task *t, enum life_state state,
			struct life *ret)
{
	const struct lc_proc *p = t->proc;

	ret->self = lc_name(p);
	memcpy(ret->self.comm, t->comm, sizeof(t->comm));
	ret->tid = t->tid;
	ret->ns_pid = t->ns_pid;
	ret->existed = t->existed;
	ret->replaced = t->replaced;
	ret->state = state;
	ret->born = t->born;
	ret->exit = t->exit;
	ret->early = t->off_state == LC_DEAD;
	ret->exec = p->exec ?: "";
	ret->parent = p->born_to;
	ret->new_parent = p->new_parent;
	ret->orphan = p->orphan;
	ret->where = p->where;
	if (state == LIFE_FREED)
		ret->freed = lc_at(t->freed ?: l->ts);
}

/* If it was not seen: between the exit and the next known moment. */
static struct life_time zombie_of(const struct lifecycle *l, const struct lc_proc *p,
				  const struct life *so_far)
{
	uint64_t zombie = lc_zombie_ts(p);

	if (!p->exit.to || so_far->state == LIFE_ALIVE || so_far->state == LIFE_EXITING)
		return (struct life_time){ 0 };
	if (zombie)
		return (struct life_time){ so_far->born.from || !so_far->existed ||
							   zombie > so_far->born.to ?
						   zombie :
						   0,
					   zombie };
	return (struct life_time){ p->exit.from, so_far->reaped.to	  ?:
							 so_far->freed.to ?:
									    l->end_ts };
}

static void fill_process(const struct lifecycle *l, const struct lc_task *t, struct life *ret)
{
	const struct lc_proc *p = t->proc;

	if (p->born.to) {
		ret->born = p->born;
		ret->existed = p->existed;
	}
	ret->exit = p->exit;
	ret->reaped = p->reaped;
	ret->left = p->left;
	ret->early |= p->reaped.to && p->reaped.to <= p->last_off;
	ret->early &= p->nr_threads == 1;
	ret->zombie = zombie_of(l, p, ret);
	if (p->reaped.to) {
		ret->reaper = p->reaper;
		ret->reaped_with = p->reaped_with;
	}
	ret->nr_execs = p->nr_execs;
	ret->nr_threads = p->nr_threads;
	ret->live_threads = p->nr_live;
	ret->uncertain = p->uncertain;
	ret->sent = p->sent;
	ret->how = p->exit.to ? p->how : LIFE_HOW_UNKNOWN;
	if (ret->how != LIFE_HOW_UNKNOWN)
		ret->code = p->code;
	if (ret->how == LIFE_HOW_UNKNOWN)
		ret->uncertain = false;
	if (p->parent)
		ret->parent_where = p->parent->where;
}

/* No wait reaps threads: they are released while exiting, before their last switch. */
static void fill_thread(const struct lifecycle *l, const struct lc_task *t, struct life *ret)
{
	ret->is_thread = true;
	ret->code = t->code;
	ret->how = t->code >= 0 ? LIFE_HOW_EXIT : t->signal ? LIFE_HOW_SIGNAL : LIFE_HOW_UNKNOWN;
	if (ret->how == LIFE_HOW_SIGNAL)
		ret->code = t->signal;
	if (t->exit.to)
		ret->zombie =
			t->off.to ? t->off :
				    (struct life_time){ t->exit.from, ret->freed.to ?: l->end_ts };
	ret->reaped = t->released;
	if (!ret->reaped.to && t->off_state == LC_DEAD)
		ret->reaped = (struct life_time){ t->exit.from, t->off.to };
	else if (!ret->reaped.to && ret->freed.to)
		ret->reaped = (struct life_time){ t->off.from ?: t->exit.from, ret->freed.to };
}

/* ---- missing events -------------------------------------------------------------------------- */

/* May events of a role be missing between two moments that were seen? */
static bool may_miss(const struct lifecycle *l, enum lc_role role, struct life_time a,
		     struct life_time b)
{
	const struct event_query q = { role, role, true, a.from, b.to };

	return a.to && b.to && a.from == a.to && b.from == b.to &&
	       event_fields__may_miss(l->fields, l->r, &q);
}

static void doubt(struct lifecycle *l, struct life *life)
{
	const struct {
		enum life_doubt doubt;
		enum lc_role role;
		struct life_time from, to;
	} rows[] = {
		{ LIFE_DOUBT_LIFETIME, lc_has(l, LC_FORK) ? LC_FORK : LC_NEWTASK, life->born,
		  life->exit },
		{ LIFE_DOUBT_LIFETIME, LC_EXIT, life->born, life->exit },
		{ LIFE_DOUBT_TEARDOWN, LC_EXIT, life->exit, life->zombie },
		{ LIFE_DOUBT_TEARDOWN, LC_SWITCH, life->exit, life->zombie },
		{ LIFE_DOUBT_ZOMBIE, LC_SWITCH, life->zombie, life->reaped },
		{ LIFE_DOUBT_ZOMBIE, LC_WAIT4_RET, life->zombie, life->reaped },
		{ LIFE_DOUBT_ZOMBIE, LC_WAITID_RET, life->zombie, life->reaped },
		{ LIFE_DOUBT_UNFREED, LC_WAIT4_RET, life->reaped, life->freed },
		{ LIFE_DOUBT_UNFREED, LC_WAITID_RET, life->reaped, life->freed },
		{ LIFE_DOUBT_UNFREED, LC_FREE, life->reaped, life->freed },
		{ LIFE_DOUBT_LEFT, LC_WAIT4_RET, lc_at(life->zombie.to), lc_at(life->left) },
		{ LIFE_DOUBT_LEFT, LC_WAITID_RET, lc_at(life->zombie.to), lc_at(life->left) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (may_miss(l, rows[i].role, rows[i].from, rows[i].to))
			life->doubts |= rows[i].doubt;
}

static bool was_reaped_unseen(const struct lc_task *t)
{
	const struct lc_proc *p = t->proc;

	return lc_is_leader(t) && p->reaped.to && !p->reaped_with && !lc_is_released(p);
}

void lc_report(struct lifecycle *l, struct lc_task *t, enum life_state state)
{
	struct life life = { 0 };

	fill_common(l, t, state, &life);
	l->counts.ends_unseen += state == LIFE_GONE || was_reaped_unseen(t);
	if (lc_is_leader(t) && l->opts.process) {
		fill_process(l, t, &life);
		doubt(l, &life);
		l->opts.process(l->opts.ctx, &life);
	} else if (!lc_is_leader(t) && l->opts.thread) {
		fill_thread(l, t, &life);
		doubt(l, &life);
		l->opts.thread(l->opts.ctx, &life);
	}
}

/* ---- steps ----------------------------------------------------------------------------------- */

void lc_step(struct lifecycle *l, const struct lc_task *t, struct life_step step)
{
	if (!l->opts.step || !t)
		return;
	step.self = lc_name(t->proc);
	step.tid = t->tid;
	step.ts = l->ts;
	if (l->e) {
		step.kstack = stk_event__kstack(l->e);
		step.ustack = stk_event__ustack(l->e);
	}
	l->opts.step(l->opts.ctx, &step);
}

/* ---- the remaining tasks --------------------------------------------------------------------- */

static enum life_state state_of_thread(const struct lc_task *t)
{
	return !t->exit.to				 ? LIFE_ALIVE :
	       t->released.to || t->off_state == LC_DEAD ? LIFE_REAPED :
	       t->off.to				 ? LIFE_ZOMBIE :
							   LIFE_EXITING;
}

/* The state by the events alone. */
static enum life_state state_of(const struct lc_proc *p)
{
	const struct lc_task *t = p->leader;

	if (!p->exit.to)
		return t->off_state == LC_ZOMBIE ? LIFE_ZOMBIE : LIFE_ALIVE;
	if (p->reaped.to || lc_is_early(p))
		return LIFE_REAPED;
	return p->nr_off >= p->nr_threads || t->off_state == LC_ZOMBIE ? LIFE_ZOMBIE : LIFE_EXITING;
}

/* The state by the events and by the list of the end, which shows what they missed. */
static enum life_state settle_state(struct lifecycle *l, struct lc_proc *p)
{
	enum life_state state = state_of(p);
	char listed;

	if (p->leader->displaced)
		return state == LIFE_REAPED ? state : LIFE_GONE;
	if (!l->end)
		return state;
	listed = lc_list__state(l, p);
	if (listed == 'Z')
		return LIFE_ZOMBIE;
	if (listed)
		return state == LIFE_ZOMBIE || state == LIFE_REAPED ? LIFE_EXITING : state;
	/* If its wait was not seen, its free need not have been seen, either. */
	return state == LIFE_REAPED ? state : LIFE_GONE;
}

static int by_id(const void *a, const void *b)
{
	struct lc_task *const *x = a, *const *y = b;

	return CMP((*x)->id, (*y)->id);
}

static void report_remaining(struct lifecycle *l, struct lc_task *t)
{
	struct lc_proc *p = t->proc;
	enum life_state state;

	if (!lc_is_leader(t)) {
		lc_report(l, t, state_of_thread(t));
		return;
	}
	state = settle_state(l, p);
	if ((state == LIFE_REAPED || state == LIFE_GONE) && p->exit.to && !p->reaped.to)
		lc_wait__guess(l, p);
	if (state == LIFE_GONE && !p->exit.to)
		p->exit = (struct life_time){ t->seen, l->end_ts };
	lc_report(l, t, state);
}

int lifecycle__finish(struct lifecycle *l)
{
	_cleanup_free_ struct lc_task **all = NULL;
	unsigned int i, nr = 0;
	struct lc_task *t;
	uint32_t at = 0;
	int err;

	l->e = NULL;
	l->end_ts = l->ts;
	err = lc_list__end(l);
	if (err)
		return err;
	l->ts = l->end_ts;
	if (lc_has(l, LC_FREE))
		l->counts.frees_unnamed += lc_lost_frees(l);
	all = calloc(l->nr_tasks + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	while ((t = thread_map__next(&l->by_tid, &at)))
		for (; t; t = t->next_tid)
			all[nr++] = t;
	qsort(all, nr, sizeof(*all), by_id);
	for (i = 0; i < nr; i++)
		report_remaining(l, all[i]);
	return event_fields__error(l->fields);
}
