// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a reproducible recording:  make_recording KIND FILE [EVENTS [STACKS]]
 *
 * small     two CPUs, three event types, a module, an unknown address, a truncated stack, an
 *           event without fields, accounting that adds up
 * empty     types and metadata, no event
 * long      metadata in parts, and a list of what is missing; no event
 * abrupt    small without END, in the version that has counters but no losses; with the time of
 *           day, which passes midnight
 * hostile   task names, fields, symbols and metadata with control bytes and markup
 * aliases   imported stacks: ids of their own, references, one stack under two ids
 * losses    switches, and all kinds of losses: of one or any type, on one or any CPU, with or
 *           without a count
 * flags     one event for each pair of flags and preempt count
 * strings   kernel strings by address, known and unknown, a time in jiffies, an invalid print fmt;
 *           a clock that was set
 * user      user stacks with each stack end in four files, [vdso], [jit] and unknown memory;
 *           symbols for all but one of the files
 * user-hostile  paths and names of functions with control bytes and markup
 * guesses   user stacks of which some are guesses where others are not
 * latency   see latency_recording.h
 * lifecycle, zombies  see lifecycle_recording.h
 * wakers, selected  see wakers_recording.h
 * addresses  see address_recording.h
 * replaced  see replaced_recording.h
 * annotate  see annotate_recording.h
 * stalls    see stalls_recording.h
 * before, after, rebuilt, quick, slow  see make_diff() and ../analyze/diff_recording.h
 * profile   see profile_recording.h
 * large     EVENTS sched_switch events with STACKS stacks of 8 to 24 frames
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common_fields.h"
#include "../analyze/diff_recording.h"
#include "../trace/old_file.h"
#include "address_recording.h"
#include "annotate_recording.h"
#include "cleanup.h"
#include "frame.h"
#include "latency_recording.h"
#include "lifecycle_recording.h"
#include "replaced_recording.h"
#include "profile_recording.h"
#include "stalls_recording.h"
#include "trace/write/writer.h"
#include "wakers_recording.h"

static const char switch_format[] =
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

static const char exec_format[] =
	"name: sched_process_exec\nID: 365\n" COMMON
	"\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t old_pid;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, "
	"REC->old_pid\n";

static const char sample_format[] = "name: cpu_clock\nID: 0\n" COMMON "\nprint fmt: \"\"\n";

#define TEXT 0xffffffff81000000ULL
#define MODULE 0xffffffffc0200000ULL

struct switch_record {
	char common[8];
	char prev_comm[16];
	int32_t prev_pid, prev_prio;
	int64_t prev_state;
	char next_comm[16];
	int32_t next_pid, next_prio;
};

struct exec_record {
	char common[8];
	uint32_t filename;
	int32_t pid, old_pid;
	char text[64];
};

enum { EV_SWITCH, EV_EXEC, EV_SAMPLE };

static void die(int err, const char *what)
{
	fprintf(stderr, "make_recording: %s: %s\n", what, strerror(-err));
	exit(1);
}

static int ok(int err, const char *what)
{
	if (err < 0)
		die(err, what);
	return err;
}

static struct stk_writer *begin(const char *path, unsigned int nr_cpus)
{
	struct stk_writer_opts opts = { .nr_cpus = nr_cpus };
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644);
	struct stk_writer *w;

	if (fd < 0)
		die(-errno, path);
	ok(stk_writer__new(fd, &opts, &w), "new");
	return w;
}

static uint32_t task(struct stk_writer *w, uint32_t tid, uint32_t tgid, const char *comm)
{
	uint32_t nr;

	ok(stk_writer__task(w, tid, tgid, comm, strlen(comm), &nr), "task");
	return nr;
}

static uint32_t stack(struct stk_writer *w, const uint64_t *frames, unsigned int nr)
{
	uint32_t number;

	ok(stk_writer__stack(w, frames, nr, &number), "stack");
	return number;
}

static void event(struct stk_writer *w, struct stk_writer_event e)
{
	ok(stk_writer__event(w, &e), "event");
}

static void add_types(struct stk_writer *w)
{
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "sched", "sched_switch", "", switch_format),
	   "type");
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "sched", "sched_process_exec", "pid > 0",
			    exec_format),
	   "type");
	ok(stk_writer__type(w, STK_KIND_SAMPLE, "sample", "cpu_clock", "", sample_format), "type");
}

