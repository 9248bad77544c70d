// SPDX-License-Identifier: GPL-2.0-only
/*
 * pingpong [ROUNDS [CPU [tcp]]]: two processes on one CPU pass a byte to and fro through two pipes
 * or a TCP connection over the loopback device.  A round is two context switches.  Prints the
 * number of switches and the CPU time of both processes.
 */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "prog.h"

struct side {
	int from, to;
};

static void by_pipes(struct side side[2])
{
	int ping[2], pong[2];

	if (pipe(ping) || pipe(pong))
		err(1, "pipe");
	side[0] = (struct side){ .from = pong[0], .to = ping[1] };
	side[1] = (struct side){ .from = ping[0], .to = pong[1] };
}

static void by_tcp(struct side side[2])
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int server = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(to);

	if (bind(server, (struct sockaddr *)&to, len) || listen(server, 1) ||
	    getsockname(server, (struct sockaddr *)&to, &len) ||
	    connect(fd, (struct sockaddr *)&to, len))
		err(1, "connect");
	side[0] = (struct side){ .from = fd, .to = fd };
	fd = accept(server, NULL, NULL);
	if (fd < 0)
		err(1, "accept");
	side[1] = (struct side){ .from = fd, .to = fd };
}

static void pass_on(struct side s, unsigned long rounds, bool starts)
{
	char byte = 'x';

	for (unsigned long i = 0; i < rounds; i++) {
		if (starts && write(s.to, &byte, 1) != 1)
			err(1, "write");
		if (read(s.from, &byte, 1) != 1)
			err(1, "read");
		if (!starts && write(s.to, &byte, 1) != 1)
			err(1, "write");
	}
}

int main(int argc, char **argv)
{
	unsigned long rounds = arg_number(argc, argv, 1, 100000, 1000000000);
	struct side side[2];
	uint64_t before;
	int status;
	pid_t child;

	pin_to_cpu((unsigned int)arg_number(argc, argv, 2, 0, CPU_SETSIZE - 1));
	if (argc > 3 && !strcmp(argv[3], "tcp"))
		by_tcp(side);
	else
		by_pipes(side);
	before = rusage_ns(RUSAGE_SELF);
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		pass_on(side[1], rounds, false);
		_exit(0);
	}
	pass_on(side[0], rounds, true);
	if (waitpid(child, &status, 0) != child || status)
		errx(1, "the other side failed");
	printf("events %lu\ncpu_ns %llu\n", rounds * 2,
	       (unsigned long long)(rusage_ns(RUSAGE_SELF) - before + rusage_ns(RUSAGE_CHILDREN)));
	return 0;
}
