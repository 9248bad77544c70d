// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include "../common_fields.h"
#include "../writing.h"
#include "../trace/old_file.h"

static const char enter_format[] =
	"name: sys_enter\nID: 21\n" COMMON "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n"
	"\nprint fmt: \"NR %ld (%lx)\", REC->id, REC->args[0]\n";
static const char exit_format[] =
	"name: sys_exit\nID: 22\n" COMMON "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n"
	"\nprint fmt: \"NR %ld = %ld\", REC->id, REC->ret\n";
static const char softirq_format[] =
	"name: softirq\nID: 23\n" COMMON
	"\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"vec=%u [action=%s]\", REC->vec, __print_symbolic(REC->vec, "
	"{ 1, \"TIMER\" }, { 9, \"RCU\" })\n";
static const char issue_format[] = "name: block_rq_issue\nID: 25\n" COMMON
				   "\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
				   "\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
				   "\nprint fmt: \"%llu\", REC->sector\n";

enum { ENTER, EXIT, SOFTIRQ_ENTRY, SOFTIRQ_EXIT, ISSUE, COMPLETE, NR_TYPES };

struct record {
	char common[8];
	uint64_t id, more[6];
};

struct recording {
	struct stk_writer *w;
	uint32_t stacks[3];
	uint64_t counters[NR_TYPES][STK_NR_COUNTERS];
};

static void put(struct recording *r, uint64_t us, int type, uint32_t tid, const char *comm,
		uint64_t id)
{
	struct record rec = { .id = id, .more = { id } };
	struct stk_writer_event e = { .ts = 1000000000 + 1000 * us,
				      .cpu = tid % 2,
				      .event = type,
				      .kstack = r->stacks[type % 3],
				      .record = &rec,
				      .record_len = sizeof(rec) };

	if (type == SOFTIRQ_ENTRY || type == SOFTIRQ_EXIT)
		e.flags = 0x10;
	if (type == ISSUE || type == COMPLETE)
		rec.id = 8u << 20 | 1; /* the device */
	e.task = add_task(r->w, tid, tid, comm);
	add_event(r->w, e);
	r->counters[type][STK_C_HAPPENED]++;
	r->counters[type][STK_C_RECORDED]++;
}

static void end_round(struct recording *r, uint64_t us)
{
	ok(stk_writer__end_round(r->w, 1000000000 + 1000 * us, 0));
	ok(stk_writer__accounting(r->w, (const uint64_t(*)[STK_NR_COUNTERS])r->counters, NR_TYPES));
}

static void add_tables(struct recording *r)
{
	static const struct {
		const char *system, *name, *format;
	} types[NR_TYPES] = { { "raw_syscalls", "sys_enter", enter_format },
			      { "raw_syscalls", "sys_exit", exit_format },
			      { "irq", "softirq_entry", softirq_format },
			      { "irq", "softirq_exit", softirq_format },
			      { "block", "block_rq_issue", issue_format },
			      { "block", "block_rq_complete", issue_format } };
	const uint64_t text = 0xffffffff81000000ull;
	const uint64_t frames[3][2] = { { text + 0x10, text + 0x2010 },
					{ text + 0x1010, text + 0x2010 },
					{ text + 0x2020 } };
	unsigned int i;

	for (i = 0; i < NR_TYPES; i++)
		ok(stk_writer__type(r->w, STK_KIND_TRACEPOINT, types[i].system, types[i].name, "",
				    types[i].format));
	ok(stk_writer__symbol(r->w, text, 0x100, "syscall_trace_enter", ""));
	ok(stk_writer__symbol(r->w, text + 0x1000, 0x100, "syscall_exit_work", ""));
	ok(stk_writer__symbol(r->w, text + 0x2000, 0x100, "do_syscall_64", ""));
	for (i = 0; i < 3; i++)
		r->stacks[i] = add_stack(r->w, frames[i], i == 2 ? 1 : 2);
}

static void add_calls(struct recording *r)
{
	static const char evil[] = "\033[31m<b>";
	unsigned int i;

	put(r, 5, EXIT, 10, "bash", 61);
	for (i = 0; i < 40; i++) {
		put(r, 10 + 100 * i, ENTER, 10, "bash", i % 4 ? 0 : 1);
		put(r, 10 + 100 * i + 1 + i * i / 20, EXIT, 10, "bash", i % 4 ? 0 : 1);
	}
	put(r, 4100, ENTER, 11, evil, 9999);
	put(r, 4110, SOFTIRQ_ENTRY, 11, evil, 9);
	put(r, 4150, SOFTIRQ_EXIT, 11, evil, 9);
	put(r, 4160, EXIT, 11, evil, 9999);
	put(r, 4200, ISSUE, 10, "bash", 77);
	put(r, 4300, COMPLETE, 0, "swapper/0", 77);
	put(r, 4400, ENTER, 12, "sleep", 35);
}

void make_latency(const char *path)
{
	struct recording r = { .w = begin_recording(path, 2) };
	int i;

	add_tables(&r);
	add_calls(&r);
	end_round(&r, 500000);
	/* Accountings without a change, then one with losses. */
	for (i = 2; i < 6; i++) {
		put(&r, 500000 * i - 100, ENTER, 10, "bash", 0);
		put(&r, 500000 * i - 90, EXIT, 10, "bash", 0);
		end_round(&r, 500000 * i);
	}
	put(&r, 2600000, ENTER, 10, "bash", 0);
	r.counters[EXIT][STK_C_HAPPENED] += 2;
	r.counters[EXIT][STK_C_LOST_RING] += 2;
	put(&r, 2700000, EXIT, 10, "bash", 0);
	put(&r, 2800000, ENTER, 10, "bash", 0);
	end_round(&r, 3000000);
	ok(stk_writer__finish(r.w, "done", 0));
	stk_writer__free(r.w);
	ok(old_file__make(path) ? 0 : -EIO);
}