static void add_meta(struct stk_writer *w)
{
	static const char *const meta[][2] = {
		{ "hostname", "demo" },
		{ "kernel.release", "6.1.0-test" },
		{ "clock", "mono" },
		{ "cmdline", "stackonce record -e sched:sched_switch" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(meta); i++)
		ok(stk_writer__meta(w, meta[i][0], meta[i][1]), "meta");
}

static void add_symbols(struct stk_writer *w)
{
	static const char *const names[] = { "__schedule", "schedule",	     "pipe_read",
					     "vfs_read",   "do_syscall_64",  "futex_wait",
					     "do_futex",   "begin_new_exec", "bprm_execve" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		ok(stk_writer__symbol(w, TEXT + i * 0x1000, 0x800, names[i], ""), "symbol");
	ok(stk_writer__symbol(w, MODULE, 0x100, "disk_wait", "demo_mod"), "symbol");
}

static void put_switch(struct stk_writer *w, uint64_t ts, uint32_t cpu, uint32_t t, uint32_t k,
		       unsigned int marks, const char *prev, const char *next)
{
	struct switch_record rec = { .prev_pid = 1234,
				     .prev_prio = 120,
				     .prev_state = 1,
				     .next_pid = 99,
				     .next_prio = 120 };

	memcpy(rec.prev_comm, prev, strnlen(prev, 16));
	memcpy(rec.next_comm, next, strnlen(next, 16));
	event(w, (struct stk_writer_event){ .ts = ts,
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

static void put_exec(struct stk_writer *w, uint64_t ts, uint32_t t, uint32_t k, const char *file)
{
	struct exec_record rec = { .pid = 1234, .old_pid = 1234 };

	rec.filename = (uint32_t)(strlen(file) + 1) << 16 | offsetof(struct exec_record, text);
	memcpy(rec.text, file, strlen(file) + 1);
	event(w, (struct stk_writer_event){ .ts = ts,
					    .cpu = 1,
					    .event = EV_EXEC,
					    .task = t,
					    .kstack = k,
					    .record = &rec,
					    .record_len = offsetof(struct exec_record, text) +
							  strlen(file) + 1 });
}

static void put_sample(struct stk_writer *w, uint64_t ts, uint32_t t, uint32_t k)
{
	static const char rec[8];

	event(w, (struct stk_writer_event){ .ts = ts,
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
	uint32_t bash = task(w, 1234, 1234, "bash"), idle = task(w, 0, 0, "swapper/0");
	uint32_t worker = task(w, 4321, 4300, "a long comm 123");
	uint32_t k_pipe = stack(w, pipe, 5), k_futex = stack(w, futex, 5);
	uint32_t k_disk = stack(w, disk, 4), k_exec = stack(w, exec, 4);
	uint64_t t0 = 1234567890123ULL;

	put_exec(w, t0, bash, k_exec, "/usr/bin/true");
	put_switch(w, t0 + 1000, 0, bash, k_pipe, 0, "bash", "swapper/0");
	put_switch(w, t0 + 2500, 0, idle, 0, 0, "swapper/0", "a long comm 123");
	put_switch(w, t0 + 3377, 1, worker, k_futex, 0, "a long comm 123", "bash");
	put_switch(w, t0 + 500000000, 1, worker, k_disk, 0, "a long comm 123", "bash");
	put_switch(w, t0 + 500000001, 0, bash, k_pipe, 0, "bash", "swapper/0");
	ok(stk_writer__end_round(w, t0 + 600000000, 1790000000600000000ULL), "round");
	put_sample(w, t0 + 700000000, worker, k_futex);
	put_switch(w, t0 + 800000000, 0, bash, k_pipe, STK_MARK_NO_FIELDS, "", "");
	put_switch(w, t0 + 900000000, 1, bash, k_pipe, 0, "bash", "kworker/1:0");
	ok(stk_writer__end_round(w, t0 + 1000000000, 1790000001000000000ULL), "round");
}

static void add_small_accounting(struct stk_writer *w)
{
	uint64_t c[3][STK_NR_COUNTERS] = { 0 };

	c[EV_SWITCH][STK_C_HAPPENED] = 20;
	c[EV_SWITCH][STK_C_RECORDED] = 7;
	c[EV_SWITCH][STK_C_FILTERED_PID] = 9;
	c[EV_SWITCH][STK_C_LOST_RING] = 3;
	c[EV_SWITCH][STK_C_LOST_NESTED] = 1;
	c[EV_SWITCH][STK_C_NO_FIELDS] = 1;
	c[EV_SWITCH][STK_C_STACK_HIT] = 3;
	c[EV_SWITCH][STK_C_STACK_NEW] = 2;
	c[EV_SWITCH][STK_C_STACK_FELL_POOL] = 1;
	c[EV_SWITCH][STK_C_STACK_EMPTY] = 1;
	c[EV_EXEC][STK_C_HAPPENED] = 1;
	c[EV_EXEC][STK_C_RECORDED] = 1;
	c[EV_EXEC][STK_C_STACK_NEW] = 1;
	c[EV_EXEC][STK_C_STACK_TRUNCATED] = 1;
	c[EV_SAMPLE][STK_C_HAPPENED] = 1;
	c[EV_SAMPLE][STK_C_RECORDED] = 1;
	c[EV_SAMPLE][STK_C_STACK_HIT] = 1;
	c[EV_SAMPLE][STK_C_SAMPLE_EXPECTED] = 4;
	c[EV_SAMPLE][STK_C_SAMPLE_SKIPPED] = 2;
	c[EV_SAMPLE][STK_C_SAMPLE_IDLE] = 1;
	ok(stk_writer__accounting(w, c, 3), "accounting");
}

static void make_small(const char *path, bool finish)
{
	struct stk_writer *w = begin(path, 2);

	add_meta(w);
	if (!finish) { /* the first event is at 23:59:59.5 */
		ok(stk_writer__meta(w, "clock.ts", "1234067890000"), "meta");
		ok(stk_writer__meta(w, "clock.wall_ns", "1790035199000000000"), "meta");
	}
	add_types(w);
	add_symbols(w);
	add_small_events(w);
	add_small_accounting(w);
	ok(stk_writer__end_round(w, 2235567890123ULL, 1790000002000000000ULL), "round");
	if (finish)
		ok(stk_writer__finish(w, "interrupted", 0), "finish");
	stk_writer__free(w);
	if (!finish)
		ok(old_file__make(path) ? 0 : -EIO, "make it old");
}

static void make_empty(const char *path)
{
	struct stk_writer *w = begin(path, 1);

	add_meta(w);
	add_types(w);
	ok(stk_writer__finish(w, "duration", 0), "finish");
	stk_writer__free(w);
}

#define LONG_LINE "4300 4300 1 4300 77000000000 S demo\n"
#define LONG_LINES (5 * 1024 * 1024 / (sizeof(LONG_LINE) - 1))

static void make_long(const char *path)
{
	struct stk_writer *w = begin(path, 1);
	char *text = malloc(LONG_LINES * (sizeof(LONG_LINE) - 1) + 1), *end = text;
	size_t i;

	if (!text)
		die(-ENOMEM, "list");
	for (i = 0; i < LONG_LINES; i++)
		end = stpcpy(end, LONG_LINE);
	add_meta(w);
	add_types(w);
	ok(stk_writer__meta(w, "tasks.start", text), "long value");
	ok(stk_writer__meta_left_out(w, "tasks.end", "Permission denied"), "left out");
	ok(stk_writer__meta_left_out(w, "printk_formats", "Operation not permitted"), "left out");
	ok(stk_writer__finish(w, "duration", 0), "finish");
	stk_writer__free(w);
	free(text);
}

static void make_hostile(const char *path)
{
	static const char evil[] = "\033]0;x\007<b>&\"\\\377\t\n";
	const uint64_t frames[] = { TEXT + 0x10, MODULE + 0x10 };
	struct stk_writer *w = begin(path, 1);
	uint32_t t, k;

	ok(stk_writer__meta(w, "hostname", evil), "meta");
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "sched", "sched_switch", evil, switch_format),
	   "type");
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "sched", "sched_process_exec", "", exec_format),
	   "type");
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, evil, evil, evil, "this is no format\033[2J"),
	   "type");
	ok(stk_writer__symbol(w, TEXT, 0x100, "sym\033[31m", ""), "symbol");
	ok(stk_writer__symbol(w, MODULE, 0x100, "in_mod", "mod\033[32m"), "symbol");
	t = task(w, 7, 7, evil);
	k = stack(w, frames, 2);
	put_switch(w, 1000, 0, t, k, 0, evil, "x\033[31my");
	put_exec(w, 2000, t, k, "/tmp/\033[31m\n=> fake+0x1/0x2");
	event(w, (struct stk_writer_event){ .ts = 3000,
					    .event = 2,
					    .task = t,
					    .kstack = k,
					    .record = evil,
					    .record_len = 12 });
	ok(stk_writer__end_round(w, 4000, 0), "round");
	ok(stk_writer__finish(w, evil, 0), "finish");
	stk_writer__free(w);
}

static void make_aliases(const char *path)
{
	const uint64_t one[] = { TEXT + 0x7c, TEXT + 0x1012 }, two[] = { TEXT + 0x2034 };
	struct stk_writer *w = begin(path, 1);
	uint32_t a, b, c;

	ok(stk_writer__meta(w, "source", "fsmb"), "meta");
	add_symbols(w);
	add_types(w);
	ok(stk_writer__stack_imported(w, one, 2, 160, 1, &a), "stack");
	ok(stk_writer__stack_imported(w, two, 1, 928, 930, &b), "stack");
	ok(stk_writer__stack_imported(w, one, 2, 1511, 7, &c), "stack");
	put_switch(w, 1000, 0, task(w, 5, 5, "five"), a, 0, "five", "six");
	put_switch(w, 2000, 0, task(w, 5, 5, "five"), c, 0, "five", "six");
	put_switch(w, 3000, 0, task(w, 5, 5, "five"), b, 0, "five", "six");
	ok(stk_writer__end_round(w, 4000, 0), "round");
	ok(stk_writer__finish(w, "imported", 0), "finish");
	stk_writer__free(w);
}

static void put_loss(struct stk_writer *w, uint64_t first_ts, uint64_t last_ts, uint32_t event,
		     uint32_t cpu, uint64_t count)
{
	struct stk_writer_loss loss = { first_ts, last_ts, event, cpu, count };

	ok(stk_writer__loss(w, &loss), "loss");
}

static void make_losses(const char *path)
{
	struct stk_writer *w = begin(path, 2);
	uint32_t five, six;

	add_types(w);
	five = task(w, 5, 5, "five");
	six = task(w, 6, 6, "six");
	put_switch(w, 1000, 0, five, 0, 0, "five", "six");
	put_switch(w, 1500, 1, six, 0, 0, "six", "five");
	put_loss(w, 1600, 1900, EV_SWITCH, 0, 34);
	put_switch(w, 2000, 0, six, 0, 0, "six", "five");
	put_loss(w, 2100, 3500, EV_EXEC, 1, 1);
	put_loss(w, 2200, 2300, STK_WRITER_ANY, 1, 0);
	put_switch(w, 3000, 1, five, 0, 0, "five", "six");
	ok(stk_writer__end_round(w, 3000, 0), "round");
	put_loss(w, 3100, 3200, STK_WRITER_ANY, STK_WRITER_ANY, 7);
	put_switch(w, 4000, 0, five, 0, 0, "five", "six");
	put_loss(w, 4100, 5000, EV_SWITCH, STK_WRITER_ANY, 0);
	ok(stk_writer__end_round(w, 5000, 0), "round");
	ok(stk_writer__finish(w, "done", 0), "finish");
	stk_writer__free(w);
}

static void make_flags(const char *path)
{
	struct stk_writer *w = begin(path, 1);
	unsigned int flags;
	uint32_t t;

	add_types(w);
	t = task(w, 1, 1, "flags");
	for (flags = 0; flags < 512; flags++)
		event(w, (struct stk_writer_event){ .ts = 1000 * (flags + 1),
						    .event = EV_SAMPLE,
						    .task = t,
						    .flags = flags,
						    .preempt_count = flags * 7,
						    .marks = flags & 256 ? STK_MARK_NO_IRQFLAG : 0,
						    .record = "\0\0\0\0\0\0\0\0",
						    .record_len = 8 });
	ok(stk_writer__end_round(w, 1000000, 0), "round");
	ok(stk_writer__finish(w, "done", 0), "finish");
	stk_writer__free(w);
}

/* A format that needs the recording's metadata. */
static void make_strings(const char *path)
{
	static const char format[] = "name: note\nID: 5\n" COMMON
				     "\tfield:const char * s;\toffset:8;\tsize:8;\tsigned:0;\n"
				     "\tfield:unsigned long t;\toffset:16;\tsize:8;\tsigned:0;\n"
				     "\nprint fmt: \"%s for %u ms\", REC->s, "
				     "jiffies_to_msecs(REC->t)\n";
	static const char unknown[] =
		"name: unknown\nID: 6\n" COMMON "\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\nprint fmt: \"x=%d\", no_such_helper(REC->x)\n";
	static const char age[] = "name: age\nID: 7\n" COMMON
				  "\tfield:const char * s;\toffset:8;\tsize:8;\tsigned:0;\n"
				  "\tfield:unsigned long t;\toffset:16;\tsize:8;\tsigned:0;\n"
				  "\nprint fmt: \"age=%lu\", (jiffies - REC->t) / 1000\n";
	struct {
		char common[8];
		uint64_t s, t;
	} rec = { .t = 10 };
	struct stk_writer *w = begin(path, 1);
	unsigned int i;
	uint32_t t;

	ok(stk_writer__meta(w, "printk_formats",
			    "0xffffffff82000010 : \"first\"\n"
			    "nonsense\n"
			    "0xffffffff82000008 : \"a \\\"quote\\\", a \\\\ and a \\tline\\n\"\n"
			    "0xffffffff82000020 : \"cut"),
	   "meta");
	ok(stk_writer__meta(w, "kernel.hz", "1000"), "meta");
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "test", "note", "", format), "type");
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "test", "unknown", "", unknown), "type");
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "test", "age", "", age), "type");
	ok(stk_writer__meta(w, "clock", "mono"), "meta");
	ok(stk_writer__meta(w, "clock.steps", "-2000000000 at 1500, 10 at 4000000000"), "meta");
	t = task(w, 1, 1, "t");
	for (i = 0; i < 2; i++)
		event(w, (struct stk_writer_event){ .ts = 100 * (i + 1),
						    .event = 1,
						    .task = t,
						    .record = &rec,
						    .record_len = 12 });
	for (i = 0; i < 4; i++) {
		rec.s = 0xffffffff82000008ULL + 8 * i;
		event(w, (struct stk_writer_event){ .ts = 1000 * (i + 1),
						    .task = t,
						    .record = &rec,
						    .record_len = sizeof(rec) });
	}
	/* Jiffies at 5 s are 5 s after their start, which is -300 s. */
	rec.t = (uint32_t)(-300 * 1000) + 2000;
	event(w, (struct stk_writer_event){ .ts = 5000000000,
					    .event = 2,
					    .task = t,
					    .record = &rec,
					    .record_len = sizeof(rec) });
	ok(stk_writer__end_round(w, 6000000000, 0), "round");
	ok(stk_writer__finish(w, "done", 0), "finish");
	stk_writer__free(w);
}

