// SPDX-License-Identifier: GPL-2.0-only
/*
 * ujit CALLS PAUSE HOW...: generates code at run time, names it, waits PAUSE milliseconds if there
 * was other code before, and makes CALLS system calls below it, for each HOW.  It waits as long
 * before it exits, because only the code of a running process can be followed.  HOW is:
 *
 *   table   a jitdump with unwind tables, without which the code cannot be unwound: getppid
 *   path    a perf map; the frame can be found by the way to the function's return: getuid
 *   fp      a perf map; the frame can be found by the frame pointer alone: getgid
 *   none    a perf map; the frame cannot be found: getpgrp
 *   twice   one address has a function (getppid), then another one with a larger frame (getuid)
 *   move    a function (getpgrp) is moved (getppid), and another one takes its place (getuid)
 *   late    as twice, but the dump is written at the end, as by runtimes that buffer it
 *
 * The call chain is always main, work, the generated code, a function named after the system call.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "../prog.h"

#define AREA (64u << 10)
#define MAX_CODE 32

static unsigned long calls, pause_ms;
static volatile long sum;

#define CALLER(name)                                            \
	__attribute__((noinline)) static void call_##name(void) \
	{                                                       \
		for (unsigned long i = 0; i < calls; i++)       \
			sum += syscall(SYS_##name);             \
	}
CALLER(getppid)
CALLER(getuid)
CALLER(getgid)
CALLER(getpgrp)

/* ---- code ------------------------------------------------------------------------------------ */

static uint8_t *area; /* where code is generated */

struct code {
	uint8_t bytes[MAX_CODE];
	unsigned int len;
	uint8_t frame; /* bytes for locals, a multiple of 16 */
	bool fp;
};

static void put(struct code *c, const char *hex)
{
	unsigned int byte;
	int n;

	for (; sscanf(hex, " %2x%n", &byte, &n) == 1; hex += n)
		c->bytes[c->len++] = (uint8_t)byte;
}

static void put_byte(struct code *c, uint8_t byte)
{
	c->bytes[c->len++] = byte;
}

/*
 * A function that calls its argument.  Without `fp` the frame pointer has another value meanwhile;
 * without `returns` it leaves by a jump, which hides the way to its end.
 */
static struct code make_code(uint8_t frame, bool fp, bool returns)
{
	struct code c = { .frame = frame, .fp = fp };

	put(&c, "55"); /* push %rbp */
	if (fp)
		put(&c, "48 89 e5"); /* mov %rsp,%rbp */
	put(&c, "48 83 ec"); /* sub $frame,%rsp */
	put_byte(&c, frame);
	if (!fp)
		put(&c, "bd 34 12 00 00"); /* mov $0x1234,%ebp */
	put(&c, "ff d7"); /* call *%rdi */
	if (fp) {
		put(&c, "c9"); /* leave */
	} else {
		put(&c, "48 83 c4"); /* add $frame,%rsp */
		put_byte(&c, frame);
		put(&c, "5d"); /* pop %rbp */
	}
	put(&c, returns ? "c3" : "59 ff e1"); /* ret; or pop %rcx, jmp *%rcx */
	return c;
}

/* ---- the jitdump ----------------------------------------------------------------------------- */

static char dump[AREA];
static size_t dump_len, dump_written;
static int dump_fd = -1;
static bool dump_late;

static void put_data(const void *data, size_t len)
{
	memcpy(dump + dump_len, data, len);
	dump_len += len;
}

static void put32(uint32_t v)
{
	put_data(&v, sizeof(v));
}

static void put64(uint64_t v)
{
	put_data(&v, sizeof(v));
}

static void flush(void)
{
	size_t len = dump_len - dump_written;

	if (write(dump_fd, dump + dump_written, len) != (ssize_t)len)
		err(1, "write the jitdump");
	dump_written = dump_len;
}

static void open_dump(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", getpid());
	dump_fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
	/* a tool finds it by this mapping */
	if (dump_fd < 0 ||
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump_fd, 0) == MAP_FAILED)
		err(1, "%s", path);
	put32(0x4a695444);
	put32(1);
	put32(40);
	put32(62);
	put32(0);
	put32(getpid());
	put64(now_ns());
	put64(0);
}

/* Begins a record; its size is stored by end_record(). */
static size_t begin_record(uint32_t id)
{
	size_t at = dump_len;

	put32(id);
	put32(0);
	put64(now_ns());
	return at;
}

static void end_record(size_t at)
{
	uint32_t size = dump_len - at;

	memcpy(dump + at + 4, &size, sizeof(size));
	if (!dump_late)
		flush();
}

