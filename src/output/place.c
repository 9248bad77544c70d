// SPDX-License-Identifier: GPL-2.0-only
/* Resolves a path to the directory that it ends in and a name there. */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <linux/magic.h>

#include "cleanup.h"
#include "log.h"

#define MAX_LINKS 40 /* as in the kernel */

void place__clear(struct place *p)
{
	closep(&p->dir);
	free(p->name);
}

/* Opens the directory of path, which is relative to from, and sets the name in it. */
static int open_directory(int from, const char *path, struct place *ret_place)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	_cleanup_free_ char *dir = slash ? strndup(path, slash - path + 1) : strdup(".");
	struct place p = { .name = strdup(name) };

	p.dir = dir && p.name ? openat(from, dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (p.dir < 0) {
		free(p.name);
		return dir ? -errno : -ENOMEM;
	}
	*ret_place = p;
	return 0;
}

static bool is_trusted(uid_t owner)
{
	return owner == 0 || owner == geteuid();
}

/* Another user could make such a link lead anywhere. */
static int check_link(const struct place *p, const char *path)
{
	struct stat dir;

	if (fstat(p->dir, &dir))
		return log_err(-errno, "stat the directory of '%s'", path);
	if (!is_trusted(p->st.st_uid))
		return log_err(-EPERM, "'%s' is a symbolic link of another user", path);
	if (!is_trusted(dir.st_uid))
		return log_err(-EPERM, "'%s' is a symbolic link in a directory of another user",
			       path);
	return 0;
}

static bool on_proc(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* One step of the resolution: examines the place and, if it is a link, reads its target. */
static int look(struct place *p, const char *path, char *ret_link, size_t size)
{
	_cleanup_close_ int fd = openat(p->dir, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n;
	int err;

	*ret_link = '\0';
	if (fd < 0)
		return errno == ENOENT && *p->name ? 0 : log_err(-errno, "create '%s'", path);
	if (fstat(fd, &p->st))
		return log_err(-errno, "stat '%s'", path);
	p->exists = true;
	p->open_file = S_ISLNK(p->st.st_mode) && on_proc(p->dir);
	if (!S_ISLNK(p->st.st_mode) || p->open_file)
		return 0;
	err = check_link(p, path);
	if (err)
		return err;
	n = readlinkat(fd, "", ret_link, size - 1);
	if (n < 0)
		return log_err(-errno, "read the link '%s'", path);
	ret_link[n] = '\0';
	return 0;
}

int place__find(const char *path, struct place *ret_place)
{
	struct place p = { .dir = -1 }, next;
	char link[PATH_MAX];
	int err, i;

	err = open_directory(AT_FDCWD, path, &p);
	if (err)
		return log_err(err, "create '%s'", path);
	for (i = 0; i < MAX_LINKS; i++) {
		err = look(&p, path, link, sizeof(link));
		if (!err && !*link) {
			*ret_place = p;
			return 0;
		}
		if (!err) {
			err = open_directory(p.dir, link, &next);
			if (err)
				log_err(err, "create '%s', a link to '%s'", path, link);
		}
		place__clear(&p);
		if (err)
			return err;
		p = next;
	}
	place__clear(&p);
	return log_err(-ELOOP, "create '%s'", path);
}

bool place__is_foreign(const struct place *p)
{
	struct stat dir;

	return !fstat(p->dir, &dir) && dir.st_mode & S_ISVTX && dir.st_mode & (S_IWGRP | S_IWOTH) &&
	       p->st.st_uid != dir.st_uid && !is_trusted(p->st.st_uid);
}

int place__random_name(char ret_name[static PLACE_TEMP])
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -errno;
	snprintf(ret_name, PLACE_TEMP, ".stackonce-%016llx", (unsigned long long)random);
	return 0;
}

int place__rename_to_free(const struct place *p, const char *from, const char *to)
{
	if (!renameat2(p->dir, from, p->dir, to, RENAME_NOREPLACE))
		return 0;
	/* Not every file system has RENAME_NOREPLACE. */
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (!faccessat(p->dir, to, F_OK, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return renameat(p->dir, from, p->dir, to) ? -errno : 0;
}

int place__check_name(const struct place *p)
{
	struct stat now;

	if (fstatat(p->dir, p->name, &now, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return place__is_same(&now, &p->st) ? 0 : -EEXIST;
}

int place__copy_owner(const struct place *p, int fd)
{
	mode_t mode = p->st.st_mode & 0777;

	if (fchown(fd, p->st.st_uid, p->st.st_gid) && fchown(fd, -1, p->st.st_gid))
		mode &= ~0070;
	return fchmod(fd, mode) ? -errno : 0;
}

void place__sync(const struct place *p)
{
	_cleanup_close_ int fd = openat(p->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		fsync(fd);
}
