// SPDX-License-Identifier: GPL-2.0-only
/* Recordings of one program on two hosts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common_fields.h"
#include "cleanup.h"
#include "frame.h"
#include "recordings.h"
#include "trace/write/writer.h"

static const char format[] = "name: sys_enter_futex\nID: 77\n" COMMON
			     "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
			     "\tfield:u32 * uaddr;\toffset:16;\tsize:8;\tsigned:0;\n"
			     "\tfield:int op;\toffset:24;\tsize:8;\tsigned:0;\n"
			     "\tfield:u32 val;\toffset:32;\tsize:8;\tsigned:0;\n"
			     "\tfield:u32 VAL;\toffset:32;\tsize:4;\tsigned:0;\n"
			     "\nprint fmt: \"uaddr: 0x%08lx, op: 0x%08lx, val: 0x%08lx\", "
			     "((unsigned long)(REC->uaddr)), ((unsigned long)(REC->op)), "
			     "((unsigned long)(REC->val))\n";

struct record {
	char common[8];
	int32_t nr, pad;
	uint64_t uaddr, op, val;
};

static const char switch_format[] =
	"name: sched_switch\nID: 265\n" COMMON
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\nprint fmt: \"prev_comm=%s prev_pid=%d prev_state=%ld\", REC->prev_comm, "
	"REC->prev_pid, REC->prev_state\n";

struct switch_record {
	char common[8];
	char prev_comm[16];
	int32_t prev_pid, pad;
	int64_t prev_state;
};

struct host {
	struct stk_writer *w;
	const char *name, *boot_id, *text_meta;
	uint64_t text, trampoline, module, jit, clock;
	uint32_t pid;
	bool is_other;
	uint32_t app, libc, jit_file, gone;
};

static void ok(int err, const char *what)
{
	if (err >= 0)
		return;
	fprintf(stderr, "make_fleet: %s: %s\n", what, strerror(-err));
	exit(1);
}

static void add_meta(const struct host *h)
{
	const char *const meta[][2] = {
		{ "hostname", h->name },
		{ "boot_id", h->boot_id },
		{ "kernel.release", "6.1.0-fleet" },
		{ "kernel.build_id", "00112233445566778899aabbccddeeff01234567" },
		{ "kernel.text", h->text_meta },
		{ "clock", "mono" },
		{ "clock.ts", h->is_other ? "900000000000" : "100000000000" },
		{ "clock.wall_ns", "1790000000000000000" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(meta); i++)
		ok(stk_writer__meta(h->w, meta[i][0], meta[i][1]), "meta");
	ok(stk_writer__type(h->w, STK_KIND_SYSCALL, "syscalls", "sys_enter_futex", "", format),
	   "type");
	ok(stk_writer__type(h->w, STK_KIND_TRACEPOINT, "sched", "sched_switch", "", switch_format),
	   "type");
}

static void add_symbols(const struct host *h)
{
	ok(stk_writer__symbol(h->w, h->text + 0x1000, 0x800, "futex_wait", ""), "symbol");
	ok(stk_writer__symbol(h->w, h->text + 0x2000, 0x800, "do_syscall_64", ""), "symbol");
	ok(stk_writer__symbol(h->w, h->trampoline, 0x40, "disk_trampoline", ""), "symbol");
	ok(stk_writer__symbol(h->w, h->module + 0x40, 0x100, "disk_wait", "demo_mod"), "symbol");
}

static uint32_t add_file(const struct host *h, const char *path, uint64_t inode, const char *id)
{
	struct stk_file f = { .path = path,
			      .host_path = path,
			      .dev_major = 254,
			      .dev_minor = h->is_other ? 3 : 1,
			      .inode = inode,
			      .size = 4096 * 10,
			      .mtime_ns = h->is_other ? 1 : 2,
			      .id_kind = id ? STK_ID_BUILD_ID : STK_ID_NONE,
			      .id = (const uint8_t *)id,
			      .id_len = id ? 20 : 0 };
	uint32_t number;

	ok(stk_writer__file(h->w, &f, &number), "file");
	return number;
}

static uint32_t add_jit(const struct host *h)
{
	struct stk_file f = { .kind = STK_FILE_JIT,
			      .path = "[jit]",
			      .pid = h->pid,
			      .start_ns = h->clock,
			      .base = 0x7f0000000000ULL };
	uint32_t number;

	ok(stk_writer__file(h->w, &f, &number), "file");
	return number;
}

static void add_files(struct host *h)
{
	static const char app_id[] = "\x3b\xa6\xe0\xc2 the app, a build";
	static const char libc_id[] = "\xc0\x4a\x61\x31 some C library  ";

	if (h->is_other) {
		h->gone = add_file(h, "/tmp/gone.so", 99, NULL);
		h->libc = add_file(h, "/srv/root/lib/libc.so.6", 5, libc_id);
		h->jit_file = add_jit(h);
		h->app = add_file(h, "/opt/app", 7, app_id);
		return;
	}
	h->app = add_file(h, "/usr/bin/app", 4711, app_id);
	h->libc = add_file(h, "/lib/libc.so.6", 4712, libc_id);
	h->gone = add_file(h, "/tmp/gone.so", 98, NULL);
	h->jit_file = add_jit(h);
}

static void add_user_symbols(const struct host *h)
{
	const struct stk_user_symbol app = { "main", 0x1000, 0x100 };
	const struct stk_user_symbol libc = { "__futex_wait", 0x8000, 0x200 };
	const struct stk_user_symbol jit = { "LazyCompile:*tick /srv/app.js:12", h->jit, 0x400 };

	/* one host's recording lacks the names of the application */
	if (!h->is_other)
		ok(stk_writer__user_symbols(h->w, h->app, &app, 1), "symbols");
	ok(stk_writer__user_symbols(h->w, h->libc, &libc, 1), "symbols");
	ok(stk_writer__user_symbols(h->w, h->jit_file, &jit, 1), "symbols");
}

