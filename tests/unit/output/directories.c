// SPDX-License-Identifier: GPL-2.0-only
/* Directories that a command writes are complete or absent, and replace only their own kind. */
#include "directory.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "output/directory.h"

static bool without_proc, without_exchange;
static const char *late_file; /* appears in the existing directory just before it is replaced */

/* Replaces the C library's: hides /proc, so that files need names from the start. */
int access(const char *path, int mode)
{
	return without_proc && !strcmp(path, "/proc/self/fd") ? -1 :
								faccessat(AT_FDCWD, path, mode, 0);
}

/* Replaces the C library's, which a file system may refuse. */
int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags)
{
	static int (*real)(int, const char *, int, const char *, unsigned int);

	if (late_file && flags == RENAME_EXCHANGE)
		put(late_file, "late");
	if (without_exchange) {
		errno = EINVAL;
		return -1;
	}
	if (!real)
		real = (int (*)(int, const char *, int, const char *,
				unsigned int))dlsym(RTLD_NEXT, "renameat2");
	return real(from_dir, from, to_dir, to, flags);
}

static bool has(const char *name, int fd)
{
	char c;

	return !strcmp(name, "main") || (*name == 'a' && pread(fd, &c, 1, 0) == 1);
}

static const struct output_dir_kind kind = { "a test", "main", has };

static int open_directory(const char *path, bool force, struct output_dir **ret_dir)
{
	*message = '\0';
	return output_dir__open(&(struct output_opts){ .path = path, .force = force }, &kind,
				ret_dir);
}

static void add(struct output_dir *d, const char *name, const char *text)
{
	int fd;

	assert_int_equal(output_dir__create(d, name, &fd), 0);
	assert_int_equal(output__write_to(fd, text, strlen(text)), 0);
}

static void write_directory(const char *path, const char *text)
{
	_cleanup_(output_dir__freep) struct output_dir *d = NULL;

	assert_int_equal(open_directory(path, true, &d), 0);
	add(d, "main", text);
	add(d, "a1", text);
	assert_int_equal(output_dir__commit(d), 0);
}

static void refused(const char *path, bool force, const char *words)
{
	unsigned int before = names();
	struct output_dir *d;

	assert_true(open_directory(path, force, &d) < 0);
	if (!strstr(message, words))
		fail_msg("'%s' is not in '%s'", words, message);
	assert_int_equal(names(), before);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 0777;
}

static void test_new(void **state)
{
	mode_t mask = umask(027);
	struct output_dir *d;

	for (without_proc = false;; without_proc = true) {
		assert_int_equal(open_directory("new///", false, &d), 0);
		add(d, "main", "text");
		assert_int_equal(names(), without_proc); /* the temporary directory */
		assert_int_equal(output_dir__commit(d), 0);
		output_dir__free(d);
		expect("new/main", "text");
		assert_int_equal(mode_of("new"), 0750);
		assert_int_equal(mode_of("new/main"), 0640);
		assert_int_equal(names(), 1);
		/* discarded before it is complete */
		assert_int_equal(open_directory("never", false, &d), 0);
		add(d, "main", "text");
		output_dir__free(d);
		assert_int_equal(names(), 1);
		unlink("new/main");
		rmdir("new");
		if (without_proc)
			break;
	}
	without_proc = false;
	umask(mask);
}

static void test_replaced(void **state)
{
	for (without_exchange = false;; without_exchange = true) {
		write_directory("dir", "one");
		assert_int_equal(chmod("dir", 0711), 0);
		put("dir/a2", "an old one");
		write_directory("dir", "two");
		expect("dir/main", "two");
		expect("dir/a1", "two");
		assert_int_equal(access("dir/a2", F_OK), -1);
		assert_int_equal(mode_of("dir"), 0711);
		assert_int_equal(names(), 1);
		if (without_exchange)
			break;
	}
	without_exchange = false;
}

static void test_refused(void **state)
{
	write_directory("dir", "one");
	refused("dir", false, "'dir' exists: not replaced without --force");
	put("dir/a", ""); /* not as such a file is */
	refused("dir", true, "holds something else than a test");
	unlink("dir/a");
	put("dir/b", "b");
	refused("dir", true, "holds something else than a test");
	unlink("dir/b");
	assert_int_equal(symlink("main", "dir/a3"), 0);
	refused("dir", true, "holds something else than a test");
	unlink("dir/a3");
	assert_int_equal(mkdir("dir/a4", 0777), 0);
	refused("dir", true, "holds something else than a test");
	rmdir("dir/a4");
	unlink("dir/main");
	refused("dir", true, "holds something else than a test");
	refused("-", true, "a test is a directory");
	put("file", "text");
	refused("file", true, "'file' exists and is not a directory");
	expect("file", "text");
	refused("none/dir", true, "create 'none/dir'");
}

/* Between the check at the start and the commit. */
static void test_changed(void **state)
{
	struct output_dir *d;

	assert_int_equal(open_directory("dir", false, &d), 0);
	add(d, "main", "mine");
	assert_int_equal(mkdir("dir", 0777), 0);
	assert_int_equal(output_dir__commit(d), -EEXIST);
	output_dir__free(d);
	assert_int_equal(names(), 1);
	rmdir("dir");

	write_directory("dir", "one");
	assert_int_equal(open_directory("dir", true, &d), 0);
	add(d, "main", "two");
	put("dir/text", "of another");
	assert_true(output_dir__commit(d) < 0);
	output_dir__free(d);
	expect("dir/main", "one");
	expect("dir/text", "of another");
	assert_int_equal(names(), 1);
	unlink("dir/text");

	/* What is added too late to be seen is kept. */
	late_file = "dir/late";
	write_directory("dir", "two");
	late_file = NULL;
	expect("dir/main", "two");
	assert_non_null(strstr(message, "what 'dir' was before is now '.stackonce-"));
	assert_int_equal(names(), 2);
}

/* Only so many more files may be open; the caller restores the limit. */
static struct rlimit limit_open_files(unsigned int more)
{
	struct rlimit before, limit;
	int fd = dup(0);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = fd + more;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return before;
}

/* Wherever the limit of open files is reached, it is raised. */
static void test_limit(void **state)
{
	struct output_dir *d;
	struct rlimit before;

	for (unsigned int i = 0; i < 16; i++) {
		without_proc = i & 1;
		assert_int_equal(open_directory("dir", true, &d), 0);
		before = limit_open_files(i / 2);
		add(d, "main", "text");
		add(d, "a1", "text");
		add(d, "a2", "text");
		assert_int_equal(output_dir__commit(d), 0);
		output_dir__free(d);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		expect("dir/main", "text");
		expect("dir/a2", "text");
		assert_int_equal(names(), 1);
	}
	without_proc = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_new, directory__enter, directory__leave),
		cmocka_unit_test_setup_teardown(test_replaced, directory__enter, directory__leave),
		cmocka_unit_test_setup_teardown(test_refused, directory__enter, directory__leave),
		cmocka_unit_test_setup_teardown(test_changed, directory__enter, directory__leave),
		cmocka_unit_test_setup_teardown(test_limit, directory__enter, directory__leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
