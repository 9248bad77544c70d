/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of lifecycle.h.
 *
 *   lifecycle.c        events to handlers; gaps
 *   lifecycle_tasks.c  the tables: tasks by tid and by the number their parent sees, families
 *   lifecycle_birth.c  fork, clone's return, exec, rename
 *   lifecycle_death.c  signals, exits, last switches, frees
 *   lifecycle_wait.c   who was reaped by which wait
 *   lifecycle_list.c   /proc at the start and at the end
 *   lifecycle_tell.c   struct life of a task; spans; the rest at the end
 *
 * A pid may belong to several tasks at one time: it is free for others once its task is released,
 * while the task itself lives on until RCU frees it.  Chains have the youngest first.
 */
#ifndef ANALYZE_LIFECYCLE_PRIV_H
#define ANALYZE_LIFECYCLE_PRIV_H

#include "analyze/charge.h"
#include "analyze/event_fields.h"
#include "analyze/thread_map.h"
#include "lifecycle.h"

#define LC_COMM 16 /* bytes of a comm, its NUL included */
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

struct lc_wait { /* waitid()s that returned somebody, and nobody knows whom */
	uint64_t from, to; /* the returns: one, or all that there were */
};
#define LC_MAX_WAITS 256 /* kept apart; more are taken together */

struct lc_task {
	struct lc_task *next_tid, *next_ns; /* chains */
	struct lc_task *next, **at; /* of the process, and what points here */
	struct lc_proc *proc;
	uint64_t id;
	uint32_t tid, ns_pid;
	char comm[LC_COMM + 1];
	const char *last_comm; /* the reader's string that comm is a copy of */
	bool existed, kind_sure; /* kind: thread or process */
	bool listed; /* by the list at the start, and not seen since */
	bool displaced; /* its number is another's by now */
	bool replaced;
	struct life_time born, exit, off, released;
	unsigned int off_state; /* LC_ZOMBIE, LC_DEAD; 0: not seen */
	uint64_t seen; /* its last event */
	uint64_t freed; /* of a leader that is about to be replaced */
	int code; /* of exit(); -1 none */
	uint64_t code_ts;
	int signal; /* a deadly signal's default action, 0 none */

	uint32_t newborn; /* tid of the last task it made, */
	uint64_t newborn_id; /* for clone's return */
	int newborn_role; /* of the event that told of it first */
	int call; /* LC_WAIT4 or LC_WAITID while it is in there */
	uint64_t call_ts;
	uint32_t call_pid;
	int call_which, call_options;
};

struct lc_proc {
	uint64_t id;
	uint32_t pid;
	struct lc_task *leader, *tasks;
	unsigned int nr_threads, nr_live,
		nr_off; /* ever known; not exited; switched off for good */
	struct lc_proc *parent, *children, *next_sibling, **at_sibling;
	bool orphan; /* parent is the nearest ancestor that lives; any above it may reap */
	bool left_exiting; /* its parent ended after its exit event: it may have been released before */
	struct life_name born_to;
	struct life_name heir;
	char *exec;
	unsigned int nr_execs;
	struct life_time born; /* of one whose leader was replaced; else it is the leader's */
	bool existed; /* the same */
	struct life_time exit, reaped;
	uint64_t last_off; /* latest last switch of its tasks */
	uint64_t traced; /* its tracer got its end */
	bool reap_sure; /* what was returned was its end, not a stop */
	uint64_t doubted; /* a wait returned it then, for its end or before */
	struct life_name reaper;
	const char *reaped_with;
	enum life_how how;
	int code, sent;
	bool uncertain, group_exit;
	bool dead; /* the kernel said that no thread lives */
	bool in_namespace, in_root; /* its children have other numbers for it, or the same */
	uint64_t other_exit; /* last exit of a thread with another code than the one before */
	struct life_where where;
	struct lc_wait *waits;
	unsigned int nr_waits;
};

struct lc_list; /* tasks as /proc had them */

struct lifecycle {
	struct stk_reader *r;
	struct lifecycle_opts opts;
	struct event_fields *fields;
	struct thread_map by_tid, by_ns; /* the youngest of each number */
	unsigned int nr_tasks;
	uint64_t memory, work; /* bytes held, but for the maps; steps along chains and families */
	struct charge charge;
	uint64_t next_id, ts, end_ts;
	const struct stk_event *e; /* being looked at */
	struct lifecycle_counts counts;
	bool started; /* the list at the start has been taken */
	struct lc_list *start, *end;
	unsigned int nr_types; /* looked at */
	const struct stk_event_type *types[LC_NR_ROLES];
};

