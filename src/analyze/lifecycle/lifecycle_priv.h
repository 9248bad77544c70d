/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of the lifecycle analysis; lifecycle.h is its interface.
 *
 *   lifecycle.c        dispatches events to handlers; gaps
 *   lifecycle_tasks.c  tasks by tid and by pid in the parent's namespace; parents and children
 *   lifecycle_birth.c  fork, clone's return, exec, rename
 *   lifecycle_death.c  signals, exits, last switches, frees
 *   lifecycle_wait.c   which wait reaped which child
 *   lifecycle_list.c   task lists of the start and the end
 *   lifecycle_report.c struct life of a task; spans; the remaining tasks at the end
 *
 * Several tasks may have the same pid at one time: the kernel may reuse it once its task is
 * released, and the task exists until RCU frees it.  Chains start with the youngest task.
 */
#ifndef ANALYZE_LIFECYCLE_PRIV_H
#define ANALYZE_LIFECYCLE_PRIV_H

#include "analyze/charge.h"
#include "analyze/event_fields.h"
#include "analyze/thread_map.h"
#include "lifecycle.h"

#define LC_COMM 16 /* bytes of a comm, including its NUL */
#define LC_ZOMBIE 0x20 /* EXIT_ZOMBIE, EXIT_DEAD: bits of sched_switch's prev_state */
#define LC_DEAD 0x10

enum lc_role {
	LC_FORK = 1,
	LC_NEWTASK,
	LC_RUNNABLE,
	LC_EXEC,
	LC_EXIT,
	LC_WAITS,
	LC_FREE,
	LC_SWITCH,
	LC_RENAME,
	LC_SENT,
	LC_SIGNAL,
	LC_EXIT_GROUP,
	LC_EXIT_CALL,
	LC_CLONED,
	LC_WAIT4,
	LC_WAIT4_RET,
	LC_WAITID,
	LC_WAITID_RET,
	LC_NR_ROLES,
};

struct lc_wait { /* waitid() calls that returned an unknown child */
	uint64_t from, to; /* time of the return, or of the first and last of several */
};
#define LC_MAX_WAITS 256 /* kept individually; the oldest are merged */

struct lc_task {
	struct lc_task *next_tid, *next_ns; /* chains */
	struct lc_task *next, **at; /* list of the process; the pointer to this task */
	struct lc_proc *proc;
	uint64_t id;
	uint32_t tid, ns_pid;
	char comm[LC_COMM + 1];
	const char *last_comm; /* the reader's string that comm was copied from */
	bool existed;
	bool kind_sure; /* it is known whether it is a thread or a process */
	bool listed; /* in the list of the start, and without an event since */
	bool displaced; /* another task has its tid now */
	bool replaced;
	struct life_time born, exit, off, released;
	unsigned int off_state; /* LC_ZOMBIE, LC_DEAD; 0: not seen */
	bool off_unseen; /* its last switch must have been, but was not seen */
	uint64_t seen; /* time of its last event */
	uint64_t freed; /* when a leader that is about to be replaced was freed */
	int code; /* of exit(); -1: none */
	uint64_t code_ts;
	int signal; /* deadly signal that was delivered without a handler; 0: none */

	/* the last task it created, until clone() returns */
	uint32_t newborn; /* tid */
	uint64_t newborn_id;
	int newborn_role; /* of the first event of that birth */
	int call; /* LC_WAIT4 or LC_WAITID during the call; else 0 */
	uint64_t call_ts;
	uint32_t call_pid;
	int call_which, call_options;
};

