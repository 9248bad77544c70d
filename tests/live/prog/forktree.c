// SPDX-License-Identifier: GPL-2.0-only
/*
 * forktree [DEPTH [WIDTH [CALLS [STATUS]]]]: every process first makes CALLS getppid system calls;
 * each that is not a leaf then forks WIDTH children and waits for them.  The root prints the number
 * of processes and calls and exits with STATUS.
 */
#include <sys/wait.h>

#include "prog.h"

struct tree {
	unsigned long depth, width, calls;
};

static void call(const struct tree *t)
{
	for (unsigned long i = 0; i < t->calls; i++)
		syscall(SYS_getppid);
}

static void grow(const struct tree *t, unsigned long level)
{
	call(t);
	if (level == t->depth)
		return;
	for (unsigned long i = 0; i < t->width; i++) {
		pid_t child = fork();
		int status;

		if (child < 0)
			err(1, "fork");
		if (!child) {
			grow(t, level + 1);
			_exit(0);
		}
		if (waitpid(child, &status, 0) != child || status)
			errx(1, "a child failed");
	}
}

int main(int argc, char **argv)
{
	struct tree t = {
		.depth = arg_number(argc, argv, 1, 3, 16),
		.width = arg_number(argc, argv, 2, 2, 16),
		.calls = arg_number(argc, argv, 3, 100, 1000000),
	};
	int status = (int)arg_number(argc, argv, 4, 0, 255);
	unsigned long processes = 0, level = 1;

	for (unsigned long i = 0; i <= t.depth; i++, level *= t.width)
		processes += level;
	grow(&t, 0);
	printf("processes %lu\nevents %lu\n", processes, processes * t.calls);
	return status;
}