/* ---- user stacks ----------------------------------------------------------------------------- */

enum { APP = 1, LIBC, PLUGIN, GONE, VDSO, JIT };

static uint32_t file(struct stk_writer *w, struct stk_file f)
{
	uint32_t number;

	ok(stk_writer__file(w, &f, &number), "file");
	return number;
}

static void add_files(struct stk_writer *w)
{
	static const uint8_t app_id[20] = "\x3b\xa6\xe0\xc2\x1d 4-byte-id 0x5\x01";
	static const uint8_t libc_id[20] = "\xc0\x4a\x61\x31\xb5\x7c\x95\x5e\x0b\x8a\xf4";
	static const uint8_t sha[20] = "\xe3\xb0\xc4\x42\x98\xfc\x1c\x14\x9a\xfb\xf4\xc8\x99\x6f";
	struct stk_file libc = { .path = "/usr/lib/x86_64-linux-gnu/libc.so.6",
				 .host_path = "/usr/lib/x86_64-linux-gnu/libc.so.6",
				 .dev_major = 254,
				 .dev_minor = 1,
				 .inode = 262155,
				 .size = 1922136,
				 .mtime_ns = 1700000000000000000ULL,
				 .id_kind = STK_ID_BUILD_ID,
				 .id = libc_id,
				 .id_len = 20 };

	file(w, (struct stk_file){ .path = "/usr/bin/demo",
				   .host_path = "/usr/bin/demo",
				   .dev_major = 254,
				   .dev_minor = 1,
				   .inode = 4711,
				   .size = 35664,
				   .mtime_ns = 1690000000123456789ULL,
				   .id_kind = STK_ID_BUILD_ID,
				   .id = app_id,
				   .id_len = 20 });
	file(w, libc);
	file(w, (struct stk_file){ .path = "/opt/app/lib plugin.so",
				   .host_path = "/srv/box/rootfs/opt/app/lib plugin.so",
				   .dev_minor = 48,
				   .inode = 99,
				   .size = 8000,
				   .mtime_ns = 1710000000000000000ULL,
				   .id_kind = STK_ID_CONTENT,
				   .id = sha,
				   .id_len = 20 });
	file(w, (struct stk_file){ .flags = STK_FILE_DELETED | STK_FILE_GONE,
				   .path = "/tmp/old.so",
				   .dev_minor = 40,
				   .inode = 17 });
	file(w, (struct stk_file){ .kind = STK_FILE_VDSO,
				   .path = "[vdso]",
				   .size = 8192,
				   .id_kind = STK_ID_BUILD_ID,
				   .id = sha + 4,
				   .id_len = 16 });
	file(w, (struct stk_file){ .kind = STK_FILE_JIT,
				   .path = "[jit]",
				   .pid = 4300,
				   .start_ns = 77000000000ULL,
				   .base = 0x7f0000000000ULL });
	libc.number = LIBC; /* another name, in a container */
	libc.path = "/lib/libc.so.6";
	libc.host_path = "/srv/box/rootfs/lib/libc.so.6";
	file(w, libc);
}

