/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the ring of one CPU of an instance page by page through trace_pipe_raw. */
#ifndef RECORD_FTRACE_RING_H
#define RECORD_FTRACE_RING_H

#include <stddef.h>
#include <stdint.h>

struct ftrace_instance;

struct ftrace_ring {
	int fd; /* -1: no such CPU */
	int pipe[2]; /* for splicing full pages; -1: not opened */
	size_t page_size;
	unsigned char *pages; /* room for PIPE_PAGES */
};

/* page_size: size of a sub-buffer, head and data. */
int ftrace_ring__open(struct ftrace_ring *r, const struct ftrace_instance *i, unsigned int cpu,
		      size_t page_size);
void ftrace_ring__close(struct ftrace_ring *r);

/* Takes a sub-buffer; returns 0 or a negative errno, which ends ftrace_ring__read(). */
typedef int (*ftrace_page_fn)(void *ctx, const void *page, size_t len);

/*
 * Passes the pages of the ring to fn, including the one that is being filled, until about max_bytes
 * are read.  Returns 1: there is more, 0: the ring is empty, or a negative errno.  -ENODEV: the CPU
 * has not been online since the instance was created, and has no ring yet.
 */
int ftrace_ring__read(struct ftrace_ring *r, uint64_t max_bytes, ftrace_page_fn fn, void *ctx,
		      uint64_t *ret_bytes);

#endif /* RECORD_FTRACE_RING_H */
