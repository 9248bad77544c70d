// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include <stdlib.h>

#include "../trace/old_file.h"
#include "../writing.h"
#include "frame.h"
#include "kernel_events.h"

static void put_sample(struct stk_writer *w, uint64_t ts, uint32_t t, uint32_t k)
{
	static const char rec[8];

	add_event(w, (struct stk_writer_event){ .ts = ts,
						.cpu = 1,
						.event = EV_SAMPLE,
						.task = t,
						.kstack = k,
						.flags = 0x09,
						.preempt_count = 0x10,
						.record = rec,
						.record_len = sizeof(rec) });
}

static void add_small_events(struct stk_writer *w)
{
	const uint64_t pipe[] = { TEXT + 0x7c, TEXT + 0x1012, TEXT + 0x2034, TEXT + 0x3056,
				  TEXT + 0x4078 };
	const uint64_t futex[] = { TEXT + 0x7c, TEXT + 0x1012, TEXT + 0x5034, TEXT + 0x6056,
				   TEXT + 0x4078 };
	const uint64_t disk[] = { TEXT + 0x7c, TEXT + 0x1012, MODULE + 0x21,
				  0xffffffff90000123ULL };
	const uint64_t exec[] = { TEXT + 0x7012, TEXT + 0x8034, TEXT + 0x4078,
				  FRAME_MARKER(FRAME_END, STK_END_TRUNCATED) };
	uint32_t bash = add_task(w, 1234, 1234, "bash"), idle = add_task(w, 0, 0, "swapper/0");
	uint32_t worker = add_task(w, 4321, 4300, "a long comm 123");
	uint32_t k_pipe = add_stack(w, pipe, 5), k_futex = add_stack(w, futex, 5);
	uint32_t k_disk = add_stack(w, disk, 4), k_exec = add_stack(w, exec, 4);
	uint64_t t0 = 1234567890123ULL;

	put_exec(w, t0, bash, k_exec, "/usr/bin/true");
	put_switch(w, t0 + 1000, 0, bash, k_pipe, 0, "bash", "swapper/0");
	put_switch(w, t0 + 2500, 0, idle, 0, 0, "swapper/0", "a long comm 123");
	put_switch(w, t0 + 3377, 1, worker, k_futex, 0, "a long comm 123", "bash");
	put_switch(w, t0 + 500000000, 1, worker, k_disk, 0, "a long comm 123", "bash");
	put_switch(w, t0 + 500000001, 0, bash, k_pipe, 0, "bash", "swapper/0");
	ok(stk_writer__end_round(w, t0 + 600000000, 1790000000600000000ULL));
	put_sample(w, t0 + 700000000, worker, k_futex);
	put_switch(w, t0 + 800000000, 0, bash, k_pipe, STK_MARK_NO_FIELDS, "", "");
	put_switch(w, t0 + 900000000, 1, bash, k_pipe, 0, "bash", "kworker/1:0");
	ok(stk_writer__end_round(w, t0 + 1000000000, 1790000001000000000ULL));
}

static void add_small_accounting(struct stk_writer *w)
{
	static const uint64_t counters[3][STK_NR_COUNTERS] = {
		[EV_SWITCH][STK_C_HAPPENED] = 20,	[EV_SWITCH][STK_C_RECORDED] = 7,
		[EV_SWITCH][STK_C_FILTERED_PID] = 9,	[EV_SWITCH][STK_C_LOST_RING] = 3,
		[EV_SWITCH][STK_C_LOST_NESTED] = 1,	[EV_SWITCH][STK_C_NO_FIELDS] = 1,
		[EV_SWITCH][STK_C_STACK_HIT] = 3,	[EV_SWITCH][STK_C_STACK_NEW] = 2,
		[EV_SWITCH][STK_C_STACK_FELL_POOL] = 1, [EV_SWITCH][STK_C_STACK_EMPTY] = 1,
		[EV_EXEC][STK_C_HAPPENED] = 1,		[EV_EXEC][STK_C_RECORDED] = 1,
		[EV_EXEC][STK_C_STACK_NEW] = 1,		[EV_EXEC][STK_C_STACK_TRUNCATED] = 1,
		[EV_SAMPLE][STK_C_HAPPENED] = 1,	[EV_SAMPLE][STK_C_RECORDED] = 1,
		[EV_SAMPLE][STK_C_STACK_HIT] = 1,	[EV_SAMPLE][STK_C_SAMPLE_EXPECTED] = 4,
		[EV_SAMPLE][STK_C_SAMPLE_SKIPPED] = 2,	[EV_SAMPLE][STK_C_SAMPLE_IDLE] = 1,
	};

	ok(stk_writer__accounting(w, counters, 3));
}

static void add_all(struct stk_writer *w)
{
	add_types(w);
	add_symbols(w);
	add_small_events(w);
	add_small_accounting(w);
	ok(stk_writer__end_round(w, 2235567890123ULL, 1790000002000000000ULL));
}

void make_small(const char *path)
{
	struct stk_writer *w = begin_recording(path, 2);

	add_meta(w);
	add_all(w);
	ok(stk_writer__finish(w, "interrupted", 0));
	stk_writer__free(w);
}

void make_abrupt(const char *path)
{
	struct stk_writer *w = begin_recording(path, 2);

	add_meta(w);
	/* the first event is at 23:59:59.5 */
	ok(stk_writer__meta(w, "clock.ts", "1234067890000"));
	ok(stk_writer__meta(w, "clock.wall_ns", "1790035199000000000"));
	add_all(w);
	stk_writer__free(w);
	ok(old_file__make(path) ? 0 : -EIO);
}

void make_empty(const char *path)
{
	struct stk_writer *w = begin_recording(path, 1);

	add_meta(w);
	add_types(w);
	ok(stk_writer__finish(w, "duration", 0));
	stk_writer__free(w);
}

#define LONG_LINE "4300 4300 1 4300 77000000000 S demo\n"
#define LONG_LINES (5 * 1024 * 1024 / (sizeof(LONG_LINE) - 1))

void make_long(const char *path)
{
	struct stk_writer *w = begin_recording(path, 1);
	char *text = malloc(LONG_LINES * (sizeof(LONG_LINE) - 1) + 1), *end = text;
	size_t i;

	if (!text)
		errx(1, "no memory");
	for (i = 0; i < LONG_LINES; i++)
		end = stpcpy(end, LONG_LINE);
	add_meta(w);
	add_types(w);
	ok(stk_writer__meta(w, "tasks.start", text));
	ok(stk_writer__meta_left_out(w, "tasks.end", "Permission denied"));
	ok(stk_writer__meta_left_out(w, "printk_formats", "Operation not permitted"));
	ok(stk_writer__finish(w, "duration", 0));
	stk_writer__free(w);
	free(text);
}