static void add_user_symbols(struct stk_writer *w)
{
	const struct stk_user_symbol app[] = { { "main", 0x1100, 0x80 },
					       { "_ZN4demo4workEi", 0x1180, 0x100 },
					       { "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
						 0x1300, 0x40 },
					       { "_start", 0x1040, 0 } };
	const struct stk_user_symbol libc[] = { { "__libc_start_call_main", 0x27180, 0x90 },
						{ "clock_nanosleep", 0xd0f00, 0x120 },
						{ "__futex_abstimed_wait", 0x85600, 0x200 },
						{ "", 0x30000, 0x100 } };
	const struct stk_user_symbol vdso[] = { { "__vdso_clock_gettime", 0xc60, 0x50 } };
	const struct stk_user_symbol jit[] = { { "LazyCompile:*tick /srv/app.js:12", 0x1000,
						 0x400 } };

	ok(stk_writer__user_symbols(w, APP, app, ARRAY_SIZE(app)), "symbols");
	ok(stk_writer__user_symbols(w, LIBC, libc, ARRAY_SIZE(libc)), "symbols");
	ok(stk_writer__user_symbols(w, GONE, NULL, 0), "symbols");
	ok(stk_writer__user_symbols(w, VDSO, vdso, ARRAY_SIZE(vdso)), "symbols");
	ok(stk_writer__user_symbols(w, JIT, jit, ARRAY_SIZE(jit)), "symbols");
}

