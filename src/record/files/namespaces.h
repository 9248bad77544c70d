/* SPDX-License-Identifier: GPL-2.0-only */
/* A process of each mount namespace there is: where it sees a path, others saw the same. */
#ifndef RECORD_NAMESPACES_H
#define RECORD_NAMESPACES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct namespace_root {
	uint64_t ns; /* inode of /proc/PID/ns/mnt */
	pid_t pid;
	char *root; /* its root directory, as we see it */
};

/* All zero: empty, and not looked for yet. */
struct namespaces {
	struct namespace_root *v; /* namespaces and roots in them, each once; not our own */
	size_t nr;
	uint64_t next; /* ns of the monotonic clock: when they may have changed */
};

/* Looks at all processes, unless that was done shortly before, by what it takes. */
void namespaces__refresh(struct namespaces *n);
void namespaces__clear(struct namespaces *n);

#endif /* RECORD_NAMESPACES_H */
