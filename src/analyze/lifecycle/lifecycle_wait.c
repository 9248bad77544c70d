// SPDX-License-Identifier: GPL-2.0-only
/*
 * Matches waits with the children they reap.  wait4() returns the child's pid in the caller's
 * namespace: the number that clone() returned when the child was created, since every later parent
 * of the child is in the same namespace.  waitid() returns only that a child was found.
 */
#include "lifecycle_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "array.h"
#include "cleanup.h"

#define LC_WNOWAIT 0x01000000 /* leaves the child waitable */
#define LC_P_PID 1

void lc_wait_enter(struct lifecycle *l, const struct event_known *k, struct lc_task *t)
{
	uint64_t v;

	if (!t)
		return;
	t->call = k->role;
	t->call_ts = l->ts;
	t->call_which = k->role == LC_WAITID && lc_u64(l, k, 2, &v) ? (int)v : -1;
	t->call_pid = lc_u64(l, k, 0, &v) ? v : 0;
	t->call_options = lc_u64(l, k, 1, &v) ? (int)v : -1;
}

/* A successful wait with these options can only have returned an end, not a stop. */
static bool returns_only_ends(const struct lc_task *by)
{
	int others =
		by->call == LC_WAITID ? WSTOPPED | WCONTINUED | WNOHANG : WUNTRACED | WCONTINUED;

	return !(by->call_options & others);
}

static void reaped(struct lifecycle *l, struct lc_task *c, struct lc_task *by)
{
	struct lc_proc *p = c->proc;

	p->reaped = lc_at(l->ts);
	p->reaper = lc_name(by->proc);
	p->reaped_with = by->call == LC_WAITID ? "waitid" : "wait4";
	p->reap_sure = returns_only_ends(by);
	lc_proc__settle_orphan(l, p, true);
	lc_step(l, by, (struct life_step){ .kind = LIFE_STEP_REAPS, .other = lc_name(p) });
	lc_step(l, c, (struct life_step){ .kind = LIFE_STEP_REAPED, .other = lc_name(by->proc) });
	if (!lc_has(l, LC_FREE) && p->nr_off == p->nr_threads)
		lc_retire_task(l, c, LIFE_REAPED);
}

/* A tracer's wait releases a thread; a leader still waits for its parent. */
static void reaped_by_tracer(struct lifecycle *l, struct lc_task *c, struct lc_task *by)
{
	l->counts.tracer_waits++;
	if (!lc_is_leader(c)) {
		c->released = lc_at(l->ts);
		return;
	}
	c->proc->traced = l->ts;
	lc_step(l, c, (struct life_step){ .kind = LIFE_STEP_TRACER, .other = lc_name(by->proc) });
}

static bool is_ancestor(const struct lc_proc *a, const struct lc_proc *p)
{
	for (; p; p = p->parent)
		if (p == a)
			return true;
	return false;
}

/* How well c matches a wait of by that returned number; 0: not at all. */
static unsigned int fitness(const struct lc_task *c, const struct lc_task *by, uint32_t number)
{
	const struct lc_proc *p = c->proc, *parent = by->proc;
	bool same_number = c->ns_pid ? c->ns_pid == number : c->tid == number;
	bool root = parent->pid == 1 || (parent->in_root && !parent->in_namespace);

	if (c == by || p == parent || (root && c->tid != number))
		return 0;
	/* In a namespace, a child with an unknown number may have any. */
	if (!same_number && (c->ns_pid || !parent->in_namespace))
		return 0;
	if (!lc_is_leader(c))
		return same_number ? 1 : 0;
	if (p->parent == parent && !p->orphan)
		return same_number ? 6 : 3;
	if (!same_number)
		return 0;
	if (p->orphan && is_ancestor(parent, p->parent))
		return 5;
	if (p->orphan || !p->parent)
		return 4;
	return 1; /* another process's child, traced by this one */
}

struct found {
	struct lc_task *best;
	unsigned int score, same; /* score of the best; how many tasks have it */
	struct lc_task *reaped; /* matches as a child, but was reaped already */
	bool alive; /* a task that has not ended matches */
};

