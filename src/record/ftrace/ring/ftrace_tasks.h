/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of tasks, for events that contain only a thread id.  They are read from /proc at the start
 * and then follow the kernel's events about new and renamed tasks.  A separate instance records
 * these, so no filter and no full ring of the recording hides them.
 */
#ifndef RECORD_FTRACE_TASKS_H
#define RECORD_FTRACE_TASKS_H

#include <stdint.h>

#include "ftrace_page.h"
#include "record/opts.h"

struct ftrace_tasks;

/* Borrows format.  From then on changes are followed. */
int ftrace_tasks__new(const struct ftrace_page_format *format, unsigned int nr_cpus,
		      const char *clock, struct ftrace_tasks **ret_tasks);
void ftrace_tasks__free(struct ftrace_tasks *t);

/*
 * Reads the events so far: all changes until now are known then.  If some were lost, because this
 * was not called for too long, names and processes that may have changed are unknown from the loss
 * until now.
 */
int ftrace_tasks__poll(struct ftrace_tasks *t, uint64_t now);
/* A descriptor that is readable when tasks have changed. */
int ftrace_tasks__fd(const struct ftrace_tasks *t);

struct ftrace_task {
	uint32_t tid, tgid; /* tgid 0: unknown */
	char comm[16]; /* NUL-terminated */
};
/* The task with this id at that time; the CPU names the idle task. */
void ftrace_tasks__at(struct ftrace_tasks *t, uint32_t tid, uint64_t ts, unsigned int cpu,
		      struct ftrace_task *ret_task);
/* Times before ts will not be queried any more. */
void ftrace_tasks__forget(struct ftrace_tasks *t, uint64_t ts);

/* Changes of the program that a process runs, since the start of the recording. */
struct ftrace_program {
	uint32_t changes; /* number of forks and execs */
	uint64_t since; /* time of the last one; 0: before the recording */
	uint32_t copy_of; /* the process that forked it, until it execs; 0: none */
};
void ftrace_tasks__program(struct ftrace_tasks *t, uint32_t tgid,
			   struct ftrace_program *ret_program);

#endif /* RECORD_FTRACE_TASKS_H */
