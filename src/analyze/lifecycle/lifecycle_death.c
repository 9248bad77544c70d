// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ends of tasks.  The first of exit_group() and the default action of a signal determines how a
 * process ends.  The kernel delivers a deadly signal that dumps no core as SIGKILL in every thread,
 * and exit_group() and execve() do the same to the other threads; only signal_generate has the
 * original signal.
 */
#include "lifecycle_priv.h"

#include <signal.h>
#include <string.h>

#include "cleanup.h"

/* ---- signals --------------------------------------------------------------------------------- */

bool lc_signal__is_deadly(int64_t sig, bool *ret_core)
{
	*ret_core = false;
	switch (sig) {
	case SIGCHLD:
	case SIGCONT:
	case SIGURG:
	case SIGWINCH:
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		return false;
	case SIGQUIT:
	case SIGILL:
	case SIGTRAP:
	case SIGABRT:
	case SIGFPE:
	case SIGSEGV:
	case SIGBUS:
	case SIGSYS:
	case SIGXCPU:
	case SIGXFSZ:
		*ret_core = true;
		return true;
	default:
		return sig > 0 && sig <= 64;
	}
}

void lc_sent(struct lifecycle *l, const struct event_known *k, struct lc_task *t)
{
	uint64_t sig, tid, result = 0;
	struct lc_task *to;
	struct lc_proc *p;
	bool core;

	if (!lc_u64(l, k, 0, &sig) || !lc_u64(l, k, 1, &tid))
		return;
	to = lc_task__find(l, tid);
	if (!to)
		return;
	p = to->proc;
	lc_u64(l, k, 2, &result);
	lc_step(l, to,
		(struct life_step){ .kind = LIFE_STEP_SENT,
				    .number = sig,
				    .detail = result,
				    .other = lc_name(t ? t->proc : NULL) });
	/* 0: sent; 4: sent, its siginfo lost */
	if ((result && result != 4) || !lc_signal__is_deadly(sig, &core) || core || p->exit.to)
		return;
	/*
	 * An exiting process drops signals, so the last one sent killed it.  This does not hold on
	 * older kernels, nor if exit_group() was entered but did not take effect yet.
	 */
	p->uncertain = p->group_exit || (p->sent && p->sent != (int)sig && sig != SIGKILL);
	p->sent = sig;
}

void lc_signal(struct lifecycle *l, const struct event_known *k, struct lc_task *t)
{
	uint64_t sig, handler = 0;
	struct lc_proc *p;
	bool core;

	if (!t || !lc_u64(l, k, 0, &sig))
		return;
	p = t->proc;
	lc_u64(l, k, 1, &handler);
	lc_step(l, t,
		(struct life_step){
			.kind = LIFE_STEP_SIGNAL, .number = sig, .detail = handler ? 1 : 0 });
	if (handler && p->sent == (int)sig) {
		p->sent = 0;
		p->uncertain = false;
	}
	if (handler || !lc_signal__is_deadly(sig, &core) || p->group_exit || p->exit.to)
		return;
	t->signal = sig;
	if (p->how == LIFE_HOW_SIGNAL && p->code != -1)
		return;
	p->how = LIFE_HOW_SIGNAL;
	p->code = sig;
	if (sig == SIGKILL)
		p->code = p->sent ?: -1;
	else
		p->uncertain = false;
}

/* ---- exits ----------------------------------------------------------------------------------- */

void lc_exit_call(struct lifecycle *l, const struct event_known *k, struct lc_task *t)
{
	struct lc_proc *p;
	uint64_t code;

	if (!t || !lc_u64(l, k, 0, &code))
		return;
	p = t->proc;
	t->code = code & 0xff;
	t->code_ts = l->ts;
	lc_step(l, t,
		(struct life_step){ .kind = LIFE_STEP_EXIT_CALL,
				    .number = t->code,
				    .detail = k->role == LC_EXIT_GROUP });
	/* The signal did not kill it: init of a PID namespace has no default actions. */
	if (t->signal && p->how == LIFE_HOW_SIGNAL) {
		p->how = LIFE_HOW_UNKNOWN;
		t->signal = 0;
	}
	if (k->role != LC_EXIT_GROUP)
		return;
	if (p->group_exit) {
		/* Two threads raced: the call of the first event need not have taken effect. */
		p->uncertain |= p->code != t->code;
		return;
	}
	p->group_exit = true;
	p->uncertain = p->how == LIFE_HOW_SIGNAL;
	if (p->how == LIFE_HOW_SIGNAL)
		return;
	p->how = LIFE_HOW_EXIT;
	p->code = t->code;
}

