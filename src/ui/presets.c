// SPDX-License-Identifier: GPL-2.0-only
/* The table of presets: to add one, add a row. */
#include "presets.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "nearest.h"
#include "ui.h"

/* Answered by latency.  START_END: the preset records just the start and the end event. */
#define PAIR(preset_name) .name = preset_name, .answer = "latency --preset " preset_name
#define START_END(first, last) .events = { { first }, { last } }, .start = first, .end = last

#define IN_ANY_TASK "interrupts run on top of any task"
#define IN_KTHREADS "work items run in kernel threads"

const struct preset presets[] = {
	{ .name = "lifecycle",
	  .summary = "processes and threads from fork to free: exits, zombies, missing reaps",
	  .answer = "lifecycle",
	  .needs_all = "other tasks reap and free processes",
	  .user_stacks = true,
	  .include_self = true,
	  .events = { { "sched:sched_process_fork" },
		      { "sched:sched_process_exec" },
		      { "sched:sched_process_exit" },
		      { "sched:sched_process_wait" },
		      { "sched:sched_process_free" },
		      { "sched:sched_wakeup_new" },
		      { "sched:sched_switch", "prev_state & 48" }, /* Z, X */
		      { "task:task_rename" },
		      { "signal:signal_generate", "sig != 17" }, /* SIGCHLD */
		      { "signal:signal_deliver" },
		      { "task:task_newtask" },
		      { "syscalls:sys_enter_exit_group" },
		      { "syscalls:sys_enter_exit" },
		      { "syscalls:sys_exit_clone" },
		      { "syscalls:sys_exit_clone3" },
		      { "syscalls:sys_exit_fork", NULL, true },
		      { "syscalls:sys_exit_vfork", NULL, true },
		      { "syscalls:sys_enter_wait4" },
		      { "syscalls:sys_exit_wait4" },
		      { "syscalls:sys_enter_waitid" },
		      { "syscalls:sys_exit_waitid" } } },
	{ .name = "futex",
	  .summary = "waits for locks: where they come from, how long they take, who ends them",
	  .answer = "futex",
	  .user_stacks = true,
	  .events = { { "syscalls:sys_enter_futex" },
		      { "syscalls:sys_exit_futex" },
		      { "syscalls:sys_enter_futex_wait", NULL, true },
		      { "syscalls:sys_exit_futex_wait", NULL, true },
		      { "syscalls:sys_enter_futex_wake", NULL, true },
		      { "syscalls:sys_exit_futex_wake", NULL, true },
		      { "syscalls:sys_enter_futex_requeue", NULL, true },
		      { "syscalls:sys_exit_futex_requeue", NULL, true },
		      { "syscalls:sys_enter_futex_waitv", NULL, true },
		      { "syscalls:sys_exit_futex_waitv", NULL, true },
		      { "sched:sched_waking" } } },
	{ .name = "offcpu",
	  .summary = "time that tasks are not running, by stack and reason, with their wakers",
	  .answer = "offcpu",
	  .user_stacks = true,
	  .include_self = true,
	  .events = { { "sched:sched_switch" },
		      { "sched:sched_waking" },
		      { "sched:sched_wakeup_new" } } },
	{ PAIR("rmap"), .summary = "reverse map walks by page type and locking",
	  START_END("rmap:rmap_walk_start", "rmap:rmap_walk_end"),
	  .match = "folio|folio_addr,rwc|rwc_addr", /* the kernel's event, the emulated one */
	  .by = "page_type,locked" },
	{ PAIR("syscalls"), .summary = "system calls by number, entry to exit",
	  .events = { { "raw_syscalls:sys_enter" },
		      { "raw_syscalls:sys_exit" },
		      { "sched:sched_process_exit" } },
	  .start = "raw_syscalls:sys_enter|syscalls:sys_enter_*",
	  .end = "raw_syscalls:sys_exit|syscalls:sys_exit_*", .match = "tid",
	  .by = "id|__syscall_nr", .single = true },
	{ PAIR("block"), .summary = "block requests from issue to completion",
	  .needs_all = "kernel threads issue requests, and interrupts complete them",
	  START_END("block:block_rq_issue", "block:block_rq_complete"), .match = "dev,sector",
	  .by = "dev,rwbs", .single = true },
	{ PAIR("irq"), .summary = "hardware interrupt handlers", .needs_all = IN_ANY_TASK,
	  START_END("irq:irq_handler_entry", "irq:irq_handler_exit"), .match = "cpu,irq",
	  .by = "irq,name" },
	{ PAIR("softirq"), .summary = "softirqs from entry to exit", .needs_all = IN_ANY_TASK,
	  START_END("irq:softirq_entry", "irq:softirq_exit"), .match = "cpu,vec", .by = "vec" },
	{ PAIR("timer"), .summary = "timer and hrtimer callbacks", .needs_all = IN_ANY_TASK,
	  .events = { { "timer:hrtimer_expire_entry" },
		      { "timer:hrtimer_expire_exit" },
		      { "timer:timer_expire_entry" },
		      { "timer:timer_expire_exit" } },
	  .start = "timer:*timer_expire_entry", .end = "timer:*timer_expire_exit",
	  .match = "cpu,hrtimer|timer", .by = "function" },
	{ PAIR("workqueue"), .summary = "work items by function", .needs_all = IN_KTHREADS,
	  START_END("workqueue:workqueue_execute_start", "workqueue:workqueue_execute_end"),
	  .match = "tid,work", .by = "function" },
	{ PAIR("workqueue-wait"), .summary = "work items from queueing to start",
	  .needs_all = IN_KTHREADS,
	  START_END("workqueue:workqueue_queue_work", "workqueue:workqueue_execute_start"),
	  .match = "work", .by = "function", .single = true },
	{ PAIR("page-fault"), .summary = "page faults: handle_mm_fault from entry to return",
	  .user_stacks = true, START_END("f:handle_mm_fault", "r:handle_mm_fault") },
	{ PAIR("runqueue"), .summary = "from wakeup or preemption to running", .include_self = true,
	  .events = { { "sched:sched_wakeup" },
		      { "sched:sched_wakeup_new" },
		      { "sched:sched_switch" } },
	  .start = "sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_switch",
	  .end = "sched:sched_switch", .match = "pid|prev_pid=next_pid", .by = "event",
	  .start_if = "prev_state&255=0", /* preempted or yielding */
	  .single = true },
	{ .name = NULL },
};

