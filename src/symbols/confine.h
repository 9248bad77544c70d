/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A child process gives up its rights before it reads what is untrusted: its user, groups and
 * capabilities, files, environment, most system calls (seccomp(2)), memory and time.
 */
#ifndef SYMBOLS_CONFINE_H
#define SYMBOLS_CONFINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct confine {
	pid_t parent; /* the child ends with it */
	const int *fds; /* what stays open; -1: none.  All others are closed, 0 to 2 too */
	size_t nr_fds;
	uint64_t memory; /* bytes that it may map beyond what it has */
	unsigned int cpu_seconds; /* in all */
	/*
	 * Called in place of open(2) and readlink(2), in a signal handler; they return what the
	 * system call would: a descriptor or a length, else a negative errno.
	 */
	int (*open)(const char *path);
	ssize_t (*readlink)(const char *path, char *buf, size_t size);
};

/*
 * For good.  Another user's rights and the end of groups and capabilities are taken where possible;
 * limits, no_new_privs and the filter always, or -errno: then nothing untrusted may be read.
 */
int confine__self(const struct confine *c);

#endif /* SYMBOLS_CONFINE_H */
