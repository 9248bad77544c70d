// SPDX-License-Identifier: GPL-2.0-only
/* Files that a command writes are complete or absent, and replace nothing that a user may need. */
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "live.h"

static const struct output_opts plain, forced = { .force = true };
static bool without_proc;

/* Replaces the C library's: hides /proc, so that a file needs a name from the start. */
int access(const char *path, int mode)
{
	return without_proc && !strcmp(path, "/proc/self/fd") ? -1 :
								faccessat(AT_FDCWD, path, mode, 0);
}

static struct stat stat_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st;
}

static void test_new(void **state)
{
	mode_t mask = umask(027);
	struct output *o;

	for (without_proc = false;; without_proc = true) {
		assert_int_equal(begin("new", plain, &o), 0);
		assert_int_equal(output__write(o, "text", 4), 0);
		assert_int_equal(access("new", F_OK), -1);
		assert_int_equal(output__commit(o), 0);
		output__free(o);
		expect("new", "text");
		assert_int_equal(stat_of("new").st_mode & 0777, 0640);
		assert_int_equal(names(), 1);
		/* discarded before it is complete */
		assert_int_equal(begin("never", plain, &o), 0);
		assert_int_equal(names(), without_proc ? 2 : 1);
		output__free(o);
		assert_int_equal(names(), 1);
		unlink("new");
		if (without_proc)
			break;
	}
	without_proc = false;
	assert_int_equal(write_file("mode", "", (struct output_opts){ .mode = 0600 }), 0);
	assert_int_equal(stat_of("mode").st_mode & 0777, 0600);
	umask(mask);
}

static void test_replaced(void **state)
{
	struct output *o;

	put("file", "before");
	assert_int_equal(chmod("file", 0654), 0);
	if (!getuid())
		assert_int_equal(chown("file", 12345, 54321), 0);
	assert_int_equal(begin("file", getuid() ? plain : forced, &o), 0);
	assert_int_equal(output__write(o, "after", 5), 0);
	expect("file", "before");
	assert_int_equal(output__commit(o), 0);
	output__free(o);
	expect("file", "after");
	assert_int_equal(stat_of("file").st_mode & 0777, 0654);
	assert_int_equal(stat_of("file").st_uid, getuid() ?: 12345);
	if (!getuid())
		assert_int_equal(stat_of("file").st_gid, 54321);
	assert_int_equal(names(), 1);
}

static void test_inputs(void **state)
{
	static const char *const in[] = { NULL, "nosuch", "in", "-" };
	struct output_opts opts = { .inputs = in, .nr_inputs = 4 };
	_cleanup_close_ int fd = -1, before = dup(STDIN_FILENO);

	put("in", "read");
	put("stdin", "read");
	assert_int_equal(symlink("in", "link"), 0);
	assert_int_equal(link("in", "hard"), 0);
	fd = open("stdin", O_RDONLY | O_CLOEXEC);
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	for (int force = 0; force < 2; force++) {
		opts.force = force;
		expect_refused("in", "'in' is an input of this command", opts);
		expect_refused("link", "'link' is an input", opts);
		expect_refused("hard", "'hard' is an input", opts);
		expect_refused("./in", "'./in' is an input", opts);
		expect_refused("stdin", "'stdin' is an input", opts);
	}
	assert_int_equal(dup2(before, STDIN_FILENO), STDIN_FILENO);
	expect("in", "read");
	expect("stdin", "read");
	assert_int_equal(write_file("out", "fine", opts), 0);
}

static void test_recordings(void **state)
{
	put("a.stk", RECORDING("a"));
	expect_refused("a.stk", "'a.stk' is a recording: not replaced without --force", plain);
	expect("a.stk", RECORDING("a"));
	assert_int_equal(write_file("a.stk", "b", forced), 0);
	expect("a.stk", "b");
}

static void test_live(void **state)
{
	int fd;

	put("a.stk", RECORDING("a"));
	fd = open("a.stk", O_RDWR | O_CLOEXEC);
	assert_int_equal(live__lock(fd), 0);
	expect_refused("a.stk", "'a.stk' is being recorded", plain);
	expect_refused("a.stk", "'a.stk' is being recorded", forced);
	expect("a.stk", RECORDING("a"));
	/* the lock ends with its owner */
	close(fd);
	assert_int_equal(write_file("a.stk", "b", forced), 0);
}

