// SPDX-License-Identifier: GPL-2.0-only
/*
 * starve MILLISECONDS TID...: keeps threads off the CPU: pins them to the last CPU and runs a task
 * of higher priority there.  Returns when that task runs.
 */
#include <time.h>

#include "prog.h"

static void spin(int began, unsigned long ms)
{
	struct sched_param urgent = { .sched_priority = 50 };
	struct timespec t, from;

	if (sched_setscheduler(0, SCHED_FIFO, &urgent))
		err(1, "SCHED_FIFO");
	clock_gettime(CLOCK_MONOTONIC, &from);
	if (write(began, "", 1) != 1)
		err(1, "write");
	close(began);
	do
		clock_gettime(CLOCK_MONOTONIC, &t);
	while ((t.tv_sec - from.tv_sec) * 1000 + (t.tv_nsec - from.tv_nsec) / 1000000 < (long)ms);
	exit(0);
}

int main(int argc, char **argv)
{
	unsigned int cpu = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
	unsigned long ms = arg_number(argc, argv, 1, 600, 900); /* limit of RT throttling */
	int began[2], i;
	char byte;

	if (pipe(began))
		err(1, "pipe");
	for (i = 2; i < argc; i++)
		pin_task((pid_t)arg_number(argc, argv, i, 0, 1 << 22), cpu);
	if (!fork()) {
		pin_to_cpu(cpu);
		close(began[0]);
		spin(began[1], ms);
	}
	close(began[1]);
	return read(began[0], &byte, 1) != 1;
}
