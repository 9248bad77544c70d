/* SPDX-License-Identifier: GPL-2.0-only */
/* The tasks whose events are recorded: a command, running processes, or all tasks. */
#ifndef RECORD_TARGET_H
#define RECORD_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

struct target;

/* The operations by which a backend selects tasks. */
struct target_selection {
	void *ctx;
	/* Selects a thread, and the tasks that it forks from now on. */
	int (*select)(void *ctx, pid_t tid);
	/*
	 * The child will execute the command.  Its events are recorded from the point in execve(2)
	 * after which that cannot fail; events before it are the recorder's own.
	 */
	int (*hold)(void *ctx, pid_t child);
	/* Called in that child before its execve(2); may be NULL. */
	void (*in_child)(void *ctx);
	/* Called after that execve(2) succeeded; may be NULL. */
	int (*begun)(void *ctx);
};

struct target_command {
	char *const *argv;
	bool stdout_taken; /* the recording goes to stdout: redirect the command's to stderr */
};

/*
 * Checks that the command can be found and executed: 0, or -(RECORDER_EXEC_FAILED + errno).  The
 * search is repeated when the command is started.
 */
int target__find_command(const char *command);
/* Forks a child that waits for target__start() before it executes the command.  Borrows sel. */
int target__command(const struct target_selection *sel, const struct target_command *command,
		    struct target **ret_target);
/*
 * Selects running processes with all their threads; the id of a thread that is not a thread group
 * leader selects only that thread.  Logs its errors.
 */
int target__pids(const struct target_selection *sel, const pid_t *pids, unsigned int nr,
		 struct target **ret_target);
/* Selects all tasks; this target never ends. */
int target__system(struct target **ret_target);
/* A command that was not started is ended; a running one continues. */
void target__free(struct target *t);

/* Lets the command run.  -(RECORDER_EXEC_FAILED + errno) if it cannot be executed. */
int target__start(struct target *t);

/* Whether the command has ended, or all of the processes. */
bool target__ended(struct target *t);
/* Sleeps until the command ends, a signal arrives or this time has passed. */
void target__nap(struct target *t, unsigned int ms);
/* Sends a signal to the command, if there is one. */
void target__signal(struct target *t, int sig);
/* The command's PID, even after it has ended; 0: no command. */
pid_t target__child(const struct target *t);
/* The PID of a command that was started and has not ended; 0: none. */
pid_t target__running(struct target *t);
/* The exit status of a command that has ended, as in a shell (128 + SIGNAL); -1: none. */
int target__exit_status(const struct target *t);

#endif /* RECORD_TARGET_H */
