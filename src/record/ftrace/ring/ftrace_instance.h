/* SPDX-License-Identifier: GPL-2.0-only */
/* A private ftrace instance with its own rings, events and options. */
#ifndef RECORD_FTRACE_INSTANCE_H
#define RECORD_FTRACE_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ftrace_instance;

/*
 * Creates instances/stackonce.PID followed by suffix ("" or ".x"), with tracing off.  Instances of
 * recorders that were killed are removed first.
 */
int ftrace_instance__new(const char *suffix, struct ftrace_instance **ret_instance);
/* Removes the instance with its contents; its files must have been closed. */
void ftrace_instance__free(struct ftrace_instance *i);

/* Opens a file of the instance; returns a descriptor or a negative errno. */
int ftrace_instance__open(const struct ftrace_instance *i, const char *name, int flags);
/* Writes text to a file of the instance with one write(2). */
int ftrace_instance__write(const struct ftrace_instance *i, const char *name, const char *text);
/* Sets options/NAME; -ENOENT: this kernel does not have the option. */
int ftrace_instance__option(const struct ftrace_instance *i, const char *name, bool on);
/* Reads a whole file, NUL-terminated; the caller frees the text. */
int ftrace_instance__read(const struct ftrace_instance *i, const char *name, char **ret_text,
			  size_t *ret_len);

/*
 * Waits until the events that are being written now are in the rings.  A negative errno: the kernel
 * refuses every way to wait.
 */
int ftrace_instance__wait(const struct ftrace_instance *i);

/* The size of a sub-buffer of its rings in bytes. */
size_t ftrace_instance__page_size(const struct ftrace_instance *i);

/* Values of per_cpu/cpuN/stats. */
struct ftrace_ring_stats {
	uint64_t entries, overrun, dropped, read, bytes;
};
int ftrace_instance__ring_stats(const struct ftrace_instance *i, unsigned int cpu,
				struct ftrace_ring_stats *ret_stats);

#endif /* RECORD_FTRACE_INSTANCE_H */