/* .eh_frame of one function, at the next multiple of eight bytes after its code. */
static void put_tables(const struct code *c)
{
	const uint8_t cie[] = { 20, 0,	  0,  0, 0,    0,    0, 0, 1,	 'z', 'R', 0,
				1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0 };
	const uint8_t program[] = { 0x41, 0x0e, 16, 0x86, 2,	0x44, 0x0e, 16 + c->frame,
				    0x4b, 0x0e, 16, 0x41, 0x0e, 8,    0xc6, 0 };
	const uint8_t header[] = { 1, 0x1b, 3, 0x3b };
	size_t at = begin_record(4), start;

	put64(sizeof(cie) + 20 + sizeof(program) - 3 + 20);
	put64(20);
	put64(0);
	start = dump_len;
	put_data(cie, sizeof(cie));
	put32(sizeof(program) + 13);
	put32(dump_len - start);
	put32(-(((c->len + 7) & ~7u) + (uint32_t)(dump_len - start)));
	put32(c->len);
	put_data("", 1);
	put_data(program, sizeof(program));
	put_data(header, sizeof(header));
	put32(-(uint32_t)(dump_len - start));
	put32(1);
	put64(0);
	end_record(at);
}

static void put_load(const uint8_t *addr, const struct code *c, uint64_t index, const char *name)
{
	size_t at = begin_record(0);

	put32(getpid());
	put32(getpid());
	put64((uintptr_t)addr);
	put64((uintptr_t)addr);
	put64(c->len);
	put64(index);
	put_data(name, strlen(name) + 1);
	put_data(c->bytes, c->len);
	end_record(at);
}

static void put_move(const uint8_t *from, const uint8_t *to, uint64_t size, uint64_t index)
{
	size_t at = begin_record(1);

	put32(getpid());
	put32(getpid());
	put64((uintptr_t)to);
	put64((uintptr_t)from);
	put64((uintptr_t)to);
	put64(size);
	put64(index);
	end_record(at);
}

static void put_map(const uint8_t *addr, const struct code *c, const char *name)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "ae");
	if (!f)
		err(1, "%s", path);
	fprintf(f, "%lx %x %s\n", (unsigned long)(uintptr_t)addr, c->len, name);
	fclose(f);
}

/* ---- calls ----------------------------------------------------------------------------------- */

__attribute__((noinline)) static void work(uint8_t *at, void (*call)(void))
{
	((void (*)(void (*)(void)))(uintptr_t)at)(call);
	sum++; /* so the call above does not become a jump */
}

static void dumped(uint8_t *at, const struct code *c, uint64_t index, const char *name,
		   void (*call)(void))
{
	memcpy(at, c->bytes, c->len);
	put_tables(c);
	put_load(at, c, index, name);
	if (index > 1)
		usleep(pause_ms * 1000);
	work(at, call);
}

static void mapped(uint8_t *at, const struct code *c, const char *name, void (*call)(void))
{
	memcpy(at, c->bytes, c->len);
	put_map(at, c, name);
	work(at, call);
}

static void run(const char *how)
{
	struct code small = make_code(32, false, false), large = make_code(96, false, false);
	struct code path = make_code(32, false, true), fp = make_code(32, true, false);

	if (!strcmp(how, "table")) {
		dumped(area, &small, 1, "jit_table", call_getppid);
	} else if (!strcmp(how, "path")) {
		mapped(area + 4096, &path, "jit_path", call_getuid);
	} else if (!strcmp(how, "fp")) {
		mapped(area + 8192, &fp, "jit_fp", call_getgid);
	} else if (!strcmp(how, "none")) {
		mapped(area + 12288, &small, "jit_none", call_getpgrp);
	} else if (!strcmp(how, "twice") || !strcmp(how, "late")) {
		dump_late = *how == 'l';
		dumped(area, &small, 1, "jit_first", call_getppid);
		dumped(area, &large, 2, "jit_second", call_getuid);
	} else if (!strcmp(how, "move")) {
		dumped(area, &small, 1, "jit_moved", call_getpgrp);
		memcpy(area + 512, small.bytes, small.len);
		put_move(area, area + 512, small.len, 1);
		usleep(pause_ms * 1000);
		work(area + 512, call_getppid);
		dumped(area, &large, 2, "jit_other", call_getuid);
	} else {
		errx(2, "unknown: %s", how);
	}
}

int main(int argc, char **argv)
{
	calls = arg_number(argc, argv, 1, 1, 10000000);
	pause_ms = arg_number(argc, argv, 2, 0, 10000);
	area = mmap(NULL, AREA, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (area == MAP_FAILED)
		err(1, "mmap");
	open_dump();
	for (int i = 3; i < argc; i++)
		run(argv[i]);
	flush();
	usleep(pause_ms * 1000);
	return 0;
}
