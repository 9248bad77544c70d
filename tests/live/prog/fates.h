/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the parts of fates: the lifecycle of each child, in memory that all processes share. */
#ifndef FATES_H
#define FATES_H

#include <sys/types.h>

#include "prog.h"

#define MAX_FATES 8192

struct fate {
	const char *kind;
	pid_t pid, parent, reaper; /* in the initial namespace; reaper 0 if no process reaped it */
	int code, sig; /* one of them; the other is -1 */
	int threads, execs;
	bool orphan, zombie; /* zombie: never reaped */
	bool gone_before; /* existed before the recording */
	const char *with; /* the system call that reaped it */
	uint64_t fork0, fork1, wait0, wait1; /* the clock before and after */
};

/* Starts a new lifecycle; fork0 is now. */
struct fate *fate_new(const char *kind);
/* fork(), and fills in the parent's part. */
pid_t fate_fork(struct fate *f);
/* Reaps the child with wait4() and fills in the rest from its status. */
void fate_wait(struct fate *f, int options);
void fate_status(struct fate *f, int status);
void die_if(bool failed, const char *what);

/* Each makes its children and, unless stated otherwise, waits for them. */
void exits(unsigned int each);
void signals(unsigned int each);
void ignored(unsigned int nr);
void double_forks(unsigned int nr);
void never_reaped(unsigned int nr);
void waitids(unsigned int nr);
void vforks(unsigned int nr);
void execs(unsigned int nr);

void leader_first(unsigned int nr);
void thread_exits_group(unsigned int nr);
void threads_killed(unsigned int nr);
void thread_execs(unsigned int nr);
void traced(unsigned int nr);
void traced_by_another(unsigned int nr);
void namespaces(unsigned int nr, unsigned int kids);
unsigned int pid_reuses(unsigned int nr); /* returns how many PIDs were reused */

#endif /* FATES_H */
