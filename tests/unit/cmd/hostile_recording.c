// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include "../writing.h"
#include "frame.h"
#include "kernel_events.h"

void make_hostile(const char *path)
{
	static const char evil[] = "\033]0;x\007<b>&\"\\\377\t\n";
	const uint64_t frames[] = { TEXT + 0x10, MODULE + 0x10 };
	struct stk_writer *w = begin_recording(path, 1);
	uint32_t t, k;

	ok(stk_writer__meta(w, "hostname", evil));
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "sched", "sched_switch", evil, switch_format));
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "sched", "sched_process_exec", "",
			    exec_format));
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, evil, evil, evil, "this is no format\033[2J"));
	ok(stk_writer__symbol(w, TEXT, 0x100, "sym\033[31m", ""));
	ok(stk_writer__symbol(w, MODULE, 0x100, "in_mod", "mod\033[32m"));
	t = add_task(w, 7, 7, evil);
	k = add_stack(w, frames, 2);
	put_switch(w, 1000, 0, t, k, 0, evil, "x\033[31my");
	put_exec(w, 2000, t, k, "/tmp/\033[31m\n=> fake+0x1/0x2");
	add_event(w, (struct stk_writer_event){ .ts = 3000,
						.event = 2,
						.task = t,
						.kstack = k,
						.record = evil,
						.record_len = 12 });
	end_recording(w, 4000, evil);
}

void make_user_hostile(const char *path)
{
	static const char evil[] = "/tmp/\033]0;x\007<b>&\"\\\377\t\n => fake+0x1/0x2";
	const struct stk_user_symbol symbols[] = { { "f\033[31m\n<i>\"", 0x100, 0x100 } };
	const uint64_t frames[] = { FRAME_USER(1, 0x110), FRAME_USER(1, 0x400) };
	struct stk_writer *w = begin_recording(path, 1);
	struct stk_writer_event e = { .ts = 1000, .event = EV_SAMPLE, EMPTY_RECORD };

	add_types(w);
	add_file(w, (struct stk_file){ .path = evil, .host_path = evil });
	ok(stk_writer__user_symbols(w, 1, symbols, 1));
	e.ustack = add_stack(w, frames, 2);
	add_event(w, e);
	end_recording(w, 2000, "done");
}
