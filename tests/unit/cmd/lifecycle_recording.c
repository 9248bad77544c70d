// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include <stdio.h>

#include "../writing.h"

#define TEXT 0xffffffff81000000ULL
#define US 1000ULL

enum {
	FORK,
	NEWTASK,
	EXEC,
	EXIT,
	FREE,
	SWITCH,
	SENT,
	SIGNAL,
	EXIT_GROUP,
	CLONED,
	WAIT4_RET,
	NR_LIFECYCLE, /* types of the recording lifecycle */
	WAITID = NR_LIFECYCLE,
	WAITID_RET,
	NR_EV
};

static const struct {
	const char *system, *name, *fields[3], *text;
} types[NR_EV] = {
	[FORK] = { "sched", "sched_process_fork", { "child_pid" }, "child_comm" },
	[NEWTASK] = { "task", "task_newtask", { "pid", "clone_flags" }, "comm" },
	[EXEC] = { "sched", "sched_process_exec", { "pid", "old_pid" }, "filename" },
	[EXIT] = { "sched", "sched_process_exit", { "pid", "group_dead" }, NULL },
	[FREE] = { "sched", "sched_process_free", { "pid" }, "comm" },
	[SWITCH] = { "sched", "sched_switch", { "prev_pid", "prev_state" }, NULL },
	[SENT] = { "signal", "signal_generate", { "sig", "pid", "result" }, NULL },
	[SIGNAL] = { "signal", "signal_deliver", { "sig", "sa_handler" }, NULL },
	[EXIT_GROUP] = { "syscalls", "sys_enter_exit_group", { "error_code" }, NULL },
	[CLONED] = { "syscalls", "sys_exit_clone", { "ret" }, NULL },
	[WAIT4_RET] = { "syscalls", "sys_exit_wait4", { "ret" }, NULL },
	[WAITID] = { "syscalls", "sys_enter_waitid", { "upid", "options", "which" }, NULL },
	[WAITID_RET] = { "syscalls", "sys_exit_waitid", { "ret" }, NULL },
};

struct out {
	struct stk_writer *w;
	uint32_t stack;
	uint64_t ts;
};

static void add_type(struct out *o, unsigned int kind)
{
	char format[1024];
	unsigned int i;
	int len;

	len = snprintf(format, sizeof(format), "name: %s\nID: %u\nformat:\n", types[kind].name,
		       kind + 1);
	for (i = 0; i < 3 && types[kind].fields[i]; i++)
		len += snprintf(format + len, sizeof(format) - len,
				"\tfield:long %s;\toffset:%u;\tsize:8;\tsigned:1;\n",
				types[kind].fields[i], 8 + 8 * i);
	if (types[kind].text)
		len += snprintf(format + len, sizeof(format) - len,
				"\tfield:char %s[16];\toffset:32;\tsize:16;\tsigned:0;\n",
				types[kind].text);
	snprintf(format + len, sizeof(format) - len, "\nprint fmt: \"\"\n");
	ok(stk_writer__type(o->w, STK_KIND_TRACEPOINT, types[kind].system, types[kind].name, "",
			    format));
}

/* after: us since the previous event. */
static void ev(struct out *o, uint64_t after, uint32_t pid, uint32_t tid, const char *comm,
	       unsigned int kind, int64_t a, int64_t b, const char *text)
{
	struct {
		char common[8];
		int64_t v[3];
		char text[16];
	} rec = { .v = { a, b, 0 } };
	struct stk_writer_event e = { .ts = o->ts += after * US,
				      .event = kind,
				      .kstack = o->stack,
				      .record = &rec,
				      .record_len = sizeof(rec) };

	if (text)
		memcpy(rec.text, text, strnlen(text, 16));
	e.task = add_task(o->w, tid, pid, comm);
	add_event(o->w, e);
}

static void fork_one(struct out *o, uint32_t parent, const char *comm, uint32_t pid)
{
	ev(o, 10, parent, parent, comm, NEWTASK, pid, 0, comm);
	ev(o, 1, parent, parent, comm, FORK, pid, 0, comm);
	ev(o, 5, parent, parent, comm, CLONED, pid, 0, NULL);
}

static void end_one(struct out *o, uint32_t pid, const char *comm, int state)
{
	ev(o, 20, pid, pid, comm, EXIT, pid, 1, NULL);
	ev(o, 100, pid, pid, comm, SWITCH, pid, state, NULL);
}

static void put_lifecycles(struct out *o)
{
	static const char evil[] = "\033[2J<b>\"\\";

	fork_one(o, 10, "bash", 20);
	ev(o, 30, 20, 20, "true", EXEC, 20, 20, "/bin/true");
	ev(o, 900, 20, 20, "true", EXIT_GROUP, 3, 0, NULL);
	end_one(o, 20, "true", 0x20);
	ev(o, 40, 10, 10, "bash", WAIT4_RET, 20, 0, NULL);
	fork_one(o, 10, "bash", 21); /* killed, with a thread */
	ev(o, 9, 21, 21, "bash", NEWTASK, 22, 0x10000, "helper");
	ev(o, 50, 10, 10, "bash", SENT, 15, 21, NULL);
	ev(o, 5, 21, 22, "helper", SIGNAL, 9, 0, NULL);
	ev(o, 5, 21, 22, "helper", EXIT, 22, 0, NULL);
	ev(o, 5, 21, 22, "helper", SWITCH, 22, 0x10, NULL);
	ev(o, 5, 21, 21, "bash", SIGNAL, 9, 0, NULL);
	end_one(o, 21, "bash", 0x20);
	ev(o, 3000, 10, 10, "bash", WAIT4_RET, 21, 0, NULL);
	ev(o, 9000, 0, 0, "swapper/0", FREE, 20, 0, "true");
	ev(o, 100, 0, 0, "swapper/0", FREE, 22, 0, "helper");
	fork_one(o, 10, "bash", 23); /* never freed */
	ev(o, 9, 23, 23, evil, EXIT_GROUP, 0, 0, NULL);
	end_one(o, 23, evil, 0x20);
	ev(o, 7, 10, 10, "bash", WAIT4_RET, 23, 0, NULL);
	ev(o, 5000, 0, 0, "swapper/0", FREE, 21, 0, "bash");
	fork_one(o, 10, "bash", 24); /* reaped by the kernel */
	ev(o, 9, 24, 24, "bash", EXIT_GROUP, 0, 0, NULL);
	end_one(o, 24, "bash", 0x10);
	ev(o, 8000, 0, 0, "swapper/0", FREE, 24, 0, "bash");
	fork_one(o, 10, "bash", 25); /* a zombie at the end */
	fork_one(o, 25, "bash", 26); /* outlives its parent */
	ev(o, 9, 25, 25, "bash", EXIT_GROUP, 1, 0, NULL);
	end_one(o, 25, "bash", 0x20);
	ev(o, 2000000, 10, 10, "bash", SENT, 1, 26, NULL);
	ev(o, 500000, 0, 0, "swapper/0", FREE, 99, 0, "old");
}

