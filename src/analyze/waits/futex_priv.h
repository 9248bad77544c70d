/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The futex analysis from the inside: futex.c follows the calls, futex_address.c knows the futexes,
 * futex_sums.c adds up and answers.
 */
#ifndef ANALYZE_FUTEX_PRIV_H
#define ANALYZE_FUTEX_PRIV_H

#include "analyze/charge.h"
#include "analyze/key_table.h"
#include "analyze/thread_map.h"
#include "futex.h"
#include "futex_call.h"
#include "string_table.h"

/* What is known of one (process, address) pair; numbers begin at 1, 0 is none. */
struct futex_place {
	uint32_t same_as; /* 0: itself, else a place that is the same futex */
	uint32_t owner; /* tid that was seen to hold it last */
	uint64_t waits, locked_waits; /* these: see struct futex_args */
	uint64_t owner_changes;
	uint32_t others; /* places that are the same futex as this one */
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
	uint32_t moved_to; /* place it was, or may have been, moved to */
	uint32_t moved_by; /* tid */
	uint64_t moved_at;

	/* of a requeue */
	uint32_t woke; /* seen */
	uint32_t proved; /* moved waiters that were woken at the other place already */
};

struct futex_analysis {
	struct stk_reader *r;
	enum futex_by by;
	futex_select_fn select;
	void *select_ctx;
	struct event_fields *fields;
	struct call_sites *sites;
	struct thread_map calls; /* struct futex_open_call */
	struct key_table places; /* struct place_key, struct futex_place */
	uint64_t strange_requeue; /* when waiters were moved that nobody knows of */
	struct key_table groups, stacks;
	struct string_table comms;
	uint64_t steps; /* along the open calls */
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
/* They are one futex. */
void futex_place__unite(struct futex_analysis *a, uint32_t p, uint32_t q);
/* tid holds it, or held it when it unlocked. */
void futex_place__owned(struct futex_analysis *a, uint32_t place, uint32_t tid);
/* ret_address: all zero where place is 0. */
void futex_place__describe(const struct futex_analysis *a, uint32_t place,
			   struct futex_address *ret_address);
void futex_place__count(const struct futex_analysis *a, uint64_t *ret_nr, uint64_t *ret_shared);

/* ---- futex_sums.c: groups -------------------------------------------------------------------- */

enum futex_outcome {
	FUTEX_WOKEN,
	FUTEX_TIMEOUT,
	FUTEX_INTERRUPTED,
	FUTEX_MOVED, /* by address only: the part before it was moved */
	FUTEX_AGAIN,
	FUTEX_FAILED,
};

void futex_sums__init(struct futex_analysis *a);
void futex_sums__clear(struct futex_analysis *a);
/* The part [from, to] of the call's time at place. */
int futex_sums__wait(struct futex_analysis *a, const struct futex_open_call *call, uint32_t place,
		     uint64_t from, uint64_t to, enum futex_outcome outcome);
int futex_sums__wake(struct futex_analysis *a, const struct futex_open_call *call, bool wasted);

#endif /* ANALYZE_FUTEX_PRIV_H */
