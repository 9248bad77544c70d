/* SPDX-License-Identifier: GPL-2.0-only */
/* Directories of cgroup v2: where the file system is mounted, and cgroups given by users. */
#ifndef RECORD_CGROUP_DIR_H
#define RECORD_CGROUP_DIR_H

#include <stdint.h>

struct cgroup_dir {
	char *path; /* owned */
	int fd; /* of the directory; -1: none */
	uint64_t id; /* of the cgroup: the inode number of its directory */
};

/* Where cgroup v2 is mounted, owned by the caller; -ENOENT: it is not. */
int cgroup_dir__mount(char **ret_path);

/*
 * Opens a cgroup by its path: absolute, or below the mount of cgroup v2, in both cases also as
 * /proc/PID/cgroup has it.  Logs why it is refused.
 */
int cgroup_dir__open(const char *path, struct cgroup_dir *ret_dir);
void cgroup_dir__close(struct cgroup_dir *dir);

#endif /* RECORD_CGROUP_DIR_H */
