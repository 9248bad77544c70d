/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Follows processes and threads from fork to free, by the events of a recording.
 *
 * A process exits when its last thread enters do_exit().  It is a zombie from the last sched_switch
 * of all its threads until a wait4(2) or waitid(2) of its parent returns it; then it waits for RCU,
 * until sched_process_free.  A moment without an event is given as an interval.  Memory is bounded
 * by the tasks that are not freed yet.
 */
#ifndef ANALYZE_LIFECYCLE_H
#define ANALYZE_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stackonce.h"

#define LIFE_EVER UINT64_MAX
/* A reaped task that is not freed within this time (ns) leaks: RCU takes less. */
#define LIFE_LEAK_NS 1000000000ULL

/*
 * A moment, ns.  from == to: seen.  from < to: in that interval; from 0: possibly before the
 * recording.  to 0: never.
 */
struct life_time {
	uint64_t from, to;
};

/* A duration, ns.  any false: none.  min == max: known.  max LIFE_EVER: at least min. */
struct life_span {
	uint64_t min, max;
	bool any;
};

enum life_state {
	LIFE_ALIVE,
	LIFE_EXITING, /* exited, not yet a zombie */
	LIFE_ZOMBIE, /* waits for its parent */
	LIFE_REAPED, /* waits for RCU */
	LIFE_FREED,
	LIFE_GONE, /* does not exist any more; its exit, reaping or free was not seen */
};

enum life_how { LIFE_HOW_UNKNOWN, LIFE_HOW_EXIT, LIFE_HOW_SIGNAL };

/* The last event of a process with a stack. */
struct life_where {
	const struct stk_event_type *type; /* NULL: no such event */
	uint64_t ts;
	uint32_t tid, kstack, ustack;
};

/* Identifies a process; id and pid are 0 if it is unknown. */
struct life_name {
	uint64_t id; /* of the process; unlike a pid never reused */
	uint32_t pid;
	char comm[17];
};

/* Durations during which an event may be missing: their values are upper bounds. */
enum life_doubt {
	LIFE_DOUBT_LIFETIME = 1u << 0,
	LIFE_DOUBT_TEARDOWN = 1u << 1,
	LIFE_DOUBT_ZOMBIE = 1u << 2,
	LIFE_DOUBT_UNFREED = 1u << 3,
	LIFE_DOUBT_LEFT = 1u << 4,
};

/* A process, or a thread of one. */
struct life {
	struct life_name self; /* of a thread: its process, with the thread's comm */
	uint32_t tid; /* of a process: its pid */
	uint32_t ns_pid; /* pid in the parent's namespace; 0: unknown */
	bool is_thread;
	bool existed; /* older than the recording, or its fork was not seen */
	bool orphan; /* its parent ended before it */
	bool replaced; /* a leader whose place another thread took by exec */
	bool early; /* released before its last sched_switch: never a zombie */
	bool uncertain; /* the cause may be another one than how says */
	enum life_state state;
	enum life_how how;
	int code; /* exit status or signal; -1: unknown signal */
	int sent; /* a deadly signal that was sent and not handled; 0: none */
	struct life_name parent; /* at birth */
	struct life_name new_parent; /* its parent at the end, if another one */
	struct life_name reaper;
	const char *reaped_with; /* "wait4", "waitid"; NULL: not seen */
	const char *exec; /* last program executed, or ""; valid during the callback */
	unsigned int nr_execs, nr_threads, live_threads;
	struct life_time born, exit, zombie, reaped, freed;
	uint64_t left; /* when parent ended without having reaped this zombie; 0: it did not */
	unsigned int doubts; /* enum life_doubt */
	struct life_where where; /* of the process */
	struct life_where parent_where; /* at the end: of new_parent, or else of parent */
};

struct life_span life__lifetime(const struct life *l); /* born to exit */
struct life_span life__teardown(const struct life *l); /* exit to zombie */
struct life_span life__zombie(const struct life *l); /* zombie to reaped: caused by the parent */
struct life_span life__left(const struct life *l); /* of it, zombie to the end of its parent */
struct life_span life__unfreed(const struct life *l); /* reaped to freed: caused by RCU */