#define END(value) FRAME_MARKER(FRAME_END, value)

/* A stack for each stack end, and other cases. */
static const struct user_stack {
	unsigned int nr;
	uint64_t frames[12];
} user_stacks[] = {
	/* a sleep: from libc to _start */
	{ 5,
	  { FRAME_USER(LIBC, 0xd0f5a), FRAME_USER(APP, 0x11c4), FRAME_USER(APP, 0x1131),
	    FRAME_USER(LIBC, 0x271ca), FRAME_USER(APP, 0x1065) } },
	/* a timer interrupt at the first byte of a function, called from JIT code, then guesses */
	{ 8,
	  { FRAME_MARKER(FRAME_EXACT, 0), FRAME_USER(VDSO, 0xc60), FRAME_USER(JIT, 0x1234),
	    FRAME_MARKER(FRAME_GUESS, 0), FRAME_USER(JIT, 0x1400), FRAME_USER(JIT, 0x5000),
	    FRAME_USER(LIBC, 0x271ca), END(STK_END_FALLBACK) } },
	/* an unreadable file, and memory without a file */
	{ 4,
	  { FRAME_USER(LIBC, 0x856a0), FRAME_USER(GONE, 0x2222), FRAME_USER(0, 0x7ffff00321ULL),
	    END(STK_END_NO_TABLE) } },
	/* without stored symbols; the end of a function is not part of it */
	{ 5,
	  { FRAME_USER(PLUGIN, 0x1500), FRAME_USER(PLUGIN, 0x4010), FRAME_USER(APP, 0x1280),
	    FRAME_USER(APP, 0x1281), END(STK_END_UNREADABLE) } },
	{ 4,
	  { FRAME_USER(APP, 0x1310), FRAME_USER(APP, 0x1200), FRAME_USER(APP, 0x11f0),
	    END(STK_END_TRUNCATED) } },
	{ 2, { FRAME_USER(LIBC, 0x30010), END(STK_END_AT_LIMIT) } },
	{ 1, { END(STK_END_FAILED) } },
};

