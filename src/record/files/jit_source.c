// SPDX-License-Identifier: GPL-2.0-only
/* Finds and reads perf maps and jitdumps, and the code of the processes that write them. */
#include "jit_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cleanup.h"
#include "clock.h"
#include "log.h"
#include "seen_file.h"
#include "slurp.h"
#include "symbols/jit_symbols.h"

#define SEARCH_MAX_NS (64 * SECOND_NS) /* between two searches for a dump */
#define DUMPED_NS (10 * SECOND_NS) /* stacks that were copied before an exit are walked by then */
#define TICK_MAX_NS (SECOND_NS / 50) /* times of files may be early by less */
#define SETTLE_SHARE 20 /* at most 1/20 of the time goes into lookups of a growing dump */

struct jit_source {
	unsigned int owners, nr_windows;
	pid_t pid;
	pid_t ns_pid; /* in its own PID namespace, as in the names of its files */
	uid_t uid;
	uint64_t start_ns; /* boot clock */
	bool our_tmp; /* its /tmp is the recorder's, too */
	int tmp_fd; /* else its /tmp; -1: not accessible */
	int dump_fd; /* its jitdump; -1: none */
	int pid_fd; /* readable once it has exited; -1: it has, or that would go unseen */
	bool exited; /* its files were read to the end */
	uint64_t exited_ns;
	uint64_t searched_ns, search_after; /* for a dump: when, and how long until the next time */
	struct jit_symbols *dumped; /* functions of the dump while it grows */
	size_t nr_dumped; /* those whose ranges can be looked up */
	uint64_t settled_ns, settle_after; /* when they became so, and how long until the next */
	struct jit_symbols *all; /* names only; NULL: not read to the end yet */
	size_t all_size;
	struct jit_memory *memory; /* NULL: unlimited */
};

/* ---- the process ----------------------------------------------------------------------------- */

uint64_t process__start_ns(pid_t pid)
{
	_cleanup_close_ int fd = -1;
	unsigned long long ticks = 0;
	char path[64], text[1024], *close;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	close = fd >= 0 && slurp__start(fd, text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
	if (!close || sscanf(close + 1,
			     " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			     "%*d %*d %llu",
			     &ticks) != 1)
		return 0;
	return ticks * (SECOND_NS / sysconf(_SC_CLK_TCK));
}

/* Whether two start times are the same, as exact as /proc has them. */
static bool same_start(uint64_t a, uint64_t b)
{
	uint64_t tick = SECOND_NS / sysconf(_SC_CLK_TCK);

	return a / tick == b / tick;
}

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

/* Finds the files of the process, which exists. */
static void find_files(struct jit_source *j)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", j->pid);
	if (stat(path, &st))
		return;
	j->uid = st.st_uid;
	j->ns_pid = read_ns_pid(j->pid);
	if (j->ns_pid <= 0)
		return;
	find_tmp(j, j->pid);
	j->dump_fd = open_dump(j->pid, j->ns_pid);
}

static void drop_fds(struct jit_source *j)
{
	closep(&j->tmp_fd);
	closep(&j->dump_fd);
	closep(&j->pid_fd);
	j->tmp_fd = j->dump_fd = j->pid_fd = -1;
}

int jit_source__new(pid_t pid, uint64_t start_ns, struct jit_source **ret_source)
{
	struct jit_source *j = calloc(1, sizeof(*j));
	int err;

	if (!j)
		return -ENOMEM;
	j->owners = 1;
	j->tmp_fd = j->dump_fd = -1;
	j->pid = pid;
	j->start_ns = start_ns;
	j->search_after = SECOND_NS;
	j->pid_fd = syscall(__NR_pidfd_open, pid, 0);
	err = jit_symbols__new(&j->dumped);
	if (err) {
		jit_source__free(j);
		return err;
	}
	if (same_start(process__start_ns(pid), start_ns))
		find_files(j);
	/* it may have exited meanwhile, and another process may have got its PID, now or later */
	if (j->pid_fd < 0 || !same_start(process__start_ns(pid), start_ns)) {
		drop_fds(j);
		j->ns_pid = 0;
		j->exited = true;
		j->exited_ns = clock_ns(CLOCK_MONOTONIC);
	}
	*ret_source = j;
	return 0;
}

struct jit_source *jit_source__share(struct jit_source *j)
{
	j->owners++;
	return j;
}

void jit_source__free(struct jit_source *j)
{
	if (!j || --j->owners)
		return;
	drop_fds(j);
	jit_symbols__free(j->dumped);
	jit_symbols__free(j->all);
	if (j->memory)
		j->memory->used -= j->all_size;
	free(j);
}

unsigned int jit_source__add_window(struct jit_source *j)
{
	return ++j->nr_windows;
}

void jit_source__set_memory(struct jit_source *j, struct jit_memory *m)
{
	j->memory = m;
}

unsigned int jit_source__nr_fds(const struct jit_source *j)
{
	return (j->tmp_fd >= 0) + (j->dump_fd >= 0) + (j->pid_fd >= 0);
}

/* ---- its files ------------------------------------------------------------------------------- */

/* A file of the process was changed while the process had its PID. */
static bool is_of_time(const struct jit_source *j, const struct stat *st)
{
	uint64_t next = process__start_ns(j->pid);
	int64_t changed = st->st_mtim.tv_sec * (int64_t)SECOND_NS + st->st_mtim.tv_nsec;
	int64_t last = changed, boot = clock_ns(CLOCK_REALTIME);

	boot -= clock_ns(CLOCK_BOOTTIME); /* read last: time in between must not refuse a file */
	if (!st->st_mtim.tv_nsec) /* some file systems store whole seconds */
		last += SECOND_NS - 1;
	if (last + (int64_t)TICK_MAX_NS < boot + (int64_t)j->start_ns)
		return false;
	return !next || same_start(next, j->start_ns) || changed < boot + (int64_t)next;
}

