/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User stacks of ftrace.  A stock kernel follows frame pointers and writes at most eight addresses
 * after the event; /proc/PID/maps shows what was mapped there.  A kernel with the series in kernel/
 * writes a cookie after the event, and the stack when the task returns to user space.
 */
#ifndef RECORD_FTRACE_USERS_H
#define RECORD_FTRACE_USERS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/ftrace/ring/ftrace_match.h"
#include "record/ftrace/ring/ftrace_stacks.h"

struct ftrace_instance;
struct ftrace_tasks;
struct ftrace_users;
struct recorder_opts;
struct stk_writer;

struct ftrace_users_opts {
	const struct recorder_opts *rec;
	const struct ftrace_instance *instance;
	const struct ftrace_kinds *kinds;
	struct ftrace_tasks *tasks;
	struct stk_writer *w;
};

/* Borrows everything that the options point to. */
int ftrace_users__new(const struct ftrace_users_opts *opts, struct ftrace_users **ret_users);
void ftrace_users__free(struct ftrace_users *u);

/* The parts that follow an event: enum ftrace_match_part. */
unsigned int ftrace_users__parts(const struct ftrace_users *u);
/* Takes a record of a user stack or file; passes the stack of a preceding event to match. */
int ftrace_users__record(struct ftrace_users *u, struct ftrace_match *match,
			 const struct ftrace_record *r, uint64_t ts);
/* Whether events have cookies instead of user stacks (the series in kernel/). */
bool ftrace_users__has_cookies(const struct ftrace_users *u);
/* Whether the user stack of a complete event is known, or will never be. */
bool ftrace_users__is_known(const struct ftrace_users *u, const struct ftrace_matched *m);
/*
 * The number of an event's user stack; counts it and its end in a row of counters.  A stack that
 * has not arrived yet gets the number of a placeholder.
 */
int ftrace_users__take(struct ftrace_users *u, const struct ftrace_matched *m, uint64_t *counters,
		       uint32_t *ret_number);
/* To be called before each read of the rings. */
void ftrace_users__refresh(struct ftrace_users *u);
/* Events older than ts will not be looked up any more. */
void ftrace_users__forget(struct ftrace_users *u, uint64_t ts);

/* At the end: computes missing build ids and writes the symbols of all frames. */
int ftrace_users__finish(struct ftrace_users *u);

#endif /* RECORD_FTRACE_USERS_H */
