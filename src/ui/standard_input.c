// SPDX-License-Identifier: GPL-2.0-only
/* Looks into standard input without reading from it. */
#include "standard_input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "log.h"
#include "slurp.h"
#include "trace/stk.h"

#define MAGIC_SIZE (sizeof(STK_MAGIC) - 1)
#define PATIENCE_MS 1000 /* to wait for the first byte, or for the rest of the magic */
#define RETRY_NS 10000000

/* The first bytes of a pipe, by copying them to another one; as pread(2). */
static ssize_t peek_pipe(char *buf)
{
	_cleanup_close_ int in = -1, out = -1;
	int fds[2];
	ssize_t n;

	if (pipe2(fds, O_CLOEXEC))
		return -1;
	in = fds[0];
	out = fds[1];
	n = tee(STDIN_FILENO, out, MAGIC_SIZE, SPLICE_F_NONBLOCK);
	return n > 0 ? read(in, buf, n) : n;
}

static ssize_t peek(mode_t mode, char *buf)
{
	if (S_ISREG(mode))
		return pread(STDIN_FILENO, buf, MAGIC_SIZE, lseek(STDIN_FILENO, 0, SEEK_CUR));
	if (S_ISFIFO(mode))
		return peek_pipe(buf);
	return recv(STDIN_FILENO, buf, MAGIC_SIZE, MSG_PEEK | MSG_DONTWAIT);
}

/* The writer may have written a part of the magic so far. */
static bool has_magic(mode_t mode)
{
	const struct timespec pause = { .tv_nsec = RETRY_NS };
	char buf[MAGIC_SIZE];
	unsigned int i;

	for (i = 0; i < PATIENCE_MS / (RETRY_NS / 1000000); i++) {
		ssize_t n = peek(mode, buf);

		if (n <= 0 || memcmp(buf, STK_MAGIC, n))
			return false;
		if (n == MAGIC_SIZE)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* Whether something arrives, or the writers are gone, in that time; -1: wait for ever. */
static bool arrives(int timeout_ms)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	int n;

	do {
		n = poll(&p, 1, timeout_ms);
	} while (n < 0 && errno == EINTR);
	return n != 0;
}

static bool is_empty(mode_t mode)
{
	char buf[MAGIC_SIZE];

	return peek(mode, buf) <= 0;
}

/* ---- who writes ------------------------------------------------------------------------------ */

static pid_t parent_of(pid_t pid)
{
	char path[64], line[1024], *end;
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (slurp__line(path, line, sizeof(line)))
		return 0;
	end = strrchr(line, ')'); /* comm may contain anything */
	return end && sscanf(end, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* This process, too. */
static bool is_ancestor(pid_t pid)
{
	pid_t p = getpid();

	while (p > 1 && p != pid)
		p = parent_of(p);
	return p == pid;
}

static bool can_write(pid_t pid, const struct stat *to)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct stat link, st;
	struct dirent *d;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir)))
		/* the mode of the link says how the file was opened */
		if (!fstatat(dirfd(dir), d->d_name, &st, 0) && st.st_dev == to->st_dev &&
		    st.st_ino == to->st_ino &&
		    !fstatat(dirfd(dir), d->d_name, &link, AT_SYMLINK_NOFOLLOW) &&
		    link.st_mode & S_IWUSR)
			return true;
	return false;
}

/*
 * Whether the writer is another program of a pipeline.  It has our sid (setsid(2)), unlike sshd and
 * services, and is no ancestor, unlike a program that started this one.
 */
static bool is_pipeline(const struct stat *pipe)
{
	_cleanup_closedir_ DIR *proc = opendir("/proc");
	struct dirent *d;
	pid_t pid;

	while (proc && (d = readdir(proc))) {
		pid = atoi(d->d_name);
		if (pid > 0 && getsid(pid) == getsid(0) && can_write(pid, pipe) &&
		    !is_ancestor(pid))
			return true;
	}
	return false;
}

/* ---- the choice ------------------------------------------------------------------------------ */

static const char *from_pipe(const struct stat *st, const char *file)
{
	if (!arrives(PATIENCE_MS)) {
		if (!access(file, F_OK) && !is_pipeline(st)) {
			log_warn("standard input is a pipe in which nothing arrives: reading '%s' "
				 "(- as FILE waits for the pipe)",
				 file);
			return file;
		}
		log_warn("waiting for a recording on standard input");
		arrives(-1);
	}
	if (has_magic(st->st_mode))
		return "-";
	log_warn("standard input is %s: reading '%s'",
		 is_empty(st->st_mode) ? "an empty pipe" : "a pipe without a recording", file);
	return file;
}

const char *standard_input__or(const char *file)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st))
		return file;
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		return from_pipe(&st, file);
	return S_ISREG(st.st_mode) && has_magic(st.st_mode) ? "-" : file;
}
