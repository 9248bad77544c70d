// SPDX-License-Identifier: GPL-2.0-only
/*
 * ticker FILE [MICROSECONDS]: one getppid system call every MICROSECONDS until it is killed; writes
 * the CLOCK_MONOTONIC time in ns before each call as a line to FILE immediately.
 */
#include <fcntl.h>
#include <time.h>

#include "prog.h"

static void put_line(int fd, uint64_t ns)
{
	char line[32];
	int n = snprintf(line, sizeof(line), "%llu\n", (unsigned long long)ns);

	if (write(fd, line, (size_t)n) != n)
		err(1, "write");
}

int main(int argc, char **argv)
{
	unsigned long us = arg_number(argc, argv, 2, 5000, 1000000);
	struct timespec pause = { us / 1000000, (long)(us % 1000000) * 1000 };
	struct timespec now;
	int fd;

	if (argc < 2)
		errx(2, "usage: ticker FILE [MICROSECONDS]");
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		err(1, "open '%s'", argv[1]);
	for (;;) {
		if (clock_gettime(CLOCK_MONOTONIC, &now))
			err(1, "clock_gettime");
		put_line(fd, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
		syscall(SYS_getppid);
		nanosleep(&pause, NULL);
	}
}
