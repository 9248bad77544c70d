// SPDX-License-Identifier: GPL-2.0-only
/* Creates and reads the iterator over executable mappings. */
#include "snapshot.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "cleanup.h"

#define RECORD_LEN sizeof(struct wire_file_event)

static int open_walk(int prog_fd, pid_t pid, int *ret_fd)
{
	union bpf_iter_link_info info = { .task.pid = pid };
	LIBBPF_OPTS(bpf_link_create_opts, opts);
	_cleanup_close_ int link = -1;
	int fd;

	if (prog_fd < 0)
		return -EOPNOTSUPP;
	if (pid) {
		opts.iter_info = &info;
		opts.iter_info_len = sizeof(info);
	}
	link = bpf_link_create(prog_fd, 0, BPF_TRACE_ITER, &opts);
	if (link < 0)
		return link;
	fd = bpf_iter_create(link);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
}

static ssize_t read_some(struct snapshot *s, int fd, void *buf, size_t len)
{
	ssize_t n;

	pthread_mutex_lock(&s->lock);
	do {
		n = read(fd, buf, len);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	pthread_mutex_unlock(&s->lock);
	return n < 0 ? -errno : n;
}

int snapshot__run(struct snapshot *s, pid_t pid, snapshot_fn fn, void *ctx)
{
	struct wire_file_event event = { 0 };
	_cleanup_close_ int fd = -1;
	char buf[32768];
	size_t have = 0, at;
	int err;

	err = open_walk(s->prog_fd, pid, &fd);
	if (err)
		return err;
	for (;;) {
		ssize_t n = read_some(s, fd, buf + have, sizeof(buf) - have);

		if (n <= 0)
			return n;
		have += n;
		for (at = 0; have - at >= RECORD_LEN; at += RECORD_LEN) {
			memcpy(&event, buf + at, RECORD_LEN);
			err = fn(ctx, &event);
			if (err)
				return err;
		}
		have -= at;
		memmove(buf, buf + at, have);
	}
}

struct own {
	uint64_t addr;
	uint32_t file;
};

static int find_own(void *ctx, struct wire_file_event *n)
{
	struct own *own = ctx;

	if (n->start > own->addr || n->end <= own->addr || (uint32_t)getpid() != n->tgid)
		return 0;
	own->file = n->file;
	return 1;
}

int64_t snapshot__own(struct snapshot *s, const void *addr)
{
	struct own own = { .addr = (uintptr_t)addr };
	int err = snapshot__run(s, getpid(), find_own, &own);

	if (err < 0)
		return err;
	return err && own.file ? (int64_t)own.file : -ENOENT;
}