struct lc_proc {
	uint64_t id;
	uint32_t pid;
	struct lc_task *leader, *tasks;
	unsigned int nr_threads; /* all ever known */
	unsigned int nr_live; /* not exited */
	unsigned int nr_off; /* after their last switch */
	unsigned int nr_off_unseen; /* of these, those whose last switch was not seen */
	struct lc_proc *parent, *children, *next_sibling, **at_sibling;
	bool orphan; /* parent is the nearest live ancestor; any above it may reap */
	bool left_exiting; /* its parent ended after its exit event; it may be released before */
	uint64_t left; /* when its parent ended without having reaped it; 0: it was no zombie */
	struct life_name born_to;
	struct life_name new_parent;
	char *exec;
	unsigned int nr_execs;
	struct life_time born; /* if the leader was replaced; else see the leader */
	bool existed; /* likewise */
	struct life_time exit, reaped;
	uint64_t last_off; /* the latest of its tasks' last switches */
	uint64_t traced; /* when its tracer's wait returned its end */
	bool reap_sure; /* the wait returned its end, not a stop */
	uint64_t unsure_wait; /* when it last may have reaped any child; LIFE_EVER: always */
	uint64_t doubted; /* when a wait returned it, for its end or for a stop */
	struct life_name reaper;
	const char *reaped_with;
	enum life_how how;
	int code, sent;
	bool uncertain, group_exit;
	bool dead; /* sched_process_exit reported that no thread is alive */
	bool in_namespace, in_root; /* clone() returned it namespace pids, or root pids */
	uint64_t other_exit; /* last exit of a thread with another code than the last thread */
	struct life_where where;
	struct lc_wait *waits;
	unsigned int nr_waits;
};

struct lc_list; /* a task list, read from /proc */

struct lifecycle {
	struct stk_reader *r;
	struct lifecycle_opts opts;
	struct event_fields *fields;
	struct thread_map by_tid, by_ns; /* the youngest task of each number */
	unsigned int nr_tasks;
	uint64_t memory; /* bytes, without the maps */
	uint64_t work; /* steps along chains and families */
	struct charge charge;
	uint64_t next_id, ts, end_ts;
	const struct stk_event *e; /* the current event */
	struct lifecycle_counts counts;
	bool started; /* the list of the start has been read */
	struct lc_list *start, *end;
	unsigned int nr_types; /* seen so far */
	const struct stk_event_type *types[LC_NR_ROLES];
};

/* ---- lifecycle_tasks.c ----------------------------------------------------------------------- */

void lc_tables__free(struct lifecycle *l);
uint64_t lc_tables__memory(const struct lifecycle *l); /* bytes */
struct lc_task *lc_task__find(const struct lifecycle *l, uint32_t tid); /* the youngest */
/* All tasks with that number; follow next_tid, or next_ns. */
struct lc_task *lc_task__chain(const struct lifecycle *l, uint32_t tid);
struct lc_task *lc_task__ns_chain(const struct lifecycle *l, uint32_t ns_pid);
struct lc_task *lc_task__find_id(const struct lifecycle *l, uint32_t tid, uint64_t id);
struct lc_proc *lc_proc__find(const struct lifecycle *l, uint32_t pid);
/* A new process with its leader, which is returned, or a new thread.  NULL: out of memory. */
struct lc_task *lc_process__new(struct lifecycle *l, uint32_t pid);
struct lc_task *lc_thread__new(struct lifecycle *l, struct lc_proc *p, uint32_t tid);
/* Moves t, which was taken for a process, to p as a thread. */
void lc_task__move(struct lifecycle *l, struct lc_task *t, struct lc_proc *p);
void lc_task__set_tid(struct lifecycle *l, struct lc_task *t, uint32_t tid);
void lc_task__set_ns_pid(struct lifecycle *l, struct lc_task *t, uint32_t ns_pid);
/* Also frees the process of its last task. */
void lc_task__drop(struct lifecycle *l, struct lc_task *t);
void lc_proc__set_parent(struct lc_proc *p, struct lc_proc *parent);
/* Reparents the children of p: any ancestor may be their new parent. */
void lc_proc__leave_children(struct lifecycle *l, struct lc_proc *p);
/* Decides whether the parent of p ended before p was released, if that is open. */
void lc_proc__settle_orphan(struct lifecycle *l, struct lc_proc *p, bool orphan);
static inline bool lc_is_leader(const struct lc_task *t)
{
	return t->proc->leader == t;
}
/* Released before its leader's last switch: it reaped itself, or a wait was waiting already. */
static inline bool lc_is_released(const struct lc_proc *p)
{
	return p->leader && p->leader->off_state == LC_DEAD;
}
/* The same for a process with one thread, which ends with that switch. */
static inline bool lc_is_early(const struct lc_proc *p)
{
	return p->nr_threads == 1 && lc_is_released(p);
}
/* When the last of its threads was off the CPU for good; 0: unknown. */
static inline uint64_t lc_zombie_ts(const struct lc_proc *p)
{
	return p->nr_off >= p->nr_threads && !p->nr_off_unseen ? p->last_off : 0;
}
void lc_comm__set(struct lc_task *t, const char *comm, size_t len);
/* Whether it is this text; NULL: no. */
bool lc_comm__is(const char *comm, const char *text, size_t len);
struct life_name lc_name(const struct lc_proc *p); /* p may be NULL */
/*
 * The task in which an event happened, created if it is unknown.  *ret_task is NULL for the idle
 * task and for a task that has ended already.
 */
