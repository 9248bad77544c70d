/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A growing text buffer, with escaping for terminals and JSON. */
#include "strbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"

int strbuf__grow(struct strbuf *b, size_t more)
{
	if (!b->failed &&
	    (more > SIZE_MAX / 4 || array__reserve(&b->s, b->len + more + 1, &b->cap)))
		b->failed = true;
	return b->failed ? -ENOMEM : 0;
}

void strbuf__free(struct strbuf *b)
{
	free(b->s);
	memset(b, 0, sizeof(*b));
}

void strbuf__printf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(b->s ? b->s + b->len : NULL, b->cap - b->len, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n >= b->cap - b->len) {
		if (!strbuf__grow(b, n))
			vsnprintf(b->s + b->len, b->cap - b->len, fmt, again);
		else
			n = -1;
	}
	va_end(again);
	if (n > 0)
		b->len += n;
}

static inline unsigned int nr_digits(uint64_t v)
{
	/* clang-format off */
	static const uint64_t least[] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
		10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
		1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
		10000000000000000000U,
	};
	/* clang-format on */
	/* log10(2) is 1233 / 4096 */
	unsigned int n = (64 - __builtin_clzll(v | 1)) * 1233 >> 12;

	return n + (v >= least[n]);
}

void strbuf__u64(struct strbuf *b, uint64_t v)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	unsigned int n = nr_digits(v);
	char *to;

	if (b->cap - b->len <= n && strbuf__grow(b, n))
		return;
	b->len += n;
	to = b->s + b->len;
	*to = '\0';
	for (; v >= 100; v /= 100)
		memcpy(to -= 2, pairs + v % 100 * 2, 2);
	if (v >= 10)
		memcpy(to - 2, pairs + v * 2, 2);
	else
		to[-1] = '0' + v;
}