/* A file that took the name after output__open() has not been checked. */
static void test_meanwhile(void **state)
{
	struct output *o;

	assert_int_equal(begin("a", plain, &o), 0);
	put("a", "came");
	assert_int_equal(output__commit(o), -EEXIST);
	output__free(o);
	expect("a", "came");
	assert_int_equal(begin("a", plain, &o), 0);
	put("b", "another");
	assert_int_equal(rename("b", "a"), 0);
	assert_int_equal(output__commit(o), -EEXIST);
	output__free(o);
	expect("a", "another");
	assert_int_equal(begin("a", plain, &o), 0);
	unlink("a");
	assert_int_equal(output__commit(o), 0);
	output__free(o);
	expect("a", "");
	assert_int_equal(names(), 1);
}

/* Runs as a user other than root, because root may write everything. */
static void test_read_only(void **state)
{
	int status;
	pid_t pid;

	put("mine", "before");
	assert_int_equal(chmod("mine", 0444), 0);
	assert_int_equal(chmod(".", 0777), 0);
	if (!getuid())
		assert_int_equal(chown(".", 12345, 12345) || chown("mine", 12345, 12345), 0);
	pid = fork();
	if (!pid) {
		if (!getuid() && setuid(12345))
			_exit(1);
		_exit(write_file("mine", "after", plain) != -EACCES ||
		      write_file("mine", "forced", forced));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	expect("mine", "forced");
}

static void test_no_file(void **state)
{
	assert_int_equal(mkdir("dir", 0700), 0);
	expect_refused("dir", "create 'dir': Is a directory", forced);
	expect_refused(".", "create '.': Is a directory", forced);
	expect_refused("new/", "create 'new/'", forced);
	expect_refused("nosuch/a", "create 'nosuch/a'", forced);
	expect_refused("", "create ''", forced);
	assert_int_equal(names(), 1);
}

/* ---- written directly ------------------------------------------------------------------------ */

static void test_fifo(void **state)
{
	char got[8] = "";
	int fd;

	assert_int_equal(mkfifo("fifo", 0600), 0);
	fd = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(write_file("fifo", "pipe", plain), 0);
	assert_int_equal(read(fd, got, sizeof(got)), 4);
	assert_string_equal(got, "pipe");
	close(fd);
	assert_true(S_ISFIFO(stat_of("fifo").st_mode));
	assert_int_equal(write_file("/dev/null", "gone", plain), 0);
	assert_true(S_ISCHR(stat_of("/dev/null").st_mode));
	assert_int_equal(names(), 1);
}

/* An inherited descriptor is used as it is: the output is appended to whatever is there. */
static void test_descriptor(void **state)
{
	static const char *const in[] = { "file" };
	struct output_opts reads = { .inputs = in, .nr_inputs = 1, .force = true };
	int fd = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600), out;
	char path[32];

	assert_int_equal(write(fd, "one", 3), 3);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	assert_int_equal(write_file(path, "two", plain), 0);
	expect("file", "onetwo");
	expect_refused(path, "is an input of this command", reads);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(write_file(path, "three", plain), 0);
	out = dup(STDOUT_FILENO);
	dup2(fd, STDOUT_FILENO);
	assert_int_equal(write_file("/dev/stdout", "four", plain), 0);
	assert_int_equal(write_file("-", "five", plain), 0);
	dup2(out, STDOUT_FILENO);
	close(out);
	expect("file", "onetwothreefourfive");
	close(fd);
	fd = open("file", O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	expect_refused(path, "Bad file descriptor", plain);
	close(fd);
	assert_int_equal(names(), 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, directory__enter, directory__leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_new),	 TEST(test_replaced),	TEST(test_inputs),    TEST(test_recordings),
		TEST(test_live), TEST(test_meanwhile),	TEST(test_read_only), TEST(test_no_file),
		TEST(test_fifo), TEST(test_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
