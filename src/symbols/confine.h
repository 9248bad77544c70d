/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A child process drops its rights before it reads untrusted data: its user, groups and
 * capabilities, files, environment, most system calls (seccomp(2)), memory and time.
 */
#ifndef SYMBOLS_CONFINE_H
#define SYMBOLS_CONFINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct confine {
	pid_t parent; /* the child dies with it */
	const int *fds; /* to stay open; -1: unused.  All others are closed, even 0 to 2 */
	size_t nr_fds;
	uint64_t memory; /* bytes that it may map in addition */
	unsigned int cpu_seconds; /* in total */
	/*
	 * Called in place of open(2) and readlink(2), in a signal handler.  They return a
	 * descriptor or a length, as the system call would, or a negative errno.
	 */
	int (*open)(const char *path);
	ssize_t (*readlink)(const char *path, char *buf, size_t size);
};

/*
 * Confines the calling process for good.  Changing the user and dropping groups and capabilities is
 * best effort; limits, no_new_privs and the filter are mandatory: if they fail with a negative
 * errno, nothing untrusted may be read.
 */
int confine__self(const struct confine *c);

#endif /* SYMBOLS_CONFINE_H */
