// SPDX-License-Identifier: GPL-2.0-only
/* Dispatches events to their handlers, and lists what missing events leave unknown. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "lifecycle_priv.h"
#include "losses.h"

static const struct event_role roles[] = {
	{ LC_FORK, "sched", "sched_process_fork", { "child_pid", "child_comm" } },
	{ LC_NEWTASK, "task", "task_newtask", { "pid", "comm", "clone_flags" } },
	{ LC_RUNNABLE, "sched", "sched_wakeup_new", { "pid" } },
	{ LC_EXEC, "sched", "sched_process_exec", { "pid", "old_pid", "filename" } },
	{ LC_EXIT, "sched", "sched_process_exit", { "pid", "group_dead" } },
	{ LC_WAITS, "sched", "sched_process_wait", { "pid" } },
	{ LC_FREE, "sched", "sched_process_free", { "pid", "comm" } },
	{ LC_SWITCH, "sched", "sched_switch", { "prev_pid", "prev_state" } },
	{ LC_RENAME, "task", "task_rename", { "pid", "newcomm", "oldcomm" } },
	{ LC_SENT, "signal", "signal_generate", { "sig", "pid", "result" } },
	{ LC_SIGNAL, "signal", "signal_deliver", { "sig", "sa_handler" } },
	{ LC_EXIT_GROUP, "syscalls", "sys_enter_exit_group", { "error_code" } },
	{ LC_EXIT_CALL, "syscalls", "sys_enter_exit", { "error_code" } },
	{ LC_CLONED, "syscalls", "sys_exit_clone", { "ret" } },
	{ LC_CLONED, "syscalls", "sys_exit_clone3", { "ret" } },
	{ LC_CLONED, "syscalls", "sys_exit_fork", { "ret" } },
	{ LC_CLONED, "syscalls", "sys_exit_vfork", { "ret" } },
	{ LC_WAIT4, "syscalls", "sys_enter_wait4", { "upid", "options" } },
	{ LC_WAIT4_RET, "syscalls", "sys_exit_wait4", { "ret" } },
	{ LC_WAITID, "syscalls", "sys_enter_waitid", { "upid", "options", "which" } },
	{ LC_WAITID_RET, "syscalls", "sys_exit_waitid", { "ret" } },
};

/* What is unknown without events of a role; roles without a row do not matter. */
static const struct {
	enum lc_role role;
	const char *means;
} meanings[] = {
	{ LC_FORK, "births and parents" },
	{ LC_NEWTASK, "whether a new task is a thread or a process, until its first event" },
	{ LC_EXEC, "executed programs, and threads that replace their leader by exec" },
	{ LC_EXIT, "exits of processes and threads" },
	{ LC_SWITCH, "when a process becomes a zombie" },
	{ LC_FREE, "when tasks are freed; memory use grows with the ended tasks" },
	{ LC_SENT, "which signal ended a process" },
	{ LC_SIGNAL, "whether a signal ended a process" },
	{ LC_EXIT_GROUP, "exit statuses" },
	{ LC_EXIT_CALL,
	  "exit statuses of threads, and of processes that end by exit() of their last thread" },
	{ LC_CLONED, "PIDs in PID namespaces, and therefore which processes were reaped there" },
	{ LC_WAIT4_RET, "which processes were reaped, when and by which process" },
	{ LC_WAITID, "which processes were reaped by waitid()" },
	{ LC_WAITID_RET, "which processes were reaped by waitid()" },
};

int lifecycle__new(struct stk_reader *r, const struct lifecycle_opts *opts,
		   struct lifecycle **ret_lifecycle)
{
	_cleanup_(lifecycle__freep) struct lifecycle *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	l->r = r;
	l->opts = *opts;
	err = event_fields__new(roles, ARRAY_SIZE(roles), &l->fields);
	if (err)
		return err;
	*ret_lifecycle = take_ptr(l);
	return 0;
}

void lifecycle__free(struct lifecycle *l)
{
	if (!l)
		return;
	lc_tables__free(l);
	lc_list__free(l->start);
	lc_list__free(l->end);
	event_fields__free(l->fields);
	free(l);
}

/* ---- event types ----------------------------------------------------------------------------- */

static void note_type(struct lifecycle *l, const struct stk_event_type *t)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(roles); i++)
		if (!strcmp(roles[i].name, stk_event_type__name(t)) &&
		    !strcmp(roles[i].system, stk_event_type__system(t)))
			l->types[roles[i].role] = t;
}

bool lc_has(struct lifecycle *l, enum lc_role role)
{
	for (; l->nr_types < stk_reader__nr_types(l->r); l->nr_types++)
		note_type(l, stk_reader__type(l->r, l->nr_types));
	return l->types[role];
}

static const struct event_role *role_row(enum lc_role role)
{
	unsigned int i;

	for (i = 0; roles[i].role != (int)role; i++)
		;
	return &roles[i];
}

static bool has_role(const struct stk_event_type *t, enum lc_role role)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(roles); i++)
		if (roles[i].role == (int)role && !strcmp(roles[i].name, stk_event_type__name(t)) &&
		    !strcmp(roles[i].system, stk_event_type__system(t)))
			return true;
	return false;
}

static bool counts_for(enum stk_counter c, enum life_gap_kind kind, enum lc_role role)
{
	switch (kind) {
	case LIFE_GAP_LOST:
		return counter_is_gap(c);
	case LIFE_GAP_FIELDS:
		return c == STK_C_NO_FIELDS;
	case LIFE_GAP_OTHERS:
		return counter_is_unselected(c) || (c == STK_C_FILTERED_SELF && role == LC_FREE);
	case LIFE_GAP_FILTERED:
		/* Only some events of these two roles are needed. */
		return c == STK_C_FILTERED_EXPR && role != LC_SWITCH && role != LC_SENT;
	default:
		return false;
	}
}

