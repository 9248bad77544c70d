// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Inserts blocks into a copy of a recording. */
#include "rewrite.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "encode.h"
#include "file_table.h"
#include "trace/stk.h"

#define PAYLOAD_SPLIT (4u << 20) /* a block is closed when it gets this big */

struct stk_rewrite {
	int fd;
	struct stat st;
	uint64_t at; /* where blocks are inserted: at END, or after the last readable block */
	uint64_t end; /* end of what is copied */
	struct encoder *enc;
	struct bytes_buf files, symbols, group;
};

static int read_at(int fd, uint64_t at, void *buf, size_t n)
{
	ssize_t got = pread(fd, buf, n, at);

	return got < 0 ? -errno : got == (ssize_t)n;
}

static bool all_zero(const void *data, size_t n)
{
	const char *p = data;

	return !*p && !memcmp(p, p + 1, n - 1);
}

static int find_first_block(struct stk_rewrite *rw)
{
	uint8_t head[STK_HEADER_SIZE];
	uint32_t size, crc;
	uint16_t major;
	int got = read_at(rw->fd, 0, head, sizeof(head));

	if (got < 0)
		return got;
	if (!got || memcmp(head, STK_MAGIC, 8))
		return -EINVAL;
	memcpy(&major, head + 8, sizeof(major));
	memcpy(&size, head + 12, sizeof(size));
	memcpy(&crc, head + 60, sizeof(crc));
	if (major != STK_MAJOR)
		return -ENOTSUP;
	if (crc32c(0, head, 60) != crc || size < STK_HEADER_SIZE || size > (uint64_t)rw->st.st_size)
		return -EINVAL;
	rw->at = size;
	return 0;
}

static int find_place(struct stk_rewrite *rw)
{
	struct stk_block_header h;
	uint64_t size = rw->st.st_size;
	int got, err = find_first_block(rw);

	if (err)
		return err;
	while (size - rw->at >= sizeof(h)) {
		got = read_at(rw->fd, rw->at, &h, sizeof(h));
		if (got <= 0)
			return got < 0 ? got : -EBUSY;
		if (all_zero(&h, sizeof(h)))
			break;
		if (h.magic != STK_BLOCK_MAGIC || h.stored_len > STK_MAX_RAW ||
		    crc32c(0, &h, offsetof(struct stk_block_header, header_crc)) != h.header_crc)
			return -EBADMSG;
		if (h.stored_len > size - rw->at - sizeof(h))
			break;
		if (h.type == STK_BLOCK_END) {
			rw->end = size;
			return 0;
		}
		rw->at += sizeof(h) + h.stored_len;
	}
	rw->end = rw->at;
	return 0;
}

static void stk_rewrite__freep(struct stk_rewrite **rw)
{
	stk_rewrite__free(*rw);
}

int stk_rewrite__open(const char *path, struct stk_rewrite **ret_rewrite)
{
	_cleanup_(stk_rewrite__freep) struct stk_rewrite *rw = calloc(1, sizeof(*rw));
	int err;

	if (!rw)
		return -ENOMEM;
	rw->fd = -1;
	rw->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (rw->fd < 0 || fstat(rw->fd, &rw->st) < 0)
		return -errno;
	if (!S_ISREG(rw->st.st_mode))
		return -EINVAL;
	err = find_place(rw);
	if (!err)
		err = encoder__new(1, &rw->enc);
	if (err)
		return err;
	*ret_rewrite = take_ptr(rw);
	return 0;
}

void stk_rewrite__free(struct stk_rewrite *rw)
{
	if (!rw)
		return;
	closep(&rw->fd);
	encoder__free(rw->enc);
	bytes_buf__free(&rw->files);
	bytes_buf__free(&rw->symbols);
	bytes_buf__free(&rw->group);
	free(rw);
}

static int close_block(struct stk_rewrite *rw, uint16_t type, struct bytes_buf *payload)
{
	int err;

	if (payload->failed)
		return -ENOMEM;
	if (!payload->len)
		return 0;
	err = encoder__block(rw->enc, type, 0, payload->p, payload->len, &rw->group);
	payload->len = 0;
	return err ?: rw->group.failed ? -ENOMEM : 0;
}

int stk_rewrite__file(struct stk_rewrite *rw, const struct stk_file *file)
{
	int err = file->number ? file_table__put(&rw->files, file->number, file) : -EINVAL;

	if (!err && rw->files.len >= PAYLOAD_SPLIT)
		err = close_block(rw, STK_BLOCK_FILES, &rw->files);
	return err;
}

int stk_rewrite__user_symbols(struct stk_rewrite *rw, uint32_t file,
			      const struct stk_user_symbol *symbols, size_t nr)
{
	int err = file ? file_table__put_symbols(&rw->symbols, file, symbols, nr) : -EINVAL;

	if (!err && rw->symbols.len >= PAYLOAD_SPLIT)
		err = close_block(rw, STK_BLOCK_USER_SYMBOLS, &rw->symbols);
	return err;
}

static int copy_range(int from, int to, uint64_t at, uint64_t end)
{
	off_t pos = at;

	while ((uint64_t)pos < end) {
		ssize_t n = sendfile(to, from, &pos, MIN(end - pos, 1u << 30));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
	}
	return 0;
}

static int write_all(int fd, const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		p += done;
		n -= done;
	}
	return 0;
}

bool stk_rewrite__is_busy(const struct stk_rewrite *rw)
{
	/* F_RDLCK fails while the file is open for writing; some file systems have no leases */
	if (fcntl(rw->fd, F_SETLEASE, F_RDLCK) < 0)
		return errno == EAGAIN;
	fcntl(rw->fd, F_SETLEASE, F_UNLCK);
	return false;
}

mode_t stk_rewrite__mode(const struct stk_rewrite *rw)
{
	return rw->st.st_mode & 0777;
}

bool stk_rewrite__is_changed(const struct stk_rewrite *rw)
{
	return rw->group.len || rw->files.len || rw->symbols.len;
}

int stk_rewrite__write(struct stk_rewrite *rw, int fd)
{
	int err = close_block(rw, STK_BLOCK_FILES, &rw->files);

	err = err ?: close_block(rw, STK_BLOCK_USER_SYMBOLS, &rw->symbols);
	err = err ?: copy_range(rw->fd, fd, 0, rw->at);
	err = err ?: write_all(fd, rw->group.p, rw->group.len);
	return err ?: copy_range(rw->fd, fd, rw->at, rw->end);
}
