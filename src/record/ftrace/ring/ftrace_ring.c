// SPDX-License-Identifier: GPL-2.0-only
/* Reads one CPU's ring page by page. */
#include "ftrace_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cleanup.h"
#include "ftrace_instance.h"

#define PIPE_PAGES 64

void ftrace_ring__close(struct ftrace_ring *r)
{
	closep(&r->fd);
	closep(&r->pipe[0]);
	closep(&r->pipe[1]);
	free(r->pages);
	*r = (struct ftrace_ring){ .fd = -1, .pipe = { -1, -1 } };
}

int ftrace_ring__open(struct ftrace_ring *r, const struct ftrace_instance *i, unsigned int cpu,
		      size_t page_size)
{
	struct ftrace_ring ring = { .fd = -1, .pipe = { -1, -1 }, .page_size = page_size };
	char path[64];
	int err = 0;

	snprintf(path, sizeof(path), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	ring.pages = malloc(PIPE_PAGES * page_size);
	if (!ring.pages)
		return -ENOMEM;
	ring.fd = ftrace_instance__open(i, path, O_RDONLY | O_NONBLOCK);
	if (ring.fd < 0)
		err = ring.fd;
	else if (pipe2(ring.pipe, O_CLOEXEC | O_NONBLOCK))
		err = -errno;
	if (err) {
		ftrace_ring__close(&ring);
		return err;
	}
	/* as large as permitted; a smaller pipe takes more calls */
	fcntl(ring.pipe[1], F_SETPIPE_SZ, PIPE_PAGES * (int)page_size);
	*r = ring;
	return 0;
}

static int hand_over(const struct ftrace_ring *r, size_t len, ftrace_page_fn fn, void *ctx)
{
	size_t at;
	int err = 0;

	for (at = 0; at + r->page_size <= len && !err; at += r->page_size)
		err = fn(ctx, r->pages + at, r->page_size);
	return err;
}

/* Reads all that was spliced: the pipe contains whole pages. */
static ssize_t read_all(const struct ftrace_ring *r, int fd, size_t len)
{
	size_t have = 0;
	ssize_t n;

	while (have < len) {
		n = read(fd, r->pages + have, len - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		have += n;
	}
	return have;
}

/* Reads full pages, which the kernel moves without copying; returns bytes, 0: no full page. */
static ssize_t take_full(const struct ftrace_ring *r)
{
	ssize_t n = splice(r->fd, NULL, r->pipe[1], NULL, PIPE_PAGES * r->page_size,
			   SPLICE_F_NONBLOCK | SPLICE_F_MOVE);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return n ? read_all(r, r->pipe[0], n) : 0;
}

/* Reads the page that is not full yet. */
static ssize_t take_rest(const struct ftrace_ring *r)
{
	ssize_t n = read(r->fd, r->pages, r->page_size);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return n;
}

int ftrace_ring__read(struct ftrace_ring *r, uint64_t max_bytes, ftrace_page_fn fn, void *ctx,
		      uint64_t *ret_bytes)
{
	bool rest = false;
	ssize_t n = 0;
	int err = 0;

	*ret_bytes = 0;
	while (!err && *ret_bytes < max_bytes) {
		n = rest ? take_rest(r) : take_full(r);
		if (n < 0)
			return n;
		if (!n && rest)
			return 0;
		rest = !n;
		*ret_bytes += n;
		err = hand_over(r, n, fn, ctx);
	}
	return err ?: 1;
}
