/* SPDX-License-Identifier: GPL-2.0-only */
/* The off-CPU analysis from the inside: offcpu.c follows the tasks, offcpu_sums.c adds up. */
#ifndef ANALYZE_OFFCPU_PRIV_H
#define ANALYZE_OFFCPU_PRIV_H

#include "analyze/charge.h"
#include "analyze/event_fields.h"
#include "analyze/key_table.h"
#include "analyze/thread_map.h"
#include "offcpu.h"
#include "string_table.h"

enum { ROLE_SWITCH = 1, ROLE_WAKING, ROLE_NEW };

/* A task since it last stopped running. */
struct offcpu_off {
	bool ended; /* it runs again: its room is kept for the next time */
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
	struct thread_map off; /* struct offcpu_off, of those that have not died */
	bool target_read;
	bool chosen; /* only these tasks were recorded, others where they meet them */
	struct thread_map members; /* by thread, and by process while its first thread lives */
	struct key_table groups, stacks;
	struct string_table comms;
	struct charge charge;
	struct offcpu_sums sums;
	struct offcpu_result result;
};

/* Whether the time off the CPU that begins there is asked for. */
bool offcpu_off__is_selected(const struct offcpu_analysis *a, const struct offcpu_off *off);

void offcpu_sums__init(struct offcpu_analysis *a);
void offcpu_sums__clear(struct offcpu_analysis *a);
/* The time from where off left until ts. */
int offcpu_sums__add(struct offcpu_analysis *a, const struct offcpu_off *off, uint64_t ts);

#endif /* ANALYZE_OFFCPU_PRIV_H */
