/* SPDX-License-Identifier: GPL-2.0-only */
/* The ring of one CPU in an instance, emptied page by page through trace_pipe_raw. */
#ifndef RECORD_FTRACE_RING_H
#define RECORD_FTRACE_RING_H

#include <stddef.h>
#include <stdint.h>

struct ftrace_instance;

struct ftrace_ring {
	int fd; /* -1: no such CPU */
	int pipe[2]; /* full pages go through it; -1: there is none */
	size_t page_size;
	unsigned char *pages; /* room for PIPE_PAGES */
};

/* page_size: head and data of a sub-buffer. */
int ftrace_ring__open(struct ftrace_ring *r, const struct ftrace_instance *i, unsigned int cpu,
		      size_t page_size);
void ftrace_ring__close(struct ftrace_ring *r);

/* Takes a sub-buffer; negative: stop with that. */
typedef int (*ftrace_page_fn)(void *ctx, const void *page, size_t len);

/*
 * Hands over what the ring holds, the page that is being filled too, but not much more than
 * max_bytes.  1: there is more, 0: it was empty, or a negative errno.
 */
int ftrace_ring__read(struct ftrace_ring *r, uint64_t max_bytes, ftrace_page_fn fn, void *ctx,
		      uint64_t *ret_bytes);

#endif /* RECORD_FTRACE_RING_H */
