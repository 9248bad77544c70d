// SPDX-License-Identifier: GPL-2.0-only
#include "kernel_events.h"

#include <stddef.h>

#include "../common_fields.h"
#include "../writing.h"
#include "cleanup.h"

const char switch_format[] =
	"name: sched_switch\nID: 265\n" COMMON
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s "
	"next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "
	"(REC->prev_state & ((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | "
	"0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - 1)) ? __print_flags(REC->prev_state & "
	"((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | "
	"0x00000020 | 0x00000040) + 1) << 1) - 1), \"|\", { 0x00000001, \"S\" }, { 0x00000002, "
	"\"D\" }, { 0x00000004, \"T\" }, { 0x00000008, \"t\" }, { 0x00000010, \"X\" }, "
	"{ 0x00000020, \"Z\" }, { 0x00000040, \"P\" }, { 0x00000080, \"I\" }) : \"R\", "
	"REC->prev_state & (((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | "
	"0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) ? \"+\" : \"\", REC->next_comm, "
	"REC->next_pid, REC->next_prio\n";

const char exec_format[] =
	"name: sched_process_exec\nID: 365\n" COMMON
	"\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t old_pid;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, "
	"REC->old_pid\n";

static const char sample_format[] = "name: cpu_clock\nID: 0\n" COMMON "\nprint fmt: \"\"\n";

struct exec_record {
	char common[8];
	uint32_t filename;
	int32_t pid, old_pid;
	char text[64];
};

void add_types(struct stk_writer *w)
{
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "sched", "sched_switch", "", switch_format));
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "sched", "sched_process_exec", "pid > 0",
			    exec_format));
	ok(stk_writer__type(w, STK_KIND_SAMPLE, "sample", "cpu_clock", "", sample_format));
}

void add_meta(struct stk_writer *w)
{
	static const char *const meta[][2] = {
		{ "hostname", "demo" },
		{ "kernel.release", "6.1.0-test" },
		{ "clock", "mono" },
		{ "cmdline", "stackonce record -e sched:sched_switch" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(meta); i++)
		ok(stk_writer__meta(w, meta[i][0], meta[i][1]));
}

void add_symbols(struct stk_writer *w)
{
	static const char *const names[] = { "__schedule", "schedule",	     "pipe_read",
					     "vfs_read",   "do_syscall_64",  "futex_wait",
					     "do_futex",   "begin_new_exec", "bprm_execve" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		ok(stk_writer__symbol(w, TEXT + i * 0x1000, 0x800, names[i], ""));
	ok(stk_writer__symbol(w, MODULE, 0x100, "disk_wait", "demo_mod"));
}

void put_switch(struct stk_writer *w, uint64_t ts, uint32_t cpu, uint32_t t, uint32_t k,
		unsigned int marks, const char *prev, const char *next)
{
	struct switch_record rec = { .prev_pid = 1234,
				     .prev_prio = 120,
				     .prev_state = 1,
				     .next_pid = 99,
				     .next_prio = 120 };

	memcpy(rec.prev_comm, prev, strnlen(prev, 16));
	memcpy(rec.next_comm, next, strnlen(next, 16));
	add_event(w, (struct stk_writer_event){ .ts = ts,
						.cpu = cpu,
						.event = EV_SWITCH,
						.task = t,
						.kstack = k,
						.flags = 0x01,
						.preempt_count = 2,
						.marks = marks,
						.record = &rec,
						.record_len = sizeof(rec) });
}

void put_exec(struct stk_writer *w, uint64_t ts, uint32_t t, uint32_t k, const char *file)
{
	struct exec_record rec = { .pid = 1234, .old_pid = 1234 };

	rec.filename = (uint32_t)(strlen(file) + 1) << 16 | offsetof(struct exec_record, text);
	memcpy(rec.text, file, strlen(file) + 1);
	add_event(w, (struct stk_writer_event){ .ts = ts,
						.cpu = 1,
						.event = EV_EXEC,
						.task = t,
						.kstack = k,
						.record = &rec,
						.record_len = offsetof(struct exec_record, text) +
							      strlen(file) + 1 });
}
