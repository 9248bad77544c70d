/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User stacks of ftrace.  A stock kernel follows frame pointers and writes eight addresses at most
 * behind the event: what was mapped there is asked of /proc.  A kernel with our series writes a
 * cookie behind the event, and the stack when the task goes back to user space.
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

/* All that the options point to is borrowed. */
int ftrace_users__new(const struct ftrace_users_opts *opts, struct ftrace_users **ret_users);
void ftrace_users__free(struct ftrace_users *u);

/* What follows an event: enum ftrace_match_part. */
unsigned int ftrace_users__parts(const struct ftrace_users *u);
/* A record of user stacks or files; a stack of the event before it is given to match. */
int ftrace_users__record(struct ftrace_users *u, struct ftrace_match *match,
			 const struct ftrace_record *r, uint64_t ts);
/* Those of a kernel with our series: a cookie stands for the stack. */
bool ftrace_users__has_cookies(const struct ftrace_users *u);
/* Whether the user stack of an event that has all its parts is known, or never will be. */
bool ftrace_users__is_known(const struct ftrace_users *u, const struct ftrace_matched *m);
/*
 * The user stack of an event, and how it ends, in a row of counters.  What is not known yet gets a
 * number that stands for it.
 */
int ftrace_users__take(struct ftrace_users *u, const struct ftrace_matched *m, uint64_t *counters,
		       uint32_t *ret_number);
/* The rings are about to be emptied once more. */
void ftrace_users__refresh(struct ftrace_users *u);
/* No event older than that will be asked for any more. */
void ftrace_users__forget(struct ftrace_users *u, uint64_t ts);

/* At the end: build ids still missing, symbols of all frames. */
int ftrace_users__finish(struct ftrace_users *u);

#endif /* RECORD_FTRACE_USERS_H */
