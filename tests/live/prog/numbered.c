// SPDX-License-Identifier: GPL-2.0-only
/*
 * numbered CALLS [AT_ONCE [RUN [LAST]]]: a thread on each of two CPUs makes CALLS dup(2) calls of
 * descriptors that do not exist.  The first is NUMBERED_FIRST + RUN * CALLS and each is one more
 * than the previous; there is a pause after every AT_ONCE, or 1,000.  Before the LAST calls, which
 * have pauses after every 20, each thread waits for the end of standard input.  The numbers show
 * which calls are missing from a recording, and where.  Prints the PID after the first AT_ONCE.
 */
#include <pthread.h>
#include <unistd.h>

#include "numbered.h"
#include "prog.h"

static unsigned long calls, at_once, first, last;

static void wait_for_end_of_input(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) > 0)
		;
}

static void *call(void *arg)
{
	unsigned int cpu = (unsigned int)(uintptr_t)arg;
	unsigned long i;

	pin_to_cpu(cpu);
	for (i = 0; i < calls; i++) {
		if (last && i == calls - last)
			wait_for_end_of_input();
		syscall(SYS_dup, first + i);
		if (!cpu && i == at_once - 1) {
			printf("pid %d\n", getpid());
			fflush(stdout);
		}
		if (i % at_once == at_once - 1 || (i >= calls - last && i % 20 == 19))
			usleep(1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;

	calls = arg_number(argc, argv, 1, 100000, 100000000);
	at_once = arg_number(argc, argv, 2, 1000, 100000000);
	first = NUMBERED_FIRST + arg_number(argc, argv, 3, 0, 1000) * calls;
	last = arg_number(argc, argv, 4, 0, calls);
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		errx(1, "needs two CPUs");
	if (pthread_create(&other, NULL, call, (void *)(uintptr_t)1))
		errx(1, "a thread");
	call((void *)(uintptr_t)0);
	pthread_join(other, NULL);
	return 0;
}