/* The sum over all types with that role. */
static uint64_t gap_count(const struct lifecycle *l, enum lc_role role, enum life_gap_kind kind)
{
	uint64_t n = 0;
	unsigned int i, c;

	for (i = 0; i < stk_reader__nr_types(l->r); i++) {
		const struct stk_event_type *t = stk_reader__type(l->r, i);

		if (!has_role(t, role))
			continue;
		for (c = 0; c < STK_NR_COUNTERS; c++)
			if (counts_for(c, kind, role))
				n += stk_reader__counter(l->r, t, c);
	}
	return n;
}

uint64_t lc_lost_frees(const struct lifecycle *l)
{
	const struct stk_event_type *t = l->types[LC_FREE];
	uint64_t lost = 0;
	unsigned int c;

	for (c = 0; t && c < STK_NR_COUNTERS; c++)
		if (counter_is_gap(c) || counter_is_unselected(c) || c == STK_C_FILTERED_SELF)
			lost += stk_reader__counter(l->r, t, c);
	return lost;
}

bool lifecycle__gap(const struct lifecycle *l, unsigned int i, struct life_gap *ret_gap)
{
	unsigned int m, kind, n = 0;

	for (m = 0; m < ARRAY_SIZE(meanings); m++) {
		enum lc_role role = meanings[m].role;
		const struct event_role *row = role_row(role);

		for (kind = 0; kind < LIFE_GAP_NR; kind++) {
			uint64_t count = gap_count(l, role, kind);
			bool there = kind == LIFE_GAP_MISSING ? !l->types[role] : count;

			if (!there || n++ != i)
				continue;
			*ret_gap = (struct life_gap){ kind, row->system, row->name, count,
						      meanings[m].means };
			return true;
		}
	}
	return false;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void runnable(struct lifecycle *l, const struct event_known *k)
{
	uint64_t tid;

	if (l->opts.step && lc_u64(l, k, 0, &tid))
		lc_step(l, lc_task__find(l, tid),
			(struct life_step){ .kind = LIFE_STEP_RUNNABLE, .number = tid });
}

static void waits(struct lifecycle *l, const struct event_known *k, struct lc_task *t)
{
	uint64_t pid;

	/* A wait of a 32-bit program: its system calls are not recorded. */
	if (t && !t->call)
		t->proc->unsure_wait = LIFE_EVER;
	if (lc_u64(l, k, 0, &pid))
		lc_step(l, t, (struct life_step){ .kind = LIFE_STEP_WAITS, .number = pid });
}

static int handle(struct lifecycle *l, const struct event_known *k, struct lc_task *t)
{
	switch ((enum lc_role)k->role) {
	case LC_FORK:
	case LC_NEWTASK:
		return lc_birth(l, k, t);
	case LC_EXEC:
		return lc_exec(l, k);
	case LC_WAIT4_RET:
	case LC_WAITID_RET:
		return lc_wait_return(l, k, t);
	case LC_RUNNABLE:
		runnable(l, k);
		break;
	case LC_EXIT:
		lc_exit(l, k, t);
		break;
	case LC_WAITS:
		waits(l, k, t);
		break;
	case LC_FREE:
		lc_freed(l, k);
		break;
	case LC_RENAME:
		lc_rename(l, k);
		break;
	case LC_SENT:
		lc_sent(l, k, t);
		break;
	case LC_SIGNAL:
		lc_signal(l, k, t);
		break;
	case LC_EXIT_GROUP:
	case LC_EXIT_CALL:
		lc_exit_call(l, k, t);
		break;
	case LC_CLONED:
		lc_cloned(l, k, t);
		break;
	case LC_WAIT4:
	case LC_WAITID:
		lc_wait_enter(l, k, t);
		break;
	case LC_SWITCH:
	case LC_NR_ROLES:
		break;
	}
	return 0;
}

int lifecycle__add(struct lifecycle *l, const struct stk_event *e)
{
	const struct event_known *k = event_fields__of(l->fields, stk_event__type(e));
	struct lc_task *t;
	int err = 0;

	if (!k)
		return -ENOMEM;
	l->e = e;
	/* A late event is handled as if it happened now, so that time never goes back. */
	l->ts = l->ts > stk_event__ts(e) ? l->ts : stk_event__ts(e);
	if (!l->started)
		err = lc_list__start(l);
	l->started = true;
	if (err)
		return err;
	/* lc_context() must not see a last switch: another task may have the tid already. */
	if (k->role == LC_SWITCH && lc_is_last_switch(l, k)) {
		lc_switch(l, k);
	} else {
		err = lc_context(l, e, &t);
		if (!err)
			err = handle(l, k, t);
	}
	return err ?: charge(&l->charge, l->r, l->memory + lc_tables__memory(l), l->work);
}

/* ---- results --------------------------------------------------------------------------------- */

uint64_t lifecycle__end_ts(const struct lifecycle *l)
{
	return l->end_ts;
}

bool lifecycle__has_end_list(const struct lifecycle *l)
{
	return l->end;
}

bool lifecycle__has_all_frees(const struct lifecycle *l)
{
	return l->types[LC_FREE] && !l->counts.frees_unnamed && !l->counts.ends_unseen;
}

void lifecycle__counts(const struct lifecycle *l, struct lifecycle_counts *ret_counts)
{
	*ret_counts = l->counts;
}
