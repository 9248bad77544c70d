// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which directory a cgroup's path means, on machines with both versions, with one and with none:
 * the mounts and the file systems are replaced.
 */
#undef _FORTIFY_SOURCE /* it defines open() inline */
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

#include <cmocka.h>

#include "../last_message.h"
#include "cleanup.h"
#include "record/kernel/cgroup_dir.h"

static const char hybrid[] = "proc /proc proc rw 0 0\n"
			     "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n"
			     "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
static const char unified[] = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n";
static const char *mounts;

/* The directories that exist. */
static const struct {
	const char *path;
	long magic;
} dirs[] = {
	{ "/", EXT4_SUPER_MAGIC },
	{ "/tmp", EXT4_SUPER_MAGIC },
	{ "/sys/fs/cgroup/", CGROUP2_SUPER_MAGIC },
	{ "/sys/fs/cgroup/a", CGROUP2_SUPER_MAGIC },
	{ "/sys/fs/cgroup/a/b", CGROUP2_SUPER_MAGIC },
	{ "/sys/fs/cgroup/memory/a", CGROUP_SUPER_MAGIC },
	{ "/sys/fs/cgroup/unified/", CGROUP2_SUPER_MAGIC },
	{ "/sys/fs/cgroup/unified/a", CGROUP2_SUPER_MAGIC },
};
static long magic; /* of the file that was opened last */

FILE *setmntent(const char *path, const char *mode)
{
	assert_string_equal(path, "/proc/self/mounts");
	return fmemopen((void *)mounts, strlen(mounts), "r");
}

int open(const char *path, int flags, ...)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(dirs); i++) {
		if (strcmp(path, dirs[i].path))
			continue;
		magic = dirs[i].magic;
		return syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0);
	}
	errno = ENOENT;
	return -1;
}

int fstatfs(int fd, struct statfs *fs)
{
	*fs = (struct statfs){ .f_type = magic };
	return 0;
}

static void means(const char *path, const char *dir)
{
	struct cgroup_dir d = { .fd = -1 };

	assert_int_equal(cgroup_dir__open(path, &d), 0);
	assert_string_equal(d.path, dir);
	assert_true(d.fd >= 0 && d.id);
	cgroup_dir__close(&d);
}

static void is_refused(const char *path, int err, const char *why)
{
	struct cgroup_dir d = { .fd = -1 };

	*last_message = '\0';
	assert_int_equal(cgroup_dir__open(path, &d), err);
	if (!strstr(last_message, why))
		fail_msg("'%s': '%s' is not in '%s'", path, why, last_message);
}

static void test_unified(void **state)
{
	(void)state;
	mounts = unified;
	means("a/b", "/sys/fs/cgroup/a/b");
	means("/a/b", "/sys/fs/cgroup/a/b");
	means("/sys/fs/cgroup/a", "/sys/fs/cgroup/a");
	means("/", "/sys/fs/cgroup/"); /* the root's path in /proc/PID/cgroup */
	is_refused("nosuch", -ENOENT, "'nosuch': there is no such cgroup below /sys/fs/cgroup");
	is_refused("/tmp", -EINVAL, "'/tmp': it is no cgroup");
}

static void test_hybrid(void **state)
{
	(void)state;
	mounts = hybrid;
	means("a", "/sys/fs/cgroup/unified/a");
	means("unified/a", "/sys/fs/cgroup/unified/a");
	means("/", "/sys/fs/cgroup/unified/");
	is_refused("memory/a", -EXDEV, "belongs to cgroup v1");
	is_refused("/sys/fs/cgroup/memory/a", -EXDEV, "below /sys/fs/cgroup/unified");
}

static void test_none(void **state)
{
	(void)state;
	mounts = "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n";
	is_refused("a", -EOPNOTSUPP, "cgroup v2 is not mounted");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unified),
		cmocka_unit_test(test_hybrid),
		cmocka_unit_test(test_none),
	};

	log_set_sink(keep_message, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
