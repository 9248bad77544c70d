// SPDX-License-Identifier: GPL-2.0-only
/*
 * getppid [CALLS [CPU]]: exactly CALLS getppid system calls in a tight loop.  Prints the number of
 * calls and the CPU time for them.
 */
#include <time.h>

#include "prog.h"

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts))
		err(1, "clock_gettime");
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int main(int argc, char **argv)
{
	unsigned long calls = arg_number(argc, argv, 1, 1000000, 1000000000);
	uint64_t before;

	if (argc > 2)
		pin_to_cpu((unsigned int)arg_number(argc, argv, 2, 0, CPU_SETSIZE - 1));
	before = cpu_ns();
	for (unsigned long i = 0; i < calls; i++)
		syscall(SYS_getppid);
	printf("events %lu\ncpu_ns %llu\n", calls, (unsigned long long)(cpu_ns() - before));
	return 0;
}
