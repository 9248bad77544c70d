/* SPDX-License-Identifier: GPL-2.0-only */
/* What an event says of a futex call. */
#ifndef ANALYZE_FUTEX_CALL_H
#define ANALYZE_FUTEX_CALL_H

#include "analyze/event_fields.h"

/* Entries are odd, their exits the next number. */
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
	FUTEX_DOES_OTHER, /* nothing that waits or wakes */
	FUTEX_DOES_WAIT,
	FUTEX_DOES_WAKE,
};

struct futex_args {
	enum futex_does does;
	bool shared;
	bool pi;
	bool locked; /* waits for a value that means "locked, with waiters" to libc's mutexes */
	bool unlocks; /* wakes one: what unlocking does */
	bool requeues; /* to address2; its result counts those woken and those moved */
	uint64_t address; /* 0: not known */
	uint64_t address2; /* the other one of a call that has two */
};

/* Of an entry; false where the event came without what is needed. */
bool futex_call__args(const struct event_known *known, const struct stk_event *e,
		      struct futex_args *ret_args);
/* Of an exit; false as above. */
bool futex_call__result(const struct event_known *known, const struct stk_event *e,
			int64_t *ret_result);

#endif /* ANALYZE_FUTEX_CALL_H */
