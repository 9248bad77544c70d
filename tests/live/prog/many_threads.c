// SPDX-License-Identifier: GPL-2.0-only
/*
 * many_threads THREADS: starts threads that only wait, with names that take much room in a task
 * list, prints "ready", and ends when its standard input does.
 */
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

#include "prog.h"

#define STACK_BYTES (32 << 10)

static void *run(void *arg)
{
	for (;;)
		pause();
	return arg;
}

int main(int argc, char **argv)
{
	unsigned long nr = arg_number(argc, argv, 1, 1000, 30000);
	char comm[16], line[16];
	pthread_attr_t attr;
	pthread_t id;

	memset(comm, 1, sizeof(comm) - 1);
	comm[sizeof(comm) - 1] = '\0';
	prctl(PR_SET_NAME, comm);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setguardsize(&attr, 0);
	for (unsigned long i = 0; i < nr; i++) {
		errno = pthread_create(&id, &attr, run, NULL);
		if (errno)
			err(1, "create thread %lu", i);
	}
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	return 0;
}