/*
 * All users may create files in /tmp, so only those of the process's user or root are accepted, and
 * none that is older than the process: an earlier one with the same PID may have left it.
 */
static int open_in_tmp(const struct jit_source *j, const char *name)
{
	_cleanup_close_ int tmp = -1;
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (j->our_tmp)
		tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = openat(j->our_tmp ? tmp : j->tmp_fd, name,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return -1;
	if (!S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != j->uid) || !is_of_time(j, &st))
		return -1;
	return take_fd(fd);
}

static int read_all(const struct jit_source *j, struct jit_symbols **ret_symbols)
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

/* Takes ownership of s. */
static int keep(struct jit_source *j, struct jit_symbols *s)
{
	struct jit_memory *m = j->memory;
	size_t size = jit_symbols__trim(s);

	if (m && (m->used > JIT_SOURCES_MAX || size > JIT_SOURCES_MAX - m->used)) {
		if (!m->warned)
			log_warn("names of generated code take more than %llu MiB: those of "
				 "process %d are left out, and perhaps those of others",
				 JIT_SOURCES_MAX >> 20, j->pid);
		m->warned = true;
		jit_symbols__free(s);
		return -ENOENT;
	}
	if (m)
		m->used += size;
	j->all = s;
	j->all_size = size;
	return 0;
}

/* The last time that its files are read. */
static int read_names(struct jit_source *j)
{
	struct jit_symbols *s;
	int err = read_all(j, &s);

	j->exited = true;
	j->exited_ns = clock_ns(CLOCK_MONOTONIC);
	return err ?: keep(j, s);
}

int jit_source__symbols(struct jit_source *j, struct jit_symbols **ret_symbols)
{
	int err = j->exited ? 0 : read_names(j);

	if (err)
		return err;
	if (!j->all)
		return -ENOENT;
	*ret_symbols = j->all;
	return 0;
}

/* ---- while it runs --------------------------------------------------------------------------- */

static bool has_exited(const struct jit_source *j)
{
	struct pollfd p = { .fd = j->pid_fd, .events = POLLIN };

	return j->pid_fd >= 0 && poll(&p, 1, 0) > 0;
}

/* The agent may be loaded later than the first code is generated. */
static void search_dump(struct jit_source *j)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);

	if (j->dump_fd >= 0 || j->ns_pid <= 0 || now - j->searched_ns < j->search_after)
		return;
	j->search_after = j->searched_ns ? MIN(2 * j->search_after, SEARCH_MAX_NS) : SECOND_NS;
	j->searched_ns = now;
	j->dump_fd = open_dump(j->pid, j->ns_pid);
	if (j->dump_fd >= 0 && has_exited(j)) { /* that may have been the next process */
		close(j->dump_fd);
		j->dump_fd = -1;
	}
}

/*
 * Makes new functions visible to lookups, if any have frames.  A large dump takes long, so that is
 * done the more rarely the longer it takes.
 */
static int settle(struct jit_source *j)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), cpu;
	int err;

	if (!j->dumped->nr_framed || j->dumped->nr == j->nr_dumped ||
	    now - j->settled_ns < j->settle_after)
		return 0;
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	err = jit_symbols__settle(j->dumped);
	if (err)
		return err;
	j->nr_dumped = j->dumped->nr;
	j->settled_ns = now;
	j->settle_after = SETTLE_SHARE * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
	return 0;
}

static bool has_dumped(const struct jit_source *j)
{
	return j->dumped->nr || j->dumped->frames_len;
}

static bool is_long_gone(const struct jit_source *j)
{
	return j->exited && clock_ns(CLOCK_MONOTONIC) - j->exited_ns >= DUMPED_NS;
}

bool jit_source__is_done(const struct jit_source *j)
{
	return is_long_gone(j) && !has_dumped(j);
}

/* Frees the tables of a process that is gone, see jit_source__dumped(). */
static int forget_dumped(struct jit_source *j)
{
	struct jit_symbols *none;
	int err;

	if (!has_dumped(j) || !is_long_gone(j))
		return 0;
	err = jit_symbols__new(&none);
	if (err)
		return err;
	jit_symbols__free(j->dumped);
	j->dumped = none;
	j->nr_dumped = 0;
	return 0;
}

int jit_source__poll(struct jit_source *j)
{
	int err = 0;

	if (j->exited)
		return forget_dumped(j);
	if (has_exited(j)) {
		err = read_names(j);
		drop_fds(j);
		return err == -ENOMEM ? err : 0;
	}
	search_dump(j);
	if (j->dump_fd >= 0)
		err = jit_symbols__read_dump(j->dumped, j->dump_fd, true);
	if (err != -ENOMEM)
		err = settle(j);
	return err;
}

bool jit_source__has_exited(const struct jit_source *j)
{
	return j->exited;
}

const struct jit_symbols *jit_source__dumped(const struct jit_source *j)
{
	return j->dumped;
}

size_t jit_source__nr_dumped(const struct jit_source *j)
{
	return j->nr_dumped;
}

ssize_t jit_source__code(const struct jit_source *j, uint64_t addr, void *buf, size_t len)
{
	struct iovec to = { buf, len }, from = { (void *)(uintptr_t)addr, len };
	ssize_t n;

	if (j->pid_fd < 0 || j->exited)
		return -ESRCH;
	n = process_vm_readv(j->pid, &to, 1, &from, 1, 0);
	if (n < 0)
		return -errno;
	return has_exited(j) ? -ESRCH : n;
}
