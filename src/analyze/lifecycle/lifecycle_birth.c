// SPDX-License-Identifier: GPL-2.0-only
/* Births of tasks, exec and renames. */
#include "lifecycle_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

/* Flags of clone(2), from linux/sched.h. */
#define LC_CLONE_PARENT 0x00008000
#define LC_CLONE_THREAD 0x00010000

struct child {
	uint32_t tid;
	int role;
	bool flags_known;
	uint64_t flags;
	const char *comm;
	size_t comm_len;
};

static void report_birth(struct lifecycle *l, const struct lc_task *t, const struct lc_task *by)
{
	if (!lc_is_leader(t)) {
		lc_step(l, t->proc->leader,
			(struct life_step){ .kind = LIFE_STEP_THREAD, .number = t->tid });
		return;
	}
	lc_step(l, by,
		(struct life_step){
			.kind = LIFE_STEP_FORK, .other = lc_name(t->proc), .number = t->tid });
	lc_step(l, t, (struct life_step){ .kind = LIFE_STEP_BORN, .other = lc_name(by->proc) });
}

static struct lc_task *new_child(struct lifecycle *l, const struct child *c, struct lc_task *by)
{
	struct lc_proc *parent = by->proc;
	struct lc_task *t;

	if (c->flags_known && (c->flags & LC_CLONE_THREAD)) {
		l->counts.threads++;
		t = lc_thread__new(l, by->proc, c->tid);
	} else {
		l->counts.processes++;
		t = lc_process__new(l, c->tid);
		if (c->flags_known && (c->flags & LC_CLONE_PARENT))
			parent = by->proc->parent;
		if (t) {
			t->proc->born_to = lc_name(parent);
			lc_proc__set_parent(t->proc, parent);
		}
	}
	return t;
}

/* The first of task_newtask and sched_process_fork creates the task. */
static int born(struct lifecycle *l, const struct child *c, struct lc_task *by)
{
	struct lc_task *t = lc_task__find(l, c->tid);

	if (t && t->id == by->newborn_id && c->role != by->newborn_role && !t->exit.to)
		return 0;
	if (t && t->listed && !t->exit.to) {
		/* The task list was read just after its birth. */
		l->counts.existed -= lc_is_leader(t);
		lc_task__drop(l, t);
	} else if (t) {
		lc_displaced(l, t);
	}
	t = new_child(l, c, by);
	if (!t)
		return -ENOMEM;
	t->born = lc_at(l->ts);
	t->seen = l->ts;
	t->kind_sure = c->flags_known;
	if (c->comm)
		lc_comm__set(t, c->comm, c->comm_len);
	by->newborn = c->tid;
	by->newborn_id = t->id;
	by->newborn_role = c->role;
	report_birth(l, t, by);
	return 0;
}

int lc_birth(struct lifecycle *l, const struct event_known *k, struct lc_task *t)
{
	struct child c = { 0 };
	uint64_t tid;

	/* A hostile recording may name a task as its own child: born() would free it in use. */
	if (!t || !lc_u64(l, k, 0, &tid) || !tid || (uint32_t)tid == t->tid)
		return 0;
	c.tid = tid;
	c.role = k->role;
	c.comm = event_fields__string(k->fields[1], l->e, &c.comm_len);
	c.flags_known = k->role == LC_NEWTASK && lc_u64(l, k, 2, &c.flags);
	return born(l, &c, t);
}

/* clone() returns the new task's pid in the caller's namespace. */
void lc_cloned(struct lifecycle *l, const struct event_known *k, struct lc_task *t)
{
	struct lc_task *child;
	uint64_t ret;

	if (!t || !lc_u64(l, k, 0, &ret) || (int64_t)ret <= 0 || !t->newborn)
		return;
	child = lc_task__find_id(l, t->newborn, t->newborn_id);
	if (child)
		lc_task__set_ns_pid(l, child, ret);
	if (ret == t->newborn)
		t->proc->in_root = true;
	else
		t->proc->in_namespace = true;
	t->newborn = 0;
	t->newborn_id = 0;
}

