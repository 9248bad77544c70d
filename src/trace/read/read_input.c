// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Buffered input.  Files are read, not mapped: if another process truncates the recording
 * meanwhile, that must be a short read, not a SIGBUS.
 */
#include "read_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"

#define INPUT_CHUNK (256u << 10)
#define INPUT_LITTLE 4096u /* read after a skip: maybe the next block is skipped, too */

int input__open(struct input *in, const char *path)
{
	struct stat st;

	memset(in, 0, sizeof(*in));
	in->end = UINT64_MAX;
	in->owned = strcmp(path, "-") != 0;
	in->fd = in->owned ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (in->fd < 0)
		return -errno;
	if (fstat(in->fd, &st) < 0) {
		int err = -errno;

		input__close(in);
		return err;
	}
	if (S_ISDIR(st.st_mode)) {
		input__close(in);
		return -EISDIR;
	}
	in->seekable = S_ISREG(st.st_mode);
	in->base = in->seekable ? lseek(in->fd, 0, SEEK_CUR) : 0;
	return 0;
}

void input__open_mem(struct input *in, const void *data, size_t len)
{
	memset(in, 0, sizeof(*in));
	in->fd = -1;
	in->end = UINT64_MAX;
	in->data = data;
	in->len = len;
}

void input__close(struct input *in)
{
	if (in->owned && in->fd >= 0)
		close(in->fd);
	free(in->buf);
	memset(in, 0, sizeof(*in));
	in->fd = -1;
}

/*
 * Makes space after the buffered bytes.  Grows with the bytes actually read, not with the request.
 */
static int make_room(struct input *in)
{
	if (in->start) {
		memmove(in->buf, in->buf + in->start, in->len);
		in->start = 0;
	}
	if (in->cap - in->len < INPUT_CHUNK / 2 &&
	    array__reserve(&in->buf, in->len + INPUT_CHUNK, &in->cap))
		return -ENOMEM;
	in->data = in->buf;
	return 0;
}

/* A process that shares the pipe may have made it non-blocking: wait nevertheless. */
static bool wait_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return errno == EAGAIN && (poll(&p, 1, -1) >= 0 || errno == EINTR);
}

/* How many of at most n bytes at `ahead` lie before the end. */
static size_t before_end(const struct input *in, uint64_t ahead, size_t n)
{
	uint64_t left = in->end - in->pos;

	return ahead >= left ? 0 : MIN(n, left - ahead);
}

int input__need(struct input *in, size_t n)
{
	size_t room;
	ssize_t got;
	int err;

	while (in->len < n) {
		if (in->fd < 0)
			return 0;
		if (in->cap - in->start - in->len < INPUT_CHUNK / 2) {
			err = make_room(in);
			if (err)
				return err;
		}
		room = before_end(in, in->len, in->cap - in->start - in->len);
		if (in->sought)
			room = MIN(room, MAX(n - in->len, INPUT_LITTLE));
		got = room ? read(in->fd, in->buf + in->start + in->len, room) : 0;
		if (got < 0 && (errno == EINTR || wait_readable(in->fd)))
			continue;
		if (got < 0)
			return -errno;
		if (!got) {
			in->ended = !in->seekable;
			return 0;
		}
		in->len += got;
	}
	return 1;
}

static void consume(struct input *in, size_t n)
{
	in->data += n;
	in->start += n;
	in->len -= n;
	in->pos += n;
}

int input__skip(struct input *in, uint64_t n)
{
	struct stat st;

	if (n <= in->len) {
		in->sought = false;
		consume(in, n);
		return 1;
	}
	if (in->fd < 0 || before_end(in, n - 1, 1) == 0)
		return 0;
	if (!in->seekable) {
		int got = input__need(in, n);

		if (got > 0)
			consume(in, n);
		return got;
	}
	if (fstat(in->fd, &st) < 0)
		return -errno;
	if (in->base + in->pos + n > (uint64_t)st.st_size)
		return 0;
	if (lseek(in->fd, n - in->len, SEEK_CUR) < 0)
		return -errno;
	in->pos += n;
	in->start = in->len = 0;
	in->data = in->buf;
	in->sought = true;
	return 1;
}

int input__peek(struct input *in, uint64_t ahead, void *buf, size_t n)
{
	size_t done = 0;
	ssize_t got;

	if (ahead <= in->len && n <= in->len - ahead) {
		if (n)
			memcpy(buf, in->data + ahead, n);
		return 1;
	}
	if (in->fd < 0 || !in->seekable || before_end(in, ahead, n) < n)
		return 0;
	while (done < n) {
		got = pread(in->fd, (char *)buf + done, n - done,
			    in->base + in->pos + ahead + done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		done += got;
	}
	return 1;
}
