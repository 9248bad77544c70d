/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads little-endian numbers from untrusted bytes.  A read past the end returns 0 and sets bad,
 * which is sticky, so callers check once, at the end.
 */
#ifndef CURSOR_H
#define CURSOR_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they lie");

struct cursor {
	const uint8_t *p, *end;
	bool bad;
};

static inline struct cursor cursor__new(const void *p, size_t len)
{
	return (struct cursor){ p, (const uint8_t *)p + len, false };
}

static inline size_t cursor__left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

/* The next n bytes; NULL when fewer are left. */
static inline const uint8_t *cursor__take(struct cursor *c, uint64_t n)
{
	const uint8_t *p = c->p;

	if (n > cursor__left(c)) {
		c->bad = true;
		c->p = c->end;
		return NULL;
	}
	c->p += n;
	return p;
}

static inline uint64_t cursor__uint(struct cursor *c, unsigned int bytes)
{
	const uint8_t *p = cursor__take(c, bytes);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, bytes);
	return v;
}

static inline int64_t cursor__int(struct cursor *c, unsigned int bytes)
{
	unsigned int shift = 64 - 8 * bytes;

	return (int64_t)(cursor__uint(c, bytes) << shift) >> shift;
}

static inline uint8_t cursor__u8(struct cursor *c)
{
	if (c->p == c->end) {
		c->bad = true;
		return 0;
	}
	return *c->p++;
}

/* LEB128 (DWARF 5, 7.6); a value beyond 64 bits is bad. */
static inline uint64_t cursor__leb(struct cursor *c, bool is_signed)
{
	unsigned int shift = 0;
	uint64_t v = 0;
	uint8_t b;

	do {
		b = cursor__u8(c);
		v |= (uint64_t)(b & 127) << shift;
		shift += 7;
	} while (b & 128 && shift < 64);
	c->bad |= b & 128;
	if (is_signed && b & 64 && shift < 64)
		v |= ~0ULL << shift;
	return v;
}

static inline uint64_t cursor__uleb(struct cursor *c)
{
	return cursor__leb(c, false);
}

static inline int64_t cursor__sleb(struct cursor *c)
{
	return (int64_t)cursor__leb(c, true);
}

#endif /* CURSOR_H */
