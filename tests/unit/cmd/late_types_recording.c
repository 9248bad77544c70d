// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include "../common_fields.h"
#include "../writing.h"

static const char tick[] = "name: tick\nID: 1\n" COMMON "\nprint fmt: \"\"\n";
static const char entry[] = "name: handle_mm_fault\nID: 2\n" COMMON "\nprint fmt: \"\"\n";
static const char back[] = "name: handle_mm_fault\nID: 3\n" COMMON "\nprint fmt: \"\"\n";
static const char call[] = "name: sys_enter_read\nID: 4\n" COMMON
			   "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
			   "\nprint fmt: \"\"\n";
static const char answer[] = "name: sys_exit_read\nID: 5\n" COMMON
			     "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
			     "\nprint fmt: \"\"\n";

static const char waking[] =
	"name: sched_waking\nID: 6\n" COMMON "\tfield:int pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
	"\nprint fmt: \"\"\n";

enum { TICK, ENTRY, BACK, CALL, ANSWER, WAKING };

static void put(struct stk_writer *w, uint64_t ts, uint32_t event)
{
	const char rec[28] = { [12] = 'l', 'a', 't', 'e', ' ', 'o', 'n', 'e' };
	const struct stk_writer_event e = { .event = event,
					    .ts = ts,
					    .marks = event == WAKING ? STK_MARK_LATE : 0,
					    .task = add_task(w, 7, 7, "late"),
					    .record = rec,
					    .record_len = sizeof(rec) };

	add_event(w, e);
}

void make_late_types(const char *path)
{
	struct stk_writer *w = begin_recording(path, 1);

	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "code", "tick", "", tick));
	put(w, 1000, TICK);
	put(w, 2000, TICK);
	ok(stk_writer__end_round(w, 3000, 0));
	ok(stk_writer__type(w, STK_KIND_FUNCTION, "f", "handle_mm_fault", "", entry));
	put(w, 4000, ENTRY);
	ok(stk_writer__end_round(w, 5000, 0));
	ok(stk_writer__type(w, STK_KIND_FUNCTION, "r", "handle_mm_fault", "", back));
	ok(stk_writer__type(w, STK_KIND_SYSCALL, "syscalls", "sys_enter_read", "", call));
	ok(stk_writer__type(w, STK_KIND_SYSCALL, "syscalls", "sys_exit_read", "", answer));
	put(w, 6000, BACK);
	put(w, 7000, CALL);
	put(w, 9000, ANSWER);
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "sched", "sched_waking", "", waking));
	put(w, 9500, WAKING);
	end_recording(w, 10000, "done");
}
