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

/* Opens TOP/PATH: -EXDEV if it is a cgroup of version 1, -EINVAL if it is another directory. */
static int open_below(const char *top, const char *path, struct cgroup_dir *ret_dir)
{
	struct cgroup_dir d = { .fd = -1 };
	struct statfs fs;
	struct stat st;
	int err;

	if (asprintf(&d.path, "%s%s%s", top, *path == '/' ? "" : "/", path) < 0)
		return -ENOMEM;
	d.fd = open(d.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d.fd < 0 || fstatfs(d.fd, &fs) || fstat(d.fd, &st))
		err = -errno;
	else if (fs.f_type == CGROUP2_SUPER_MAGIC)
		err = 0;
	else
		err = fs.f_type == CGROUP_SUPER_MAGIC ? -EXDEV : -EINVAL;
	if (err) {
		cgroup_dir__close(&d);
		return err;
	}
	d.id = st.st_ino;
	*ret_dir = d;
	return 0;
}

/* An error that says more than that there is no such file in one of the places. */
static int worse(int err, int other)
{
	return !other || (err && err != -ENOENT) ? err : other;
}

static int refused(const char *path, const char *mount, int err)
{
	if (err == -ENOENT)
		log_err(0, "select cgroup '%s': there is no such cgroup below %s", path, mount);
	else if (err == -EXDEV)
		log_err(0, "select cgroup '%s': it belongs to cgroup v1; give a cgroup below %s",
			path, mount);
	else if (err == -EINVAL)
		log_err(0, "select cgroup '%s': it is no cgroup; cgroups are below %s", path,
			mount);
	else
		log_err(err, "select cgroup '%s'", path);
	return err;
}

int cgroup_dir__open(const char *path, struct cgroup_dir *ret_dir)
{
	_cleanup_free_ char *mount = NULL;
	int err, at_first = -ENOENT;

	err = cgroup_dir__mount(&mount);
	if (err == -ENOENT)
		return log_why(-EOPNOTSUPP,
			       "select cgroup '%s': cgroup v2 is not mounted, and tasks cannot be "
			       "selected by cgroups of version 1; see 'stackonce doctor'",
			       path);
	if (err)
		return log_err(err, "select cgroup '%s': read /proc/self/mounts", path);
	if (*path == '/')
		at_first = open_below("", path, ret_dir);
	if (!at_first)
		return 0;
	err = open_below(mount, path, ret_dir);
	/* on a machine with both versions, the mount is one of several there */
	if (err == -ENOENT)
		err = open_below(ALL_CGROUPS, path, ret_dir);
	return err ? refused(path, mount, worse(at_first, err)) : 0;
}

void cgroup_dir__close(struct cgroup_dir *dir)
{
	closep(&dir->fd);
	dir->fd = -1;
	free(dir->path);
	dir->path = NULL;
}
