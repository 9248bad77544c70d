/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of the futex analysis: futex.c follows the calls, futex_address.c identifies
 * futexes, and futex_sums.c sums up the waits and makes the result.
 */
#ifndef ANALYZE_FUTEX_PRIV_H
#define ANALYZE_FUTEX_PRIV_H

#include "analyze/charge.h"
#include "analyze/key_table.h"
#include "analyze/thread_map.h"
#include "futex.h"
#include "futex_call.h"
#include "string_table.h"
#include "wait_stack.h"

/* One (process, address) pair.  Places are numbered from 1; 0: no place. */
struct futex_place {
	uint32_t same_as; /* another place that is the same futex; 0: none */
	uint32_t owner; /* tid of the last owner seen */
	uint64_t waits, locked_waits; /* locked: see struct futex_args */
	uint64_t owner_changes;
	uint32_t others; /* number of further places of this futex */
	bool pi;
};

/* A thread in a futex call. */
struct futex_open_call {
	struct wait_task task;
	int role; /* of its entry */
	struct futex_args args;
	uint64_t ts;
	unsigned int cpu;
	uint32_t ustack, kstack;
	uint32_t place, place2;

	/* of a wait */
	bool woken, by_call, by_interrupt, moved;
	uint64_t woken_at;
	struct wait_task waker;
	uint32_t waker_ustack, waker_kstack;
	uint32_t moved_to; /* place to which it was (moved) or may have been moved */
	uint32_t moved_by; /* tid of the requeue call */
	uint64_t moved_at;

	/* of a requeue */
	uint32_t woke; /* wakeups seen during the call */
	uint32_t proved; /* moved waiters already woken at the other place */
};

struct futex_analysis {
	struct stk_reader *r;
	struct futex_opts opts;
	struct event_fields *fields;
	struct call_sites *sites;
	struct wait_stacks *parts; /* of kernel stacks */
	struct thread_map calls; /* struct futex_open_call */
	struct key_table places; /* struct place_key -> struct futex_place */
	uint64_t unexplained_requeue; /* ns: last requeue that moved more waiters than known */
	struct key_table groups, stacks;
	struct string_table comms;
	uint64_t steps; /* along the open calls, for the charge */
	struct charge charge;
	struct futex_sums sums;
	struct futex_result result;
};

/* ---- futex_address.c: futexes ---------------------------------------------------------------- */

int futex_place__at(struct futex_analysis *a, uint32_t pid, bool shared, uint64_t address,
		    uint32_t *ret_place);
struct futex_place *futex_place__get(const struct futex_analysis *a, uint32_t place);
/* The first place of that futex; 0 for 0. */
uint32_t futex_place__first(const struct futex_analysis *a, uint32_t place);
bool futex_place__is_shared(const struct futex_analysis *a, uint32_t place);
/* p and q are the same futex. */
void futex_place__unite(struct futex_analysis *a, uint32_t p, uint32_t q);
/* Notes tid as the owner: it locked or unlocked the futex. */
void futex_place__owned(struct futex_analysis *a, uint32_t place, uint32_t tid);
/* *ret_address is zeroed if place is 0. */
void futex_place__describe(const struct futex_analysis *a, uint32_t place,
			   struct futex_address *ret_address);
void futex_place__count(const struct futex_analysis *a, uint64_t *ret_nr, uint64_t *ret_shared);

/* ---- futex_sums.c: groups -------------------------------------------------------------------- */

enum futex_outcome {
	FUTEX_WOKEN,
	FUTEX_TIMEOUT,
	FUTEX_INTERRUPTED,
	FUTEX_MOVED, /* with FUTEX_BY_ADDRESS: the time before it was moved */
	FUTEX_AGAIN,
	FUTEX_FAILED,
};

void futex_sums__init(struct futex_analysis *a);
void futex_sums__clear(struct futex_analysis *a);
/* Adds the time [from, to] (ns) of a call at place. */
int futex_sums__wait(struct futex_analysis *a, const struct futex_open_call *call, uint32_t place,
		     uint64_t from, uint64_t to, enum futex_outcome outcome);
int futex_sums__wake(struct futex_analysis *a, const struct futex_open_call *call, bool wasted);

#endif /* ANALYZE_FUTEX_PRIV_H */
