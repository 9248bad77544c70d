// SPDX-License-Identifier: GPL-2.0-only
/* Paths of hostile recordings: which files are opened for them, without side effects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "built.h"
#include "cleanup.h"
#include "symbols/debug_file.h"

/* The contents of the file, at most 31 bytes; NULL if it is not opened. */
static const char *content(const char *root, const char *path)
{
	_cleanup_close_ int fd = -1;
	static char text[32];
	ssize_t len;

	if (root__open(root, path, &fd))
		return NULL;
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	len = read(fd, text, sizeof(text) - 1);
	assert_true(len >= 0);
	text[len] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void expect(const char *root, const char *path, const char *text)
{
	const char *got = content(root, path);

	if (!text && got)
		fail_msg("'%s' was opened", path);
	if (text && !got)
		fail_msg("'%s' was not opened", path);
	if (text)
		assert_string_equal(got, text);
}

static void test_links(void **state)
{
	const char *root;
	char cwd[PATH_MAX];

	built__run(
		"mkdir -p a/b root/a/b root$PWD/a && echo outer >a/b/file && echo inner >root/a/b/file && "
		"ln -s b/file a/link && ln -s $PWD/a/b a/whole && ln -s ../a a/up && ln -s loop a/loop && "
		"cp -a a/link a/up root/a && ln -s /a/b root/a/whole && "
		"ln -s ../../../../../../../../a/b/file root/a/out && ln -s $PWD/a root/a/away");
	expect("", built__path("a/b/file"), "outer");
	expect("", built__path("a//b/./../b/file"), "outer");
	expect("", built__path("a/link"), "outer");
	expect("", built__path("a/whole/file"), "outer");
	expect("", built__path("a/up/up/up/link"), "outer");
	expect("", built__path("a/loop"), NULL);
	expect("", built__path("a/b/file/x"), NULL);
	expect("", built__path("a/b/none"), NULL);
	expect("", built__path("a/b"), NULL);
	expect("", built__path("a/b/.."), NULL);
	root = built__path("root");
	expect(root, "/a/b/file", "inner");
	expect(root, "a/link", "inner");
	expect(root, "/../../a/up/../../../a/whole/file", "inner");
	expect(root, "/a/out", "inner");
	expect(root, "/a/away/b/file", NULL);
	expect(root, "/", NULL);
	expect(root, "", NULL);
	expect(built__path("nowhere"), "/a/b/file", NULL);
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_int_equal(chdir(built__dir()), 0);
	expect("", "a/b/file", "outer");
	expect("root", "/a/b/file", "inner");
	assert_int_equal(chdir(cwd), 0);
}

static void test_long(void **state)
{
	char path[2 * PATH_MAX];

	/* a link of 2,000 bytes */
	built__run("mkdir -p long && ln -s $(printf '././%%.0s' $(seq 500)) long/grow && "
		   "echo text >long/file");
	snprintf(path, sizeof(path), "%s/long/grow/grow/grow/file", built__dir());
	expect("", path, "text");
	/* too long after the link is followed */
	snprintf(path, sizeof(path), "%s/long/grow%03000d/file", built__dir(), 0);
	for (char *zero = path + strlen(built__dir()); (zero = strchr(zero, '0')); zero++)
		*zero = '/';
	expect("", path, NULL);
	memset(path, '/', sizeof(path));
	path[PATH_MAX] = '\0';
	expect("", path, NULL);
	memset(path + 1, 'x', PATH_MAX - 2);
	path[PATH_MAX - 1] = '\0';
	expect("", path, NULL);
}

/* Only regular files are opened, and none of those that the kernel generates. */
static void test_special(void **state)
{
	static const char *const none[] = {
		"/proc/self/exe",
		"/proc/self/maps",
		"/proc/version",
		"/proc/self/cwd/built",
		"/proc/self/root/etc/passwd",
		"/sys/kernel/notes",
		"/sys/kernel/tracing/README",
		"/sys/kernel/debug/tracing/free_buffer",
		"/dev/null",
		"/dev/zero",
		"/dev/tty",
		"/dev/fd/0",
	};

	built__run("mkfifo fifo && >empty && echo text >file && "
		   "ln -s /proc/self/exe exe && ln -s /dev/zero zero && ln -s fifo to_fifo");
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		expect("", none[i], NULL);
	expect("", built__path("fifo"), NULL);
	expect("", built__path("to_fifo"), NULL);
	expect("", built__path("empty"), NULL);
	expect("", built__path("exe"), NULL);
	expect("", built__path("zero"), NULL);
	expect("", built__path("file"), "text");
	/* permitted as an explicit root */
	expect("/proc/self/root", built__path("file"), "text");
}

/* ---- an automounter -------------------------------------------------------------------------- */

/* Mounts auto/here, as the daemon does.  Lookups by its process group do not trigger mounts. */
static void be_daemon(int ready, int until)
{
	const char *here = built__path("auto/here");
	char c = 0;

	setpgid(0, 0);
	if (write(ready, &c, 1) != 1 || read(until, &c, 1) != 1 || mkdir(here, 0755) ||
	    mount("none", here, "tmpfs", 0, NULL))
		_exit(1);
	built__run("echo mounted >auto/here/file");
	if (write(ready, &c, 1) != 1)
		_exit(1);
	_exit(read(until, &c, 1) != 0);
}

/*
 * Opens it in a process that may block forever; returns whether it was opened or a mount requested.
 */
static char try_auto(const char *path, int requests)
{
	struct pollfd poll_fds[2] = { { .fd = requests, .events = POLLIN } };
	int done[2], nr;
	char ret = '?';
	pid_t pid;

	assert_int_equal(pipe2(done, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		ret = content("", path) ? 'o' : 'n';
		_exit(write(done[1], &ret, 1) != 1);
	}
	poll_fds[1] = (struct pollfd){ .fd = done[0], .events = POLLIN };
	nr = poll(poll_fds, 2, 60000);
	if (nr > 0 && poll_fds[0].revents)
		ret = 'm';
	else if (nr > 0)
		assert_int_equal(read(done[0], &ret, 1), 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(done[0]);
	close(done[1]);
	return ret;
}

static bool mount_auto(int requests, pid_t daemon)
{
	char options[100];

	snprintf(options, sizeof(options), "fd=%d,pgrp=%d,minproto=5,maxproto=5,indirect", requests,
		 daemon);
	if (!mount("test", built__path("auto"), "autofs", 0, options))
		return true;
	print_message("cannot mount an automounter: %s\n", strerror(errno));
	return false;
}

/* Mounted directories are searched; lookups do not trigger mounts. */
static void test_automounter(void **state)
{
	int ready[2], until[2], requests[2], status;
	char c = 0, here = '?', elsewhere = '?';
	bool mounted;
	pid_t pid;

	built__run("mkdir -p auto");
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		print_message("cannot create a mount namespace: %s\n", strerror(errno));
		skip();
	}
	assert_int_equal(pipe(ready) | pipe(until) | pipe2(requests, O_DIRECT), 0);
	pid = fork();
	if (!pid) {
		close(until[1]);
		be_daemon(ready[1], until[0]);
	}
	close(until[0]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	mounted = mount_auto(requests[1], pid);
	if (mounted && write(until[1], &c, 1) == 1 && read(ready[0], &c, 1) == 1) {
		here = try_auto(built__path("auto/here/file"), requests[0]);
		elsewhere = try_auto(built__path("auto/elsewhere/file"), requests[0]);
	}
	close(until[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!mounted)
		skip();
	umount2(built__path("auto/here"), MNT_DETACH);
	assert_int_equal(umount2(built__path("auto"), MNT_DETACH), 0);
	assert_int_equal(status, 0);
	assert_int_equal(here, 'o');
	assert_int_equal(elsewhere, 'n');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_special),
		cmocka_unit_test(test_automounter),
	};

	return cmocka_run_group_tests(tests, built__setup, built__teardown);
}
