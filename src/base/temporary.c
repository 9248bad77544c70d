// SPDX-License-Identifier: GPL-2.0-only
/* Opens temporary files. */
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "seeded_hash.h"

#define TRIES 100 /* until a name is free */

const char *temporary__directory(void)
{
	const char *const dirs[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };
	struct stat st;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(dirs); i++)
		if (dirs[i] && !stat(dirs[i], &st) && S_ISDIR(st.st_mode) &&
		    !access(dirs[i], W_OK | X_OK))
			return dirs[i];
	return "/tmp";
}

/* Of a file system that has no files without a name. */
static int open_named(int at, const char *dir)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	char *path = NULL;
	int i, fd = -1;

	for (i = 0; i < TRIES && fd < 0; i++) {
		if (asprintf(&path, "%s/stackonce-%016" PRIx64, dir, seeded_hash__seed()) < 0)
			return -ENOMEM;
		fd = openat(at, path, flags, 0600);
		fd = fd < 0 ? -errno : fd;
		if (fd >= 0)
			unlinkat(at, path, 0);
		free(path);
		if (fd < 0 && fd != -EEXIST)
			break;
	}
	return fd;
}

int temporary__open(int at, const char *dir)
{
	int fd = openat(at, dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	return errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT ? open_named(at, dir) :
									   -errno;
}

int temporary__write(int fd, const void *data, size_t len, uint64_t at)
{
	const char *from = data;
	ssize_t n;

	while (len) {
		n = pwrite(fd, from, len, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		from += n;
		at += n;
		len -= n;
	}
	return 0;
}

int temporary__read(int fd, void *ret_data, size_t len, uint64_t at)
{
	char *to = ret_data;
	ssize_t n;

	while (len) {
		n = pread(fd, to, len, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		to += n;
		at += n;
		len -= n;
	}
	return 0;
}
