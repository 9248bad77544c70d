/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that have a file mapped, and the news that the kernel's side would send of it. */
#ifndef TEST_RECORD_CHILDREN_H
#define TEST_RECORD_CHILDREN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire.h"

/* A directory of the test's own, gone with its content by children_end(). */
const char *children_begin(void);
void children_end(void);
/* DIR/NAME; lives until the next four calls. */
const char *in_dir(const char *name);

/* /proc/PID/map_files is open to us only with privileges. */
bool may_open_mappings(void);

/* A copy of this program, with an mtime of its own; returns its path. */
const char *copy_self(const char *name);

struct child {
	pid_t pid;
	uint64_t start, end; /* of the mapping */
};

/*
 * A child that maps the first page of path, executable; with root it changes its root directory
 * before, and path is seen from there.
 */
struct child child_mapping(const char *root, const char *path);
/* The same in a mount namespace of its own, where `dir` is also at `at`, which path is below. */
struct child child_mounting(const char *dir, const char *at, const char *path);
void child_end(struct child *c);

/* News of the file that is at path now, as id 1, mapped in c. */
struct wire_news news_of(const struct child *c, const char *path);
/* The same with another path in it. */
void news_set_path(struct wire_news *n, const char *path);

#endif /* TEST_RECORD_CHILDREN_H */
