/* SPDX-License-Identifier: GPL-2.0-only */
/* System calls of many kinds, which reach the same events through different stacks. */
#ifndef KERNEL_TESTS_CALLS_H
#define KERNEL_TESTS_CALLS_H

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

static char calls__dir[] = "/tmp/calls.XXXXXX";

static inline void calls__prepare(void)
{
	if (!mkdtemp(calls__dir))
		err(1, "%s", calls__dir);
}

static inline unsigned int calls__nr(void)
{
	return 24;
}

static inline void calls__close(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* System calls for memory and processes. */
static inline void calls__memory(unsigned int call)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at;

	switch (call) {
	case 0:
		at = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);
		if (at == MAP_FAILED)
			return;
		at[0] = 1;
		mprotect(at + page, page, PROT_READ);
		madvise(at, page, MADV_DONTNEED);
		munmap(at, 4 * page);
		return;
	case 1:
		calls__close((int)syscall(SYS_memfd_create, "calls", 0));
		return;
	case 2:
		syscall(SYS_getppid);
		return;
	case 3:
		sched_yield();
		return;
	default: {
		struct rusage usage;

		getrusage(RUSAGE_SELF, &usage);
	}
	}
}

/* System calls that create descriptors. */
static inline void calls__descriptors(unsigned int call)
{
	sigset_t none;
	int fds[2];

	switch (call) {
	case 0:
		if (!pipe(fds)) {
			(void)!write(fds[1], "x", 1);
			close(fds[0]);
			close(fds[1]);
		}
		return;
	case 1:
		if (!socketpair(AF_UNIX, SOCK_STREAM, 0, fds)) {
			(void)!write(fds[1], "x", 1);
			close(fds[0]);
			close(fds[1]);
		}
		return;
	case 2:
		calls__close(socket(AF_INET, SOCK_DGRAM, 0));
		return;
	case 3:
		calls__close(eventfd(0, 0));
		return;
	case 4:
		calls__close(epoll_create1(0));
		return;
	case 5:
		calls__close(timerfd_create(CLOCK_MONOTONIC, 0));
		return;
	case 6:
		calls__close(inotify_init1(0));
		return;
	case 7:
		memset(&none, 0, sizeof(none));
		calls__close(signalfd(-1, &none, 0));
		return;
	default:
		calls__close(dup(1));
	}
}

/* System calls for files. */
static inline void calls__files(unsigned int call)
{
	char path[64], other[80], buf[256];
	struct utsname name;
	struct statfs fs;
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/%d", calls__dir, (int)syscall(SYS_gettid));
	snprintf(other, sizeof(other), "%s.link", path);
	switch (call) {
	case 0:
		fd = open(path, O_RDWR | O_CREAT, 0600);
		(void)!write(fd, path, sizeof(path));
		(void)!pread(fd, buf, 16, 0);
		(void)!ftruncate(fd, 0);
		calls__close(fd);
		return;
	case 1:
		stat(path, &st);
		return;
	case 2:
		(void)!symlink(path, other);
		return;
	case 3:
		(void)!readlink(other, buf, sizeof(buf));
		return;
	case 4:
		rename(other, path);
		return;
	case 5:
		unlink(path);
		return;
	case 6:
		fd = open("/proc/self/stat", O_RDONLY);
		(void)!read(fd, buf, sizeof(buf));
		calls__close(fd);
		return;
	case 7:
		statfs("/proc", &fs);
		return;
	case 8:
		fd = open(calls__dir, O_RDONLY | O_DIRECTORY);
		(void)!syscall(SYS_getdents64, fd, buf, sizeof(buf));
		calls__close(fd);
		return;
	default:
		uname(&name);
		access("/nowhere/at/all", R_OK);
	}
}

static inline void calls__make(unsigned int call)
{
	if (call < 5)
		calls__memory(call);
	else if (call < 14)
		calls__descriptors(call - 5);
	else
		calls__files(call - 14);
}

#endif /* KERNEL_TESTS_CALLS_H */
