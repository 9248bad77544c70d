// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths come from recordings.  Only regular files are opened, without waiting, because opening a
 * FIFO or a device does something; links of a sysroot lead into it again.
 */
#include "debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cleanup.h"

#define FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Before Linux 5.6 and where a policy forbids openat2(2): links lead where they say. */
static int open_joined(const char *root, const char *path, int flags)
{
	_cleanup_free_ char *joined = NULL;
	int fd;

	if (asprintf(&joined, "%s/%s", root, path) < 0)
		return -ENOMEM;
	fd = open(joined, flags);
	return fd < 0 ? -errno : fd;
}

static int open_below(const char *root, const char *path, int flags)
{
	struct open_how how = { .flags = flags, .resolve = RESOLVE_IN_ROOT };
	_cleanup_close_ int dir = -1;
	int fd;

	if (!*root) {
		fd = open(path, flags);
		return fd < 0 ? -errno : fd;
	}
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return open_joined(root, path, flags);
	return fd < 0 ? -errno : fd;
}

static bool is_regular(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode);
}

int root__open(const char *root, const char *path, int *ret_fd)
{
	_cleanup_close_ int look = -1, fd = -1;

	look = open_below(root, path, O_PATH | O_CLOEXEC);
	if (look < 0 || !is_regular(look))
		return -ENOENT;
	fd = open_below(root, path, FLAGS);
	if (fd < 0 || !is_regular(fd))
		return -ENOENT;
	*ret_fd = take_fd(fd);
	return 0;
}
