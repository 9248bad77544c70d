// SPDX-License-Identifier: GPL-2.0-only
/* The list of tasks, from a directory like /proc. */
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

#include "cleanup.h"
#include "record/kernel/task_list.h"
#include "strbuf.h"

#define NR_THREADS 30000
#define FIRST 100000

static char dir[64];

static void make_dir(const char *path)
{
	char full[256];

	snprintf(full, sizeof(full), "%s/%s", dir, path);
	assert_int_equal(mkdir(full, 0700), 0);
}

static void make_file(const char *task, const char *name, const char *text)
{
	_cleanup_close_ int fd = -1;
	char full[256];

	snprintf(full, sizeof(full), "%s/%s/%s", dir, task, name);
	fd = open(full, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void make_task(unsigned int pid, unsigned int tid, const char *comm, const char *status)
{
	char path[64], stat[256];

	snprintf(path, sizeof(path), "%u/task/%u", pid, tid);
	make_dir(path);
	snprintf(stat, sizeof(stat),
		 "%u (%s) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0", tid, comm);
	make_file(path, "stat", stat);
	if (status)
		make_file(path, "status", status);
}

/* Another thread that looks like the first one; a link is made faster than a task. */
static void make_alike(unsigned int pid, unsigned int tid)
{
	char target[32], path[128];

	snprintf(target, sizeof(target), "%u", pid);
	snprintf(path, sizeof(path), "%s/%u/task/%u", dir, pid, tid);
	assert_int_equal(symlink(target, path), 0);
}

static void make_process(unsigned int pid)
{
	char path[64];

	snprintf(path, sizeof(path), "%u", pid);
	make_dir(path);
	snprintf(path, sizeof(path), "%u/task", pid);
	make_dir(path);
}

static int set_up(void **state)
{
	unsigned int i;

	/* so many files are made faster in memory */
	snprintf(dir, sizeof(dir), "%s/stackonce-test.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	assert_non_null(mkdtemp(dir));
	make_dir("sys");
	make_process(1);
	make_task(1, 1, "in) it", "Name:\tin\nNSpid:\t1\t7\n");
	make_process(FIRST);
	make_task(FIRST, FIRST, "worker of many x", NULL);
	for (i = 1; i < NR_THREADS; i++)
		make_alike(FIRST, FIRST + i);
	return 0;
}

static int remove_dir(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

static int count(void *ctx)
{
	unsigned int *nr = ctx;

	return ++*nr == UINT32_MAX ? -EINTR : 0;
}

static void many_tasks(void **state)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	unsigned int nr = 0, pauses = 0;
	const char *s;

	assert_int_equal(task_list__read(dir, &text, count, &pauses), 0);
	assert_in_range(pauses, NR_THREADS / 1000, NR_THREADS / 10);
	for (s = text.s; (s = strchr(s, '\n')); s++)
		nr++;
	assert_int_equal(nr, NR_THREADS + 1);
	assert_non_null(strstr(text.s, "1 1 1 7 5000000000 S in)\\x20it\n"));
	assert_non_null(strstr(text.s, "100000 100000 1 100000 5000000000 S "
				       "worker\\x20of\\x20many\\x20x\n"));
	assert_true(text.len > 1u << 20);
}

static void no_proc(void **state)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };

	unsigned int pauses = 0;

	assert_int_equal(task_list__read("/nonexistent", &text, count, &pauses), -ENOENT);
}

static void stopped(void **state)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	unsigned int pauses = UINT32_MAX - 1;

	assert_int_equal(task_list__read(dir, &text, count, &pauses), -EINTR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_tasks),
		cmocka_unit_test(no_proc),
		cmocka_unit_test(stopped),
	};

	return cmocka_run_group_tests(tests, set_up, remove_dir);
}
