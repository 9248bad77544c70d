// SPDX-License-Identifier: GPL-2.0-only
/*
 * numbered CALLS [AT_ONCE [RUN]]: a thread on each of two CPUs makes CALLS dup(2) calls of
 * descriptors that do not exist.  The first is NUMBERED_FIRST + RUN * CALLS and each is one more
 * than the previous; there is a pause after every AT_ONCE, or 1,000.  The numbers show which calls
 * are missing from a recording, and where.
 */
#include <pthread.h>
#include <unistd.h>

#include "numbered.h"
#include "prog.h"

static unsigned long calls, at_once, first;

static void *call(void *arg)
{
	unsigned long i;

	pin_to_cpu((unsigned int)(uintptr_t)arg);
	for (i = 0; i < calls; i++) {
		syscall(SYS_dup, first + i);
		if (i % at_once == at_once - 1)
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
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		errx(1, "needs two CPUs");
	if (pthread_create(&other, NULL, call, (void *)(uintptr_t)1))
		errx(1, "a thread");
	call((void *)(uintptr_t)0);
	pthread_join(other, NULL);
	printf("pid %d\n", getpid());
	return 0;
}
