// SPDX-License-Identifier: GPL-2.0-only
/* Finds and opens directories of cgroup v2. */
#include "cgroup_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

#include "cleanup.h"
#include "log.h"

#define ALL_CGROUPS "/sys/fs/cgroup" /* here the hierarchies are mounted, or the only one */

static void mounts_closep(FILE **f)
{
	if (*f)
		endmntent(*f);
}

int cgroup_dir__mount(char **ret_path)
{
	_cleanup_(mounts_closep) FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	char *path;

	if (!f)
		return -errno;
	while ((m = getmntent(f)) && strcmp(m->mnt_type, "cgroup2"))
		;
	if (!m)
		return -ENOENT;
	path = strdup(m->mnt_dir);
	if (!path)
		return -ENOMEM;
	*ret_path = path;
	return 0;
}

/* Opens the first of two directories that exists, PATH and then TOP/PATH. */
static int open_either(const char *path, const char *top, struct cgroup_dir *ret_dir)
{
	_cleanup_free_ char *below = NULL;
	int fd = -1;

	if (*path == '/')
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && (*path != '/' || errno == ENOENT)) {
		if (asprintf(&below, "%s%s%s", top, *path == '/' ? "" : "/", path) < 0)
			below = NULL;
		if (!below)
			return -ENOMEM;
		fd = open(below, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		path = below;
	}
	if (fd < 0)
		return -errno;
	*ret_dir = (struct cgroup_dir){ .path = strdup(path), .fd = fd };
	return ret_dir->path ? 0 : -ENOMEM;
}

/* Logs why the directory is refused, unless it is a cgroup of version 2. */
static int check(const char *given, const char *mount, struct cgroup_dir *d)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(d->fd, &fs) || fstat(d->fd, &st))
		return log_err(-errno, "select cgroup '%s'", d->path);
	d->id = st.st_ino;
	if (fs.f_type == CGROUP2_SUPER_MAGIC)
		return 0;
	if (fs.f_type == CGROUP_SUPER_MAGIC)
		log_err(0, "select cgroup '%s': %s belongs to cgroup v1; give a cgroup below %s",
			given, d->path, mount);
	else
		log_err(0, "select cgroup '%s': %s is no cgroup; cgroups are below %s", given,
			d->path, mount);
	return -EINVAL;
}

int cgroup_dir__open(const char *path, struct cgroup_dir *ret_dir)
{
	struct cgroup_dir d = { .fd = -1 };
	_cleanup_free_ char *mount = NULL;
	int err;

	err = cgroup_dir__mount(&mount);
	if (err == -ENOENT)
		return log_err(-EOPNOTSUPP,
			       "select cgroup '%s': cgroup v2 is not mounted, and tasks cannot be "
			       "selected by cgroups of version 1; see 'stackonce doctor'",
			       path);
	err = err ?: open_either(path, mount, &d);
	/* on a machine with both versions, the mount is one of several there */
	if (err == -ENOENT)
		err = open_either(path, ALL_CGROUPS, &d);
	if (err == -ENOENT)
		log_err(0, "select cgroup '%s': there is no such cgroup below %s", path, mount);
	else if (err)
		log_err(err, "select cgroup '%s'", path);
	err = err ?: check(path, mount, &d);
	if (err)
		cgroup_dir__close(&d);
	else
		*ret_dir = d;
	return err;
}

void cgroup_dir__close(struct cgroup_dir *dir)
{
	closep(&dir->fd);
	dir->fd = -1;
	free(dir->path);
	dir->path = NULL;
}
