// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include "../common_fields.h"
#include "../writing.h"
#include "cleanup.h"
#include "frame.h"

#define TEXT 0xffffffff81000000ull

static const char sample_format[] = "name: cpu_clock\nID: 0\n" COMMON "\nprint fmt: \"\"\n";
static const char kmalloc_format[] =
	"name: kmalloc\nID: 1\n" COMMON
	"\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:size_t bytes_alloc;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:char cache[8];\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int count;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\tfield:u8 mask[4];\toffset:36;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"call_site=%pS bytes_alloc=%zu\", (void *)REC->call_site, "
	"REC->bytes_alloc\n";
static const char wait_format[] = "name: sched_stat_wait\nID: 2\n" COMMON
				  "\tfield:u64 delay;\toffset:8;\tsize:8;\tsigned:0;\n"
				  "\nprint fmt: \"delay=%Lu [ns]\", REC->delay\n";
static const char exit_format[] =
	"name: sys_exit\nID: 3\n" COMMON "\tfield:long ret;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\nprint fmt: \"ret=%ld\", REC->ret\n";

enum { SAMPLE, KMALLOC, WAIT, EXIT };
enum { APP = 1, LIBC };

/* Addresses of the functions, in the order of the names below. */
#define DO_IDLE (TEXT + 0x0010)
#define HALT (TEXT + 0x1010)
#define STARTUP (TEXT + 0x2010)
#define TIMER_ENTRY (TEXT + 0x3010)
#define TIMER (TEXT + 0x4010)
#define FAULT_ENTRY (TEXT + 0x5010)
#define FAULT (TEXT + 0x6010)
#define SYSCALL (TEXT + 0x7010)
#define READ (TEXT + 0x8010)
#define ALLOC (TEXT + 0x9010)
#define DRIVER (0xffffffffc0200000ull + 0x10)

static const char *const kernel_names[] = {
	"do_idle",	     "default_idle",
	"cpu_startup_entry", "asm_sysvec_apic_timer_interrupt",
	"hrtimer_interrupt", "asm_exc_page_fault",
	"handle_mm_fault",   "do_syscall_64",
	"vfs_read",	     "kmem_alloc",
};

#define MAIN FRAME_USER(APP, 0x1010)
#define PARSE FRAME_USER(APP, 0x2010)
#define COMPUTE FRAME_USER(APP, 0x3010)
#define COMPUTE_LATER FRAME_USER(APP, 0x3020)
#define A_LONG_NAME FRAME_USER(APP, 0x4010)
#define MEMCPY FRAME_USER(LIBC, 0x1010)
#define GUESSED FRAME_MARKER(FRAME_GUESS, 0)

/* The samples: stacks, innermost frame first, and how many there are of each. */
static const struct sample {
	unsigned int count, tid;
	uint64_t kernel[6], user[8];
} samples[] = {
	/* 30 in compute(), called by itself and by main() */
	{ 20, 10, { 0 }, { COMPUTE, COMPUTE_LATER, COMPUTE_LATER, MAIN } },
	{ 10, 10, { 0 }, { COMPUTE, MAIN } },
	/* 15 in memcpy() of parse(), 5 of them in a page fault there */
	{ 10, 10, { 0 }, { MEMCPY, PARSE, MAIN } },
	{ 5, 10, { FAULT, FAULT_ENTRY }, { MEMCPY, PARSE, MAIN } },
	/* 5 in a driver that is read from */
	{ 5, 10, { DRIVER, READ, SYSCALL }, { PARSE, MAIN } },
	/* 10 in the timer interrupt, which hits different code */
	{ 4, 10, { TIMER, TIMER_ENTRY }, { COMPUTE, MAIN } },
	{ 3, 10, { TIMER, TIMER_ENTRY }, { PARSE, MAIN } },
	{ 3, 0, { TIMER, TIMER_ENTRY, HALT, DO_IDLE, STARTUP }, { 0 } },
	/* 30 in the idle loop, in two places */
	{ 20, 0, { HALT, DO_IDLE, STARTUP }, { 0 } },
	{ 10, 0, { DO_IDLE, STARTUP }, { 0 } },
	/* 4 with guesses, 4 in a function with a long name, 2 without a stack */
	{ 4, 10, { 0 }, { GUESSED, MEMCPY, COMPUTE, MAIN } },
	{ 4, 10, { 0 }, { A_LONG_NAME, MAIN } },
	{ 2, 10, { 0 }, { 0 } },
};

static struct stk_writer *w;
static uint64_t now = 1000000000;

