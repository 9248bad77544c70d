/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose events are recorded: a command we start, processes that run, or everybody. */
#ifndef RECORD_TARGET_H
#define RECORD_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

struct target;

/* How a backend is told whose events are wanted. */
struct target_selection {
	void *ctx;
	/* This thread is selected, and with it what it forks from now on. */
	int (*select)(void *ctx, pid_t tid);
	/*
	 * This child will become the command.  Its events are the command's from the point on where its
	 * execve(2) cannot fail any more; those before are ours.
	 */
	int (*hold)(void *ctx, pid_t child);
	/* In that child, before its execve(2); NULL: nothing. */
	void (*in_child)(void *ctx);
	/* That was successful; NULL: nothing. */
	int (*begun)(void *ctx);
};

struct target_command {
	char *const *argv;
	bool stdout_taken; /* by the recording: its standard output becomes its standard error */
};

/*
 * Whether there is such a command: 0, or -(RECORDER_EXEC_FAILED + errno).  It is looked for again when it is
 * started.
 */
int target__look_for(const char *command);
/* Fork the command, held before its first instruction.  sel lives as long as the target. */
int target__command(const struct target_selection *sel, const struct target_command *command,
		    struct target **ret_target);
/*
 * Select running processes with all their threads; the id of a thread that leads no process
 * selects that thread alone.  Logs its errors.
 */
int target__pids(const struct target_selection *sel, const pid_t *pids, unsigned int nr,
		 struct target **ret_target);
/* Everybody: never ends. */
int target__system(struct target **ret_target);
/* A command that was not started ends; one that runs goes on. */
void target__free(struct target *t);

/* Let the command go.  -(RECORDER_EXEC_FAILED + errno) when it cannot be executed. */
int target__start(struct target *t);

/* Whether the command, or all the processes, have ended. */
bool target__ended(struct target *t);
/* Waits so long, or until the command ends or a signal comes. */
void target__nap(struct target *t, unsigned int ms);
/* Passes a signal on to the command, if there is one. */
void target__signal(struct target *t, int sig);
/* The command's process id, also when it has ended; 0: there is none. */
pid_t target__child(const struct target *t);
/* The process id of a command that was started and has not ended; 0: there is none. */
pid_t target__running(struct target *t);
/* The exit status of a command that has ended, as the shell has it: 128 + SIGNAL; -1: none. */
int target__exit_status(const struct target *t);

#endif /* RECORD_TARGET_H */
