// SPDX-License-Identifier: GPL-2.0-only
/* Temporary files, by O_TMPFILE where the file system has that. */
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"

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

int temporary__open(const char *dir)
{
	_cleanup_free_ char *path = NULL;
	int fd = open(dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)
		return -errno;
	/* a file system that has no such files */
	if (asprintf(&path, "%s/stackonce-XXXXXX", dir) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}