const struct preset *preset__find(const char *name)
{
	const struct preset *p = presets;

	while (p->name && strcmp(p->name, name))
		p++;
	return p->name ? p : NULL;
}

int presets__add(const char *command, const char *names, const struct preset **list,
		 unsigned int *nr)
{
	_cleanup_free_ char *copy = strdup(names);
	char *one, *rest = copy;
	unsigned int i;

	if (!copy)
		return -ENOMEM;
	while ((one = strsep(&rest, ","))) {
		const struct preset *p = preset__find(one);

		if (!p)
			return preset__usage_error(command, one);
		for (i = 0; i < *nr && list[i] != p; i++)
			;
		if (i == PRESETS_MAX)
			return ui__usage_error(command, "more than %d presets are given",
					       PRESETS_MAX);
		list[i] = p;
		*nr = MAX(*nr, i + 1);
	}
	return CMD_OK;
}

int preset__usage_error(const char *command, const char *name)
{
	const char *names[ARRAY_SIZE(presets)];
	_cleanup_free_ char *question = NULL;
	size_t nr;

	for (nr = 0; presets[nr].name; nr++)
		names[nr] = presets[nr].name;
	question = nearest__question(name, names, nr);
	return ui__usage_error(command, "there is no preset '%s'%s", name,
			       question && *question ? question :
						       ", see 'stackonce list --presets'");
}
