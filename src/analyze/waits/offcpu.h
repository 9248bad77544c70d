/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time that tasks are off the CPU, by sched_switch, sched_waking and sched_wakeup_new: blocked from
 * the switch away until the task is woken, then queued on a run queue until it runs.  Memory grows
 * with the tasks off the CPU at one time, with the groups and with the pairs of stacks.
 */
#ifndef ANALYZE_OFFCPU_H
#define ANALYZE_OFFCPU_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/durations.h"
#include "stackonce.h"
#include "switch_state.h"
#include "wait_task.h"

enum offcpu_by { OFFCPU_BY_STACK, OFFCPU_BY_STATE, OFFCPU_BY_COMM, OFFCPU_BY_PID, OFFCPU_BY_TID };

/* Selects intervals by their task, state, and time (ns) and CPU of the switch away. */
typedef bool (*offcpu_select_fn)(void *ctx, const struct wait_task *task, uint64_t ts,
				 unsigned int cpu, enum switch_state state);

struct offcpu_time {
	uint64_t count;
	uint64_t blocked, queued; /* ns; without a wakeup all of it is blocked */
};

/* Intervals with one stack whose wakers have one stack. */
struct offcpu_stacks {
	enum switch_state state;
	uint32_t kstack, ustack; /* of the switch away; 0: none.  Kernel stacks have equal parts. */
	bool woken; /* a waker was seen; the fields below describe it */
	bool interrupt; /* woken by an interrupt: no waker task or user stack */
	struct wait_task waker;
	uint32_t waker_kstack, waker_ustack;
	struct offcpu_time time;
	uint64_t max; /* ns: longest, blocked and queued */
};

struct offcpu_group {
	/* the key: only what by asks for is set */
	enum switch_state state;
	uint32_t kstack, ustack;
	struct wait_task task;

	struct durations off; /* blocked and queued */
	struct offcpu_time time;
	struct offcpu_time states[SWITCH_NR_STATES];
	struct offcpu_stacks *stacks; /* longest first */
	uint32_t nr_stacks;
};

/* Off CPU when the recording ended. */
struct offcpu_open {
	struct wait_task task;
	enum switch_state state;
	uint64_t since;
	uint64_t woken_at; /* 0: not yet */
	uint32_t kstack, ustack;
};

struct offcpu_sums {
	struct offcpu_time time;
	struct offcpu_time states[SWITCH_NR_STATES];
	uint64_t others; /* switches away from tasks that are not selected */
	uint64_t before; /* switches back whose switch away precedes the recording */
	uint64_t no_return; /* switches away whose switch back is missing */
	uint64_t no_waking; /* blocked intervals without a wakeup */
	uint64_t no_fields; /* events recorded without their fields */
	uint64_t unknown; /* switches away in a state that the print fmt lacks */
	uint64_t dead; /* last switches of tasks */
	uint64_t gaps; /* intervals left out: a switch may be missing meanwhile */
	uint64_t lost; /* lost sched_switch events */
	uint64_t too_short; /* intervals left out: below the minimum */
	uint64_t first, last; /* ns: first and last event read */
};

struct offcpu_result {
	struct offcpu_group *groups; /* longest first */
	uint32_t nr_groups;
	struct offcpu_open *open; /* oldest first */
	uint32_t nr_open;
	struct offcpu_sums sums;
};

struct offcpu_opts {
	enum offcpu_by by;
	uint64_t min; /* ns: leave out shorter intervals */
	bool full; /* group by all frames of kernel stacks, not by their parts (wait_stack.h) */
	offcpu_select_fn select; /* may be NULL */
	void *ctx;
};

struct offcpu_analysis;

int offcpu_analysis__new(struct stk_reader *r, const struct offcpu_opts *opts,
			 struct offcpu_analysis **ret_analysis); /* r is borrowed */
void offcpu_analysis__free(struct offcpu_analysis *a);
static inline void offcpu_analysis__freep(struct offcpu_analysis **a)
{
	offcpu_analysis__free(*a);
}
/* Takes every event of the recording, in order.  After -ENOMEM the sums are incomplete. */
int offcpu_analysis__add(struct offcpu_analysis *a, const struct stk_event *e);
/* The result belongs to a.  Nothing may be added afterwards. */
int offcpu_analysis__finish(struct offcpu_analysis *a, const struct offcpu_result **ret_result);

#endif /* ANALYZE_OFFCPU_H */
