// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common_fields.h"
#include "../trace/old_file.h"
#include "frame.h"
#include "waits_recording.h"

#define FIRST "ID: 1\n" COMMON

#define NR "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
#define NR_FUTEX 202
#define U64(name, at) "\tfield:u64 " name ";\toffset:" at ";\tsize:8;\tsigned:0;\n"
#define PID(name, at) "\tfield:pid_t " name ";\toffset:" at ";\tsize:4;\tsigned:1;\n"

/* The states of Linux 6.18. */
#define STATES                                                                                  \
	"(REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, \"|\", "              \
	"{ 0x01, \"S\" }, { 0x02, \"D\" }, { 0x04, \"T\" }, { 0x08, \"t\" }, { 0x10, \"X\" }, " \
	"{ 0x20, \"Z\" }, { 0x40, \"P\" }, { 0x80, \"I\" }) : \"R\", "                          \
	"REC->prev_state & 0x100 ? \"+\" : \"\""

static const struct {
	const char *system, *name, *format;
} types[NR_TYPES] = {
	[FUTEX_IN] = { "syscalls", "sys_enter_futex",
		       "name: sys_enter_futex\n" FIRST NR U64("uaddr", "16") U64("op", "24")
			       U64("val", "32") U64("uaddr2", "40") "\nprint fmt: \"\"\n" },
	[FUTEX_OUT] = { "syscalls", "sys_exit_futex",
			"name: sys_exit_futex\n" FIRST NR
			"\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n\nprint fmt: \"\"\n" },
	[WAKING] = { "sched", "sched_waking",
		     "name: sched_waking\n" FIRST PID("pid", "8") "\nprint fmt: \"\"\n" },
	[SWITCH] = { "sched", "sched_switch",
		     "name: sched_switch\n" FIRST
		     "\tfield:long prev_state;\toffset:8;\tsize:8;\tsigned:1;\n" PID("prev_pid",
										     "16")
			     PID("next_pid", "20") "\nprint fmt: \"prev_state=%s%s ==> "
						   "next_pid=%d\", " STATES ", REC->next_pid\n" },
	[WAKEUP_NEW] = { "sched", "sched_wakeup_new",
			 "name: sched_wakeup_new\n" FIRST PID("pid", "8") "\nprint fmt: \"\"\n" },
};

void recording__begin(struct recording *rec)
{
	struct stk_writer_opts opts = { .nr_cpus = 4 };
	struct stk_file file = { .path = "/bin/waits", .host_path = "" };
	uint32_t nr;
	int i;

	memset(rec, 0, sizeof(*rec));
	strcpy(rec->path, "/tmp/waits-XXXXXX");
	assert_int_equal(stk_writer__new(mkstemp(rec->path), &opts, &rec->w), 0);
	for (i = 0; i < NR_TYPES; i++)
		assert_int_equal(stk_writer__type(rec->w, STK_KIND_TRACEPOINT, types[i].system,
						  types[i].name, "", types[i].format),
				 i);
	assert_int_equal(stk_writer__file(rec->w, &file, &nr), 0);
	assert_int_equal(nr, 1);
}

void recording__put(struct recording *rec, struct ev e)
{
	const uint64_t frames[] = {
		FRAME_MARKER(FRAME_GUESS, 0),
		e.stack == STACK_OMITTED ? FRAME_MARKER(FRAME_END, STK_END_NOT_RECORDED) :
					   FRAME_USER(1, 0x1000 * e.stack),
	};
	struct stk_writer_event out = {
		.ts = e.ts, .event = e.type, .cpu = e.cpu, .flags = e.flags, .marks = e.marks
	};
	uint8_t record[48] = { [8] = e.type <= FUTEX_OUT ? NR_FUTEX : 0 };
	uint32_t number[2] = { e.tid, (uint32_t)e.f[1] };
	char comm[16];

	snprintf(comm, sizeof(comm), "task-%u", e.tid);
	assert_int_equal(
		stk_writer__task(rec->w, e.tid, e.pid ?: e.tid, comm, strlen(comm), &out.task), 0);
	if (e.stack) {
		assert_int_equal(stk_writer__stack(rec->w, frames + !e.guessed, 1 + e.guessed,
						   &out.ustack),
				 0);
		rec->last_stack = out.ustack;
	}
	memcpy(record + (e.type <= FUTEX_OUT ? 16 : 8), e.f, sizeof(e.f));
	if (e.type == SWITCH)
		memcpy(record + 16, number, sizeof(number));
	out.record = record;
	out.record_len = e.type == FUTEX_IN			 ? 48 :
			 e.type == SWITCH || e.type == FUTEX_OUT ? 24 :
								   16;
	if (e.marks & STK_MARK_NO_FIELDS)
		out.record_len = 8;
	rec->counters[e.type][STK_C_HAPPENED]++;
	rec->counters[e.type][STK_C_RECORDED]++;
	rec->counters[e.type][STK_C_USTACK_NOT_RECORDED] += e.stack == STACK_OMITTED;
	assert_int_equal(stk_writer__event(rec->w, &out), 0);
}

static void end_round(struct recording *rec, uint64_t end_ts)
{
	assert_int_equal(stk_writer__end_round(rec->w, end_ts, 0), 0);
	assert_int_equal(stk_writer__accounting(rec->w, rec->counters, NR_TYPES), 0);
}

void recording__lose(struct recording *rec, unsigned int type, uint64_t nr, uint64_t end_ts)
{
	rec->counters[type][STK_C_HAPPENED] += nr;
	rec->counters[type][STK_C_LOST_RING] += nr;
	end_round(rec, end_ts);
}

void recording__loss(struct recording *rec, struct stk_writer_loss loss)
{
	assert_int_equal(stk_writer__loss(rec->w, &loss), 0);
	rec->is_new = true;
}

void recording__close(struct recording *rec, uint64_t end_ts)
{
	end_round(rec, end_ts);
	assert_int_equal(stk_writer__finish(rec->w, "done", 0), 0);
	stk_writer__free(rec->w);
	assert_true(rec->is_new || old_file__make(rec->path));
}

struct stk_reader *recording__open(struct recording *rec, uint64_t end_ts)
{
	struct stk_reader *r;

	recording__close(rec, end_ts);
	assert_int_equal(stk_reader__open(rec->path, NULL, &r), 0);
	unlink(rec->path);
	return r;
}
