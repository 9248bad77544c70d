// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The JSON writer: commas, nesting, escapes. */
#include "json.h"

#include <stdarg.h>
#include <stdio.h>

struct strbuf *json__value(struct json *j, const char *key)
{
	size_t len = key ? strlen(key) : 0;
	struct strbuf *b = j->out;
	char *to;

	if (b->cap - b->len <= len + 4 && strbuf__grow(b, len + 4))
		return b;
	to = b->s + b->len;
	if (j->comma)
		*to++ = ',';
	j->comma = true;
	if (key) {
		*to++ = '"';
		to = mempcpy(to, key, len);
		*to++ = '"';
		*to++ = ':';
	}
	b->len = to - b->s;
	return b;
}

void json__name(struct json *j, const char *name)
{
	json__string(j, NULL, name);
	strbuf__putc(j->out, ':');
	j->comma = false;
}

static void open_level(struct json *j, const char *key, bool is_array)
{
	strbuf__putc(json__value(j, key), is_array ? '[' : '{');
	j->arrays = j->arrays << 1 | is_array;
	j->depth++;
	j->comma = false;
}

void json__record(struct json *j, const char *type)
{
	json__object(j, NULL);
	json__string(j, "type", type);
}

void json__object(struct json *j, const char *key)
{
	open_level(j, key, false);
}

void json__array(struct json *j, const char *key)
{
	open_level(j, key, true);
}

void json__end(struct json *j)
{
	strbuf__putc(j->out, j->arrays & 1 ? ']' : '}');
	j->arrays >>= 1;
	j->depth--;
	j->comma = j->depth;
	if (!j->depth)
		strbuf__putc(j->out, '\n');
}

void json__u64(struct json *j, const char *key, uint64_t v)
{
	strbuf__u64(json__value(j, key), v);
}

void json__s64(struct json *j, const char *key, int64_t v)
{
	strbuf__s64(json__value(j, key), v);
}

void json__real(struct json *j, const char *key, double v, int decimals)
{
	strbuf__printf(json__value(j, key), "%.*f", decimals, v);
}

void json__bool(struct json *j, const char *key, bool v)
{
	strbuf__puts(json__value(j, key), v ? "true" : "false");
}

void json__null(struct json *j, const char *key)
{
	strbuf__puts(json__value(j, key), "null");
}

void json__maybe(struct json *j, const char *key, bool known, uint64_t v)
{
	if (known)
		json__u64(j, key, v);
	else
		json__null(j, key);
}

void json__bytes(struct json *j, const char *key, const char *s, size_t n)
{
	strbuf__json(json__value(j, key), s, n);
}

void json__string(struct json *j, const char *key, const char *s)
{
	if (s)
		json__bytes(j, key, s, strlen(s));
	else
		json__null(j, key);
}

void json__printf(struct json *j, const char *key, const char *fmt, ...)
{
	char text[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json__string(j, key, text);
}
