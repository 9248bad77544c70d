// SPDX-License-Identifier: GPL-2.0-only
/* Values as ClickHouse's format TabSeparated has them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clickhouse_priv.h"
#include "log.h"
#include "text.h"

#define PIECE (128u << 10) /* bytes per write(2) */

static bool is_plain(const char *s, size_t len, char quote)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] < ' ' || s[i] == 0x7f || s[i] == '\\' || (quote && s[i] == quote))
			return false;
	return true;
}

void ch_put_escaped(struct strbuf *b, const char *s, size_t len, char quote)
{
	size_t run = 0, i;

	if (is_plain(s, len, quote)) {
		strbuf__add(b, s, len);
		return;
	}
	for (i = 0; i < len; i++) {
		if (s[i] != '\\' && (!quote || s[i] != quote))
			continue;
		strbuf__safe(b, s + run, i - run);
		strbuf__putc(b, '\\');
		strbuf__putc(b, s[i]);
		run = i + 1;
	}
	strbuf__safe(b, s + run, len - run);
}

void ch_put_text(struct strbuf *b, const char *s)
{
	ch_put_escaped(b, s, strlen(s), 0);
}

char *ch_unescaped(const char *s)
{
	char *raw = malloc(strlen(s) + 1), *to = raw;

	while (raw && *s) {
		bool is_backslash = s[0] == '\\' && s[1] == '\\';

		s += is_backslash ? 1 : text__byte(s, to);
		if (is_backslash)
			*to = *s++;
		to++;
	}
	if (raw)
		*to = '\0';
	return raw;
}

void ch_put_name(struct strbuf *b, const char *name)
{
	strbuf__putc(b, '`');
	ch_put_escaped(b, name, strlen(name), '`');
	strbuf__putc(b, '`');
}

void ch_put_time(struct strbuf *b, uint64_t wall_ns)
{
	/* the type has 32 bits of seconds */
	time_t s = wall_ns / 1000000000 > UINT32_MAX ? UINT32_MAX : wall_ns / 1000000000;
	char text[sizeof("2106-02-07 06:28:15")];
	struct tm tm;

	gmtime_r(&s, &tm);
	strbuf__add(b, text, strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm));
}

void ch_uuid(const uint8_t v[16], char ret_text[UUID_TEXT + 1])
{
	static const char digits[] = "0123456789abcdef";
	char *p = ret_text;

	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*p++ = '-';
		*p++ = digits[v[i] >> 4];
		*p++ = digits[v[i] & 15];
	}
	*p = '\0';
}

void ch_put_key(struct strbuf *b, const struct stack_key *key)
{
	char text[UUID_TEXT + 1];

	ch_uuid(key->v, text);
	strbuf__add(b, text, UUID_TEXT);
}

int ch_flush(struct ch_export *c)
{
	int err;

	if (strbuf__failed(&c->b))
		return -ENOMEM;
	err = output__write(c->output, c->b.s ?: "", c->b.len);
	strbuf__reset(&c->b);
	return err ? log_err(err, "write '%s'", c->path) : 0;
}

int ch_drain(struct ch_export *c)
{
	return c->b.len < PIECE && !strbuf__failed(&c->b) ? 0 : ch_flush(c);
}

int ch_end_row(struct ch_export *c)
{
	strbuf__putc(&c->b, '\n');
	c->nr_rows++;
	return ch_drain(c);
}