static void add_user_accounting(struct stk_writer *w)
{
	uint64_t c[3][STK_NR_COUNTERS] = { 0 };

	c[EV_SWITCH][STK_C_HAPPENED] = c[EV_SWITCH][STK_C_RECORDED] = 9;
	c[EV_SWITCH][STK_C_STACK_NEW] = 1;
	c[EV_SWITCH][STK_C_STACK_HIT] = 8;
	c[EV_SWITCH][STK_C_USTACK_NEW] = 6;
	c[EV_SWITCH][STK_C_USTACK_HIT] = 1;
	c[EV_SWITCH][STK_C_USTACK_DEFERRED] = 1;
	c[EV_SWITCH][STK_C_USTACK_NONE] = 1;
	c[EV_SWITCH][STK_C_USTACK_COMPLETE] = 2;
	c[EV_SWITCH][STK_C_USTACK_FALLBACK] = 1;
	c[EV_SWITCH][STK_C_USTACK_NO_TABLE] = 1;
	c[EV_SWITCH][STK_C_USTACK_UNREADABLE] = 1;
	c[EV_SWITCH][STK_C_USTACK_TRUNCATED] = 2;
	c[EV_SWITCH][STK_C_USTACK_FAILED] = 1;
	c[EV_SWITCH][STK_C_FULL_FILES] = 1200;
	c[EV_SAMPLE][STK_C_FULL_NAMES] = 3;
	c[EV_SAMPLE][STK_C_HAPPENED] = c[EV_SAMPLE][STK_C_RECORDED] = 2;
	c[EV_SAMPLE][STK_C_STACK_EMPTY] = 2;
	c[EV_SAMPLE][STK_C_USTACK_HIT] = 2;
	c[EV_SAMPLE][STK_C_USTACK_COMPLETE] = 1;
	c[EV_SAMPLE][STK_C_USTACK_FALLBACK] = 1;
	c[EV_SAMPLE][STK_C_SAMPLE_EXPECTED] = 2;
	ok(stk_writer__accounting(w, c, 3), "accounting");
}

static void make_user(const char *path)
{
	static const char *const unwind[][2] = {
		{ "unwind.tables_loaded", "4" },
		{ "unwind.refused", "2" },
		{ "unwind.not_kept", "5" },
	};
	const uint64_t kernel[] = { TEXT + 0x7c, TEXT + 0x1012, TEXT + 0x4078 };
	struct stk_writer *w = begin(path, 2);
	struct stk_writer_event e = {
		.cpu = 1, .event = EV_SAMPLE, .record = "\0\0\0\0\0\0\0\0", .record_len = 8
	};
	struct switch_record rec = { .prev_comm = "demo",
				     .prev_pid = 4321,
				     .prev_prio = 120,
				     .prev_state = 1,
				     .next_comm = "swapper/1",
				     .next_prio = 120 };
	uint64_t ts = 1000000000;
	uint32_t k, t;
	size_t i;

	add_meta(w);
	for (i = 0; i < ARRAY_SIZE(unwind); i++)
		ok(stk_writer__meta(w, unwind[i][0], unwind[i][1]), "meta");
	add_types(w);
	add_symbols(w);
	add_files(w);
	t = task(w, 4321, 4300, "demo");
	k = stack(w, kernel, 3);
	for (i = 0; i < ARRAY_SIZE(user_stacks) + 2; i++, ts += 1000) {
		const struct user_stack *u = &user_stacks[i % ARRAY_SIZE(user_stacks)];

		event(w,
		      (struct stk_writer_event){ .ts = ts,
						 .event = EV_SWITCH,
						 .task = t,
						 .kstack = k,
						 .ustack = i == 8 ? 0 : stack(w, u->frames, u->nr),
						 .record = &rec,
						 .record_len = sizeof(rec) });
	}
	e.task = t;
	for (i = 0; i < 2; i++) {
		e.ts = ts += 500;
		e.ustack = stack(w, user_stacks[i].frames, user_stacks[i].nr);
		event(w, e);
	}
	ok(stk_writer__end_round(w, ts + 1, 1790000001000000000ULL), "round");
	add_user_accounting(w);
	add_user_symbols(w);
	ok(stk_writer__finish(w, "exited", 0), "finish");
	stk_writer__free(w);
}

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
	int in = ok(stk_writer__type(w, STK_KIND_SYSCALL, "syscalls", "sys_enter_futex", "", enter),
		    "type");
	int out = ok(stk_writer__type(w, STK_KIND_SYSCALL, "syscalls", "sys_exit_futex", "", leave),
		     "type");
	uint32_t t = task(w, 7, 7, "guess");
	int i;

	for (i = 0; i < 4; i++, ts += 1000) {
		event(w, (struct stk_writer_event){ .ts = ts,
						    .event = in,
						    .task = t,
						    .ustack = i ? sure : guessed,
						    .record = args,
						    .record_len = sizeof(args) });
		event(w, (struct stk_writer_event){ .ts = ts + 500,
						    .event = out,
						    .task = t,
						    .record = result,
						    .record_len = sizeof(result) });
	}
}

