// SPDX-License-Identifier: GPL-2.0-only
/* Reads perf maps and jitdumps at the end of the recording. */
#include "jit_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "clock.h"
#include "seen_file.h"
#include "symbols/usyms.h"

struct jit_source {
	pid_t ns_pid; /* in its own PID namespace, as in the names of its files */
	uid_t uid;
	uint64_t start_ns; /* boot clock */
	bool our_tmp; /* its /tmp is the recorder's, too */
	int tmp_fd; /* else its /tmp; -1: not accessible */
	int dump_fd; /* its jitdump; -1: none */
};

/* The PID in the innermost PID namespace, the last number of "NSpid:\t1234\t1". */
static pid_t read_ns_pid(pid_t pid)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[64], line[512], *last;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		last = strrchr(line, '\t');
		return last ? atoi(last + 1) : 0;
	}
	return 0;
}

static void find_tmp(struct jit_source *j, pid_t pid)
{
	_cleanup_close_ int fd = -1;
	struct stat theirs, ours;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root/tmp", pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &theirs))
		return;
	j->our_tmp = !stat("/tmp", &ours) && ours.st_dev == theirs.st_dev &&
		     ours.st_ino == theirs.st_ino;
	if (!j->our_tmp)
		j->tmp_fd = take_fd(fd);
}

/* Agents that write a jitdump map its first page, by which tools find it. */
static int open_dump(pid_t pid, pid_t ns_pid)
{
	_cleanup_fclose_ FILE *f = NULL;
	_cleanup_free_ char *line = NULL;
	struct proc_mapping m;
	size_t cap = 0;
	char path[96], name[64];
	int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	snprintf(name, sizeof(name), "/jit-%d.dump", ns_pid);
	f = fopen(path, "re");
	while (f && fd < 0 && getline(&line, &cap, f) > 0) {
		const char *slash;

		line[strcspn(line, "\n")] = '\0';
		if (proc_mapping__parse(line, &m))
			continue;
		slash = strrchr(m.path, '/');
		if (!slash || strcmp(slash, name))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid,
			 (unsigned long long)m.start, (unsigned long long)m.end);
		fd = file_open_regular(path);
	}
	return fd < 0 ? -1 : fd;
}

int jit_source__new(pid_t pid, uint64_t start_ns, struct jit_source **ret_source)
{
	struct jit_source *j = calloc(1, sizeof(*j));
	struct stat st;
	char path[64];

	if (!j)
		return -ENOMEM;
	j->tmp_fd = j->dump_fd = -1;
	j->start_ns = start_ns;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (!stat(path, &st)) {
		j->uid = st.st_uid;
		j->ns_pid = read_ns_pid(pid);
	}
	if (j->ns_pid > 0) {
		find_tmp(j, pid);
		j->dump_fd = open_dump(pid, j->ns_pid);
	}
	*ret_source = j;
	return 0;
}

void jit_source__free(struct jit_source *j)
{
	if (!j)
		return;
	jit_source__drop_fds(j);
	free(j);
}

unsigned int jit_source__nr_fds(const struct jit_source *j)
{
	return (j->tmp_fd >= 0) + (j->dump_fd >= 0);
}

void jit_source__drop_fds(struct jit_source *j)
{
	closep(&j->tmp_fd);
	closep(&j->dump_fd);
	j->tmp_fd = j->dump_fd = -1;
}

/*
 * All users may create files in /tmp, so only those of the process's user or root are accepted, and
 * none that is older than the process: an earlier one with the same PID may have left it.
 */
static int open_in_tmp(const struct jit_source *j, const char *name)
{
	int64_t started = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) + j->start_ns;
	_cleanup_close_ int tmp = -1;
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (j->our_tmp)
		tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = openat(j->our_tmp ? tmp : j->tmp_fd, name,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return -1;
	if (!S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != j->uid))
		return -1;
	if (st.st_mtim.tv_sec < started / 1000000000)
		return -1;
	return take_fd(fd);
}

int jit_source__symbols(const struct jit_source *j, struct jit_symbols **ret_symbols)
{
	_cleanup_close_ int map = -1;
	_cleanup_close_ int dump = -1;
	struct jit_symbols *s = NULL;
	bool found = false;
	char name[64];
	int err;

	if (j->ns_pid <= 0)
		return -ENOENT;
	err = jit_symbols__new(&s);
	if (err)
		return err;
	snprintf(name, sizeof(name), "perf-%d.map", j->ns_pid);
	map = open_in_tmp(j, name);
	snprintf(name, sizeof(name), "jit-%d.dump", j->ns_pid);
	dump = j->dump_fd < 0 ? open_in_tmp(j, name) : -1;
	if (map >= 0)
		found |= !jit_symbols__add_map(s, map);
	if (dump >= 0 || j->dump_fd >= 0)
		found |= !jit_symbols__add_dump(s, dump >= 0 ? dump : j->dump_fd);
	if (!found) {
		jit_symbols__free(s);
		return -ENOENT;
	}
	*ret_symbols = s;
	return 0;
}
