/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes and threads from fork to free, told from a recording's events.
 *
 * Moments are those the kernel's events prove.  A process exits when its last thread enters
 * do_exit(); it is a zombie from its last sched_switch (of all its threads) until a wait4(2) or
 * waitid(2) of its parent returns it; then it waits for RCU, until sched_process_free.  What was not
 * seen is an interval.  Memory is that of tasks that are not freed yet.
 */
#ifndef ANALYZE_LIFECYCLE_H
#define ANALYZE_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stackonce.h"

#define LIFE_EVER UINT64_MAX
/* Reaped and for so long not freed is more than RCU takes. */
#define LIFE_LEAK_NS 1000000000ULL

/* A moment, ns.  from == to: seen; from < to: somewhere there (from 0: or before); to 0: never. */
struct life_time {
	uint64_t from, to;
};

/* A length, ns; any false: there is none; min == max: known; max LIFE_EVER: at least min. */
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
	LIFE_GONE, /* is not there any more, and its end or its free was not seen */
};

enum life_how { LIFE_HOW_UNKNOWN, LIFE_HOW_EXIT, LIFE_HOW_SIGNAL };

/* The last event of a process that came with a stack. */
struct life_where {
	const struct stk_event_type *type; /* NULL: there was none */
	uint64_t ts;
	uint32_t tid, kstack, ustack;
};

/* A task by name; id 0: unknown, pid 0 as well. */
struct life_name {
	uint64_t id; /* of a process, unlike its pid never used again */
	uint32_t pid;
	char comm[17];
};

/* Lengths that an event between their two ends may be missing from: at most so long. */
enum life_doubt {
	LIFE_DOUBT_LIFETIME = 1u << 0,
	LIFE_DOUBT_TEARDOWN = 1u << 1,
	LIFE_DOUBT_ZOMBIE = 1u << 2,
	LIFE_DOUBT_UNFREED = 1u << 3,
};

/* A process, or a thread of one. */
struct life {
	struct life_name self; /* a thread: that of its process, with the thread's own comm */
	uint32_t tid; /* a process: its pid */
	uint32_t ns_pid; /* as its parent sees it; 0 unknown */
	bool is_thread;
	bool existed; /* before the recording, or its fork was not seen */
	bool orphan; /* its parent ended before it */
	bool replaced; /* a thread that led its process when another executed a program */
	bool early; /* released before its last sched_switch: nobody had to wait for it */
	bool uncertain; /* something else may have come first than what how says */
	enum life_state state;
	enum life_how how;
	int code; /* exit status, or the signal; -1: a signal, but not known which */
	int sent; /* a deadly signal that was sent and that no handler got; 0: none */
	struct life_name parent; /* who it was born to */
	struct life_name heir; /* who is its parent at the end, where that is another */
	struct life_name reaper;
	const char *reaped_with; /* "wait4", "waitid"; NULL: not seen */
	const char *exec; /* last program executed, "" none; lives during the callback */
	unsigned int nr_execs, nr_threads, live_threads;
	struct life_time born, exit, zombie, reaped, freed;
	unsigned int doubts; /* enum life_doubt */
	struct life_where where; /* of the process */
	struct life_where parent_where; /* at the end: of its heir, or parent */
};

struct life_span life__lifetime(const struct life *l); /* born to exit */
struct life_span life__teardown(const struct life *l); /* exit to zombie */
struct life_span life__zombie(const struct life *l); /* zombie to reaped: the parent's fault */
struct life_span life__unfreed(const struct life *l); /* reaped to freed: RCU's */

