// SPDX-License-Identifier: GPL-2.0-only
/* Tables of tasks and processes, by number and by parent. */
#include "lifecycle_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define FLAG_INTERRUPT 0x18 /* of common_flags: hardirq, softirq */
#define MAX_GENERATIONS 1024 /* depth of the process tree */
#define FAMILY_WORK 64 /* cost of may_be_child(), in steps */

/* ---- chains ---------------------------------------------------------------------------------- */

/* Puts t in front of the chain of number.  Cannot fail: task_new() reserved the entry. */
static void link_number(struct thread_map *m, uint32_t number, struct lc_task *t,
			struct lc_task **ret_next)
{
	*ret_next = thread_map__find(m, number);
	thread_map__put(m, number, t);
}

static void link_tid(struct lifecycle *l, struct lc_task *t)
{
	link_number(&l->by_tid, t->tid, t, &t->next_tid);
}

static void link_ns(struct lifecycle *l, struct lc_task *t)
{
	if (t->ns_pid)
		link_number(&l->by_ns, t->ns_pid, t, &t->next_ns);
}

static void set_head(struct thread_map *m, uint32_t number, struct lc_task *head)
{
	if (head)
		thread_map__put(m, number, head);
	else
		thread_map__remove(m, number);
}

static void unlink_tid(struct lifecycle *l, struct lc_task *t)
{
	struct lc_task *o = lc_task__chain(l, t->tid);

	if (o == t) {
		set_head(&l->by_tid, t->tid, t->next_tid);
		return;
	}
	while (o && o->next_tid != t)
		o = o->next_tid;
	if (o)
		o->next_tid = t->next_tid;
}

static void unlink_ns(struct lifecycle *l, struct lc_task *t)
{
	struct lc_task *o = lc_task__ns_chain(l, t->ns_pid);

	if (o == t) {
		set_head(&l->by_ns, t->ns_pid, t->next_ns);
		return;
	}
	while (o && o->next_ns != t)
		o = o->next_ns;
	if (o)
		o->next_ns = t->next_ns;
}

uint64_t lc_tables__memory(const struct lifecycle *l)
{
	return thread_map__memory(&l->by_tid, 0) + thread_map__memory(&l->by_ns, 0);
}

void lc_tables__free(struct lifecycle *l)
{
	struct lc_task *t;
	uint32_t at;

	while (at = 0, (t = thread_map__next(&l->by_tid, &at)))
		lc_task__drop(l, t);
	thread_map__clear(&l->by_tid);
	thread_map__clear(&l->by_ns);
}

struct lc_task *lc_task__chain(const struct lifecycle *l, uint32_t tid)
{
	return thread_map__find(&l->by_tid, tid);
}

struct lc_task *lc_task__ns_chain(const struct lifecycle *l, uint32_t ns_pid)
{
	return thread_map__find(&l->by_ns, ns_pid);
}

struct lc_task *lc_task__find(const struct lifecycle *l, uint32_t tid)
{
	struct lc_task *t = lc_task__chain(l, tid);

	while (t && t->displaced)
		t = t->next_tid;
	return t;
}

struct lc_task *lc_task__find_id(const struct lifecycle *l, uint32_t tid, uint64_t id)
{
	struct lc_task *t = lc_task__chain(l, tid);

	while (t && t->id != id)
		t = t->next_tid;
	return t;
}

struct lc_proc *lc_proc__find(const struct lifecycle *l, uint32_t pid)
{
	struct lc_task *t = lc_task__find(l, pid);

	return t && t->proc->pid == pid && lc_is_leader(t) ? t->proc : NULL;
}

void lc_task__set_tid(struct lifecycle *l, struct lc_task *t, uint32_t tid)
{
	unlink_tid(l, t);
	t->tid = tid;
	link_tid(l, t);
}

void lc_task__set_ns_pid(struct lifecycle *l, struct lc_task *t, uint32_t ns_pid)
{
	unlink_ns(l, t);
	t->ns_pid = ns_pid;
	link_ns(l, t);
}

/* ---- new and dropped tasks ------------------------------------------------------------------- */

static void link_to_process(struct lc_task *t, struct lc_proc *p)
{
	t->proc = p;
	t->next = p->tasks;
	t->at = &p->tasks;
	if (t->next)
		t->next->at = &t->next;
	p->tasks = t;
}

static struct lc_task *task_new(struct lifecycle *l, struct lc_proc *p, uint32_t tid)
{
	struct lc_task *t;