/* 200 samples in main(): in 7 a caller of the futex is a guess, in 1 that of the sleep. */
static void make_guesses(const char *path)
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
		    END(STK_END_FALLBACK) } },
		{ 7,
		  6,
		  { FRAME_USER(LIBC, 0x856a0), FRAME_MARKER(FRAME_GUESS, 0), CALLERS,
		    END(STK_END_FALLBACK) } },
	};
	struct stk_writer *w = begin(path, 1);
	struct stk_writer_event e = {
		.ts = 1000, .event = EV_SAMPLE, .record = "\0\0\0\0\0\0\0\0", .record_len = 8
	};
	uint32_t numbers[ARRAY_SIZE(stacks)];
	unsigned int k;
	size_t i;

	add_types(w);
	add_files(w);
	for (i = 0; i < ARRAY_SIZE(stacks); i++) {
		e.ustack = numbers[i] = stack(w, stacks[i].frames, stacks[i].nr);
		for (k = 0; k < stacks[i].events; k++, e.ts += 1000)
			event(w, e);
	}
	put_futex_waits(w, e.ts, numbers[1], numbers[0]);
	e.ts += 10000;
	ok(stk_writer__end_round(w, e.ts, 0), "round");
	add_user_symbols(w);
	ok(stk_writer__finish(w, "done", 0), "finish");
	stk_writer__free(w);
}

static void make_user_hostile(const char *path)
{
	static const char evil[] = "/tmp/\033]0;x\007<b>&\"\\\377\t\n => fake+0x1/0x2";
	const struct stk_user_symbol symbols[] = { { "f\033[31m\n<i>\"", 0x100, 0x100 } };
	const uint64_t frames[] = { FRAME_USER(1, 0x110), FRAME_USER(1, 0x400) };
	struct stk_writer *w = begin(path, 1);
	struct stk_writer_event e = {
		.ts = 1000, .event = EV_SAMPLE, .record = "\0\0\0\0\0\0\0\0", .record_len = 8
	};

	add_types(w);
	file(w, (struct stk_file){ .path = evil, .host_path = evil });
	ok(stk_writer__user_symbols(w, 1, symbols, 1), "symbols");
	e.ustack = stack(w, frames, 2);
	event(w, e);
	ok(stk_writer__end_round(w, 2000, 0), "round");
	ok(stk_writer__finish(w, "done", 0), "finish");
	stk_writer__free(w);
}

/* A stack is a path in a tree that gets narrower towards its root, like the stacks of a kernel. */
static unsigned int large_stack(uint64_t i, uint64_t *frames)
{
	unsigned int depth = 8 + i % 17, k;

	for (k = 0; k < depth; k++)
		frames[k] = TEXT +
			    (((i >> (depth - k < 12 ? 12 - (depth - k) : 0)) * 31 + k) % 4096) *
				    0x1000 +
			    0x100;
	return depth;
}

