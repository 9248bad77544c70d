// SPDX-License-Identifier: GPL-2.0-only
/* How an ftrace instance waits for events in progress; a directory stands for tracefs. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/ftrace/ring/ftrace_instance.h"

static char root[] = "/tmp/stackonce-test-XXXXXX";
static int grace; /* the result of grace__wait() */
static unsigned int lists; /* of excluded tasks that were replaced */
static int pid_max; /* numbers from here on are refused */
static int excluded; /* the last number that was not */

int __wrap_grace__wait(void);
int __wrap_tracefs__root(const char **ret_root);
int __wrap_openat64(int dir, const char *name, int flags, ...);
int __wrap_rmdir(const char *path);
ssize_t __real_write(int fd, const void *text, size_t len);
ssize_t __wrap_write(int fd, const void *text, size_t len);

int __wrap_grace__wait(void)
{
	return grace;
}

int __wrap_tracefs__root(const char **ret_root)
{
	*ret_root = root;
	return 0;
}

int __wrap_openat64(int dir, const char *name, int flags, ...)
{
	return open("/dev/null", flags);
}

ssize_t __wrap_write(int fd, const void *text, size_t len)
{
	int pid = atoi(text);

	if (!pid)
		return __real_write(fd, text, len);
	if (pid >= pid_max) {
		errno = EINVAL;
		return -1;
	}
	excluded = pid;
	lists++;
	return len;
}

int __wrap_rmdir(const char *path)
{
	return 0;
}

static void waits(void **state)
{
	struct ftrace_instance *i;
	char path[64];

	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/instances", root);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(ftrace_instance__new("", &i), 0);
	grace = 0;
	assert_int_equal(ftrace_instance__wait(i), 0);
	assert_int_equal(lists, 0);
	/* the kernel waits when it replaces a list, so there must have been one before */
	grace = -EPERM;
	pid_max = INT32_MAX;
	assert_int_equal(ftrace_instance__wait(i), 0);
	assert_int_equal(lists, 2);
	assert_int_equal(excluded, 4194304);
	/* as before Linux 5.16 */
	pid_max = 32768;
	assert_int_equal(ftrace_instance__wait(i), 0);
	assert_int_equal(lists, 4);
	assert_in_range(excluded, 1, 299);
	snprintf(path, sizeof(path), "/proc/%d", excluded);
	assert_int_not_equal(access(path, F_OK), 0);
	ftrace_instance__free(i);
	snprintf(path, sizeof(path), "%s/instances/stackonce.%d", root, getpid());
	assert_int_equal(unlinkat(AT_FDCWD, path, AT_REMOVEDIR), 0);
	snprintf(path, sizeof(path), "%s/instances", root);
	assert_int_equal(unlinkat(AT_FDCWD, path, AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(AT_FDCWD, root, AT_REMOVEDIR), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(waits) };

	return cmocka_run_group_tests_name("ftrace-instance", tests, NULL, NULL);
}
