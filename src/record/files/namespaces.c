// SPDX-License-Identifier: GPL-2.0-only
/* Finds a process of each mount namespace. */
#include "namespaces.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "clock.h"

#define MAX_ROOTS 256
#define SHARE 20 /* scans take at most 1/SHARE of the time */

void namespaces__clear(struct namespaces *n)
{
	size_t i;

	for (i = 0; i < n->nr; i++)
		free(n->v[i].root);
	free(n->v);
	*n = (struct namespaces){ 0 };
}

static bool is_known(const struct namespaces *n, uint64_t ns, const char *root)
{
	size_t i;

	for (i = 0; i < n->nr; i++)
		if (n->v[i].ns == ns && !strcmp(n->v[i].root, root))
			return true;
	return false;
}

static void add_process(struct namespaces *n, pid_t pid, uint64_t our_ns)
{
	struct namespace_root one;
	char path[64], root[PATH_MAX];
	struct stat ns;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	if (stat(path, &ns) || ns.st_ino == our_ns)
		return;
	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	len = readlink(path, root, sizeof(root) - 1);
	if (len < 0)
		return;
	root[len] = '\0';
	if (is_known(n, ns.st_ino, root))
		return;
	one = (struct namespace_root){ ns.st_ino, pid, strdup(root) };
	if (!one.root || array__append(&n->v, &n->nr, one))
		free(one.root);
}

void namespaces__refresh(struct namespaces *n)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), end;
	struct dirent *d;
	struct stat ours;
	DIR *dir;

	if (start < n->next)
		return;
	namespaces__clear(n);
	dir = stat("/proc/self/ns/mnt", &ours) ? NULL : opendir("/proc");
	while (dir && n->nr < MAX_ROOTS && (d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]))
			add_process(n, atoi(d->d_name), ours.st_ino);
	if (dir)
		closedir(dir);
	end = clock_ns(CLOCK_MONOTONIC);
	n->next = end + SHARE * (end - start);
}
