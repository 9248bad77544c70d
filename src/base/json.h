/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Writes JSON, one object per line.  The caller adds members; the writer takes care of commas,
 * quotes, escapes and line ends:
 *
 * 	json__record(j, "group");
 * 	json__string(j, "comm", comm);
 * 	json__array(j, "pids");
 * 	json__u64(j, NULL, 12);
 * 	json__end(j);
 * 	json__end(j);			{"type":"group","comm":"bash","pids":[12]}
 *
 * key is a constant that needs no escape; any other key is written by json__name(), followed by a
 * value without a key.  key is NULL within an array.  The text goes to a buffer that may be emptied
 * between any two calls, as the writer keeps its own state.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "strbuf.h"

struct json {
	struct strbuf *out;
	bool comma; /* the next member needs a comma */
	uint8_t depth; /* open levels, at most 32 */
	uint32_t arrays; /* a bit per level: it is an array */
};

void json__object(struct json *j, const char *key);
void json__array(struct json *j, const char *key);
/* Ends the innermost open level; after an outermost object, also the line. */
void json__end(struct json *j);

/* Writes the key of the next value, escaped: it may come from a recording or a user. */
void json__name(struct json *j, const char *name);
void json__s64(struct json *j, const char *key, int64_t v);
void json__real(struct json *j, const char *key, double v, int decimals);
void json__bool(struct json *j, const char *key, bool v);
void json__null(struct json *j, const char *key);
/* NULL is null. */
void json__string(struct json *j, const char *key, const char *s);
/* A string such as "0x12", which must need no escape. */
void json__printf(struct json *j, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A number if known, else null. */
void json__maybe(struct json *j, const char *key, bool known, uint64_t v);

/* Starts a value that the caller writes as JSON. */
static inline struct strbuf *json__value(struct json *j, const char *key)
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

static inline void json__u64(struct json *j, const char *key, uint64_t v)
{
	strbuf__u64(json__value(j, key), v);
}

static inline void json__bytes(struct json *j, const char *key, const char *s, size_t n)
{
	strbuf__json(json__value(j, key), s, n);
}

/* An outermost object, whose first member is its "type": a constant that needs no escape. */
static inline void json__record(struct json *j, const char *type)
{
	static const char head[] = "{\"type\":\"";
	size_t len = strlen(type), all = sizeof(head) - 1 + len + 1;
	struct strbuf *b = j->out;
	char *to;

	*j = (struct json){ .out = b, .depth = 1, .comma = true };
	if (b->cap - b->len <= all && strbuf__grow(b, all))
		return;
	to = mempcpy(b->s + b->len, head, sizeof(head) - 1);
	to = mempcpy(to, type, len);
	*to = '"';
	b->len += all;
}

#endif /* JSON_H */