/* Without exit_group() and signals the status is that of the last thread to call exit(). */
static void settle_code(struct lc_proc *p, const struct lc_task *last)
{
	/* A SIGKILL that no task sent is due to an execve() whose event did not follow. */
	if (p->how != LIFE_HOW_UNKNOWN || last->code < 0)
		return;
	p->how = LIFE_HOW_EXIT;
	p->code = last->code;
	p->uncertain = p->other_exit > last->code_ts;
}

static void process_exited(struct lifecycle *l, struct lc_proc *p, struct lc_task *last,
			   struct life_time when)
{
	p->exit = when;
	settle_code(p, last);
	lc_step(l, last, (struct life_step){ .kind = LIFE_STEP_EXIT });
	lc_proc__leave_children(l, p);
}

static void task_exited(struct lifecycle *l, struct lc_task *t, struct life_time when)
{
	struct lc_proc *p = t->proc;

	t->exit = when;
	t->call = 0;
	if (p->nr_live)
		p->nr_live--;
	if (when.from != when.to)
		l->counts.exits_unseen++;
}

void lc_exit(struct lifecycle *l, const struct event_known *k, struct lc_task *t)
{
	uint64_t dead = 0;
	struct lc_proc *p;
	struct lc_task *o;
	bool known;

	if (!t || t->exit.to)
		return;
	p = t->proc;
	known = lc_u64(l, k, 1, &dead);
	task_exited(l, t, lc_at(l->ts));
	p->dead |= dead != 0;
	if (known ? dead : !p->nr_live) {
		for (o = p->tasks; o; o = o->next, l->work++)
			if (o != t && o->exit.to && o->code >= 0 && o->code != t->code &&
			    o->exit.to > p->other_exit)
				p->other_exit = o->exit.to;
		process_exited(l, p, t, lc_at(l->ts));
		return;
	}
	lc_step(l, t, (struct life_step){ .kind = LIFE_STEP_THREAD_EXIT });
}

/* ---- the last switch ------------------------------------------------------------------------- */

/* The task whose last switch this is: another task may have its tid already. */
static struct lc_task *last_switch_of(struct lifecycle *l, uint32_t tid)
{
	struct lc_task *t = lc_task__find(l, tid), *leader, *o;

	if (t && t->exit.to)
		return t;
	/* An exiting leader that one of its threads replaces, and that has the thread's tid now. */
	leader = t ? t->proc->leader : NULL;
	if (leader && leader != t && leader->exit.to && !leader->off.to)
		return leader;
	for (o = t ? t->next_tid : NULL; o; o = o->next_tid, l->work++)
		if (o->exit.to && !o->off.to)
			return o;
	return t;
}

bool lc_is_last_switch(const struct lifecycle *l, const struct event_known *k)
{
	uint64_t tid, state;

	return lc_u64(l, k, 0, &tid) && tid && lc_u64(l, k, 1, &state) &&
	       (state & (LC_ZOMBIE | LC_DEAD));
}

void lc_switch(struct lifecycle *l, const struct event_known *k)
{
	uint64_t tid = 0, state = 0;
	struct lc_task *t;
	struct lc_proc *p;

	lc_u64(l, k, 0, &tid);
	lc_u64(l, k, 1, &state);
	t = last_switch_of(l, tid);
	if (!t)
		return;
	p = t->proc;
	if (!t->exit.to)
		task_exited(l, t, (struct life_time){ t->seen, l->ts });
	if (t->off_unseen)
		p->nr_off_unseen--;
	else
		p->nr_off += !t->off.to;
	t->off_unseen = false;
	t->off = lc_at(l->ts);
	t->off_state = state & LC_ZOMBIE ? LC_ZOMBIE : LC_DEAD;
	if (l->ts > p->last_off)
		p->last_off = l->ts;
	if (t->off_state == LC_ZOMBIE && lc_is_leader(t)) {
		lc_wait__doubt(p);
		lc_proc__settle_orphan(l, p, true);
	}
	if (!p->exit.to && !p->nr_live)
		process_exited(l, p, t, t->exit);
	lc_step(l, t,
		(struct life_step){ .kind = p->nr_off == p->nr_threads && p->exit.to ?
						    LIFE_STEP_ZOMBIE :
						    LIFE_STEP_OFF });
	/* Without recorded frees no further event of it follows. */
	if (!lc_has(l, LC_FREE) && (lc_is_leader(t) ? p->reaped.to : t->off_state == LC_DEAD))
		lc_retire_task(l, t, LIFE_REAPED);
}

