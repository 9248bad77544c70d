// SPDX-License-Identifier: GPL-2.0-only
/*
 * pingpong [ROUNDS [CPU]]: two processes on one CPU pass a byte to and fro over two pipes.  A round
 * is two context switches.  Prints the switches and the CPU time both processes used.
 */
#include <sys/wait.h>

#include "prog.h"

static void pass_on(int from, int to, unsigned long rounds, bool starts)
{
	char byte = 'x';

	for (unsigned long i = 0; i < rounds; i++) {
		if (starts && write(to, &byte, 1) != 1)
			err(1, "write");
		if (read(from, &byte, 1) != 1)
			err(1, "read");
		if (!starts && write(to, &byte, 1) != 1)
			err(1, "write");
	}
}

int main(int argc, char **argv)
{
	unsigned long rounds = arg_number(argc, argv, 1, 100000, 1000000000);
	int ping[2], pong[2], status;
	uint64_t before;
	pid_t child;

	pin_to_cpu((unsigned int)arg_number(argc, argv, 2, 0, CPU_SETSIZE - 1));
	if (pipe(ping) || pipe(pong))
		err(1, "pipe");
	before = rusage_ns(RUSAGE_SELF);
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		pass_on(ping[0], pong[1], rounds, false);
		_exit(0);
	}
	pass_on(pong[0], ping[1], rounds, true);
	if (waitpid(child, &status, 0) != child || status)
		errx(1, "the other side failed");
	printf("events %lu\ncpu_ns %llu\n", rounds * 2,
	       (unsigned long long)(rusage_ns(RUSAGE_SELF) - before + rusage_ns(RUSAGE_CHILDREN)));
	return 0;
}
