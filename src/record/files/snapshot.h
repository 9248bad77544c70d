/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the BPF iterator over executable mappings. */
#ifndef RECORD_SNAPSHOT_H
#define RECORD_SNAPSHOT_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire.h"

/* May be shared by threads; the lock serializes reads of the kernel side. */
struct snapshot {
	int prog_fd; /* program `snapshot`; -1: none */
	pthread_mutex_t lock;
};

/* n: without parts.  A return value other than 0 ends the iteration. */
typedef int (*snapshot_fn)(void *ctx, struct wire_file_event *n);

/*
 * Calls fn for each executable file mapping of process pid; 0: of all processes.  Returns 0, the
 * value that fn returned, or a negative errno.
 */
int snapshot__run(struct snapshot *s, pid_t pid, snapshot_fn fn, void *ctx);

/* The file id of this process's mapping at addr, or a negative errno. */
int64_t snapshot__own(struct snapshot *s, const void *addr);

#endif /* RECORD_SNAPSHOT_H */