/* ---- lifecycle_tasks.c ----------------------------------------------------------------------- */

void lc_tables__free(struct lifecycle *l);
uint64_t lc_tables__memory(const struct lifecycle *l); /* bytes */
struct lc_task *lc_task__find(const struct lifecycle *l, uint32_t tid); /* the youngest */
/* All that have the number: by next_tid, or next_ns. */
struct lc_task *lc_task__chain(const struct lifecycle *l, uint32_t tid);
struct lc_task *lc_task__ns_chain(const struct lifecycle *l, uint32_t ns_pid);
struct lc_task *lc_task__find_id(const struct lifecycle *l, uint32_t tid, uint64_t id);
struct lc_proc *lc_proc__find(const struct lifecycle *l, uint32_t pid);
/* A process and its leader, or a thread of one; NULL when out of memory. */
struct lc_task *lc_process__new(struct lifecycle *l, uint32_t pid);
struct lc_task *lc_thread__new(struct lifecycle *l, struct lc_proc *p, uint32_t tid);
/* The task is no process, as was thought, but a thread of p. */
void lc_task__move(struct lifecycle *l, struct lc_task *t, struct lc_proc *p);
void lc_task__set_tid(struct lifecycle *l, struct lc_task *t, uint32_t tid);
void lc_task__set_ns_pid(struct lifecycle *l, struct lc_task *t, uint32_t ns_pid);
/* With its process, where it is the last of it. */
void lc_task__drop(struct lifecycle *l, struct lc_task *t);
void lc_proc__set_parent(struct lc_proc *p, struct lc_proc *parent);
/* Its children are anybody's above it from now on. */
void lc_proc__leave_children(struct lifecycle *l, struct lc_proc *p);
/* Whether its parent ended before it was released, where that was left open. */
void lc_proc__settle_orphan(struct lifecycle *l, struct lc_proc *p, bool orphan);
static inline bool lc_is_leader(const struct lc_task *t)
{
	return t->proc->leader == t;
}
/* Released before its leader's last switch: by itself, or for a wait that came at once. */
static inline bool lc_is_released(const struct lc_proc *p)
{
	return p->leader && p->leader->off_state == LC_DEAD;
}
/* The same of a process without other threads, whose end that switch is. */
static inline bool lc_is_early(const struct lc_proc *p)
{
	return p->nr_threads == 1 && lc_is_released(p);
}
void lc_comm__set(struct lc_task *t, const char *comm, size_t len);
struct life_name lc_name(const struct lc_proc *p); /* NULL: nobody */
/*
 * The task an event happened in, made if need be; ret_task NULL: the idle task, or one that has
 * ended already as far as known.
 */
int lc_context(struct lifecycle *l, const struct stk_event *e, struct lc_task **ret_task);

/* ---- the kinds of events --------------------------------------------------------------------- */

/* t: the task it happened in, may be NULL; -ENOMEM. */
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
/* Its pid belongs to another by now. */
void lc_displaced(struct lifecycle *l, struct lc_task *t);
/* All is known of it that will be: told and dropped. */
void lc_over(struct lifecycle *l, struct lc_task *t, enum life_state state);
bool lc_signal__is_deadly(int64_t sig, bool *ret_core);

void lc_wait_enter(struct lifecycle *l, const struct event_known *k, struct lc_task *t);
/* Its last switch has it as a zombie: if a wait returned it before, that may have told of a stop. */
void lc_wait__doubt(struct lc_proc *p);
int lc_wait_return(struct lifecycle *l, const struct event_known *k, struct lc_task *t);
/* Where nobody was seen to reap it: what waits of unknown outcome of its parent allow. */
void lc_wait__guess(struct lifecycle *l, struct lc_proc *p);

/* ---- lifecycle_list.c ------------------------------------------------------------------------ */

int lc_list__start(struct lifecycle *l); /* before the first event */
int lc_list__end(struct lifecycle *l);
void lc_list__free(struct lc_list *list);
/* Of a process at the end: its state letter, 0 where it is not there. */
char lc_list__state(const struct lifecycle *l, const struct lc_proc *p);

/* ---- lifecycle_tell.c ------------------------------------------------------------------------ */

void lc_tell(struct lifecycle *l, struct lc_task *t, enum life_state state);
/* kind and what of it; ts, stacks and the rest come from the event under way. */
void lc_step(struct lifecycle *l, const struct lc_task *t, struct life_step step);

/* ---- lifecycle.c ----------------------------------------------------------------------------- */

uint64_t lc_lost_frees(const struct lifecycle *l); /* by the accounting */
bool lc_has(struct lifecycle *l, enum lc_role role); /* events of that role were recorded */
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
