// SPDX-License-Identifier: GPL-2.0-only
/*
 * uvanish N PROGRAM: runs N copies of PROGRAM one after the other, on all CPUs in turn.  Each copy
 * has lost its name before it runs, so it can be opened only while its process exists.
 */
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../prog.h"

/* Opens a copy that has no name any more. */
static int open_copy(const char *program)
{
	int from = open(program, O_RDONLY | O_CLOEXEC);
	char path[] = "vanish.XXXXXX";
	struct stat st;
	int to, copy;

	to = mkstemp(path);
	if (from < 0 || to < 0 || fstat(from, &st) || sendfile(to, from, NULL, st.st_size) < 0 ||
	    fchmod(to, 0700))
		err(1, "copy %s", program);
	close(from);
	close(to);
	copy = open(path, O_RDONLY | O_CLOEXEC);
	if (copy < 0 || unlink(path))
		err(1, "%s", path);
	return copy;
}

int main(int argc, char **argv)
{
	unsigned long n = arg_number(argc, argv, 1, 1, 100000), i;
	unsigned int cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	char *child_argv[] = { argv[2], NULL }, *none[] = { NULL };

	if (argc != 3)
		errx(2, "usage: uvanish N PROGRAM");
	for (i = 0; i < n; i++) {
		int copy = open_copy(argv[2]), status;
		pid_t pid = fork();

		if (!pid) {
			pin_to_cpu(i % cpus);
			fexecve(copy, child_argv, none);
			_exit(127);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			errx(1, "%s failed", argv[2]);
		close(copy);
	}
	return 0;
}
