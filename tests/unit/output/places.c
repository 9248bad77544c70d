// SPDX-License-Identifier: GPL-2.0-only
/*
 * Symbolic links and their owners.  Root gives files to another user; without root, a fake
 * geteuid() makes this process another user.
 */
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "output/place.h"

#define OTHER 12345

static const struct output_opts plain, forced = { .force = true };
static uid_t fake; /* 0: none */

uid_t geteuid(void)
{
	return fake ? fake : getuid();
}

/* From here on the file belongs to another user. */
static void give_away(const char *path)
{
	if (getuid())
		fake = OTHER;
	else
		assert_int_equal(lchown(path, OTHER, OTHER), 0);
}

static int enter(void **state)
{
	fake = 0;
	return directory__enter(state);
}

static int leave(void **state)
{
	fake = 0;
	return directory__leave(state);
}

static bool is_link(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return S_ISLNK(st.st_mode);
}

/* The link stays, and its target is replaced. */
static void test_followed(void **state)
{
	struct output *o;

	assert_int_equal(mkdir("dir", 0700), 0);
	assert_int_equal(symlink("two", "one"), 0);
	assert_int_equal(symlink("dir/three", "two"), 0);
	assert_int_equal(write_file("one", "new", plain), 0);
	expect("dir/three", "new");
	assert_int_equal(write_file("one", "again", plain), 0);
	expect("dir/three", "again");
	assert_true(is_link("one") && is_link("two"));
	/* the link is resolved once: changing it meanwhile has no effect */
	put("other", "other");
	assert_int_equal(begin("one", plain, &o), 0);
	assert_int_equal(unlink("one") || symlink("other", "one"), 0);
	assert_int_equal(rename("dir", "moved"), 0);
	assert_int_equal(output__write(o, "third", 5), 0);
	assert_int_equal(output__commit(o), 0);
	output__free(o);
	expect("moved/three", "third");
	expect("other", "other");
	assert_int_equal(symlink("loop", "loop"), 0);
	expect_refused("loop", "create 'loop'", plain);
}

static void test_link_of_another(void **state)
{
	put("file", "mine");
	assert_int_equal(symlink("file", "link"), 0);
	give_away("link");
	expect_refused("link", "'link' is a symbolic link of another user", plain);
	expect_refused("link", "'link' is a symbolic link of another user", forced);
	expect("file", "mine");
	assert_true(is_link("link"));
	/* nor a link that a link of this user leads to */
	fake = 0;
	assert_int_equal(symlink("link", "first"), 0);
	give_away("link");
	expect_refused("first", "of another user", forced);
	/* this applies to recordings, too */
	expect_refused("link", "of another user", (struct output_opts){ .recording = true });
}

static void test_directory_of_another(void **state)
{
	struct place p;

	put("file", "mine");
	assert_int_equal(mkdir("dir", 0777), 0);
	assert_int_equal(symlink("../file", "dir/link"), 0);
	if (getuid()) {
		/* the link belongs to another user, too, and is checked first */
		give_away("dir");
		expect_refused("dir/link", "of another user", forced);
	} else {
		give_away("dir");
		expect_refused("dir/link", "in a directory of another user", forced);
	}
	expect("file", "mine");
	/* a regular file in that directory is accepted */
	fake = 0;
	put("dir/plain", "");
	assert_int_equal(place__find("dir/plain", &p), 0);
	assert_true(p.exists);
	place__clear(&p);
	assert_int_equal(write_file("dir/new", "new", forced), 0);
}

/* In sticky directories such as /tmp, files of other users are not touched. */
static void test_sticky(void **state)
{
	/* the directory's owner must not be the files': without root that takes the real /tmp */
	const char *tmp = getuid() ? "/tmp" : "tmp";
	char file[64], fifo[64];
	int fd;

	assert_int_equal(mkdir("tmp", 0777), 0);
	assert_int_equal(chmod("tmp", 01777), 0);
	snprintf(file, sizeof(file), "%s/stackonce-file-%d", tmp, getpid());
	snprintf(fifo, sizeof(fifo), "%s/stackonce-fifo-%d", tmp, getpid());
	put(file, "theirs");
	assert_int_equal(mkfifo(fifo, 0666), 0);
	fd = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	give_away(file);
	give_away(fifo);
	expect_refused(file, "belongs to another user", forced);
	expect_refused(fifo, "belongs to another user", forced);
	expect(file, "theirs");
	close(fd);
	if (!getuid()) {
		/* anywhere else it is a file like any other */
		assert_int_equal(chmod("tmp", 0777), 0);
		assert_int_equal(write_file(file, "new", forced), 0);
	}
	assert_int_equal(unlink(file) || unlink(fifo), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_followed),
		TEST(test_link_of_another),
		TEST(test_directory_of_another),
		TEST(test_sticky),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
