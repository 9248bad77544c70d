/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose events are recorded: a command we start, processes that run, or everybody. */
#ifndef RECORD_TARGET_H
#define RECORD_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

struct programs;
struct target;

/*
 * Fork the command, held before its first instruction.  only: select it and what it starts, so
 * that its execve(2) is the first thing recorded.
 */
int target__command(struct programs *p, char *const *command, bool only,
		    struct target **ret_target);
/* Select running processes with all their threads, or single threads by their id. */
int target__pids(struct programs *p, const pid_t *pids, unsigned int nr,
		 struct target **ret_target);
/* Everybody: never ends. */
int target__system(struct target **ret_target);
void target__free(struct target *t);

/* Let the command go.  -(RECORDER_EXEC_FAILED + errno) when it cannot be run. */
int target__start(struct target *t);

/* Whether the command, or all the processes, have ended. */
bool target__ended(struct target *t);
/* Passes a signal on to the command, if there is one. */
void target__signal(struct target *t, int sig);
/* Waits for the command to end; its status as of waitpid(2), 0 without a command. */
int target__wait(struct target *t);

#endif /* RECORD_TARGET_H */