/* ---- the end --------------------------------------------------------------------------------- */

void lc_retire_task(struct lifecycle *l, struct lc_task *t, enum life_state state)
{
	lc_report(l, t, state);
	if (lc_is_leader(t)) {
		lc_proc__leave_children(l, t->proc);
		lc_proc__set_parent(t->proc, NULL);
	}
	lc_task__drop(l, t);
}

/* Assumes an exit between the last event of t and now. */
static void end_unseen(struct lifecycle *l, struct lc_task *t)
{
	struct lc_proc *p = t->proc;

	if (!t->exit.to)
		task_exited(l, t, (struct life_time){ t->seen, l->ts });
	if (lc_is_leader(t) && !p->exit.to)
		process_exited(l, p, t, (struct life_time){ t->exit.from, l->ts });
	if (t->off.to || t->off_unseen)
		return;
	t->off_unseen = true;
	p->nr_off++;
	p->nr_off_unseen++;
}

void lc_displaced(struct lifecycle *l, struct lc_task *t)
{
	struct lc_proc *p = t->proc;
	bool seen = t->exit.to != 0;

	l->counts.pid_reuses += seen;
	end_unseen(l, t);
	t->displaced = true;
	if (lc_is_leader(t) && !p->reaped.to)
		lc_wait__guess(l, p);
	if (lc_is_leader(t) && !p->reaped.to)
		p->reaped = (struct life_time){ p->last_off ?: p->exit.from, l->ts };
	if (!t->released.to)
		t->released = (struct life_time){ t->exit.from, l->ts };
	/* Either its free was missed, or it follows soon. */
	if (!seen || !lc_has(l, LC_FREE) || l->ts - t->exit.to > LIFE_LEAK_NS)
		lc_retire_task(l, t, seen && !lc_has(l, LC_FREE) ? LIFE_REAPED : LIFE_GONE);
}

/* Of all tasks that had the tid, prefers ended ones, then those with the comm, then the oldest. */
static struct lc_task *freed_of(struct lifecycle *l, uint32_t tid, const char *comm, size_t len)
{
	struct lc_task *t, *best = NULL;
	unsigned int score, best_score = 0, same = 0;

	for (t = lc_task__chain(l, tid); t; t = t->next_tid, l->work++) {
		score = 1 + (t->exit.to ? 2 : 0) + lc_comm__is(t->comm, comm, len);
		same = score == best_score ? same + 1 : score > best_score ? 1 : same;
		if (score >= best_score) {
			best = t;
			best_score = score;
		}
	}
	l->counts.frees_ambiguous += same > 1;
	return best;
}

/* No thread outlives its leader. */
static void end_threads(struct lifecycle *l, const struct lc_task *leader)
{
	struct lc_task *t, *next;

	for (t = leader->proc->tasks; t; t = next) {
		next = t->next;
		l->work++;
		if (t == leader || t->exit.to)
			continue;
		end_unseen(l, t);
		lc_retire_task(l, t, LIFE_GONE);
	}
}

/* p is freed, and no wait was seen that reaped it: RCU takes less than LIFE_LEAK_NS. */
static void reaped_before_free(struct lifecycle *l, struct lc_proc *p)
{
	lc_wait__guess(l, p);
	if (p->reaped.to == l->ts && l->ts > LIFE_LEAK_NS)
		p->reaped.from = MAX(p->reaped.from, l->ts - LIFE_LEAK_NS);
}

void lc_freed(struct lifecycle *l, const struct event_known *k)
{
	struct lc_task *t, *leader;
	const char *comm;
	struct lc_proc *p;
	size_t len = 0;
	uint64_t tid;

	if (!lc_u64(l, k, 0, &tid)) {
		l->counts.frees_unnamed++;
		return;
	}
	comm = event_fields__string(k->fields[1], l->e, &len);
	t = freed_of(l, tid, comm, len);
	if (!t) {
		l->counts.frees_unmatched++;
		return;
	}
	p = t->proc;
	leader = p->leader;
	/* This frees the leader, which the thread is about to replace. */
	if (!t->exit.to && leader && leader != t && leader->exit.to && !leader->freed) {
		leader->freed = l->ts;
		return;
	}
	end_unseen(l, t);
	if (lc_is_leader(t)) {
		end_threads(l, t);
		if (!p->reaped.to)
			reaped_before_free(l, p);
	}
	lc_step(l, t,
		(struct life_step){ .kind = lc_is_leader(t) ? LIFE_STEP_FREED :
							      LIFE_STEP_THREAD_FREED });
	lc_retire_task(l, t, LIFE_FREED);
}
