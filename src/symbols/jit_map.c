// SPDX-License-Identifier: GPL-2.0-only
/* perf-PID.map, as runtimes write it for perf: "START SIZE NAME" per line, numbers in hex. */
#include "jit_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"

#define BUFFER (64u << 10) /* a longer line is a bad one */

static bool take_hex(const char **p, const char *end, uint64_t *ret_value)
{
	const char *s = *p;
	uint64_t value = 0;

	if (end - s > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		s += 2;
	*p = s;
	for (; s < end; s++) {
		unsigned int digit;

		if (*s >= '0' && *s <= '9')
			digit = *s - '0';
		else if ((*s | 0x20) >= 'a' && (*s | 0x20) <= 'f')
			digit = (*s | 0x20) - 'a' + 10;
		else
			break;
		if (value >> 60)
			return false;
		value = value << 4 | digit;
	}
	if (s == *p || s == end || *s != ' ')
		return false;
	while (s < end && *s == ' ')
		s++;
	*p = s;
	*ret_value = value;
	return true;
}

static int add_line(struct jit_symbols *s, const char *line, size_t len)
{
	const char *p = line, *end = line + len;
	struct jit_function f = { 0 };
	uint64_t size;
	int err;

	if (len && end[-1] == '\r')
		end--;
	if (!take_hex(&p, end, &f.start) || !take_hex(&p, end, &size) || p == end || !size ||
	    size > UINT64_MAX - f.start || memchr(p, '\0', end - p)) {
		s->bad++;
		return 0;
	}
	f.end = f.start + size;
	err = jit_symbols__put_name(s, p, end - p, &f.name);
	return err ?: jit_symbols__put(s, &f);
}

/* Adds the complete lines in the buffer; the rest, *len bytes, is moved to its beginning. */
static int add_lines(struct jit_symbols *s, char *buf, size_t *len)
{
	char *line = buf, *end = buf + *len, *newline;
	int err = 0;

	while (!err && (newline = memchr(line, '\n', end - line))) {
		err = add_line(s, line, newline - line);
		line = newline + 1;
	}
	*len = end - line;
	memmove(buf, line, *len);
	return err;
}

static int add_file(struct jit_symbols *s, int fd, char *buf)
{
	bool skipping = false; /* the rest of a line that is too long */
	uint64_t at = 0;
	size_t len = 0;
	int err = 0;

	while (!err) {
		ssize_t n = pread(fd, buf + len, BUFFER - len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		at += n;
		len += n;
		if (skipping) {
			char *newline = memchr(buf, '\n', len);

			skipping = !newline;
			len = newline ? buf + len - newline - 1 : 0;
			memmove(buf, newline ? newline + 1 : buf, len);
		}
		err = add_lines(s, buf, &len);
		if (len == BUFFER) {
			s->bad++;
			skipping = true;
			len = 0;
		}
	}
	return err;
}

int jit_symbols__add_map(struct jit_symbols *s, int fd)
{
	_cleanup_free_ char *buf = malloc(BUFFER);
	int err = buf ? add_file(s, fd, buf) : -ENOMEM;

	/* Keep what was read even if the rest is unreadable. */
	return jit_symbols__settle(s) ?: err;
}
