// SPDX-License-Identifier: GPL-2.0-only
/*
 * replay WAYS DIR: runs a fuzz target, in the build for users, on each file of a corpus, with the
 * first WAYS values of the byte that selects how the input is used (recordings.h).  Each run is a
 * process of its own, within the limits of limits.h.
 */
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../limits.h"
#include "cleanup.h"
#include "recordings.h"
#include "slurp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Not every target has one. */
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

static void run(uint8_t *data, size_t size)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		err(2, "/dev/null");
	limit(RLIMIT_CORE, 0);
	limit_all(1);
	LLVMFuzzerTestOneInput(data, size);
	_exit(0);
}

/* False: it did not end by itself. */
static bool replay(const char *name, char *data, size_t size, unsigned int way)
{
	int status;
	pid_t pid;

	if (size > UUID_AT)
		data[UUID_AT] = way;
	pid = fork();
	if (!pid)
		run((uint8_t *)data, size);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		err(2, "%s", name);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return true;
	if (WIFSIGNALED(status))
		printf("not ok %s, way %u: %s\n", name, way, strsignal(WTERMSIG(status)));
	else
		printf("not ok %s, way %u: exit code %d\n", name, way, WEXITSTATUS(status));
	return false;
}

static unsigned int replay_file(const char *dir, const char *name, unsigned int nr_ways)
{
	_cleanup_free_ char *path = NULL, *data = NULL;
	unsigned int way, failed = 0;
	size_t size;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		err(2, "%s", name);
	if (slurp(path, &data, &size))
		errx(2, "cannot read %s", path);
	for (way = 0; way < nr_ways; way++)
		failed += !replay(name, data, size, way);
	return failed;
}

int main(int argc, char **argv)
{
	unsigned int nr = 0, failed = 0, nr_ways = argc == 3 ? atoi(argv[1]) : 0;
	struct dirent *entry;
	DIR *dir;

	if (!nr_ways) {
		fprintf(stderr, "usage: replay WAYS DIR\n");
		return 2;
	}
	dir = opendir(argv[2]);
	if (!dir)
		err(2, "%s", argv[2]);
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		failed += replay_file(argv[2], entry->d_name, nr_ways);
		nr += nr_ways;
	}
	closedir(dir);
	printf("%u runs, %u failed\n", nr, failed);
	return !nr || failed;
}
