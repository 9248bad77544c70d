// SPDX-License-Identifier: GPL-2.0-only
/*
 * load: keeps the machine busy until it is killed: on every CPU a process that computes and one
 * that forks half of the time, and one process that takes up to half of the free memory, releases
 * it, and has pages moved.  All of them end with their parent, which ends with its own parent.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "prog.h"

#define MAX_MEMORY (2ull << 30)
#define COMPACT "/proc/sys/vm/compact_memory"

static void __attribute__((noreturn)) compute(void)
{
	volatile unsigned long n = 0;

	for (;;)
		n++;
}

/*
 * Twenty processes at once, and then a pause as long: where a fork takes a millisecond, storms
 * without a pause leave a tenth of the machine to the tests.
 */
static void __attribute__((noreturn)) storm(void)
{
	uint64_t began;
	unsigned int i;
	pid_t pid;

	for (;;) {
		began = now_ns();
		for (i = 0; i < 20; i++) {
			pid = fork();
			if (!pid && i % 4)
				_exit(0);
			if (!pid) {
				execl("/bin/true", "true", NULL);
				_exit(1);
			}
		}
		while (waitpid(-1, NULL, 0) > 0)
			;
		usleep((now_ns() - began) / 1000);
	}
}

static unsigned long long available(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long kb = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb << 10;
}

static void compact(void)
{
	FILE *f = fopen(COMPACT, "we");

	if (!f)
		return;
	fputs("1", f);
	fclose(f);
}

static void __attribute__((noreturn)) memory(void)
{
	for (;;) {
		unsigned long long size = available() / 2, at;
		char *p;

		if (size > MAX_MEMORY)
			size = MAX_MEMORY;
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (at = 0; p != MAP_FAILED && at < size; at += 4096) {
			p[at] = 1;
			if (!(at % (64 << 20)))
				usleep(10000);
		}
		compact();
		if (p != MAP_FAILED)
			munmap(p, size);
		usleep(100000);
	}
}

static void start(void (*fn)(void))
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		fn();
	_exit(1);
}

int main(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pid_t parent = getppid();

	signal(SIGINT, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		return 1;
	for (; cpus > 0; cpus--) {
		start(compute);
		start(storm);
	}
	start(memory);
	wait(NULL);
	errx(1, "a process of the load ended");
}
