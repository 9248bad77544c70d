/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time that tasks do not run, from sched_switch, sched_waking and sched_wakeup_new: blocked, from the
 * switch away until somebody wakes the task, and then on a run queue, until it runs.  Memory grows
 * with the tasks off CPU at one time, with groups and with pairs of stacks.
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

/* Which times count: those of a task that left this CPU at this time. */
typedef bool (*offcpu_select_fn)(void *ctx, const struct wait_task *task, uint64_t ts,
				 unsigned int cpu, enum switch_state state);

struct offcpu_time {
	uint64_t count;
	uint64_t blocked, queued; /* ns; without a waker's event all of it is blocked */
};

/* Times that began at one stack and were ended from one. */
struct offcpu_stacks {
	enum switch_state state;
	uint32_t kstack, ustack; /* of the switch away; 0: none */
	bool woken; /* a waker was seen: the rest is its */
	bool interrupt; /* an interrupt woke it: no task, no user stack */
	struct wait_task waker;
	uint32_t waker_kstack, waker_ustack;
	struct offcpu_time time;
	uint64_t max; /* longest, blocked and queued */
};

struct offcpu_group {
	/* what it is of, as by says; of the others nothing */
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
	uint64_t others; /* tasks switched from or to, but not recorded themselves */
	uint64_t before; /* came back, but left before the recording began */
	uint64_t no_return; /* left twice: the switch back is missing */
	uint64_t no_waking; /* blocked, and nobody was seen to wake it */
	uint64_t no_fields; /* events recorded without their fields */
	uint64_t unknown; /* left in a state that the print fmt does not name */
	uint64_t dead; /* left for good */
	uint64_t gaps; /* left out: events may be missing between their ends */
	uint64_t lost; /* sched_switch events */
	uint64_t too_short; /* left out: below the minimum */
	uint64_t first, last; /* ns: what was read */
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
	uint64_t min; /* ns: leave out what is shorter */
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
/* Every event of the recording, in order.  -ENOMEM, after which the sums are incomplete. */
int offcpu_analysis__add(struct offcpu_analysis *a, const struct stk_event *e);
/* The answer, which belongs to a; nothing may be added afterwards. */
int offcpu_analysis__finish(struct offcpu_analysis *a, const struct offcpu_result **ret_result);

#endif /* ANALYZE_OFFCPU_H */
