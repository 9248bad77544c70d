// SPDX-License-Identifier: GPL-2.0-only
/*
 * fallocate FILE CALLS: CALLS calls of fallocate(2), some of which must fail, and twice as many of
 * getcwd(2).  Prints a line for each of the former: "mode=M offset=O len=L" and the result of the
 * kernel's function, "ret=R".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/falloc.h>

int main(int argc, char **argv)
{
	int calls = argc == 3 ? atoi(argv[2]) : 0, i, fd;
	char dir[4096];

	fd = calls > 0 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	if (fd < 0)
		return 2;
	for (i = 0; i < calls; i++) {
		int mode = i % 3 == 2 ? FALLOC_FL_KEEP_SIZE : 0;
		long offset = i % 5 == 4 ? -4096L * i : 4096L * (i % 100), len = i + 1;
		long ret = syscall(SYS_fallocate, fd, mode, offset, len);

		printf("mode=%d offset=%ld len=%ld\n", mode, offset, len);
		printf("ret=%d\n", ret < 0 ? -errno : 0);
		if (syscall(SYS_getcwd, dir, sizeof(dir)) < 0 || syscall(SYS_getcwd, dir, 1) != -1)
			return 1;
	}
	return 0;
}