enum life_step_kind {
	LIFE_STEP_BORN, /* other: the parent */
	LIFE_STEP_FORK, /* other: the child */
	LIFE_STEP_THREAD, /* number: tid */
	LIFE_STEP_RUNNABLE, /* number: tid */
	LIFE_STEP_EXEC, /* text: file; number: the old tid, if a thread took its leader's place */
	LIFE_STEP_RENAMED, /* text: new comm */
	LIFE_STEP_SENT, /* number: signal; other: sender; detail: the kernel's result, 0: sent */
	LIFE_STEP_SIGNAL, /* number: signal; detail: 1: a handler runs, 0: the default action */
	LIFE_STEP_EXIT_CALL, /* number: status; detail: 1: exit_group() */
	LIFE_STEP_THREAD_EXIT,
	LIFE_STEP_EXIT, /* of the last thread */
	LIFE_STEP_ORPHAN, /* other: the parent that ended */
	LIFE_STEP_OFF, /* last sched_switch of a thread, or of a leader before its threads' */
	LIFE_STEP_ZOMBIE,
	LIFE_STEP_WAITS, /* calls wait for number (0: any) */
	LIFE_STEP_REAPS, /* other: the child */
	LIFE_STEP_TRACER, /* other: the tracer that waited for it before the parent */
	LIFE_STEP_REAPED, /* other: the reaper */
	LIFE_STEP_THREAD_FREED,
	LIFE_STEP_FREED,
};

struct life_step {
	enum life_step_kind kind;
	uint64_t ts;
	struct life_name self, other;
	uint32_t tid; /* of the thread of self */
	int64_t number;
	int detail;
	const char *text; /* text_len raw bytes, valid during the callback */
	size_t text_len;
	uint32_t kstack, ustack; /* of the event */
};

struct lifecycle_opts {
	/* Called when a process is LIFE_FREED or LIFE_GONE, and at the end for all others. */
	void (*process)(void *ctx, const struct life *life);
	/* The same for threads other than the leader; may be NULL. */
	void (*thread)(void *ctx, const struct life *life);
	void (*step)(void *ctx, const struct life_step *step); /* may be NULL */
	void *ctx;
};

/* Counts of what happened, and of what did not match. */
struct lifecycle_counts {
	uint64_t processes, threads; /* born while recording */
	uint64_t existed; /* processes older than the recording, as far as seen */
	uint64_t execs, orphans;
	uint64_t pid_reuses; /* pids reused before the previous task was freed */
	uint64_t stop_reports; /* waits that returned a process that had only stopped */
	uint64_t tracer_waits; /* ends returned to a tracer */
	uint64_t births_unseen, exits_unseen;
	uint64_t waits_unmatched; /* the child was unknown, or one of several */
	uint64_t frees_unmatched; /* of tasks that ended before the recording */
	uint64_t frees_unnamed; /* lost, or recorded with fields missing: of an unknown task */
	uint64_t frees_ambiguous; /* of a pid that several tasks with the same comm had */
	uint64_t ends_unseen; /* tasks that are LIFE_GONE, zombies reaped without a recorded wait */
};

/* Why information is incomplete. */
enum life_gap_kind {
	LIFE_GAP_MISSING, /* the event type is not in the recording */
	LIFE_GAP_LOST,
	LIFE_GAP_FIELDS, /* recorded with fields missing */
	LIFE_GAP_OTHERS, /* filtered: of tasks that were not selected */
	LIFE_GAP_FILTERED, /* filtered by an expression */
	LIFE_GAP_NR
};
struct life_gap {
	enum life_gap_kind kind;
	const char *system, *name; /* event */
	uint64_t count; /* events lost, filtered, or with fields missing */
	const char *means; /* what is unknown without them */
};

struct lifecycle;

/* r is borrowed. */
int lifecycle__new(struct stk_reader *r, const struct lifecycle_opts *opts,
		   struct lifecycle **ret_lifecycle);
void lifecycle__free(struct lifecycle *l);
static inline void lifecycle__freep(struct lifecycle **l)
{
	lifecycle__free(*l);
}
/* After an error (-ENOMEM, or -ENOBUFS of the budget) the analysis cannot continue. */
int lifecycle__add(struct lifecycle *l, const struct stk_event *e);
/* Ends the analysis: reports the remaining tasks in the order of their birth. */
int lifecycle__finish(struct lifecycle *l);

uint64_t lifecycle__end_ts(const struct lifecycle *l); /* the end of the recording, ns */
/* Does the recording have the task list of its end? */
bool lifecycle__has_end_list(const struct lifecycle *l);
void lifecycle__counts(const struct lifecycle *l, struct lifecycle_counts *ret_counts);
/*
 * Is every free of the recorded time known, so that a task without one has leaked?  Where waits are
 * missed although none was lost, frees may be missed, too.
 */
bool lifecycle__has_all_frees(const struct lifecycle *l);
/* Gap i, after lifecycle__finish(); false: i is past the last one. */
bool lifecycle__gap(const struct lifecycle *l, unsigned int i, struct life_gap *ret_gap);

#endif /* ANALYZE_LIFECYCLE_H */
