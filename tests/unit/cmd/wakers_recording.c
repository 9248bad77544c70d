// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include <stdio.h>

#include "../analyze/waits_recording.h"
#include "../writing.h"
#include "cleanup.h"

enum { TARGET = 300, WAKER = 400, KTHREAD = 20 };

/* The target waits, the waker wakes it: its event has this user stack. */
static void wait_for(struct recording *rec, uint64_t ts, uint32_t waker, uint32_t stack)
{
	const struct ev events[] = {
		{ .type = FUTEX_IN, .tid = TARGET, .f = { 0x7000, 0, 2 }, .stack = 1 },
		{ .type = SWITCH, .tid = TARGET, .f = { 1, 0 }, .stack = 1 },
		{ .type = WAKING, .tid = waker, .f = { TARGET }, .stack = stack, .cpu = 1 },
		{ .type = SWITCH, .f = { 0, TARGET } },
		{ .type = FUTEX_OUT, .tid = TARGET, .f = { 0 }, .stack = 1 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		struct ev e = events[i];

		e.ts = ts + 1000000 * i;
		recording__put(rec, e);
	}
}

void make_wakers(const char *path)
{
	struct recording rec;

	recording__begin(&rec);
	ok(stk_writer__meta(rec.w, "target", "300"));
	ok(stk_writer__meta(rec.w, "fields.kernel",
			    "syscalls:sys_enter_futex 1030000000 x\n" /* not of this version */
			    "sched:sched_switch2 1000000000\n"
			    "sched:sched_switch 1020000123\n"
			    "sched:sched_waking 18446744073709551616000\n"));
	wait_for(&rec, 1000000000, WAKER, STACK_OMITTED);
	wait_for(&rec, 1010000000, WAKER, STACK_OMITTED);
	wait_for(&rec, 1020000000, KTHREAD, 0);
	wait_for(&rec, 1030000000, TARGET + 1, 2);
	recording__close(&rec, 1100000000);
	if (rename(rec.path, path))
		err(1, "%s", path);
}

/* Nothing passed the selections. */
static void put_selections(struct stk_writer *w)
{
	static const char *const meta[][2] = {
		{ "target", "300" },
		{ "selected.cgroups", "/sys/fs/cgroup/a\033[31mb, /sys/fs/cgroup/c" },
		{ "selected.uids", "1000,65534" },
		{ "selected.cpus", "0-3,8" },
		{ "selected.delay_ms", "1500" },
		{ "backend", "bpf" },
		{ "events.uncounted", "kernel:do_exit" },
		{ "events.native", "sched:sched_process_fork, irq:softirq_entry, "
				   "irq:softirq_exit" },
		{ "events.second", "irq:softirq_exit" }, /* as if */
		{ "fields.kernel", "irq:softirq_entry 1000000500\n" },
		{ "fields.unverified", "irq:softirq_entry 7 1000000000 1000000500\n" },
		{ "fields.differed",
		  "irq:softirq_entry vec was 3\033[31m in the kernel's record and 4 "
		  "in the recorder's\n" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(meta); i++)
		ok(stk_writer__meta(w, meta[i][0], meta[i][1]));
}

#define NR_SELECTED 7

static void put_filtered(struct stk_writer *w)
{
	uint64_t c[NR_SELECTED][STK_NR_COUNTERS] = { 0 };

	c[2][STK_C_HAPPENED] = 10;
	c[2][STK_C_FILTERED_SELF] = 1;
	c[2][STK_C_FILTERED_UID] = 2;
	c[2][STK_C_FILTERED_CPU] = 3;
	c[2][STK_C_FILTERED_CGROUP] = 4;
	c[2][STK_C_FIELDS_AGREED] = 70;
	c[2][STK_C_FIELDS_CHANGED] = 1;
	c[2][STK_C_FIELDS_DIFFERED] = 2;
	c[0][STK_C_HAPPENED] = c[0][STK_C_FILTERED_SELF] = 1;
	c[0][STK_C_FIELDS_AGREED] = 12;
	c[3][STK_C_HAPPENED] = c[3][STK_C_FILTERED_SELF] = 100;
	c[3][STK_C_FIELDS_AGREED] = 64;
	ok(stk_writer__accounting(w, (const uint64_t(*)[STK_NR_COUNTERS])c, NR_SELECTED));
}

void make_selected(const char *path)
{
	static const struct {
		enum stk_event_kind kind;
		const char *system, *name;
	} types[NR_SELECTED] = { { STK_KIND_TRACEPOINT, "sched", "sched_process_fork" },
				 { STK_KIND_TRACEPOINT, "sched", "sched_process_exit" },
				 { STK_KIND_TRACEPOINT, "irq", "softirq_entry" },
				 { STK_KIND_TRACEPOINT, "irq", "softirq_exit" },
				 { STK_KIND_SAMPLE, "sample", "cpu_clock" },
				 { STK_KIND_FUNCTION, "kernel", "do_exit" },
				 { STK_KIND_FUNCTION, "kernel", "do_fork" } };
	struct stk_writer *w = begin_recording(path, 1);
	unsigned int i;

	put_selections(w);
	for (i = 0; i < NR_SELECTED; i++)
		ok(stk_writer__type(w, types[i].kind, types[i].system, types[i].name, "", ""));
	put_filtered(w);
	end_recording(w, 1, "done");
}
