// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths come from recordings, and the reader is often root.  They are walked here, component by
 * component, because a lookup may have side effects: an automounter mounts on lookup, and the
 * kernel's own file systems have files with side effects on open or close.  Links in a sysroot are
 * resolved inside it.
 */
#include "debug_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "cleanup.h"

#define MAX_LINKS 40 /* as in the kernel */

/* File systems without programs, whose files may have side effects. */
static const uint32_t special[] = {
	PROC_SUPER_MAGIC,   SYSFS_MAGIC,	 DEBUGFS_MAGIC, TRACEFS_MAGIC,	SECURITYFS_MAGIC,
	CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,	PSTOREFS_MAGIC, EFIVARFS_MAGIC,
};

struct walk {
	int root, at; /* O_PATH */
	char rest[PATH_MAX]; /* of the path, relative to at */
	unsigned int links; /* followed */
};

static void walk_done(struct walk *w)
{
	closep(&w->root);
	closep(&w->at);
}

static int walk_to(struct walk *w, int fd)
{
	if (fd < 0)
		return -ENOENT;
	closep(&w->at);
	w->at = fd;
	return 0;
}

static bool is_special(uint32_t type)
{
	for (size_t i = 0; i < ARRAY_SIZE(special); i++) {
		if (type == special[i])
			return true;
	}
	return false;
}

/* An automounter's directory lists what is mounted; looking up anything else would mount it. */
static bool is_listed(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_closedir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		closep(&fd);
		return false;
	}
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, name))
			return true;
	}
	return false;
}

static bool may_look_up(int dir_fd, const char *name)
{
	struct statfs fs;

	return !fstatfs(dir_fd, &fs) && !is_special(fs.f_type) &&
	       ((uint32_t)fs.f_type != AUTOFS_SUPER_MAGIC || is_listed(dir_fd, name));
}

static bool is_same(int a, int b)
{
	struct stat sa, sb;

	return !fstat(a, &sa) && !fstat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* Continues with the target of the link. */
static int walk_link(struct walk *w, int link)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(link, "", target, sizeof(target));
	size_t rest = strlen(w->rest) + 1;

	if (len <= 0 || ++w->links > MAX_LINKS || (size_t)len + 1 + rest > sizeof(w->rest))
		return -ENOENT;
	memmove(w->rest + len + 1, w->rest, rest);
	memcpy(w->rest, target, len);
	w->rest[len] = '/';
	return *target == '/' ? walk_to(w, fcntl(w->root, F_DUPFD_CLOEXEC, 3)) : 0;
}

static int walk_name(struct walk *w, const char *name)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (!strcmp(name, ".") || (!strcmp(name, "..") && is_same(w->at, w->root)))
		return 0;
	if (!may_look_up(w->at, name))
		return -ENOENT;
	fd = openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return -ENOENT;
	return S_ISLNK(st.st_mode) ? walk_link(w, fd) : walk_to(w, take_fd(fd));
}

static int walk_all(struct walk *w)
{
	char name[NAME_MAX + 1];

	for (;;) {
		size_t slashes = strspn(w->rest, "/"), len = strcspn(w->rest + slashes, "/");
		const char *next = w->rest + slashes + len;

		if (!len)
			return 0;
		if (len > NAME_MAX)
			return -ENOENT;
		memcpy(name, w->rest + slashes, len);
		name[len] = '\0';
		memmove(w->rest, next, strlen(next) + 1);
		if (walk_name(w, name))
			return -ENOENT;
	}
}

static bool is_program(int fd)
{
	struct statfs fs;
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && !fstatfs(fd, &fs) &&
	       !is_special(fs.f_type);
}

int root__open(const char *root, const char *path, int *ret_fd)
{
	const bool relative = !*root && *path != '/';
	_cleanup_(walk_done) struct walk w = { .root = -1, .at = -1 };
	char found[64];
	int fd;

	if (strlen(path) >= sizeof(w.rest))
		return -ENOENT;
	strcpy(w.rest, path);
	w.root = open(*root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w.root < 0 ||
	    walk_to(&w, relative ? open(".", O_PATH | O_DIRECTORY | O_CLOEXEC) :
				   fcntl(w.root, F_DUPFD_CLOEXEC, 3)) ||
	    walk_all(&w) || !is_program(w.at))
		return -ENOENT;
	/* the file that was checked, even if the path was replaced meanwhile */
	snprintf(found, sizeof(found), "/proc/self/fd/%d", w.at);
	fd = open(found, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -ENOENT;
	*ret_fd = fd;
	return 0;
}
