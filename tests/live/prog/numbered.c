// SPDX-License-Identifier: GPL-2.0-only
/*
 * numbered CALLS: a thread on each of two CPUs makes so many dup(2) calls of descriptors that are not there,
 * the first NUMBERED_FIRST, each one more than the last; a pause after every 1,000.  Which calls are missing
 * from a recording, and between which others, is known from their numbers.
 */
#include <pthread.h>
#include <unistd.h>

#include "numbered.h"
#include "prog.h"

static unsigned long calls;

static void *call(void *arg)
{
	unsigned long i;

	pin_to_cpu((unsigned int)(uintptr_t)arg);
	for (i = 0; i < calls; i++) {
		syscall(SYS_dup, NUMBERED_FIRST + i);
		if (i % 1000 == 999)
			usleep(1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;

	calls = arg_number(argc, argv, 1, 100000, 100000000);
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		errx(1, "needs two CPUs");
	if (pthread_create(&other, NULL, call, (void *)(uintptr_t)1))
		errx(1, "a thread");
	call((void *)(uintptr_t)0);
	pthread_join(other, NULL);
	printf("pid %d\n", getpid());
	return 0;
}
