// SPDX-License-Identifier: GPL-2.0-only
/*
 * limited COMMAND...: runs it within the limits of limits.h for each recording (*.stk) that it is
 * given.  Where it takes too long, it runs again, because other work of the machine changes what a
 * run takes: a command is too slow if it is so three times.  What an earlier run has written to
 * files is removed.
 */
#include <err.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../limits.h"

#define TRIES 3

static unsigned int recordings(char **args)
{
	unsigned int nr = 0;

	for (; *args; args++) {
		size_t len = strlen(*args);

		nr += len > 4 && !strcmp(*args + len - 4, ".stk");
	}
	return nr ?: 1;
}

static int run(char **command)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		err(2, "fork");
	if (!pid) {
		limit_all(recordings(command));
		execv(command[0], command);
		err(127, "%s", command[0]);
	}
	if (waitpid(pid, &status, 0) < 0)
		err(2, "waitpid");
	return status;
}

static void begin_again(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET)))
		err(2, "cannot begin again");
}

int main(int argc, char **argv)
{
	int status = 0;

	if (argc < 2)
		errx(2, "usage: limited COMMAND...");
	for (int i = 0; i < TRIES; i++) {
		if (i) {
			begin_again(STDOUT_FILENO);
			begin_again(STDERR_FILENO);
		}
		status = run(argv + 1);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGVTALRM)
			break;
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
