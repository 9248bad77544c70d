// SPDX-License-Identifier: GPL-2.0-only
/*
 * threads [THREADS [CALLS [WAIT]]]: THREADS threads make CALLS getppid system calls each, without
 * end if CALLS is 0; the first thread makes none.  With WAIT 1 the threads start only after a line
 * was read from standard input, so that a recorder can attach to the process before.
 */
#include <pthread.h>

#include "prog.h"

static void *run(void *arg)
{
	unsigned long calls = *(const unsigned long *)arg;

	for (unsigned long i = 0; !calls || i < calls; i++)
		syscall(SYS_getppid);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long nr = arg_number(argc, argv, 1, 4, 256);
	unsigned long calls = arg_number(argc, argv, 2, 1000, 100000000);
	pthread_t *ids = calloc(nr ? nr : 1, sizeof(*ids));
	char line[64];

	if (!ids)
		err(1, "calloc");
	if (arg_number(argc, argv, 3, 0, 1) && !fgets(line, sizeof(line), stdin))
		errx(1, "standard input ended");
	for (unsigned long i = 0; i < nr; i++) {
		errno = pthread_create(&ids[i], NULL, run, &calls);
		if (errno)
			err(1, "pthread_create");
	}
	for (unsigned long i = 0; i < nr; i++)
		pthread_join(ids[i], NULL);
	free(ids);
	printf("events %lu\n", nr * calls);
	return 0;
}
