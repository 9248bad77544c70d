// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include "../common_fields.h"
#include "../writing.h"
#include "cleanup.h"
#include "event_flags.h"
#include "frame.h"

static const char switch_format[] =
	"name: sched_switch\nID: 1\n" COMMON
	"\tfield:long prev_state;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield:pid_t prev_pid;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t next_pid;\toffset:20;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"prev_state=%s%s ==> next_pid=%d\", (REC->prev_state & 0xff) ? "
	"__print_flags(REC->prev_state & 0xff, \"|\", { 0x01, \"S\" }, { 0x02, \"D\" }) : \"R\", "
	"REC->prev_state & 0x100 ? \"+\" : \"\", REC->next_pid\n";
static const char waking_format[] =
	"name: sched_waking\nID: 2\n" COMMON "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"pid=%d\", REC->pid\n";

#define U64(name, at) "\tfield:u64 " name ";\toffset:" at ";\tsize:8;\tsigned:0;\n"
static const char enter_format[] = "name: sys_enter_futex\nID: 3\n" COMMON U64("uaddr", "8")
	U64("op", "16") U64("val", "24") U64("uaddr2", "32") "\nprint fmt: \"\"\n";
static const char leave_format[] =
	"name: sys_exit_futex\nID: 4\n" COMMON
	"\tfield:long ret;\toffset:8;\tsize:8;\tsigned:1;\n\nprint fmt: \"\"\n";

enum { SWITCH, WAKING, FUTEX_ENTER, FUTEX_LEAVE };
enum { TASK = 7 };
enum { SLEEP = 1, DISK = 2, PREEMPTED = 0x100 };

enum function {
	NOTHING,
	SCHEDULE_INNER,
	SCHEDULE,
	PREEMPT_IRQ,
	IRQ_EXIT,
	USER_EXIT,
	USER_LOOP,
	TIMER,
	TIMER_ENTRY,
	DEVICE,
	DEVICE_ENTRY,
	COPY_PAGE,
	VFS_READ,
	MUTEX_SLOW,
	MUTEX_LOCK,
	PIPE_READ,
	SYSCALL,
	IO_SCHEDULE,
	FILEMAP_FAULT,
	FAULT_ENTRY,
	CLOSE_FILE,
	TASK_WORK,
	WAKE_UP,
	HRTIMER,
	NR_FUNCTIONS
};

static const char *const names[NR_FUNCTIONS] = {
	[SCHEDULE_INNER] = "__schedule",
	[SCHEDULE] = "schedule",
	[PREEMPT_IRQ] = "preempt_schedule_irq",
	[IRQ_EXIT] = "irqentry_exit",
	[USER_EXIT] = "irqentry_exit_to_user_mode",
	[USER_LOOP] = "exit_to_user_mode_loop",
	[TIMER] = "sysvec_apic_timer_interrupt",
	[TIMER_ENTRY] = "asm_sysvec_apic_timer_interrupt",
	[DEVICE] = "common_interrupt",
	[DEVICE_ENTRY] = "asm_common_interrupt",
	[COPY_PAGE] = "copy_page_to_iter",
	[VFS_READ] = "vfs_read",
	[MUTEX_SLOW] = "__mutex_lock.constprop.0",
	[MUTEX_LOCK] = "mutex_lock",
	[PIPE_READ] = "pipe_read",
	[SYSCALL] = "do_syscall_64",
	[IO_SCHEDULE] = "io_schedule",
	[FILEMAP_FAULT] = "filemap_fault",
	[FAULT_ENTRY] = "asm_exc_page_fault",
	[CLOSE_FILE] = "__fput",
	[TASK_WORK] = "task_work_run",
	[WAKE_UP] = "try_to_wake_up",
	[HRTIMER] = "hrtimer_wakeup",
};

/* Where the task left the CPU, why, and by which interrupt it was woken. */
static const struct stall {
	int state;
	enum function stack[12], waker[8];
} stalls[] = {
	{ .state = PREEMPTED,
	  .stack = { SCHEDULE_INNER, PREEMPT_IRQ, IRQ_EXIT, TIMER, TIMER_ENTRY, COPY_PAGE,
		     VFS_READ } },
	{ .state = PREEMPTED,
	  .stack = { SCHEDULE_INNER, PREEMPT_IRQ, IRQ_EXIT, DEVICE, DEVICE_ENTRY, COPY_PAGE,
		     VFS_READ } },
	{ .state = PREEMPTED,
	  .stack = { SCHEDULE_INNER, SCHEDULE, USER_LOOP, USER_EXIT, TIMER_ENTRY } },
	{ .state = PREEMPTED,
	  .stack = { SCHEDULE_INNER, SCHEDULE, USER_LOOP, USER_EXIT, DEVICE_ENTRY } },
	{ .state = SLEEP,
	  .stack = { SCHEDULE_INNER, SCHEDULE, MUTEX_SLOW, MUTEX_LOCK, PIPE_READ, VFS_READ,
		     SYSCALL },
	  .waker = { WAKE_UP, HRTIMER, TIMER, TIMER_ENTRY, COPY_PAGE } },
	{ .state = SLEEP,
	  .stack = { SCHEDULE_INNER, SCHEDULE, MUTEX_SLOW, MUTEX_LOCK, PIPE_READ, VFS_READ,
		     SYSCALL },
	  .waker = { WAKE_UP, HRTIMER, TIMER, TIMER_ENTRY, FILEMAP_FAULT } },
	{ .state = DISK,
	  .stack = { SCHEDULE_INNER, SCHEDULE, IO_SCHEDULE, FILEMAP_FAULT, FAULT_ENTRY, COPY_PAGE,
		     VFS_READ },
	  .waker = { WAKE_UP, DEVICE, DEVICE_ENTRY } },
	{ .state = SLEEP,
	  .stack = { SCHEDULE_INNER, SCHEDULE, CLOSE_FILE, TASK_WORK, USER_LOOP, USER_EXIT,
		     TIMER_ENTRY },
	  .waker = { WAKE_UP, HRTIMER, TIMER, TIMER_ENTRY } },
};

