// SPDX-License-Identifier: GPL-2.0-only
/* Whole files: of known size, of /proc, and from a pipe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "slurp.h"

#define SIZE 100000

static int file_of(size_t len)
{
	char *data = malloc(len + 1);
	int fd = memfd_create("slurp", MFD_CLOEXEC);

	memset(data, 'x', len);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	free(data);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void test_file(void **state)
{
	static const size_t sizes[] = { 0, 1, 63, 64, 16383, 16384, SIZE };
	char *text;
	size_t len, i;
	int fd;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		fd = file_of(sizes[i]);
		assert_int_equal(slurp__fd(fd, sizes[i], &text, &len), 0);
		assert_int_equal(len, sizes[i]);
		assert_int_equal(strlen(text), len);
		free(text);
		close(fd);
	}
}

static void test_too_large(void **state)
{
	char *text = NULL;
	int fd = file_of(SIZE);

	(void)state;
	assert_int_equal(slurp__fd(fd, SIZE - 1, &text, NULL), -EFBIG);
	assert_null(text);
	close(fd);
}

static void test_pipe(void **state)
{
	int fds[2], i;
	char *text;
	size_t len;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		close(fds[0]);
		for (i = 0; i < SIZE; i++)
			if (write(fds[1], "y", 1) != 1)
				_exit(1);
		_exit(0);
	}
	close(fds[1]);
	assert_int_equal(slurp__fd(fds[0], SIZE, &text, &len), 0);
	assert_int_equal(len, SIZE);
	assert_int_equal(strspn(text, "y"), SIZE);
	free(text);
	close(fds[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_proc(void **state)
{
	unsigned int number = 7;
	char *text, line[64];
	size_t len;

	(void)state;
	assert_int_equal(slurp("/proc/self/status", &text, &len), 0);
	assert_int_equal(strlen(text), len);
	assert_non_null(strstr(text, "\nPid:"));
	free(text);
	assert_int_equal(slurp("/proc/self/no such file", &text, &len), -ENOENT);
	assert_int_equal(slurp("/proc/self", &text, &len), -EISDIR);
	assert_int_equal(slurp__line("/proc/self/status", line, sizeof(line)), 0);
	assert_int_equal(strncmp(line, "Name:\t", 6), 0);
	assert_null(strchr(line, '\n'));
	assert_int_equal(slurp__line("/dev/null", line, sizeof(line)), -ENODATA);
	assert_int_equal(slurp__number("/proc/sys/kernel/pid_max", &number), 0);
	assert_true(number > 7);
	assert_int_equal(slurp__number("/proc/self/status", &number), -EINVAL);
	assert_int_equal(slurp__number("/dev/null", &number), -ENODATA);
}

/* The text is truncated to the buffer and NUL-terminated. */
static void test_start(void **state)
{
	char text[8];
	int fd = file_of(100);

	(void)state;
	assert_int_equal(slurp__start(fd, text, sizeof(text)), 7);
	assert_string_equal(text, "xxxxxxx");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),  cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_pipe),  cmocka_unit_test(test_proc),
		cmocka_unit_test(test_start),
	};

	return cmocka_run_group_tests_name("base-slurp", tests, NULL, NULL);
}