	if (thread_map__reserve(&l->by_tid, l->nr_tasks + 1) ||
	    thread_map__reserve(&l->by_ns, l->nr_tasks + 1))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	l->memory += sizeof(*t);
	t->id = ++l->next_id;
	t->tid = tid;
	t->code = -1;
	link_to_process(t, p);
	p->nr_threads++;
	p->nr_live++;
	link_tid(l, t);
	l->nr_tasks++;
	return t;
}

struct lc_task *lc_process__new(struct lifecycle *l, uint32_t pid)
{
	struct lc_proc *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	l->memory += sizeof(*p);
	p->pid = pid;
	p->leader = task_new(l, p, pid);
	if (!p->leader) {
		free(p);
		return NULL;
	}
	p->id = p->leader->id;
	return p->leader;
}

struct lc_task *lc_thread__new(struct lifecycle *l, struct lc_proc *p, uint32_t tid)
{
	return task_new(l, p, tid);
}

/* A hostile task list may contain cycles, or an endless line of ancestors. */
static bool may_be_child(const struct lc_proc *p, const struct lc_proc *parent)
{
	unsigned int n = 0;

	for (; parent; parent = parent->parent)
		if (parent == p || ++n > MAX_GENERATIONS)
			return false;
	return true;
}

void lc_proc__set_parent(struct lc_proc *p, struct lc_proc *parent)
{
	if (!may_be_child(p, parent))
		parent = NULL;
	if (p->at_sibling) {
		*p->at_sibling = p->next_sibling;
		if (p->next_sibling)
			p->next_sibling->at_sibling = p->at_sibling;
	}
	p->parent = parent;
	p->at_sibling = NULL;
	p->next_sibling = NULL;
	if (!parent)
		return;
	p->next_sibling = parent->children;
	if (p->next_sibling)
		p->next_sibling->at_sibling = &p->next_sibling;
	p->at_sibling = &parent->children;
	parent->children = p;
}

/* Between exit and last switch: the state of that switch says whether it was released before. */
static bool is_exiting(const struct lc_proc *p)
{
	return p->exit.to && p->leader && !p->leader->off.to;
}

/*
 * Notes that p, which ends, leaves its child c as a zombie that it did not reap.  The waits of p
 * show that, provided that they are recorded and that the child of each is identified.
 */
static void note_left(struct lifecycle *l, const struct lc_proc *p, struct lc_proc *c)
{
	uint64_t zombie = lc_zombie_ts(c);

	if (c->exit.to && zombie && c->leader && c->leader->off_state == LC_ZOMBIE && !c->orphan &&
	    !c->reaped.to && !c->doubted && p->exit.from > zombie && p->unsure_wait < zombie &&
	    lc_has(l, LC_WAIT4_RET) && lc_has(l, LC_WAITID) && lc_has(l, LC_WAITID_RET))
		c->left = p->exit.from;
}

void lc_proc__leave_children(struct lifecycle *l, struct lc_proc *p)
{
	struct lc_proc *c;

	while ((c = p->children)) {
		l->work += FAMILY_WORK;
		note_left(l, p, c);
		if (!c->orphan && !c->reaped.to && !lc_is_released(c)) {
			c->orphan = c->left_exiting = true;
			l->counts.orphans++;
			if (!is_exiting(c))
				lc_proc__settle_orphan(l, c, true);
		}
		lc_proc__set_parent(c, p->parent);
	}
}

void lc_proc__settle_orphan(struct lifecycle *l, struct lc_proc *p, bool orphan)
{
	if (!p->left_exiting)
		return;
	p->left_exiting = false;
	p->orphan = orphan;
	l->counts.orphans -= !orphan;
	if (orphan)
		lc_step(l, p->leader,
			(struct life_step){ .kind = LIFE_STEP_ORPHAN, .other = p->born_to });
}

static void unlink_of_process(struct lc_task *t)
{
	*t->at = t->next;
	if (t->next)
		t->next->at = t->at;
	if (t->proc->leader == t)
		t->proc->leader = NULL;
}

static void drop_if_empty(struct lifecycle *l, struct lc_proc *p)
{
	if (p->tasks)
		return;
	/* No LIFE_STEP_ORPHAN: it was reported when the process ended. */
	while (p->children)
		lc_proc__set_parent(p->children, p->parent);
	lc_proc__set_parent(p, NULL);
	l->memory -= sizeof(*p) + strlen(p->exec ?: "");
	free(p->exec);
	free(p->waits);
	free(p);
}

