/* SPDX-License-Identifier: GPL-2.0-only */
/* An instance of ftrace of our own: rings, events and options that nobody else uses. */
#ifndef RECORD_FTRACE_INSTANCE_H
#define RECORD_FTRACE_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ftrace_instance;

/*
 * Makes instances/stackonce.PID, with tracing off; suffix ("" or ".x") follows.  Those of recorders
 * that were killed are removed first.
 */
int ftrace_instance__new(const char *suffix, struct ftrace_instance **ret_instance);
/* Removes it with all that it holds; its files must have been closed. */
void ftrace_instance__free(struct ftrace_instance *i);

/* A file in it; a descriptor or a negative errno. */
int ftrace_instance__open(const struct ftrace_instance *i, const char *name, int flags);
/* Writes text to a file in it in one go. */
int ftrace_instance__write(const struct ftrace_instance *i, const char *name, const char *text);
/* options/NAME; -ENOENT: this kernel does not know it. */
int ftrace_instance__option(const struct ftrace_instance *i, const char *name, bool on);
/* All of a file, NUL-terminated, to be freed. */
int ftrace_instance__read(const struct ftrace_instance *i, const char *name, char **ret_text,
			  size_t *ret_len);

/* Bytes of a sub-buffer of its rings. */
size_t ftrace_instance__page_size(const struct ftrace_instance *i);

/* What per_cpu/cpuN/stats counts. */
struct ftrace_ring_stats {
	uint64_t entries, overrun, dropped, read, bytes;
};
int ftrace_instance__ring_stats(const struct ftrace_instance *i, unsigned int cpu,
				struct ftrace_ring_stats *ret_stats);

#endif /* RECORD_FTRACE_INSTANCE_H */
