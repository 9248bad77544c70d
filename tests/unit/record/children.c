// SPDX-License-Identifier: GPL-2.0-only
#include "children.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/stackonce-test-XXXXXX";

const char *children_begin(void)
{
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	return mkdtemp(dir);
}

void children_end(void)
{
	pid_t pid = fork();

	if (!pid) {
		execlp("rm", "rm", "-rf", "--", dir, NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

const char *in_dir(const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, PATH_MAX, "%s/%s", dir, name);
	return path;
}

bool may_open_mappings(void)
{
	struct child c = child_mapping(NULL, "/proc/self/exe");
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", c.pid,
		 (unsigned long long)c.start, (unsigned long long)c.end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	child_end(&c);
	return fd >= 0;
}

const char *copy_self(const char *name)
{
	static unsigned int copies;
	struct timespec times[2] = { { 1000000, 1 }, { 1000000, 1 + copies++ } };
	const char *path = in_dir(name);
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	struct stat st;

	assert_int_equal(fstat(from, &st), 0);
	assert_int_equal(sendfile(to, from, NULL, st.st_size), st.st_size);
	assert_int_equal(futimens(to, times), 0);
	close(from);
	close(to);
	return path;
}

/* In the child; does not return.  Writes the start of the mapping to ready. */
static void map_and_wait(const char *path, int ready)
{
	size_t page = sysconf(_SC_PAGESIZE);
	int fd = open(path, O_RDONLY);
	void *p = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	uint64_t start = (uintptr_t)p;

	close(fd);
	if (p == MAP_FAILED)
		_exit(1);
	if (write(ready, &start, sizeof(start)) != sizeof(start))
		_exit(1);
	for (;;)
		pause();
}

/* In the child: changes the root directory or the mounts. */
static bool enter(const char *root, const char *what, const char *at)
{
	if (root)
		return !chroot(root) && !chdir("/");
	if (!at)
		return true;
	return !unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount(what, at, NULL, MS_BIND, NULL);
}

static struct child start(const char *root, const char *what, const char *at, const char *path)
{
	struct child c = { 0 };
	int ready[2];

	assert_int_equal(pipe(ready), 0);
	c.pid = fork();
	if (!c.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		if (!enter(root, what, at))
			_exit(1);
		map_and_wait(path, ready[1]);
	}
	close(ready[1]);
	if (read(ready[0], &c.start, sizeof(c.start)) != sizeof(c.start))
		fail_msg("the child could not map %s", path);
	close(ready[0]);
	c.end = c.start + sysconf(_SC_PAGESIZE);
	return c;
}

struct child child_mapping(const char *root, const char *path)
{
	return start(root, NULL, NULL, path);
}

struct child child_mounting(const char *what, const char *at, const char *path)
{
	return start(NULL, what, at, path);
}

void child_end(struct child *c)
{
	if (c->pid) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
	c->pid = 0;
}

void file_event_set_path(struct wire_file_event *n, const char *path)
{
	const char *end = path + strlen(path), *part;

	n->len = n->nr_parts = 0;
	for (; end > path; end = part) {
		part = memrchr(path, '/', end - path);
		memcpy(n->parts + n->len, part + 1, end - part - 1);
		n->len += end - part;
		n->parts[n->len - 1] = '\0';
		n->nr_parts++;
	}
}

struct wire_file_event file_event_of(const struct child *c, const char *path)
{
	struct wire_file_event n = { .file = 1, .tgid = c->pid, .tid = c->pid };
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	n.key.kind = WIRE_KEY_FILE;
	n.key.dev = major(st.st_dev) << 20 | minor(st.st_dev);
	n.key.w[0] = st.st_ino;
	n.key.w[3] = st.st_mtim.tv_sec * 1000000000ull + st.st_mtim.tv_nsec;
	n.key.w[4] = st.st_size;
	n.key.w[5] = st.st_ctim.tv_sec * 1000000000ull + st.st_ctim.tv_nsec;
	n.key.w[5] = st.st_ctim.tv_sec * 1000000000ull + st.st_ctim.tv_nsec;
	n.start = c->start;
	n.end = c->end;
	file_event_set_path(&n, path);
	return n;
}