static void consider(struct found *f, struct lc_task *c, const struct lc_task *by, uint32_t number)
{
	unsigned int score = fitness(c, by, number);

	if (!score)
		return;
	if (!(lc_is_leader(c) ? c->proc->exit.to : c->exit.to)) {
		f->alive = true;
		return;
	}
	if (lc_is_leader(c) ? c->proc->reaped.to : c->released.to) {
		/* A displaced task was released long ago. */
		f->reaped = score >= 3 && !c->displaced ? c : f->reaped;
		return;
	}
	if (score < f->score)
		return;
	f->same = score == f->score ? f->same + 1 : 1;
	f->best = c;
	f->score = score;
}

static void find_child(struct lifecycle *l, const struct lc_task *by, uint32_t number,
		       struct found *ret_found)
{
	struct found f = { 0 };
	struct lc_task *t;
	struct lc_proc *c;

	for (t = lc_task__ns_chain(l, number); t; t = t->next_ns, l->work++)
		consider(&f, t, by, number);
	for (t = lc_task__chain(l, number); t; t = t->next_tid, l->work++)
		if (!t->ns_pid)
			consider(&f, t, by, number);
	if (!f.best && by->proc->in_namespace)
		for (c = by->proc->children; c; c = c->next_sibling, l->work++)
			if (c->leader && !c->leader->ns_pid)
				consider(&f, c->leader, by, number);
	*ret_found = f;
}

/* A wait of by returned a child that cannot be identified; nr: 1, or 0 if it may be none. */
static void unidentified(struct lifecycle *l, struct lc_task *by, unsigned int nr)
{
	l->counts.waits_unmatched += nr;
	by->proc->unsure_wait = MAX(by->proc->unsure_wait, l->ts);
}

/* A wait of by returned number; !sure: or it returned no child. */
static void returned(struct lifecycle *l, struct lc_task *by, uint32_t number, bool sure)
{
	struct found f;

	find_child(l, by, number, &f);
	if (f.best && f.same > 1) {
		unidentified(l, by, 1);
	} else if (f.best && f.score >= 3) {
		reaped(l, f.best, by);
	} else if (f.best) {
		reaped_by_tracer(l, f.best, by);
	} else if (f.reaped && f.reaped->proc->reaper.id == by->proc->id) {
		/* A child is reaped only once: the wait before returned a stop. */
		l->counts.stop_reports++;
		reaped(l, f.reaped, by);
	} else if (f.alive) {
		l->counts.stop_reports += sure;
	} else {
		unidentified(l, by, 1);
	}
}

/* ---- waitid ---------------------------------------------------------------------------------- */

/* May a wait that began at enter return c? */
static bool may_reap(const struct lc_proc *c, uint64_t enter)
{
	return c->exit.to && !c->reaped.to && (!lc_is_early(c) || c->last_off >= enter);
}

/* Drops waits that returned before any child that can still be reaped ended. */
static void drop_old_waits(struct lifecycle *l, struct lc_proc *p)
{
	uint64_t oldest = UINT64_MAX;
	const struct lc_proc *c;
	unsigned int i, nr = 0;

	for (c = p->children; c; c = c->next_sibling, l->work++)
		if (may_reap(c, 0))
			oldest = MIN(oldest, c->exit.from);
	for (i = 0; i < p->nr_waits; i++)
		if (p->waits[i].to >= oldest)
			p->waits[nr++] = p->waits[i];
	p->nr_waits = nr;
}

static int keep_wait(struct lifecycle *l, struct lc_proc *p)
{
	drop_old_waits(l, p);
	if (p->nr_waits == LC_MAX_WAITS) {
		p->waits[1].from = p->waits[0].from;
		p->nr_waits--;
		memmove(p->waits, p->waits + 1, p->nr_waits * sizeof(*p->waits));
	}
	return array__append(&p->waits, &p->nr_waits, (struct lc_wait){ l->ts, l->ts });
}