enum life_step_kind {
	LIFE_STEP_BORN, /* other: who forked it */
	LIFE_STEP_FORK, /* other: the child */
	LIFE_STEP_THREAD, /* number: tid */
	LIFE_STEP_RUNNABLE, /* number: tid */
	LIFE_STEP_EXEC, /* text: file; number: tid that was, where a thread took its leader's place */
	LIFE_STEP_RENAMED, /* text: new comm */
	LIFE_STEP_SENT, /* number: signal; other: by whom; detail: the kernel's result, 0: sent */
	LIFE_STEP_SIGNAL, /* number: signal; detail: 1: a handler runs, 0: the default action */
	LIFE_STEP_EXIT_CALL, /* number: status; detail: 1: exit_group() */
	LIFE_STEP_THREAD_EXIT,
	LIFE_STEP_EXIT, /* of the last thread */
	LIFE_STEP_ORPHAN, /* other: the parent that ended */
	LIFE_STEP_OFF, /* last sched_switch of a thread, or of a leader before its threads */
	LIFE_STEP_ZOMBIE,
	LIFE_STEP_WAITS, /* calls wait for number (0: any) */
	LIFE_STEP_REAPS, /* other: the child */
	LIFE_STEP_TRACER, /* other: the tracer got its end, its parent not yet */
	LIFE_STEP_REAPED, /* other: by whom */
	LIFE_STEP_THREAD_FREED,
	LIFE_STEP_FREED,
};

struct life_step {
	enum life_step_kind kind;
	uint64_t ts;
	struct life_name self, other;
	uint32_t tid; /* of self, whose it is */
	int64_t number;
	int detail;
	const char *text; /* lives during the call; text_len bytes, any */
	size_t text_len;
	uint32_t kstack, ustack; /* of the event */
};

struct lifecycle_opts {
	/* A process is over (LIFE_FREED, LIFE_GONE), or left at the end, whatever its state. */
	void (*process)(void *ctx, const struct life *life);
	/* The same of threads that do not lead; NULL: not wanted. */
	void (*thread)(void *ctx, const struct life *life);
	void (*step)(void *ctx, const struct life_step *step); /* NULL: not wanted */
	void *ctx;
};

/* What happened, and what did not fit together. */
struct lifecycle_counts {
	uint64_t processes, threads; /* born while recording */
	uint64_t existed; /* processes that were there before, as far as seen */
	uint64_t execs, orphans;
	uint64_t pid_reuses; /* a pid came again before what had it was freed */
	uint64_t stop_reports; /* waits that returned a process that had not ended */
	uint64_t tracer_waits; /* got by tracers */
	uint64_t births_unseen, exits_unseen;
	uint64_t waits_unmatched; /* returned somebody unknown, or one of several */
	uint64_t frees_unmatched; /* of tasks that ended before the recording */
	uint64_t frees_unnamed; /* recorded without fields, or lost: of whom is not known */
	uint64_t frees_ambiguous; /* of a pid that several tasks of the same comm had had */
};

/* Why something cannot be known. */
enum life_gap_kind {
	LIFE_GAP_MISSING,
	LIFE_GAP_LOST,
	LIFE_GAP_OTHERS, /* left out as of tasks that were not recorded */
	LIFE_GAP_FILTERED, /* left out by a filter */
	LIFE_GAP_NR
};
struct life_gap {
	enum life_gap_kind kind;
	const char *system, *name; /* event */
	uint64_t count; /* events lost or left out */
	const char *means;
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
/* -ENOMEM: cannot go on. */
int lifecycle__add(struct lifecycle *l, const struct stk_event *e);
/* The recording is at its end: tells of all that is left, in the order of birth. */
int lifecycle__finish(struct lifecycle *l);

uint64_t lifecycle__end_ts(const struct lifecycle *l); /* the last moment known of */
bool lifecycle__has_end_list(const struct lifecycle *l); /* who was there at the end is known */
void lifecycle__counts(const struct lifecycle *l, struct lifecycle_counts *ret_counts);
/* Gap i, false: there are no more; after the end. */
bool lifecycle__gap(const struct lifecycle *l, unsigned int i, struct life_gap *ret_gap);

#endif /* ANALYZE_LIFECYCLE_H */
