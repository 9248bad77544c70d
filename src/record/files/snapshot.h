/* SPDX-License-Identifier: GPL-2.0-only */
/* The iterator over executable mappings. */
#ifndef RECORD_SNAPSHOT_H
#define RECORD_SNAPSHOT_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire.h"

/* Threads may share it; the kernel's side answers one at a time. */
struct snapshot {
	int prog_fd; /* program `snapshot`; -1: none */
	pthread_mutex_t lock;
};

/* n: without its parts.  A value that is not 0 ends the walk. */
typedef int (*snapshot_fn)(void *ctx, struct wire_news *n);

/*
 * Calls fn for each executable mapping of a file of process pid, of all processes where that is 0.
 * 0, what fn returned, or a negative errno.
 */
int snapshot__run(struct snapshot *s, pid_t pid, snapshot_fn fn, void *ctx);

/* The file id of our own mapping that begins at addr; negative errno: it cannot be told. */
int64_t snapshot__own(struct snapshot *s, const void *addr);

#endif /* RECORD_SNAPSHOT_H */
