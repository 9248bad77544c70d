// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file is an array of chunks, and a stream is a list of them.  As the next chunk is chosen when
 * one is written, a list grows without a second write.
 */
#include "spill.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "output/output.h"
#include "temporary.h"

#define FIRST_SIZE 256 /* of a buffer, which doubles until it has a chunk */

struct chunk_head {
	uint64_t next;
	uint64_t len;
};

static_assert(sizeof(struct chunk_head) == SPILL_CHUNK - SPILL_PAYLOAD, "a chunk");

static off_t place_of(uint64_t chunk)
{
	return (off_t)(chunk - 1) * SPILL_CHUNK;
}

int spill__add(struct spill *s, uint32_t *ret_stream)
{
	if (array__grow(&s->v, s->nr, &s->max))
		return -ENOMEM;
	s->v[s->nr] = (struct spill_stream){ 0 };
	*ret_stream = s->nr++;
	return 0;
}

/* ---- write ----------------------------------------------------------------------------------- */

static int failed(int err, const char *what)
{
	log_err(err, "%s a temporary file", what);
	return -ECANCELED;
}

static int write_at(struct spill *s, const void *data, size_t len, off_t at)
{
	int err = temporary__write(s->fd - 1, data, len, at);

	return err ? failed(err, "write") : 0;
}

static int open_file(struct spill *s)
{
	int fd = output__open_temporary(s->output);

	if (fd < 0)
		return -ECANCELED;
	s->fd = fd + 1;
	return 0;
}

/* Writes what waits of a stream as a chunk, which may be a short one. */
static int flush(struct spill *s, struct spill_stream *st)
{
	struct chunk_head head;
	uint64_t chunk;
	int err = s->fd ? 0 : open_file(s);

	if (err)
		return err;
	chunk = st->next ?: ++s->chunks;
	st->first = st->first ?: chunk;
	st->next = ++s->chunks;
	head = (struct chunk_head){ .next = st->next, .len = st->len };
	err = write_at(s, &head, sizeof(head), place_of(chunk)) ?:
		      write_at(s, st->buf, st->len, place_of(chunk) + sizeof(head));
	st->len = 0;
	return err;
}

/* Many streams with little in each: all of them are written. */
static int flush_all(struct spill *s)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < s->nr && !err; i++) {
		struct spill_stream *st = &s->v[i];

		err = st->len ? flush(s, st) : 0;
		s->held -= st->cap;
		free(st->buf);
		st->buf = NULL;
		st->cap = 0;
	}
	return err;
}

static int grow(struct spill *s, struct spill_stream *st, size_t want)
{
	uint32_t cap = st->cap ?: FIRST_SIZE;
	char *buf;

	while (cap < want && cap < SPILL_PAYLOAD)
		cap *= 2;
	cap = MIN(cap, SPILL_PAYLOAD);
	buf = realloc(st->buf, cap);
	if (!buf)
		return -ENOMEM;
	s->held += cap - st->cap;
	st->buf = buf;
	st->cap = cap;
	return 0;
}

int spill__write(struct spill *s, uint32_t stream, const void *data, size_t len)
{
	struct spill_stream *st = &s->v[stream];
	const char *p = data;
	size_t n;
	int err = 0;

	st->total += len;
	while (len && !err) {
		if (st->len + len > st->cap && st->cap < SPILL_PAYLOAD) {
			err = s->held > SPILL_MEMORY ? flush_all(s) : 0;
			err = err ?: grow(s, st, st->len + len);
		}
		if (err)
			break;
		n = MIN(len, st->cap - st->len);
		memcpy(st->buf + st->len, p, n);
		st->len += n;
		p += n;
		len -= n;
		if (st->len == SPILL_PAYLOAD)
			err = flush(s, st);
	}
	return err;
}

/* ---- read ------------------------------------------------------------------------------------ */

static int read_chunk(struct spill *s, uint64_t chunk, struct chunk_head *ret_head)
{
	size_t want = sizeof(*ret_head), have = 0;
	ssize_t n;

	while (have < want) {
		n = pread(s->fd - 1, s->chunk + have, SPILL_CHUNK - have, place_of(chunk) + have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return failed(n < 0 ? -errno : -EIO, "read");
		have += n;
		if (have < sizeof(*ret_head))
			continue;
		memcpy(ret_head, s->chunk, sizeof(*ret_head));
		want = sizeof(*ret_head) + MIN(ret_head->len, SPILL_PAYLOAD);
	}
	return 0;
}

int spill__read(struct spill *s, uint32_t stream,
		int (*take)(void *ctx, const char *data, size_t len), void *ctx)
{
	const struct spill_stream *st = &s->v[stream];
	struct chunk_head head;
	uint64_t chunk = st->first;
	int err = 0;

	if (chunk && !s->chunk)
		s->chunk = malloc(SPILL_CHUNK);
	if (chunk && !s->chunk)
		return -ENOMEM;
	for (; chunk && chunk != st->next && !err; chunk = head.next)
		err = read_chunk(s, chunk, &head) ?: take(ctx, s->chunk + sizeof(head), head.len);
	return err || !st->len ? err : take(ctx, st->buf, st->len);
}

uint64_t spill__memory(const struct spill *s)
{
	return (uint64_t)s->max * sizeof(*s->v);
}

void spill__free(struct spill *s)
{
	uint32_t i;

	for (i = 0; i < s->nr; i++)
		free(s->v[i].buf);
	free(s->v);
	free(s->chunk);
	if (s->fd)
		close(s->fd - 1);
}
