// SPDX-License-Identifier: GPL-2.0-only
/* Reads the tasks of the machine from /proc. */
#include "task_list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "slurp.h"
#include "strbuf.h"

#define PAUSE_TASKS 256 /* reading so many takes some milliseconds */

/*
 * Reads the beginning of a file in dir; returns its length, or a negative errno if the task is
 * gone.
 */
static int read_text(int dir, const char *name, char *text, size_t size)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : slurp__start(fd, text, size);
}

static void put_comm(struct strbuf *out, const char *comm, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		unsigned char c = comm[i];

		if (c > ' ' && c < 0x7f && c != '\\')
			strbuf__putc(out, c);
		else
			strbuf__printf(out, "\\x%02x", c);
	}
}

/* The last number of the line "NSpid:", which is the innermost namespace; pid without one. */
static long nspid_of(int dir, const char *tid, long pid)
{
	char path[300], text[4096], *line, *end;

	snprintf(path, sizeof(path), "%s/status", tid);
	if (read_text(dir, path, text, sizeof(text)) < 0)
		return pid;
	line = strstr(text, "\nNSpid:");
	if (!line)
		return pid;
	line += strlen("\nNSpid:");
	while (*line == '\t' || *line == ' ') {
		long v = strtol(line, &end, 10);

		if (end == line)
			break;
		pid = v;
		line = end;
	}
	return pid;
}

static void put_task(struct strbuf *out, int tasks, const char *tid, long tgid)
{
	unsigned long long start;
	char path[300], stat[1024], *open, *close;
	uint64_t hz = sysconf(_SC_CLK_TCK);
	char state;
	long pid, ppid;

	snprintf(path, sizeof(path), "%s/stat", tid);
	if (read_text(tasks, path, stat, sizeof(stat)) < 0)
		return;
	/* a comm may contain any byte, even parentheses */
	open = strchr(stat, '(');
	close = strrchr(stat, ')');
	if (!open || !close || sscanf(stat, "%ld", &pid) != 1)
		return;
	/* state ppid ... starttime is the 22nd field */
	if (sscanf(close + 1,
		   " %c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u "
		   "%*d %*d %*d %*d %*d %*d %llu",
		   &state, &ppid, &start) != 3)
		return;
	strbuf__printf(out, "%ld %ld %ld %ld %llu %c ", pid, tgid, ppid, nspid_of(tasks, tid, pid),
		       (unsigned long long)(start * (1000000000 / hz)), state);
	put_comm(out, open + 1, close - open - 1);
	strbuf__putc(out, '\n');
}

struct reading {
	struct strbuf *out;
	int (*meanwhile)(void *ctx);
	void *ctx;
	unsigned int nr; /* tasks so far */
};

static DIR *open_dir(int dir, const char *path)
{
	_cleanup_close_ int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (d)
		take_fd(fd);
	return d;
}

static int read_process(struct reading *r, int proc, const char *pid)
{
	_cleanup_closedir_ DIR *tasks = NULL;
	struct dirent *d;
	char path[300];
	int err = 0;

	snprintf(path, sizeof(path), "%s/task", pid);
	tasks = open_dir(proc, path);
	while (tasks && !err && (d = readdir(tasks))) {
		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		put_task(r->out, dirfd(tasks), d->d_name, atol(pid));
		if (!(++r->nr % PAUSE_TASKS) && r->meanwhile)
			err = r->meanwhile(r->ctx);
	}
	return err;
}

int task_list__read(const char *path, struct strbuf *out, int (*meanwhile)(void *ctx), void *ctx)
{
	struct reading r = { .out = out, .meanwhile = meanwhile, .ctx = ctx };
	_cleanup_closedir_ DIR *proc = opendir(path);
	struct dirent *d;
	int err = 0;

	if (!proc)
		return -errno;
	while (!err && (d = readdir(proc)))
		if (isdigit((unsigned char)d->d_name[0]))
			err = read_process(&r, dirfd(proc), d->d_name);
	return err ?: strbuf__failed(out) ? -ENOMEM : 0;
}