/* A waitid() for any child returned; with WNOHANG, success may mean that no child was found. */
static int returned_any_child(struct lifecycle *l, struct lc_task *by)
{
	bool nohang = by->call_options & WNOHANG, ready = !nohang;
	struct lc_proc *p = by->proc, *c, *one = NULL;
	unsigned int nr = 0;

	for (c = p->children; c; c = c->next_sibling, l->work++) {
		if (!may_reap(c, by->call_ts) || !c->leader)
			continue;
		nr++;
		one = c;
		ready |= (lc_has(l, LC_SWITCH) ? lc_zombie_ts(c) : c->exit.to) - 1 < by->call_ts;
	}
	if (nr == 1 && ready) {
		reaped(l, one->leader, by);
		return 0;
	}
	unidentified(l, by, !nr && !nohang && !(by->call_options & (WSTOPPED | WCONTINUED)));
	return nr ? keep_wait(l, p) : 0;
}

/* Handles a successful waitid(). */
static int waitid_returned(struct lifecycle *l, struct lc_task *t)
{
	int options = t->call_options;

	if (t->call != LC_WAITID || options == -1) {
		unidentified(l, t, 1);
		return 0;
	}
	if ((options & LC_WNOWAIT) || !(options & WEXITED))
		return 0;
	if (t->call_which != LC_P_PID)
		return returned_any_child(l, t);
	returned(l, t, t->call_pid, !(options & WNOHANG));
	return 0;
}

int lc_wait_return(struct lifecycle *l, const struct event_known *k, struct lc_task *t)
{
	bool waitid = k->role == LC_WAITID_RET;
	uint64_t ret;
	int err = 0;

	if (!t || !lc_u64(l, k, 0, &ret))
		return 0;
	if (!waitid && (int64_t)ret > 0) {
		if (t->call != LC_WAIT4)
			t->call_options = -1;
		t->call = LC_WAIT4;
		returned(l, t, ret, true);
	} else if (waitid && !ret) {
		err = waitid_returned(l, t);
	}
	t->call = 0;
	return err;
}

void lc_wait__doubt(struct lc_proc *p)
{
	/*
	 * The kernel reads the state before the event gets its timestamp.  A wait may return in
	 * between, in particular if the CPU is interrupted or stolen there.
	 */
	if (!p->reaped.to || p->reap_sure)
		return;
	p->doubted = p->reaped.from;
	p->reaped = (struct life_time){ 0 };
}

/* Number of returns of the parent's waits that may have been for p, and their interval. */
static unsigned int possible_waits(struct lc_proc *p, uint64_t since, struct life_time *ret_when)
{
	struct lc_proc *parent = p->parent;
	unsigned int i, nr = 0, last = 0;

	for (i = 0; parent && i < parent->nr_waits; i++) {
		if (parent->waits[i].to < since)
			continue;
		if (!nr++)
			ret_when->from = MAX(since, parent->waits[i].from);
		ret_when->to = parent->waits[i].to;
		last = i;
	}
	if (nr == 1) {
		parent->nr_waits--;
		memmove(parent->waits + last, parent->waits + last + 1,
			(parent->nr_waits - last) * sizeof(*parent->waits));
	}
	return nr;
}

void lc_wait__guess(struct lifecycle *l, struct lc_proc *p)
{
	uint64_t since = MAX(p->last_off ?: p->exit.from, p->left);

	if (lc_is_released(p))
		lc_proc__settle_orphan(l, p, false);
	if (lc_is_early(p)) {
		/* It reaped itself, or its wait was not seen: before its last switch. */
		p->reaped = (struct life_time){ p->exit.from, p->last_off };
		return;
	}
	p->reaped = (struct life_time){ MAX(since, p->traced), l->ts };
	/* A leader that ended before its threads is released with the last of them. */
	if (p->nr_threads > 1 && !p->traced && !p->left)
		p->reaped.from = p->exit.from;
	if (possible_waits(p, since, &p->reaped)) {
		p->reaper = lc_name(p->parent);
		p->reaped_with = "waitid";
	} else if (p->doubted) {
		p->reaped.from = p->doubted;
	}
}
