/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A growing text buffer.  Out of memory is sticky: later puts do nothing and strbuf__failed()
 * returns true, so callers check once, at the end.  s is NUL-terminated after any put.
 */
#ifndef STRBUF_H
#define STRBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct strbuf {
	char *s;
	size_t len, cap;
	bool failed;
};

int strbuf__grow(struct strbuf *b, size_t more); /* room for more bytes and the NUL */
void strbuf__free(struct strbuf *b); /* back to all zero */

static inline void strbuf__reset(struct strbuf *b)
{
	b->len = 0;
	if (b->s)
		b->s[0] = '\0';
}

static inline bool strbuf__failed(const struct strbuf *b)
{
	return b->failed;
}

static inline void strbuf__add(struct strbuf *b, const char *p, size_t n)
{
	if (b->cap - b->len <= n && strbuf__grow(b, n))
		return;
	memcpy(b->s + b->len, p, n);
	b->len += n;
	b->s[b->len] = '\0';
}

static inline void strbuf__puts(struct strbuf *b, const char *s)
{
	strbuf__add(b, s, strlen(s));
}

static inline void strbuf__putc(struct strbuf *b, char c)
{
	strbuf__add(b, &c, 1);
}

void strbuf__printf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf__u64(struct strbuf *b, uint64_t v); /* decimal, fast */
void strbuf__s64(struct strbuf *b, int64_t v);
void strbuf__hex(struct strbuf *b, uint64_t v, int width); /* lower case, zero padded */
void strbuf__pad(struct strbuf *b, char c, size_t n);

/*
 * Untrusted text for a terminal: control bytes, DEL and bytes that are not valid UTF-8 (C1
 * controls included) become \xNN, a backslash stays.  n bytes, may hold NULs.
 */
void strbuf__safe(struct strbuf *b, const char *s, size_t n);
static inline void strbuf__text(struct strbuf *b, const char *s)
{
	strbuf__safe(b, s, strlen(s));
}

/* Text as UTF-8: what strbuf__json() escapes as \u00NN is that character, all else as it is. */
void strbuf__utf8(struct strbuf *b, const char *s, size_t n);

/* A JSON string with its quotes; invalid UTF-8 bytes become \u00NN.  HTML-safe: <, >, & too. */
void strbuf__json(struct strbuf *b, const char *s, size_t n);

#endif /* STRBUF_H */
