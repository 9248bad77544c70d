// SPDX-License-Identifier: GPL-2.0-only
/*
 * measure FILE COMMAND [ARGS]: runs the command, passes SIGINT and SIGTERM on to it, and writes its
 * cost to FILE: "cpu_ns N", "peak_kb N", "wall_ns N", "status N", one per line.
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t child;

static void pass_on(int sig)
{
	if (child > 0)
		kill(child, sig);
}

static uint64_t wall_ns(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_MONOTONIC, &ts))
		err(1, "clock_gettime");
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t tv_ns(struct timeval tv)
{
	return (uint64_t)tv.tv_sec * 1000000000u + (uint64_t)tv.tv_usec * 1000u;
}

static pid_t start(char **argv)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		/* The shell makes background jobs ignore SIGINT, but a recorder must not. */
		signal(SIGINT, SIG_DFL);
		execvp(argv[0], argv);
		err(127, "%s", argv[0]);
	}
	return pid;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = pass_on };
	struct rusage ru;
	uint64_t begin;
	int status;
	FILE *out;

	if (argc < 3)
		errx(2, "usage: measure FILE COMMAND [ARGS]");
	out = fopen(argv[1], "we");
	if (!out)
		err(1, "open '%s'", argv[1]);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	begin = wall_ns();
	child = start(argv + 2);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	while (wait4(child, &status, 0, &ru) < 0)
		if (errno != EINTR)
			err(1, "wait");
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	fprintf(out, "cpu_ns %llu\npeak_kb %ld\nwall_ns %llu\nstatus %d\n",
		(unsigned long long)(tv_ns(ru.ru_utime) + tv_ns(ru.ru_stime)), ru.ru_maxrss,
		(unsigned long long)(wall_ns() - begin), status);
	if (fclose(out))
		err(1, "write '%s'", argv[1]);
	child = 0;
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return status;
}
