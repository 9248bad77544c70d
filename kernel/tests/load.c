// SPDX-License-Identifier: GPL-2.0-only
/*
 * load KIND TIMES: does one thing that often, on one CPU.  Prints nanoseconds each, which with
 * qemu's -icount shift=0 are instructions.
 *   getppid   a system call
 *   fault     a page of new memory is touched
 *   pingpong  two tasks wake each other
 */
#include <err.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

static void pingpong(unsigned long times)
{
	int there[2], back[2];
	pid_t child;
	char c = 0;

	if (pipe(there) || pipe(back))
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		close(there[1]);
		while (read(there[0], &c, 1) == 1)
			if (write(back[1], &c, 1) != 1)
				_exit(1);
		_exit(0);
	}
	close(there[0]);
	while (times--)
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			errx(1, "the other one is gone");
	close(there[1]);
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	struct timespec from, to;
	unsigned long times;
	cpu_set_t set;

	if (argc != 3)
		errx(2, "load KIND TIMES");
	times = strtoul(argv[2], NULL, 10);
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (!times || sched_setaffinity(0, sizeof(set), &set))
		err(1, "load");
	clock_gettime(CLOCK_MONOTONIC, &from);
	if (!strcmp(argv[1], "getppid"))
		getppids(times);
	else if (!strcmp(argv[1], "fault"))
		faults(times);
	else if (!strcmp(argv[1], "pingpong"))
		pingpong(times);
	else
		errx(2, "no such load: %s", argv[1]);
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%.1f\n",
	       ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
		       (double)times);
	return 0;
}