static uint32_t stack(const uint64_t *frames, unsigned int max)
{
	unsigned int nr = 0;

	while (nr < max && frames[nr])
		nr++;
	return nr ? add_stack(w, frames, nr) : 0;
}

static uint32_t task(uint32_t tid)
{
	const char *comm = tid == 0 ? "swapper/0" : tid == 10 ? "app" : "other";

	return add_task(w, tid, tid, comm);
}

static void put(unsigned int type, uint32_t tid, uint32_t kstack, uint32_t ustack, const void *rec,
		size_t len, unsigned int marks)
{
	add_event(w, (struct stk_writer_event){ .ts = now += 1000,
						.event = type,
						.task = task(tid),
						.kstack = kstack,
						.ustack = ustack,
						.record = rec,
						.record_len = len,
						.marks = marks });
}

static void add_names(void)
{
	const struct stk_user_symbol app[] = {
		{ "main", 0x1000, 0x100 },
		{ "parse", 0x2000, 0x100 },
		{ "compute", 0x3000, 0x100 },
		{ "a_function_of_the_program_whose_name_is_longer_than_the_line", 0x4000, 0x100 },
	};
	const struct stk_user_symbol libc[] = { { "memcpy", 0x1000, 0x100 } };
	struct stk_file file = { .path = "/usr/bin/app", .host_path = "" };
	uint32_t nr;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kernel_names); i++)
		ok(stk_writer__symbol(w, TEXT + i * 0x1000, 0x100, kernel_names[i], ""));
	ok(stk_writer__symbol(w, DRIVER & ~0xffull, 0x100, "disk_read", "demo_mod"));
	nr = add_file(w, file);
	ok(stk_writer__user_symbols(w, nr, app, ARRAY_SIZE(app)));
	file.path = "/lib/libc.so.6";
	nr = add_file(w, file);
	ok(stk_writer__user_symbols(w, nr, libc, ARRAY_SIZE(libc)));
}

static void add_samples(void)
{
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(samples); i++)
		for (k = 0; k < samples[i].count; k++)
			put(SAMPLE, samples[i].tid, stack(samples[i].kernel, 6),
			    stack(samples[i].user, 8), "\0\0\0\0\0\0\0\0", 8, 0);
}

/* Few large allocations in read(), many small ones elsewhere; two events have no fields. */
static void add_allocations(void)
{
	const uint64_t reading[] = { ALLOC, READ, SYSCALL }, other[] = { ALLOC, SYSCALL };
	struct {
		char common[8];
		uint64_t call_site, bytes_alloc;
		char cache[8];
		uint32_t count;
		uint8_t mask[4];
	} rec = { .cache = "large", .count = 3, .mask = { 1, 2, 3, 4 } };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		rec.call_site = READ;
		rec.bytes_alloc = 4096 << i;
		put(KMALLOC, 10, stack(reading, 3), 0, &rec, sizeof(rec), 0);
	}
	strcpy(rec.cache, "small");
	for (i = 0; i < 20; i++) {
		rec.call_site = i % 2 ? SYSCALL : SYSCALL + 0x20;
		rec.bytes_alloc = 8 * i;
		put(KMALLOC, 11 + i % 2, stack(other, 2), 0, &rec, sizeof(rec), 0);
	}
	for (i = 0; i < 2; i++)
		put(KMALLOC, 10, stack(reading, 3), 0, &rec, 8, STK_MARK_NO_FIELDS);
}

static void add_waits(void)
{
	const uint64_t waiting[] = { READ, SYSCALL };
	struct {
		char common[8];
		int64_t value;
	} rec = { .value = 1500000 };
	unsigned int i;

	for (i = 0; i < 3; i++, rec.value += 250000)
		put(WAIT, 10 + i, stack(waiting, 1 + i % 2), 0, &rec, sizeof(rec), 0);
	for (i = 0; i < 5; i++) {
		rec.value = i % 2 ? -11 : (int)(100 * i);
		put(EXIT, 10, stack(waiting, 2), 0, &rec, sizeof(rec), 0);
	}
}

void make_profile(const char *path)
{
	w = begin_recording(path, 1);
	ok(stk_writer__meta(w, "samples.hz", "1000"));
	ok(stk_writer__type(w, STK_KIND_SAMPLE, "sample", "cpu_clock", "", sample_format));
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "kmem", "kmalloc", "", kmalloc_format));
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "sched", "sched_stat_wait", "", wait_format));
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "raw_syscalls", "sys_exit", "", exit_format));
	add_names();
	add_samples();
	add_allocations();
	add_waits();
	end_recording(w, now + 1, "done");
}