int lc_context(struct lifecycle *l, const struct stk_event *e, struct lc_task **ret_task);

/* ---- event handlers -------------------------------------------------------------------------- */

/* t: the task in which it happened, may be NULL.  -ENOMEM. */
int lc_birth(struct lifecycle *l, const struct event_known *k, struct lc_task *t);
int lc_exec(struct lifecycle *l, const struct event_known *k);
void lc_rename(struct lifecycle *l, const struct event_known *k);
void lc_cloned(struct lifecycle *l, const struct event_known *k, struct lc_task *t);

void lc_sent(struct lifecycle *l, const struct event_known *k, struct lc_task *t);
void lc_signal(struct lifecycle *l, const struct event_known *k, struct lc_task *t);
void lc_exit_call(struct lifecycle *l, const struct event_known *k, struct lc_task *t);
void lc_exit(struct lifecycle *l, const struct event_known *k, struct lc_task *t);
bool lc_is_last_switch(const struct lifecycle *l, const struct event_known *k);
void lc_switch(struct lifecycle *l, const struct event_known *k);
void lc_freed(struct lifecycle *l, const struct event_known *k);
/* Another task has its pid now. */
void lc_displaced(struct lifecycle *l, struct lc_task *t);
/* Reports t in its final state and drops it. */
void lc_retire_task(struct lifecycle *l, struct lc_task *t, enum life_state state);
bool lc_signal__is_deadly(int64_t sig, bool *ret_core);

void lc_wait_enter(struct lifecycle *l, const struct event_known *k, struct lc_task *t);
/* p became a zombie: an earlier wait that returned it may have reported a stop. */
void lc_wait__doubt(struct lc_proc *p);
int lc_wait_return(struct lifecycle *l, const struct event_known *k, struct lc_task *t);
/* Sets the interval in which p was reaped, if no wait was seen to return it. */
void lc_wait__guess(struct lifecycle *l, struct lc_proc *p);

/* ---- lifecycle_list.c ------------------------------------------------------------------------ */

int lc_list__start(struct lifecycle *l); /* before the first event */
int lc_list__end(struct lifecycle *l);
void lc_list__free(struct lc_list *list);
/* The state letter of a process in the list of the end; 0: not listed. */
char lc_list__state(const struct lifecycle *l, const struct lc_proc *p);

/* ---- lifecycle_report.c ---------------------------------------------------------------------- */

void lc_report(struct lifecycle *l, struct lc_task *t, enum life_state state);
/* The caller sets kind and its details; time and stacks are those of the current event. */
void lc_step(struct lifecycle *l, const struct lc_task *t, struct life_step step);

/* ---- lifecycle.c ----------------------------------------------------------------------------- */

uint64_t lc_lost_frees(const struct lifecycle *l); /* by the recording's counters */
bool lc_has(struct lifecycle *l, enum lc_role role); /* the recording has such events */
static inline bool lc_u64(const struct lifecycle *l, const struct event_known *k, unsigned int i,
			  uint64_t *ret_value)
{
	return event_fields__u64(k->fields[i], l->e, ret_value);
}
static inline struct life_time lc_at(uint64_t ts)
{
	return (struct life_time){ ts, ts };
}

#endif /* ANALYZE_LIFECYCLE_PRIV_H */
