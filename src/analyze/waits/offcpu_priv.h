/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of the off-CPU analysis: offcpu.c follows the tasks, offcpu_sums.c sums up
 * the intervals and makes the result.
 */
#ifndef ANALYZE_OFFCPU_PRIV_H
#define ANALYZE_OFFCPU_PRIV_H

#include "analyze/charge.h"
#include "analyze/event_fields.h"
#include "analyze/key_table.h"
#include "analyze/thread_map.h"
#include "offcpu.h"
#include "string_table.h"
#include "wait_stack.h"

enum { ROLE_SWITCH = 1, ROLE_WAKING, ROLE_NEW };

/* The interval since a task last stopped running. */
struct offcpu_off {
	bool ended; /* the task runs again; kept for its next interval */
	struct wait_task task;
	enum switch_state state;
	uint64_t ts;
	unsigned int cpu;
	uint32_t kstack, ustack;
	bool woken, interrupt;
	uint64_t woken_at;
	struct wait_task waker;
	uint32_t waker_kstack, waker_ustack;
};

struct offcpu_analysis {
	struct stk_reader *r;
	struct offcpu_opts opts;
	struct event_fields *fields;
	struct switch_states states;
	struct thread_map off; /* tid -> struct offcpu_off, of live tasks */
	bool target_read;
	bool chosen; /* the recording is of selected tasks */
	bool marked; /* and events say whether their task is one of them */
	struct thread_map members; /* tids of selected tasks; a pid while its leader lives */
	struct wait_stacks *parts; /* of kernel stacks */
	struct key_table groups, stacks;
	struct string_table comms;
	struct charge charge;
	struct offcpu_sums sums;
	struct offcpu_result result;
};

/* Is the interval selected? */
bool offcpu_off__is_selected(const struct offcpu_analysis *a, const struct offcpu_off *off);

void offcpu_sums__init(struct offcpu_analysis *a);
void offcpu_sums__clear(struct offcpu_analysis *a);
/* Adds the interval off, which ends at ts. */
int offcpu_sums__add(struct offcpu_analysis *a, const struct offcpu_off *off, uint64_t ts);

#endif /* ANALYZE_OFFCPU_PRIV_H */
