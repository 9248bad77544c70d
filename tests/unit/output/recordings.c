// SPDX-License-Identifier: GPL-2.0-only
/* Recordings grow under their name: an existing one becomes PATH.old, and nothing else changes. */
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live.h"

static const struct output_opts rec = { .recording = true, .mode = 0600 };
static const struct output_opts forced = { .recording = true, .mode = 0600, .force = true };

static void test_rotation(void **state)
{
	struct output *o;
	struct stat st;

	assert_int_equal(begin("a", rec, &o), 0);
	assert_int_equal(names(), 0);
	assert_int_equal(output__commit(o), 0);
	assert_int_equal(output__write(o, RECORDING("1"), 9), 0);
	expect("a", RECORDING("1"));
	assert_int_equal(stat("a", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	output__free(o);
	assert_int_equal(chmod("a", 0644), 0);
	assert_int_equal(write_file("a", RECORDING("2"), rec), 0);
	expect("a", RECORDING("2"));
	expect("a.old", RECORDING("1"));
	assert_int_equal(stat("a", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(write_file("a", RECORDING("3"), rec), 0);
	expect("a.old", RECORDING("2"));
	/* a recording that never begins changes nothing */
	assert_int_equal(begin("a", rec, &o), 0);
	output__free(o);
	expect("a", RECORDING("3"));
	expect("a.old", RECORDING("2"));
	assert_int_equal(names(), 2);
}

static void test_no_recording(void **state)
{
	put("notes", "mine");
	expect_refused("notes", "'notes' is not a recording: not replaced without --force", rec);
	expect("notes", "mine");
	assert_int_equal(write_file("notes", RECORDING("1"), forced), 0);
	expect("notes.old", "mine");
	/* the notes are never replaced, because only their user knows their worth */
	expect_refused("notes", "'notes.old', which is not a recording", rec);
	expect_refused("notes", "'notes.old', which is not a recording", forced);
	expect("notes.old", "mine");
	expect("notes", RECORDING("1"));
	/* an empty file */
	put("empty", "");
	assert_int_equal(write_file("empty", RECORDING("1"), rec), 0);
	expect("empty", RECORDING("1"));
	assert_int_equal(names(), 3);
}

static void test_old(void **state)
{
	put("a", RECORDING("1"));
	assert_int_equal(mkdir("a.old", 0700), 0);
	expect_refused("a", "'a.old', which is not a recording", forced);
	assert_int_equal(rmdir("a.old"), 0);
	put("mine", RECORDING("mine"));
	assert_int_equal(symlink("mine", "a.old"), 0);
	expect_refused("a", "'a.old', which is not a recording", forced);
	assert_int_equal(unlink("a.old"), 0);
	put("a.old", "");
	assert_int_equal(write_file("a", RECORDING("2"), rec), 0);
	expect("a.old", RECORDING("1"));
}

/* Two recorders of one file: the second is refused whenever it starts. */
static void test_live(void **state)
{
	struct output *first, *second;

	/* both start before either has the name */
	assert_int_equal(begin("a", rec, &first), 0);
	assert_int_equal(begin("a", rec, &second), 0);
	assert_int_equal(output__commit(first), 0);
	assert_int_equal(output__write(first, RECORDING("1"), 9), 0);
	assert_true(output__commit(second) < 0);
	assert_non_null(strstr(message, "'a' is being recorded"));
	output__free(second);
	expect_refused("a", "'a' is being recorded", rec);
	expect_refused("a", "'a' is being recorded", forced);
	expect("a", RECORDING("1"));
	/* the user moved it to where the next one would go */
	assert_int_equal(rename("a", "a.old"), 0);
	put("a", RECORDING("0"));
	expect_refused("a", "'a.old' is being recorded", forced);
	output__free(first);
	assert_int_equal(write_file("a", RECORDING("2"), rec), 0);
	expect("a.old", RECORDING("0"));
	assert_int_equal(names(), 2);
}

/* A process that opens the file sees the lock, which ends with the recorder's last descriptor. */
static void test_lock(void **state)
{
	struct output *o;
	int fd, copy;

	assert_int_equal(begin("a", rec, &o), 0);
	assert_int_equal(output__commit(o), 0);
	fd = open("a", O_RDONLY | O_CLOEXEC);
	assert_true(live__is_locked(fd));
	assert_true(live__is_locked(fd));
	/* a child that has the descriptor is not a recorder */
	copy = dup(output__fd(o));
	output__free(o);
	assert_false(live__is_locked(fd));
	close(copy);
	close(fd);
}

static void test_stdout(void **state)
{
	int fd = open("a", O_RDWR | O_CREAT | O_CLOEXEC, 0600), before = dup(STDOUT_FILENO);
	int look = open("a", O_RDONLY | O_CLOEXEC);
	struct output *o;
	bool locked;
	pid_t child;

	dup2(fd, STDOUT_FILENO);
	assert_int_equal(begin("-", rec, &o), 0);
	assert_true(live__is_locked(look));
	expect_refused("-", "is being recorded", rec);
	expect_refused("a", "is being recorded", forced);
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	output__free(o);
	/* even while the file is still open: here, in a shell, and in a child that outlives it */
	locked = live__is_locked(look);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(locked);
	dup2(before, STDOUT_FILENO);
	close(before);
	close(fd);
	close(look);
}

static void test_link(void **state)
{
	struct stat st;

	assert_int_equal(mkdir("dir", 0700), 0);
	assert_int_equal(symlink("dir/real", "link"), 0);
	assert_int_equal(write_file("link", RECORDING("1"), rec), 0);
	assert_int_equal(write_file("link", RECORDING("2"), rec), 0);
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	expect("dir/real", RECORDING("2"));
	expect("dir/real.old", RECORDING("1"));
	assert_int_equal(names(), 2);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, directory__enter, directory__leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_rotation), TEST(test_no_recording), TEST(test_old),  TEST(test_live),
		TEST(test_lock),     TEST(test_stdout),	      TEST(test_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