void strbuf__s64(struct strbuf *b, int64_t v)
{
	if (v < 0)
		strbuf__putc(b, '-');
	strbuf__u64(b, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void strbuf__hex(struct strbuf *b, uint64_t v, int width)
{
	char digits[16];
	int i = sizeof(digits);

	do {
		digits[--i] = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v);
	if (width > (int)sizeof(digits) - i)
		strbuf__pad(b, '0', width - (sizeof(digits) - i));
	strbuf__add(b, digits + i, sizeof(digits) - i);
}

void strbuf__pad(struct strbuf *b, char c, size_t n)
{
	if (!n || (b->cap - b->len <= n && strbuf__grow(b, n)))
		return;
	memset(b->s + b->len, c, n);
	b->len += n;
	b->s[b->len] = '\0';
}

/* ---- escapes --------------------------------------------------------------------------------- */

#define EACH_BYTE(v) ((v)*0x0101010101010101ULL)

/* Whether a byte of w is below 0x20 or above 0x7e. */
static inline bool has_unplain(uint64_t w)
{
	return (((w - EACH_BYTE(0x20)) & ~w) | w | (w + EACH_BYTE(1))) & EACH_BYTE(0x80);
}

/* Whether a byte of w equals c. */
static inline bool has_byte(uint64_t w, unsigned char c)
{
	w ^= EACH_BYTE(c);
	return (w - EACH_BYTE(1)) & ~w & EACH_BYTE(0x80);
}

static inline bool json_special(uint64_t w)
{
	/* pairs that differ in one bit need one test: " and &, < and > */
	return has_unplain(w) || has_byte(w, '\\') || has_byte(w | EACH_BYTE('"' ^ '&'), '&') ||
	       has_byte(w | EACH_BYTE('<' ^ '>'), '>');
}

/* A word of a text of n < 8 bytes, some of them repeated, padded with blanks. */
static inline uint64_t short_word(const char *s, size_t n)
{
	uint32_t a = 0x20202020, b = a;

	if (n >= 4) {
		memcpy(&a, s, 4);
		memcpy(&b, s + n - 4, 4);
	} else if (n) {
		a = (unsigned char)s[0] | (unsigned char)s[n / 2] << 8 |
		    (uint32_t)(unsigned char)s[n - 1] << 16 | (uint32_t)' ' << 24;
	}
	return a | (uint64_t)b << 32;
}

/* Most texts need no escape; testing eight bytes at a time is fast. */
static inline bool any_word(const char *s, size_t n, bool (*is_special)(uint64_t w))
{
	uint64_t w;
	size_t i;

	if (n < 8)
		return is_special(short_word(s, n));
	for (i = 0; i < n; i += 8) {
		memcpy(&w, s + (i + 8 > n ? n - 8 : i), 8);
		if (is_special(w))
			return true;
	}
	return false;
}

/*
 * Length of the valid UTF-8 sequence at s (n bytes available), 0 if invalid; *ret_c: its code
 * point.
 */
static int utf8_len(const unsigned char *s, size_t n, uint32_t *ret_c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	int len = s[0] < 0x80		      ? 1 :
		  s[0] >= 0xf0 && s[0] < 0xf8 ? 4 :
		  s[0] >= 0xe0 && s[0] < 0xf0 ? 3 :
		  s[0] >= 0xc0 && s[0] < 0xe0 ? 2 :
						0;
	uint32_t c;
	int i;

	if (!len || (size_t)len > n)
		return 0;
	c = len == 1 ? s[0] : s[0] & (0x7f >> len);
	for (i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*ret_c = c;
	return len;
}

/* Controls (C0, DEL, C1) and the marks that reorder text on a terminal. */
static bool unsafe_char(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static bool json_char(uint32_t c)
{
	return c == '"' || c == '\\' || c == '<' || c == '>' || c == '&';
}

static void put_escaped(struct strbuf *b, const char *s, size_t n, bool is_json)
{
	size_t i = 0, run = 0;
	const unsigned char *p = (const unsigned char *)s;
	uint32_t c = 0;

	while (i < n) {
		int len = utf8_len(p + i, n - i, &c);

		if (len && !unsafe_char(c) && !(is_json && json_char(c))) {
			i += len;
			continue;
		}
		strbuf__add(b, s + run, i - run);
		if (is_json && (p[i] == '"' || p[i] == '\\')) {
			strbuf__putc(b, '\\');
			strbuf__putc(b, p[i]);
		} else {
			strbuf__puts(b, is_json ? "\\u00" : "\\x");
			strbuf__hex(b, p[i], 2);
		}
		run = ++i;
	}
	strbuf__add(b, s + run, n - run);
}

void strbuf__safe(struct strbuf *b, const char *s, size_t n)
{
	if (any_word(s, n, has_unplain))
		put_escaped(b, s, n, false);
	else
		strbuf__add(b, s, n);
}

void strbuf__utf8(struct strbuf *b, const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t i = 0, run = 0;
	uint32_t c;

	if (!any_word(s, n, has_unplain)) {
		strbuf__add(b, s, n);
		return;
	}
	while (i < n) {
		int len = utf8_len(p + i, n - i, &c);

		if (len && (c < 0x80 || !unsafe_char(c))) {
			i += len;
			continue;
		}
		strbuf__add(b, s + run, i - run);
		strbuf__putc(b, 0xc0 | p[i] >> 6);
		strbuf__putc(b, 0x80 | (p[i] & 0x3f));
		run = ++i;
	}
	strbuf__add(b, s + run, n - run);
}

void strbuf__json(struct strbuf *b, const char *s, size_t n)
{
	char *to;

	if (any_word(s, n, json_special)) {
		strbuf__putc(b, '"');
		put_escaped(b, s, n, true);
		strbuf__putc(b, '"');
		return;
	}
	if (b->cap - b->len <= n + 2 && strbuf__grow(b, n + 2))
		return;
	to = b->s + b->len;
	*to++ = '"';
	to = mempcpy(to, s, n);
	*to++ = '"';
	*to = '\0';
	b->len += n + 2;
}
