/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes out and in: a growing output buffer and a bounds-checked input cursor for the integers of
 * stk-format(5).  Failure is sticky in both, so that callers check once, at the end.
 */
#ifndef TRACE_BYTES_H
#define TRACE_BYTES_H

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "integers are copied as they lie in memory");

static inline uint64_t bytes_zigzag(uint64_t delta)
{
	return (delta << 1) ^ (0 - (delta >> 63));
}

static inline uint64_t bytes_unzigzag(uint64_t v)
{
	return (v >> 1) ^ (0 - (v & 1));
}

/*
 * A hash that is the same in every run, for where results depend on it.  Tables whose keys come
 * from a recording use src/base/seeded_hash.h.
 */
static inline uint64_t bytes_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ (h >> 29);
}

/* ---- output ---------------------------------------------------------------------------------- */

struct bytes_buf {
	uint8_t *p;
	size_t len, cap;
	bool failed;
};

static inline void bytes_buf__free(struct bytes_buf *b)
{
	free(b->p);
	memset(b, 0, sizeof(*b));
}

int bytes_buf__grow(struct bytes_buf *b, size_t more);

/* Room for more bytes at b->p + b->len; NULL when out of memory. */
static inline uint8_t *bytes_buf__room(struct bytes_buf *b, size_t more)
{
	if ((!b->p || b->cap - b->len < more) && bytes_buf__grow(b, more))
		return NULL;
	return b->p + b->len;
}

static inline void bytes_put(struct bytes_buf *b, const void *data, size_t n)
{
	uint8_t *p = n ? bytes_buf__room(b, n) : NULL;

	if (p) {
		memcpy(p, data, n);
		b->len += n;
	}
}

static inline void bytes_put_u8(struct bytes_buf *b, uint8_t v)
{
	bytes_put(b, &v, 1);
}

static inline void bytes_put_varint(struct bytes_buf *b, uint64_t v)
{
	uint8_t *p = bytes_buf__room(b, 10);

	if (!p)
		return;
	while (v >= 0x80) {
		*p++ = v | 0x80;
		v >>= 7;
	}
	*p++ = v;
	b->len = p - b->p;
}

static inline void bytes_put_svarint(struct bytes_buf *b, uint64_t delta)
{
	bytes_put_varint(b, bytes_zigzag(delta));
}

static inline void bytes_put_string(struct bytes_buf *b, const char *s, size_t n)
{
	bytes_put_varint(b, n);
	bytes_put(b, s, n);
}

/* ---- input ----------------------------------------------------------------------------------- */

struct bytes_cur {
	const uint8_t *p, *end;
	bool bad; /* a read went past the end or met an invalid value */
};

static inline struct bytes_cur bytes_cur(const void *p, size_t n)
{
	if (!p)
		p = ""; /* so that NULL from bytes_get() always means failure */
	return (struct bytes_cur){ .p = p, .end = (const uint8_t *)p + n };
}

static inline size_t bytes_left(const struct bytes_cur *c)
{
	return c->bad ? 0 : c->end - c->p;
}

/* n bytes, or NULL with the cursor bad. */
static inline const uint8_t *bytes_get(struct bytes_cur *c, uint64_t n)
{
	const uint8_t *p = c->p;

	if (c->bad || n > (size_t)(c->end - c->p)) {
		c->bad = true;
		return NULL;
	}
	c->p += n;
	return p;
}

static inline uint8_t bytes_get_u8(struct bytes_cur *c)
{
	const uint8_t *p = bytes_get(c, 1);

	return p ? *p : 0;
}

uint64_t bytes_get_varint_slow(struct bytes_cur *c);

static inline uint64_t bytes_get_varint(struct bytes_cur *c)
{
	if (!c->bad && c->p < c->end && *c->p < 0x80)
		return *c->p++;
	return bytes_get_varint_slow(c);
}

/* A varint of at most max; larger makes the cursor bad. */
static inline uint64_t bytes_get_max(struct bytes_cur *c, uint64_t max)
{
	uint64_t v = bytes_get_varint(c);

	if (v > max) {
		c->bad = true;
		return 0;
	}
	return v;
}

static inline uint64_t bytes_get_svarint(struct bytes_cur *c)
{
	return bytes_unzigzag(bytes_get_varint(c));
}

/* ---- checksums ------------------------------------------------------------------------------- */

/* CRC32C (Castagnoli, RFC 3720 appendix B.4); crc is 0 at the start, or the result so far. */
uint32_t crc32c(uint32_t crc, const void *data, size_t n);
/* The same without CRC instructions. */
uint32_t crc32c_portable(uint32_t crc, const void *data, size_t n);

#endif /* TRACE_BYTES_H */