static void make_large(const char *path, uint64_t nr_events, uint64_t nr_stacks)
{
	struct stk_writer *w = begin(path, 4);
	uint64_t c[3][STK_NR_COUNTERS] = { 0 }, frames[32], i;
	uint32_t *stacks = calloc(nr_stacks, sizeof(*stacks)), tasks[64];
	uint64_t seed = 42, ts = 1000000000;
	char name[32];

	if (!stacks)
		die(-ENOMEM, "stacks");
	add_meta(w);
	add_types(w);
	for (i = 0; i < 4096; i++) {
		snprintf(name, sizeof(name), "kernel_function_%" PRIu64, i);
		ok(stk_writer__symbol(w, TEXT + i * 0x1000, 0x800, name, ""), "symbol");
	}
	for (i = 0; i < ARRAY_SIZE(tasks); i++) {
		snprintf(name, sizeof(name), "task-%" PRIu64, i);
		tasks[i] = task(w, 1000 + i, 1000 + i, name);
	}
	for (i = 0; i < nr_stacks; i++)
		stacks[i] = stack(w, frames, large_stack(i, frames));
	for (i = 0; i < nr_events; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		ts += seed >> 54;
		put_switch(w, ts, seed >> 40 & 3, tasks[seed >> 42 & 63],
			   stacks[(seed >> 33) % nr_stacks], 0, "prev-task", "next-task");
		if (i % 100000 == 99999)
			ok(stk_writer__end_round(w, ts, 1790000000000000000ULL + ts), "round");
	}
	ok(stk_writer__end_round(w, ts + 1, 1790000000000000000ULL + ts), "round");
	c[EV_SWITCH][STK_C_HAPPENED] = c[EV_SWITCH][STK_C_RECORDED] = nr_events;
	c[EV_SWITCH][STK_C_STACK_NEW] = nr_stacks;
	c[EV_SWITCH][STK_C_STACK_HIT] = nr_events - nr_stacks;
	ok(stk_writer__accounting(w, c, 3), "accounting");
	ok(stk_writer__finish(w, "done", 0), "finish");
	stk_writer__free(w);
	free(stacks);
}

/*
 * leaf_2 is slower after the change; rebuilt has another kernel, program and event type, too.  Work
 * is done in 2 ms if it is quick and in 2.1 ms if it is slow.
 */
static const struct diff_kind {
	const char *name;
	struct diff_load load;
} diff_kinds[] = {
	{ "before", { .seed = 5, .seconds = 30, .rate = 300 } },
	{ "after",
	  { .seed = 6, .seconds = 30, .rate = 300, .changed = 2, .factor = 1.8, .more = 1.05 } },
	{ "rebuilt",
	  { .seed = 6,
	    .seconds = 30,
	    .rate = 300,
	    .changed = 2,
	    .factor = 1.8,
	    .more = 1.05,
	    .version = 1,
	    .extra = true } },
	{ "quick", { .seed = 7, .seconds = 30, .rate = 10, .slow = 1 } },
	{ "slow", { .seed = 8, .seconds = 30, .rate = 10, .slow = 1.05 } },
};

static bool make_diff(const char *kind, const char *path)
{
	unsigned int i = 0;
	int fd;

	while (i < ARRAY_SIZE(diff_kinds) && strcmp(diff_kinds[i].name, kind))
		i++;
	if (i == ARRAY_SIZE(diff_kinds))
		return false;
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644);
	if (fd < 0)
		die(-errno, path);
	diff_recording__write(fd, &diff_kinds[i].load);
	return true;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "";

	if (!strcmp(kind, "small") || !strcmp(kind, "abrupt"))
		make_small(argv[2], kind[0] == 's');
	else if (!strcmp(kind, "empty"))
		make_empty(argv[2]);
	else if (!strcmp(kind, "long"))
		make_long(argv[2]);
	else if (!strcmp(kind, "hostile"))
		make_hostile(argv[2]);
	else if (!strcmp(kind, "aliases"))
		make_aliases(argv[2]);
	else if (!strcmp(kind, "losses"))
		make_losses(argv[2]);
	else if (!strcmp(kind, "flags"))
		make_flags(argv[2]);
	else if (!strcmp(kind, "strings"))
		make_strings(argv[2]);
	else if (!strcmp(kind, "user"))
		make_user(argv[2]);
	else if (!strcmp(kind, "user-hostile"))
		make_user_hostile(argv[2]);
	else if (!strcmp(kind, "guesses"))
		make_guesses(argv[2]);
	else if (!strcmp(kind, "latency"))
		make_latency(argv[2]);
	else if (!strcmp(kind, "lifecycle"))
		make_lifecycle(argv[2]);
	else if (!strcmp(kind, "zombies"))
		make_zombies(argv[2]);
	else if (!strcmp(kind, "wakers"))
		make_wakers(argv[2]);
	else if (!strcmp(kind, "selected"))
		make_selected(argv[2]);
	else if (!strcmp(kind, "addresses"))
		make_addresses(argv[2]);
	else if (!strcmp(kind, "replaced"))
		make_replaced(argv[2]);
	else if (!strcmp(kind, "annotate"))
		make_annotate(argv[2]);
	else if (!strcmp(kind, "stalls"))
		make_stalls(argv[2]);
	else if (!strcmp(kind, "profile"))
		make_profile(argv[2]);
	else if (!strcmp(kind, "large"))
		make_large(argv[2], argc > 3 ? strtoull(argv[3], NULL, 0) : 1000000,
			   argc > 4 ? strtoull(argv[4], NULL, 0) : 4000);
	else if (argc <= 2 || !make_diff(kind, argv[2]))
		return 2;
	return 0;
}
