/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the tests of event formats: formats from a few words, and printing to a string. */
#ifndef FORMAT_TEST_H
#define FORMAT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cleanup.h"
#include "events/format.h"
#include "strbuf.h"

#define FIELD(decl, offset, size, sign) \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"
#define FORMAT(name, fields, print) \
	"name: " name "\nID: 7\nformat:\n" fields "\nprint fmt: " print "\n"

static inline struct ev_format *parse(const char *text)
{
	struct ev_format *f = NULL;

	assert_int_equal(ev_format__parse(text, strlen(text), &f), 0);
	return f;
}

static inline struct ev_format *parse_compiled(const char *text)
{
	struct ev_format *f = parse(text);

	if (!ev_format__compiled(f))
		fail_msg("not compiled: %s\n%s", ev_format__why(f), text);
	return f;
}

/* Returns the malloced text of a record. */
static inline char *print(const struct ev_format *f, const void *rec, size_t len)
{
	struct strbuf out = { 0 };

	strbuf__reset(&out);
	ev_format__print(f, NULL, rec, len, &out);
	strbuf__putc(&out, '\0');
	return out.s;
}

static inline void assert_prints(const char *text, const void *rec, size_t len, const char *want)
{
	struct ev_format *f = parse_compiled(text);
	char *got = print(f, rec, len);

	assert_string_equal(got, want);
	free(got);
	ev_format__free(f);
}

#endif /* FORMAT_TEST_H */