/* A child of parent that exits: a zombie. */
static void zombie(struct out *o, uint32_t parent, uint32_t pid)
{
	fork_one(o, parent, "leaver", pid);
	ev(o, 9, pid, pid, "child", EXIT_GROUP, 0, 0, NULL);
	end_one(o, pid, "child", 0x20);
}

static void put_zombies(struct out *o)
{
	struct stk_writer_event bare = { .event = FREE, .marks = STK_MARK_NO_FIELDS };
	uint32_t pid;

	fork_one(o, 10, "subreaper", 20);
	fork_one(o, 20, "leaver", 30);
	for (pid = 31; pid <= 34; pid++)
		zombie(o, 30, pid);
	fork_one(o, 30, "leaver", 35); /* outlives its parent */
	fork_one(o, 30, "leaver", 36); /* likewise, and the kernel reaps it */
	zombie(o, 10, 40);
	zombie(o, 10, 41);
	ev(o, 3500000, 30, 30, "leaver", EXIT_GROUP, 0, 0, NULL);
	end_one(o, 30, "leaver", 0x20);
	ev(o, 100, 20, 20, "subreaper", WAIT4_RET, 30, 0, NULL);
	ev(o, 20000, 0, 0, "swapper/0", FREE, 30, 0, "leaver");
	ev(o, 100, 0, 0, "swapper/0", FREE, 31, 0, "child"); /* reaped unseen */
	end_one(o, 35, "child", 0x20);
	end_one(o, 36, "child", 0x10);
	ev(o, 1000000, 20, 20, "subreaper", WAIT4_RET, 32, 0, NULL);
	ev(o, 100, 20, 20, "subreaper", WAIT4_RET, 35, 0, NULL);
	ev(o, 20000, 0, 0, "swapper/0", FREE, 35, 0, "child");
	ev(o, 100, 0, 0, "swapper/0", FREE, 36, 0, "child");
	ev(o, 1000000, 0, 0, "swapper/0", FREE, 41, 0, "child"); /* reaped unseen */
	ev(o, 100, 10, 10, "bash", WAIT4_RET, 40, 0, NULL); /* reaped late, not freed */
	bare.task = add_task(o->w, 0, 0, "swapper/0");
	bare.ts = o->ts += 100 * US;
	add_event(o->w, bare);
	ok(stk_writer__meta(o->w, "tasks.end",
			    "1 1 0 1 0 S init\n10 10 1 10 0 S bash\n20 20 10 20 0 S subreaper\n"
			    "34 34 20 34 0 Z child\n")); /* 33: reaped unseen, not freed */
	ok(stk_writer__meta(o->w, "tasks.end_ts", "7000000000"));
}

static void make(const char *path, void (*put)(struct out *o), unsigned int nr_types,
		 uint64_t (*counters)[STK_NR_COUNTERS])
{
	const uint64_t frames[] = { TEXT + 0x10, TEXT + 0x1010 };
	struct out o = { .w = begin_recording(path, 1), .ts = 1000000 * US };
	unsigned int i;

	for (i = 0; i < nr_types; i++)
		add_type(&o, i);
	ok(stk_writer__symbol(o.w, TEXT, 0x800, "do_wait", ""));
	ok(stk_writer__symbol(o.w, TEXT + 0x1000, 0x800, "do_syscall_64", ""));
	o.stack = add_stack(o.w, frames, 2);
	put(&o);
	ok(stk_writer__end_round(o.w, o.ts + 1, 0));
	ok(stk_writer__accounting(o.w, counters, nr_types));
	ok(stk_writer__finish(o.w, "done", 0));
	stk_writer__free(o.w);
}

void make_lifecycle(const char *path)
{
	uint64_t counters[NR_LIFECYCLE][STK_NR_COUNTERS] = { 0 };

	counters[WAIT4_RET][STK_C_HAPPENED] = 5;
	counters[WAIT4_RET][STK_C_RECORDED] = 3;
	counters[WAIT4_RET][STK_C_LOST_RING] = 2;
	make(path, put_lifecycles, NR_LIFECYCLE, counters);
}

void make_zombies(const char *path)
{
	uint64_t counters[NR_EV][STK_NR_COUNTERS] = { 0 };

	counters[FREE][STK_C_HAPPENED] = 6;
	counters[FREE][STK_C_RECORDED] = 6;
	counters[FREE][STK_C_NO_FIELDS] = 1;
	make(path, put_zombies, NR_EV, counters);
}
