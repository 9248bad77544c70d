// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The JSON writer: commas, nesting, escapes. */
#include "json.h"

#include <stdarg.h>
#include <stdio.h>

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
