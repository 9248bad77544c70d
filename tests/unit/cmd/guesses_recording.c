// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include <errno.h>

#include "../common_fields.h"
#include "../writing.h"
#include "cleanup.h"
#include "frame.h"
#include "kernel_events.h"
#include "user_files.h"

/* Four waits with a timeout, of which the first has the stack guessed. */
static void put_futex_waits(struct stk_writer *w, uint64_t ts, uint32_t guessed, uint32_t sure)
{
#define U64(name, at) "\tfield:u64 " name ";\toffset:" at ";\tsize:8;\tsigned:0;\n"
	static const char enter[] = "name: sys_enter_futex\nID: 8\n" COMMON U64("uaddr", "8")
		U64("op", "16") U64("val", "24") U64("uaddr2", "32") "\nprint fmt: \"\"\n";
	static const char leave[] =
		"name: sys_exit_futex\nID: 9\n" COMMON
		"\tfield:long ret;\toffset:8;\tsize:8;\tsigned:1;\n\nprint fmt: \"\"\n";
	const uint64_t args[5] = { 0, 0x1000, 128 /* FUTEX_WAIT, private */, 2 };
	const int64_t result[2] = { 0, -ETIMEDOUT };
	uint32_t t = add_task(w, 7, 7, "guess");
	int in, out, i;

	in = ok(stk_writer__type(w, STK_KIND_SYSCALL, "syscalls", "sys_enter_futex", "", enter));
	out = ok(stk_writer__type(w, STK_KIND_SYSCALL, "syscalls", "sys_exit_futex", "", leave));
	for (i = 0; i < 4; i++, ts += 1000) {
		add_event(w, (struct stk_writer_event){ .ts = ts,
							.event = in,
							.task = t,
							.ustack = i ? sure : guessed,
							.record = args,
							.record_len = sizeof(args) });
		add_event(w, (struct stk_writer_event){ .ts = ts + 500,
							.event = out,
							.task = t,
							.record = result,
							.record_len = sizeof(result) });
	}
}

/* 200 samples in main(): in 7 a caller of the futex is a guess, in 1 that of the sleep. */
void make_guesses(const char *path)
{
#define CALLERS FRAME_USER(APP, 0x11c4), FRAME_USER(APP, 0x1131), FRAME_USER(APP, 0x1065)
	static const struct {
		unsigned int events, nr;
		uint64_t frames[6];
	} stacks[] = {
		{ 192, 4, { FRAME_USER(LIBC, 0xd0f5a), CALLERS } },
		{ 1,
		  6,
		  { FRAME_USER(LIBC, 0xd0f5a), FRAME_MARKER(FRAME_GUESS, 0), CALLERS,
		    FRAME_MARKER(FRAME_END, STK_END_FALLBACK) } },
		{ 7,
		  6,
		  { FRAME_USER(LIBC, 0x856a0), FRAME_MARKER(FRAME_GUESS, 0), CALLERS,
		    FRAME_MARKER(FRAME_END, STK_END_FALLBACK) } },
	};
	struct stk_writer *w = begin_recording(path, 1);
	struct stk_writer_event e = { .ts = 1000, .event = EV_SAMPLE, EMPTY_RECORD };
	uint32_t numbers[ARRAY_SIZE(stacks)];
	unsigned int k;
	size_t i;

	add_types(w);
	add_files(w);
	for (i = 0; i < ARRAY_SIZE(stacks); i++) {
		e.ustack = numbers[i] = add_stack(w, stacks[i].frames, stacks[i].nr);
		for (k = 0; k < stacks[i].events; k++, e.ts += 1000)
			add_event(w, e);
	}
	put_futex_waits(w, e.ts, numbers[1], numbers[0]);
	e.ts += 10000;
	ok(stk_writer__end_round(w, e.ts, 0));
	add_user_symbols(w);
	ok(stk_writer__finish(w, "done", 0));
	stk_writer__free(w);
}
