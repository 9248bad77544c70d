// SPDX-License-Identifier: GPL-2.0-only
/*
 * limited COMMAND...: runs it within 300 MB and 2 seconds of its own CPU time.  The kernel charges
 * BPF programs that interrupt a task to its time in the kernel, which is limited for hangs only.
 */
#include <err.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#define MEMORY (300ull << 20)
#define SECONDS 2
#define SYSTEM_SECONDS 10 /* for a hang */

static void limit(int resource, rlim_t value)
{
	const struct rlimit l = { value, value };

	if (setrlimit(resource, &l))
		err(125, "setrlimit");
}

int main(int argc, char **argv)
{
	const struct itimerval user_time = { .it_value.tv_sec = SECONDS };

	if (argc < 2)
		errx(125, "usage: limited COMMAND...");
	limit(RLIMIT_AS, MEMORY);
	limit(RLIMIT_CPU, SECONDS + SYSTEM_SECONDS);
	if (setitimer(ITIMER_VIRTUAL, &user_time, NULL)) /* execve(2) keeps it */
		err(125, "setitimer");
	execv(argv[1], argv + 1);
	err(127, "%s", argv[1]);
}
