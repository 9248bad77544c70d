/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * JSON as it is written, one object a line.  Callers say which members there are; commas, quotes, escapes
 * and the end of the line are put here:
 *
 *	json__record(j, "group");
 *	json__string(j, "comm", comm);
 *	json__array(j, "pids");
 *	json__u64(j, NULL, 12);
 *	json__end(j);
 *	json__end(j);			{"type":"group","comm":"bash","pids":[12]}
 *
 * key is one of our own, in which nothing needs an escape; any other is written by json__name() before a
 * value without a key.  It is NULL within an array.  The text goes to a buffer that may be emptied between any two calls:
 * where the writer is, it knows itself.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "strbuf.h"

struct json {
	struct strbuf *out;
	bool comma; /* something stands before the next member */
	uint8_t depth; /* what is open, at most 32 */
	uint32_t arrays; /* a bit for each: it is an array */
};

/* An outermost object, whose first member is its "type". */
void json__record(struct json *j, const char *type);
void json__object(struct json *j, const char *key);
void json__array(struct json *j, const char *key);
/* Of what was opened last; behind an outermost object the line ends. */
void json__end(struct json *j);

/* The key of the next value, as it comes from a recording or a user. */
void json__name(struct json *j, const char *name);
void json__u64(struct json *j, const char *key, uint64_t v);
void json__s64(struct json *j, const char *key, int64_t v);
void json__real(struct json *j, const char *key, double v, int decimals);
void json__bool(struct json *j, const char *key, bool v);
void json__null(struct json *j, const char *key);
/* NULL is null. */
void json__string(struct json *j, const char *key, const char *s);
void json__bytes(struct json *j, const char *key, const char *s, size_t n);
/* A string like "0x12": nothing in it needs an escape. */
void json__printf(struct json *j, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A number where known, else null. */
void json__maybe(struct json *j, const char *key, bool known, uint64_t v);
/* For a value that the caller writes as JSON. */
struct strbuf *json__value(struct json *j, const char *key);

#endif /* JSON_H */
