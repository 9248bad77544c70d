/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of tasks, for events that only tell a thread's id: what /proc shows of them, and from then
 * on what the kernel's own events about new and renamed tasks say, in an instance beside the one
 * that is recorded, so that no filter and no full ring of that hides them.
 */
#ifndef RECORD_FTRACE_TASKS_H
#define RECORD_FTRACE_TASKS_H

#include <stdint.h>

#include "ftrace_page.h"
#include "record/opts.h"

struct ftrace_tasks;

/* format is borrowed.  From here on changes are seen. */
int ftrace_tasks__new(const struct ftrace_page_format *format, unsigned int nr_cpus,
		      const char *clock, struct ftrace_tasks **ret_tasks);
void ftrace_tasks__free(struct ftrace_tasks *t);

/* Takes what has changed: all until now is known then. */
int ftrace_tasks__poll(struct ftrace_tasks *t);
/* Readable when tasks have changed. */
int ftrace_tasks__fd(const struct ftrace_tasks *t);

struct ftrace_task {
	uint32_t tid, tgid; /* tgid 0: not known */
	char comm[16]; /* NUL-terminated */
};
/* The task with this id at that time, on this CPU. */
void ftrace_tasks__at(struct ftrace_tasks *t, uint32_t tid, uint64_t ts, unsigned int cpu,
		      struct ftrace_task *ret_task);
/* Nothing older than that will be asked for any more. */
void ftrace_tasks__forget(struct ftrace_tasks *t, uint64_t ts);

/* The program of a process, as far as it has changed while we look. */
struct ftrace_program {
	uint32_t changes; /* times that it was new or became another one */
	uint64_t since; /* the last of these; 0: it was there before */
	uint32_t copy_of; /* forked from that process then; 0: it is its own */
};
void ftrace_tasks__program(struct ftrace_tasks *t, uint32_t tgid,
			   struct ftrace_program *ret_program);

#endif /* RECORD_FTRACE_TASKS_H */
