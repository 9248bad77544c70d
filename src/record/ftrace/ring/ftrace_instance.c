// SPDX-License-Identifier: GPL-2.0-only
/* Creates, configures and removes an ftrace instance. */
#include "ftrace_instance.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "grace.h"
#include "log.h"
#include "record/kernel/tracefs.h"
#include "slurp.h"

#define PREFIX "stackonce."
#define REMOVE_TRIES 50 /* of 20 ms: while a process reads its files */

struct ftrace_instance {
	char *path;
	int dir;
};

/* Removing the instance disables its events. */
static int remove_instance(const char *path)
{
	unsigned int i;

	for (i = 0; i < REMOVE_TRIES; i++) {
		if (!rmdir(path) || errno == ENOENT)
			return 0;
		if (errno != EBUSY)
			return -errno;
		usleep(20000);
	}
	return -EBUSY;
}

/* Whether the process that created the instance does not exist any more. */
static bool is_left_over(const char *name)
{
	char *end;
	long pid;

	if (strncmp(name, PREFIX, strlen(PREFIX)))
		return false;
	pid = strtol(name + strlen(PREFIX), &end, 10);
	if (pid <= 0 || pid > INT_MAX || (*end && *end != '.'))
		return false;
	return pid == getpid() || (kill(pid, 0) && errno == ESRCH);
}

static void remove_left_over(const char *instances)
{
	_cleanup_closedir_ DIR *dir = opendir(instances);
	char path[PATH_MAX + NAME_MAX + 2];
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		if (!is_left_over(d->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", instances, d->d_name);
		if (remove_instance(path))
			log_warn("cannot remove '%s' of a recorder that was killed", path);
	}
}

int ftrace_instance__new(const char *suffix, struct ftrace_instance **ret_instance)
{
	struct ftrace_instance *i;
	char instances[PATH_MAX];
	const char *root;
	int err;

	err = tracefs__root(&root);
	if (err)
		return log_err(err, "find tracefs");
	snprintf(instances, sizeof(instances), "%s/instances", root);
	if (!*suffix)
		remove_left_over(instances);
	i = calloc(1, sizeof(*i));
	if (!i)
		return -ENOMEM;
	i->dir = -1;
	if (asprintf(&i->path, "%s/" PREFIX "%d%s", instances, getpid(), suffix) < 0) {
		free(i);
		return -ENOMEM;
	}
	if (mkdir(i->path, 0700)) {
		err = log_err(-errno, "create '%s'", i->path);
		free(i->path);
		free(i);
		return err;
	}
	i->dir = open(i->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	err = i->dir < 0 ? -errno : ftrace_instance__write(i, "tracing_on", "0");
	if (err) {
		log_err(err, "open '%s'", i->path);
		ftrace_instance__free(i);
		return err;
	}
	*ret_instance = i;
	return 0;
}

void ftrace_instance__free(struct ftrace_instance *i)
{
	int err;

	if (!i)
		return;
	closep(&i->dir);
	err = remove_instance(i->path);
	if (err)
		log_err(err, "remove '%s'", i->path);
	free(i->path);
	free(i);
}

int ftrace_instance__open(const struct ftrace_instance *i, const char *name, int flags)
{
	int fd = openat(i->dir, name, flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int ftrace_instance__write(const struct ftrace_instance *i, const char *name, const char *text)
{
	_cleanup_close_ int fd = ftrace_instance__open(i, name, O_WRONLY);
	ssize_t n;

	if (fd < 0)
		return fd;
	do {
		n = write(fd, text, strlen(text));
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int ftrace_instance__option(const struct ftrace_instance *i, const char *name, bool on)
{
	char path[NAME_MAX];

	snprintf(path, sizeof(path), "options/%s", name);
	return ftrace_instance__write(i, path, on ? "1" : "0");
}

int ftrace_instance__read(const struct ftrace_instance *i, const char *name, char **ret_text,
			  size_t *ret_len)
{
	_cleanup_close_ int fd = ftrace_instance__open(i, name, O_RDONLY);

	return fd < 0 ? fd : slurp__fd(fd, SLURP_MAX, ret_text, ret_len);
}

/* The kernel's RESERVED_PIDS: after the boot, it gives no number below this to a new task. */
#define RESERVED_PIDS 300

/*
 * Excludes a number that no task has: PID_MAX_LIMIT, or one that was free after the boot.  Before
 * Linux 5.16 (8d6e90983ade), the number must be below kernel.pid_max.
 */
static int exclude_no_task(const struct ftrace_instance *i)
{
	int err = ftrace_instance__write(i, "set_event_notrace_pid", "4194304\n");
	unsigned int pid;

	for (pid = RESERVED_PIDS; err == -EINVAL && --pid;) {
		char path[32], text[16];

		snprintf(path, sizeof(path), "/proc/%u", pid);
		if (!access(path, F_OK))
			continue;
		snprintf(text, sizeof(text), "%u\n", pid);
		return ftrace_instance__write(i, "set_event_notrace_pid", text);
	}
	return err;
}

/*
 * Where membarrier(2) and bpf(2) are both refused: when the kernel replaces the list of excluded
 * tasks, it waits for all events that may be reading the old one (event_pid_write()).  The first of
 * two writes makes sure that there is an old one.
 */
int ftrace_instance__wait(const struct ftrace_instance *i)
{
	int err = grace__wait();

	if (err)
		err = exclude_no_task(i) ?: exclude_no_task(i);
	return err ? log_err(err, "wait until events in progress are in the rings") : 0;
}

size_t ftrace_instance__page_size(const struct ftrace_instance *i)
{
	_cleanup_free_ char *text = NULL;
	size_t len, kb = 0;

	/* this file exists since 6.8; before, a sub-buffer is a page */
	if (!ftrace_instance__read(i, "buffer_subbuf_size_kb", &text, &len))
		kb = strtoul(text, NULL, 10);
	return kb && kb <= 1024 ? kb * 1024 : (size_t)sysconf(_SC_PAGESIZE);
}

int ftrace_instance__ring_stats(const struct ftrace_instance *i, unsigned int cpu,
				struct ftrace_ring_stats *ret_stats)
{
	_cleanup_free_ char *text = NULL;
	struct ftrace_ring_stats s = { 0 };
	const struct {
		const char *name;
		uint64_t *value;
	} rows[] = {
		{ "entries: ", &s.entries },
		{ "overrun: ", &s.overrun },
		{ "dropped events: ", &s.dropped },
		{ "read events: ", &s.read },
		{ "bytes: ", &s.bytes },
	};
	char path[64];
	size_t len, k;
	int err;

	snprintf(path, sizeof(path), "per_cpu/cpu%u/stats", cpu);
	err = ftrace_instance__read(i, path, &text, &len);
	if (err)
		return err;
	for (k = 0; k < ARRAY_SIZE(rows); k++) {
		const char *at = strstr(text, rows[k].name);

		if (!at)
			return -EPROTO;
		*rows[k].value = strtoull(at + strlen(rows[k].name), NULL, 10);
	}
	*ret_stats = s;
	return 0;
}