/* A thread executed a program: it takes the leader's tid, and the leader gets the thread's. */
static struct lc_task *replace_leader(struct lifecycle *l, struct lc_proc *p, uint32_t old_tid)
{
	struct lc_task *t = lc_task__find(l, old_tid), *was = p->leader;
	uint32_t ns_pid = was->ns_pid, pid = was->tid;
	uint64_t freed = was->freed;

	if (!t || t->proc != p) {
		t = lc_thread__new(l, p, old_tid);
		if (!t)
			return NULL;
		t->born = (struct life_time){ 0, l->ts };
		t->existed = t->kind_sure = true;
	}
	p->nr_live -= !was->exit.to; /* it has exited, even if that was not seen */
	if (!was->exit.to)
		was->exit = (struct life_time){ was->seen, l->ts };
	lc_task__set_tid(l, was, old_tid);
	lc_task__set_tid(l, t, pid);
	lc_task__set_ns_pid(l, was, t->ns_pid);
	lc_task__set_ns_pid(l, t, ns_pid);
	if (!p->born.to) {
		p->born = was->born;
		p->existed = was->existed;
	}
	p->leader = t;
	was->replaced = true;
	was->released = (struct life_time){ was->off.to ? was->off.from : was->exit.from,
					    freed ? freed : l->ts };
	if (freed)
		lc_retire_task(l, was, LIFE_FREED);
	return t;
}

int lc_exec(struct lifecycle *l, const struct event_known *k)
{
	uint32_t pid = stk_event__pid(l->e);
	struct lc_proc *p = lc_proc__find(l, pid);
	struct lc_task *t;
	const char *file;
	uint64_t old;
	size_t len;
	bool took;

	if (!p)
		return 0;
	took = lc_u64(l, k, 1, &old) && old != pid;
	t = took ? replace_leader(l, p, old) : p->leader;
	if (!t)
		return -ENOMEM;
	lc_comm__set(t, stk_event__comm(l->e), LC_COMM);
	l->counts.execs++;
	p->nr_execs++;
	p->how = LIFE_HOW_UNKNOWN; /* exec killed its other threads, that is not its end */
	p->group_exit = p->uncertain = false;
	p->sent = 0;
	t->signal = 0;
	p->other_exit = 0;
	file = event_fields__string(k->fields[2], l->e, &len);
	if (file) {
		l->memory -= strlen(p->exec ?: "");
		free(p->exec);
		p->exec = strndup(file, len);
		if (!p->exec)
			return -ENOMEM;
		l->memory += strlen(p->exec);
	}
	lc_step(l, t,
		(struct life_step){ .kind = LIFE_STEP_EXEC,
				    .text = file,
				    .text_len = file ? len : 0,
				    .number = took ? old : 0 });
	return 0;
}

/*
 * Linux 6.14 to 6.18.20 does not say which task is renamed.  It is taken to be the current one if
 * that has the old name, or the new one, as in recordings by ftrace; else it is unknown.
 */
static bool renamed_itself(struct lifecycle *l, const struct event_known *k, const char *new,
			   size_t new_len, uint64_t *ret_tid)
{
	const char *comm = stk_event__comm(l->e), *old;
	size_t old_len;

	if (k->fields[0])
		return false;
	old = event_fields__string(k->fields[2], l->e, &old_len);
	*ret_tid = stk_event__tid(l->e);
	return lc_comm__is(comm, old, old_len) || lc_comm__is(comm, new, new_len);
}

void lc_rename(struct lifecycle *l, const struct event_known *k)
{
	struct lc_task *t;
	const char *comm;
	uint64_t tid;
	size_t len;

	comm = event_fields__string(k->fields[1], l->e, &len);
	if (!comm || (!lc_u64(l, k, 0, &tid) && !renamed_itself(l, k, comm, len, &tid)))
		return;
	t = lc_task__find(l, tid);
	if (!t)
		return;
	lc_comm__set(t, comm, len);
	lc_step(l, t,
		(struct life_step){ .kind = LIFE_STEP_RENAMED, .text = comm, .text_len = len });
}
