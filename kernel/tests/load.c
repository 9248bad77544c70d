// SPDX-License-Identifier: GPL-2.0-only
/*
 * load KIND TIMES [WINDOWS]: does one thing TIMES times on one CPU, and repeats that WINDOWS times.
 * Prints the time of one in the best window, in nanoseconds, which are instructions with qemu's
 * -icount shift=0; no interrupt came in the best window.
 *   spin      two instructions
 *   getppid   a system call
 *   fault     touches a page of new memory
 *   pingpong  two tasks wake each other, with two switches
 *   calls     system calls of many kinds
 *
 * load new DIR WINDOWS: system calls of many kinds, first with the stack map of the trace instance
 * DIR empty, then with their stacks in it.  Prints both costs and the number of new stacks.
 */
#include <sys/wait.h>
#include <time.h>

#include "calls.h"
#include "ring.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void spin(unsigned long times)
{
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(times));
}

static void getppids(unsigned long times)
{
	while (times--)
		syscall(SYS_getppid);
}

static void faults(unsigned long times)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = 64;

	while (times) {
		char *at = mmap(NULL, pages * page, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (at == MAP_FAILED)
			err(1, "mmap");
		for (size_t i = 0; i < pages && times; i++, times--)
			at[i * page] = 1;
		munmap(at, pages * page);
	}
}

static int there[2], back[2];

static void pingpong(unsigned long times)
{
	char c = 0;

	while (times--)
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			errx(1, "the other process is gone");
}

static void calls(unsigned long times)
{
	while (times--)
		for (unsigned int call = 0; call < calls__nr(); call++)
			calls__make(call);
}

/* The other process answers until this one ends. */
static void pingpong_prepare(void)
{
	pid_t child;
	char c;

	if (pipe(there) || pipe(back))
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	close(there[child ? 0 : 1]);
	if (child)
		return;
	while (read(there[0], &c, 1) == 1)
		if (write(back[1], &c, 1) != 1)
			_exit(1);
	_exit(0);
}

static void pingpong_end(void)
{
	close(there[1]);
	wait(NULL);
}

static const struct load {
	const char *name;
	void (*run)(unsigned long times);
	void (*prepare)(void);
	void (*end)(void);
} loads[] = {
	{ "spin", spin, NULL, NULL },
	{ "getppid", getppids, NULL, NULL },
	{ "fault", faults, NULL, NULL },
	{ "pingpong", pingpong, pingpong_prepare, pingpong_end },
	{ "calls", calls, calls__prepare, NULL },
};

static void best_window(const struct load *load, unsigned long times, unsigned int windows)
{
	double best = 0, took;

	if (load->prepare)
		load->prepare();
	for (unsigned int i = 0; i < windows; i++) {
		took = now();
		load->run(times);
		took = now() - took;
		best = !i || took < best ? took : best;
	}
	if (load->end)
		load->end();
	printf("%.1f\n", best / (double)times);
}

/* The same calls twice: their stacks are new to the map at first, then known. */
static void new_stacks(const char *dir, unsigned int windows)
{
	double best[2] = { 0, 0 }, took;
	unsigned long stacks = 0;

	calls__prepare();
	put_text(dir, "tracing_on", "0");
	for (unsigned int i = 0; i < windows; i++) {
		put_text(dir, "stack_map", "reset");
		put_text(dir, "trace", "");
		for (unsigned int known = 0; known < 2; known++) {
			put_text(dir, "tracing_on", "1");
			took = now();
			calls(1);
			took = now() - took;
			put_text(dir, "tracing_on", "0");
			best[known] = !i || took < best[known] ? took : best[known];
			if (!known)
				stacks = stat_of(dir, "stack_map_stat", "entries");
		}
	}
	printf("%.0f %.0f %lu\n", best[0], best[1], stacks);
}

int main(int argc, char **argv)
{
	unsigned int windows = argc > 3 ? (unsigned int)strtoul(argv[3], NULL, 10) : 1;
	cpu_set_t set;

	if (argc < 3 || argc > 4 || !windows)
		errx(2, "load KIND TIMES [WINDOWS]");
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "sched_setaffinity");
	if (!strcmp(argv[1], "new")) {
		new_stacks(argv[2], windows);
		return 0;
	}
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		if (!strcmp(argv[1], loads[i].name)) {
			best_window(&loads[i], strtoul(argv[2], NULL, 10), windows);
			return 0;
		}
	}
	errx(2, "no such load: %s", argv[1]);
}