static uint32_t stack_of(struct stk_writer *w, const enum function *functions)
{
	uint64_t frames[12];
	unsigned int nr = 0;

	for (; nr < ARRAY_SIZE(frames) && functions[nr]; nr++)
		frames[nr] = 0xffffffff81000000ull + functions[nr] * 0x1000 + 0x10;
	return add_stack(w, frames, nr);
}

static void put(struct stk_writer *w, struct stk_writer_event e, int64_t state, int32_t next)
{
	struct {
		char common[8];
		int64_t state;
		int32_t prev, next;
	} rec = { .state = state, .next = next };

	e.record = &rec;
	e.record_len = sizeof(rec);
	add_event(w, e);
}

/* Two futex waits, woken by one timer that hits different code. */
static void put_futex_waits(struct stk_writer *w, struct stk_writer_event call,
			    struct stk_writer_event wake)
{
	static const enum function hit[][8] = {
		{ WAKE_UP, HRTIMER, TIMER, TIMER_ENTRY, COPY_PAGE, VFS_READ },
		{ WAKE_UP, HRTIMER, TIMER, TIMER_ENTRY, PIPE_READ, VFS_READ },
	};
	const uint64_t args[5] = { 0, 0x1000, 128 /* FUTEX_WAIT, private */, 0 };
	const uint64_t woken[2] = { 0 };
	uint32_t ustack = call.ustack;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hit); i++, call.ts += 1000000) {
		call.event = FUTEX_ENTER;
		call.ustack = ustack;
		call.record = args;
		call.record_len = sizeof(args);
		add_event(w, call);
		wake.ts = call.ts + 100000;
		wake.kstack = stack_of(w, hit[i]);
		put(w, wake, TASK, 0);
		call.event = FUTEX_LEAVE;
		call.ts += 200000;
		call.ustack = 0;
		call.record = woken;
		call.record_len = sizeof(woken);
		add_event(w, call);
	}
}

void make_stalls(const char *path)
{
	const struct stk_file file = { .path = "/bin/stall", .host_path = "" };
	const struct stk_user_symbol work = { "work", 0x1000, 0x100 };
	const uint64_t user_frame = FRAME_USER(1, 0x1010);
	struct stk_writer_event leave = { .event = SWITCH }, wake = { .event = WAKING },
				back = { .event = SWITCH };
	struct stk_writer *w = begin_recording(path, 1);
	uint64_t ts = 1000000;
	size_t i;

	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "sched", "sched_switch", "", switch_format));
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "sched", "sched_waking", "", waking_format));
	ok(stk_writer__type(w, STK_KIND_SYSCALL, "syscalls", "sys_enter_futex", "", enter_format));
	ok(stk_writer__type(w, STK_KIND_SYSCALL, "syscalls", "sys_exit_futex", "", leave_format));
	for (i = 1; i < NR_FUNCTIONS; i++)
		ok(stk_writer__symbol(w, 0xffffffff81000000ull + i * 0x1000, 0x100, names[i], ""));
	add_file(w, file);
	leave.task = add_task(w, TASK, TASK, "stall");
	back.task = add_task(w, 0, 0, "swapper/0");
	leave.ustack = add_stack(w, &user_frame, 1);
	wake.task = back.task;
	wake.flags = EVENT_FLAG_HARDIRQ;
	for (i = 0; i < ARRAY_SIZE(stalls); i++, ts += 1000000) {
		leave.ts = ts;
		leave.kstack = stack_of(w, stalls[i].stack);
		put(w, leave, stalls[i].state, 0);
		if (stalls[i].waker[0]) {
			wake.ts = ts + 100000 * (i + 1);
			wake.kstack = stack_of(w, stalls[i].waker);
			put(w, wake, TASK, 0);
		}
		back.ts = ts + 100000 * (i + 2);
		put(w, back, 0, TASK);
	}
	leave.ts = ts;
	leave.kstack = 0;
	put_futex_waits(w, leave, wake);
	ok(stk_writer__end_round(w, ts + 10000000, 0));
	ok(stk_writer__user_symbols(w, 1, &work, 1));
	ok(stk_writer__finish(w, "done", 0));
	stk_writer__free(w);
}
