/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads operation, arguments and result of futex calls from their events. */
#ifndef ANALYZE_FUTEX_CALL_H
#define ANALYZE_FUTEX_CALL_H

#include "analyze/event_fields.h"

/* Entries are odd; the exit is the next number. */
enum futex_role {
	ROLE_FUTEX = 1,
	ROLE_FUTEX_WAIT = 3,
	ROLE_FUTEX_WAKE = 5,
	ROLE_FUTEX_REQUEUE = 7,
	ROLE_FUTEX_WAITV = 9,
	ROLE_LAST_CALL = 10,
	ROLE_WAKING = 11,
};

extern const struct event_role futex_roles[];
extern const unsigned int nr_futex_roles;

enum futex_does {
	FUTEX_DOES_OTHER, /* neither waits nor wakes */
	FUTEX_DOES_WAIT,
	FUTEX_DOES_WAKE,
};

struct futex_args {
	enum futex_does does;
	bool shared;
	bool pi;
	bool locked; /* the value waited on is "locked, with waiters" of libc's mutexes */
	bool unlocks; /* wakes one waiter, as unlocking does */
	bool requeues; /* to address2; the result counts woken and moved waiters */
	uint64_t address; /* 0: unknown */
	uint64_t address2; /* second futex of the call; 0: none */
};

/* Reads the arguments of an entry; false: fields are missing. */
bool futex_call__args(const struct event_known *known, const struct stk_event *e,
		      struct futex_args *ret_args);
/* Reads the result of an exit; false: the field is missing. */
bool futex_call__result(const struct event_known *known, const struct stk_event *e,
			int64_t *ret_result);

#endif /* ANALYZE_FUTEX_CALL_H */
