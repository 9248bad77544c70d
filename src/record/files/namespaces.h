/* SPDX-License-Identifier: GPL-2.0-only */
/* One process per mount namespace, through whose root paths of that namespace can be opened. */
#ifndef RECORD_NAMESPACES_H
#define RECORD_NAMESPACES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct namespace_root {
	uint64_t ns; /* inode of /proc/PID/ns/mnt */
	pid_t pid;
	char *root; /* its root directory, as the recorder sees it */
};

/* All zero: empty, to be refreshed. */
struct namespaces {
	struct namespace_root *v; /* distinct (ns, root), without the recorder's ns */
	size_t nr;
	uint64_t next; /* earliest time of the next refresh, CLOCK_MONOTONIC, ns */
};

/* Scans all processes, unless the last scan was too recent for the time that it took. */
void namespaces__refresh(struct namespaces *n);
void namespaces__clear(struct namespaces *n);

#endif /* RECORD_NAMESPACES_H */
