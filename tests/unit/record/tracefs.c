// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of tracepoints while probes are created and removed, which cannot be arranged on a real
 * machine: the calls that read tracefs are replaced, and each event directory is gone when it is
 * opened.
 */
#undef _FORTIFY_SOURCE /* it defines open() inline */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

#include <cmocka.h>

#include "cleanup.h"
#include "record/kernel/tracefs.h"

static const char *listed;

int statfs(const char *path, struct statfs *st)
{
	*st = (struct statfs){ .f_type = TRACEFS_MAGIC };
	return strcmp(path, TRACEFS_ROOT) ? -1 : 0;
}

int open(const char *path, int flags, ...)
{
	int fd;

	if (strcmp(path, TRACEFS_ROOT "/available_events"))
		return syscall(SYS_openat, AT_FDCWD, path, flags, 0);
	if (!listed) {
		errno = EACCES;
		return -1;
	}
	fd = memfd_create("available_events", MFD_CLOEXEC);
	assert_int_equal(write(fd, listed, strlen(listed)), strlen(listed));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

DIR *opendir(const char *path)
{
	assert_memory_equal(path, TRACEFS_ROOT, strlen(TRACEFS_ROOT));
	errno = ENOENT;
	return NULL;
}

static void test_list(void **state)
{
	static const char *const sorted[] = { "irq:irq_handler_entry", "probe:gone",
					      "sched:sched_switch" };
	char **events;
	size_t nr, i;

	(void)state;
	listed = "sched:sched_switch\nprobe:gone\nirq:irq_handler_entry\n";
	assert_int_equal(tracefs__events(&events, &nr), 0);
	assert_int_equal(nr, ARRAY_SIZE(sorted));
	for (i = 0; i < nr; i++)
		assert_string_equal(events[i], sorted[i]);
	tracefs__free_events(events, nr);
}

static void test_none(void **state)
{
	char **events;
	size_t nr;

	(void)state;
	listed = "";
	assert_int_equal(tracefs__events(&events, &nr), 0);
	assert_int_equal(nr, 0);
	tracefs__free_events(events, nr);
}

static void test_refused(void **state)
{
	char **events = NULL;
	size_t nr = 7;

	(void)state;
	listed = NULL;
	assert_int_equal(tracefs__events(&events, &nr), -EACCES);
	assert_null(events);
	assert_int_equal(nr, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