void lc_task__drop(struct lifecycle *l, struct lc_task *t)
{
	struct lc_proc *p = t->proc;

	unlink_tid(l, t);
	unlink_ns(l, t);
	unlink_of_process(t);
	l->nr_tasks--;
	l->memory -= sizeof(*t);
	free(t);
	drop_if_empty(l, p);
}

void lc_task__move(struct lifecycle *l, struct lc_task *t, struct lc_proc *p)
{
	struct lc_proc *was = t->proc;

	unlink_of_process(t);
	link_to_process(t, p);
	p->nr_threads++;
	p->nr_live += !t->exit.to;
	drop_if_empty(l, was);
}

/* ---- names ----------------------------------------------------------------------------------- */

void lc_comm__set(struct lc_task *t, const char *comm, size_t len)
{
	len = strnlen(comm, MIN(len, LC_COMM));
	memcpy(t->comm, comm, len);
	t->comm[len] = '\0';
	t->last_comm = NULL;
}

bool lc_comm__is(const char *comm, const char *text, size_t len)
{
	return text && strnlen(comm, LC_COMM) == len && !memcmp(comm, text, len);
}

struct life_name lc_name(const struct lc_proc *p)
{
	struct life_name n = { 0 };

	if (!p)
		return n;
	n.id = p->id;
	n.pid = p->pid;
	if (p->leader)
		memcpy(n.comm, p->leader->comm, sizeof(n.comm));
	return n;
}

/* ---- the task of an event -------------------------------------------------------------------- */

/* Adds a task whose birth was not seen. */
static int add_unknown(struct lifecycle *l, uint32_t tid, uint32_t pid, struct lc_task **ret_task)
{
	struct lc_proc *p = lc_proc__find(l, pid);
	struct lc_task *t;

	if (!p) {
		t = lc_process__new(l, pid);
		if (!t)
			return -ENOMEM;
		t->born = (struct life_time){ 0, l->ts };
		t->existed = t->kind_sure = true;
		l->counts.existed++;
		p = t->proc;
	}
	t = p->leader;
	if (tid != pid) {
		t = lc_thread__new(l, p, tid);
		if (!t)
			return -ENOMEM;
		t->born = (struct life_time){ 0, l->ts };
		t->existed = t->kind_sure = true;
		if (!p->dead) /* it had one more thread than known */
			p->exit = (struct life_time){ 0 };
	}
	if (l->start)
		l->counts.births_unseen++;
	*ret_task = t;
	return 0;
}

/* The task t turns out to be a thread of process pid. */
static int assign_process(struct lifecycle *l, struct lc_task *t, uint32_t pid)
{
	struct lc_proc *p = lc_proc__find(l, pid);
	struct lc_task *leader;
	int err;

	if (!p) {
		err = add_unknown(l, pid, pid, &leader);
		if (err)
			return err;
		p = leader->proc;
	}
	lc_task__move(l, t, p);
	t->kind_sure = true;
	l->counts.processes--;
	l->counts.threads++;
	return 0;
}

int lc_context(struct lifecycle *l, const struct stk_event *e, struct lc_task **ret_task)
{
	uint32_t tid = stk_event__tid(e), pid = stk_event__pid(e);
	struct lc_task *t = lc_task__find(l, tid);
	int err = 0;

	*ret_task = NULL;
	if (!tid)
		return 0;
	if (t && t->off.to) {
		/* t cannot run any more: an exec'ing thread has its tid, or the event is late. */
		if ((lc_is_leader(t) && t->proc->nr_live) || (stk_event__marks(e) & STK_MARK_LATE))
			return 0;
		lc_displaced(l, t);
		t = NULL;
	}
	if (t && t->proc->pid != pid && !t->kind_sure)
		err = assign_process(l, t, pid);
	else if (t && t->proc->pid != pid) {
		lc_displaced(l, t);
		t = NULL;
	}
	if (!err && !t)
		err = add_unknown(l, tid, pid, &t);
	if (err)
		return err;
	t->kind_sure = true;
	t->listed = false;
	t->seen = l->ts;
	if (t->last_comm != stk_event__comm(e)) {
		lc_comm__set(t, stk_event__comm(e), LC_COMM);
		t->last_comm = stk_event__comm(e);
	}
	/* The stack of an interrupt does not show what the task does. */
	if ((stk_event__kstack(e) || stk_event__ustack(e)) &&
	    !(stk_event__flags(e) & FLAG_INTERRUPT))
		t->proc->where = (struct life_where){ stk_event__type(e), l->ts, tid,
						      stk_event__kstack(e), stk_event__ustack(e) };
	*ret_task = t;
	return 0;
}
