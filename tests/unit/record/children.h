/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that map a file, and the file events that the kernel side would send for it. */
#ifndef TEST_RECORD_CHILDREN_H
#define TEST_RECORD_CHILDREN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire.h"

/* A directory of the test; children_end() removes it with its contents. */
const char *children_begin(void);
void children_end(void);
/* DIR/NAME; valid until four more calls. */
const char *in_dir(const char *name);

/* /proc/PID/map_files can be opened only with privileges. */
bool may_open_mappings(void);

/* Copies this program, with a different mtime; returns the path of the copy. */
const char *copy_self(const char *name);

struct child {
	pid_t pid;
	uint64_t start, end; /* of the mapping */
};

/*
 * A child that maps the first page of path, executable.  If root is not NULL it changes its root
 * directory first, and path is relative to that.
 */
struct child child_mapping(const char *root, const char *path);
/*
 * The same in a new mount namespace, where `dir` is bind-mounted at `at`, and path is below `at`.
 */
struct child child_mounting(const char *dir, const char *at, const char *path);
void child_end(struct child *c);

/* A file event with id 1 for the file that is at path now, mapped in c. */
struct wire_file_event file_event_of(const struct child *c, const char *path);
/* Replaces its path. */
void file_event_set_path(struct wire_file_event *n, const char *path);

#endif /* TEST_RECORD_CHILDREN_H */
