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

int __wrap_grace__wait(void);
int __wrap_tracefs__root(const char **ret_root);
int __wrap_openat64(int dir, const char *name, int flags, ...);
int __wrap_rmdir(const char *path);

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
	lists += !strcmp(name, "set_event_notrace_pid");
	return open("/dev/null", flags);
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
	assert_int_equal(ftrace_instance__wait(i), 0);
	assert_int_equal(lists, 2);
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