static uint32_t stack(const struct host *h, const uint64_t *frames, unsigned int nr)
{
	uint32_t number;

	ok(stk_writer__stack(h->w, frames, nr, &number), "stack");
	return number;
}

static uint32_t kernel_stack(const struct host *h, bool in_module)
{
	const uint64_t short_one[] = { h->text + 0x1034, h->text + 0x2078 };
	const uint64_t long_one[] = { h->module + 0x61, h->trampoline + 0x10, h->text + 0x2078 };

	return in_module ? stack(h, long_one, 3) : stack(h, short_one, 2);
}

/* 0 to 4: through a file, generated code, unknown memory, a file without an id, an unknown end. */
static uint32_t user_stack(const struct host *h, int i)
{
	const uint64_t inner[] = { FRAME_USER(h->app, 0x1055),
				   FRAME_USER(h->jit_file, h->jit + (h->is_other ? 0x81 : 0x44)),
				   FRAME_USER(0, h->is_other ? 0x123 : 0x456),
				   FRAME_USER(h->gone, 0x10) };
	const uint64_t frames[] = { FRAME_USER(h->libc, 0x8034), inner[i % 4],
				    FRAME_USER(h->app, 0x1010),
				    FRAME_MARKER(FRAME_END, STK_END_NO_TABLE) };

	return stack(h, frames, i < 4 ? 3 : 4);
}

static void add_event(const struct host *h, uint32_t task, int i)
{
	struct record rec = { .nr = 202, .uaddr = 0x7ffd00001000 + i % 4 * 64, .op = 128 };
	struct switch_record sw = { .prev_comm = "worker", .prev_pid = (int32_t)h->pid };
	struct stk_writer_event e = { .ts = h->clock + i * 1000,
				      .cpu = i % 2,
				      .event = i % 5 == 4,
				      .task = task,
				      .kstack = kernel_stack(h, i % 5 == 4),
				      .ustack = user_stack(h, i % 5),
				      .record = &rec,
				      .record_len = sizeof(rec) };

	rec.val = i;
	sw.prev_state = i % 3 - 1;
	if (e.event) {
		e.record = &sw;
		e.record_len = sizeof(sw);
	}
	if (i % 7 == 6)
		e.marks = STK_MARK_NO_FIELDS;
	ok(stk_writer__event(h->w, &e), "event");
}

static void add_events(const struct host *h)
{
	struct stk_writer_loss loss = { .first_ts = h->clock + 100,
					.last_ts = h->clock + 200,
					.event = 0,
					.cpu = 1,
					.count = 3 };
	uint64_t c[2][STK_NR_COUNTERS] = { 0 };
	uint32_t task;
	int i;

	ok(stk_writer__loss(h->w, &loss), "loss");
	ok(stk_writer__task(h->w, h->pid + 1, h->pid, "worker", 6, &task), "task");
	/* other numbers for the same stacks */
	for (i = 0; h->is_other && i < 5; i++)
		user_stack(h, 4 - i);
	for (i = 0; i < 200; i++) {
		add_event(h, task, i);
		c[i % 5 == 4][STK_C_RECORDED]++;
		c[i % 5 == 4][STK_C_HAPPENED]++;
		if (i % 50 == 49)
			ok(stk_writer__end_round(h->w, h->clock + i * 1000 + 1,
						 1790000000000000000ULL + i * 1000),
			   "round");
	}
	c[0][STK_C_HAPPENED] += 3;
	c[0][STK_C_LOST_RING] += 3;
	ok(stk_writer__accounting(h->w, c, 2), "accounting");
	ok(stk_writer__end_round(h->w, h->clock + 1000000, 1790000000001000000ULL), "round");
}

static void make(const char *path, bool is_other_host)
{
	struct stk_writer_opts opts = { .nr_cpus = 2 };
	struct host h = { .name = is_other_host ? "web2" : "web1",
			  .boot_id = is_other_host ? "00000000-0000-4000-8000-000000000002" :
						     "00000000-0000-4000-8000-000000000001",
			  .text = is_other_host ? 0xffffffff9ce00000 : 0xffffffff81000000,
			  .text_meta = is_other_host ? "0xffffffff9ce00000" : "0xffffffff81000000",
			  .trampoline = is_other_host ? 0xffffa00012345000 : 0xffffa00000054000,
			  .module = is_other_host ? 0xffffffffc0700000 : 0xffffffffc0200000,
			  .jit = is_other_host ? 0x5000 : 0x1000,
			  .clock = is_other_host ? 901000000000 : 101000000000,
			  .pid = is_other_host ? 222 : 111,
			  .is_other = is_other_host };
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644);

	ok(fd < 0 ? -errno : stk_writer__new(fd, &opts, &h.w), path);
	add_meta(&h);
	add_symbols(&h);
	add_files(&h);
	add_events(&h);
	add_user_symbols(&h);
	ok(stk_writer__finish(h.w, "exited", 0), "finish");
	stk_writer__free(h.w);
}

void make_fleet(const char *path)
{
	make(path, false);
}

void make_fleet_other(const char *path)
{
	make(path, true);
}
