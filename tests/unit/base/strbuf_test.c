// SPDX-License-Identifier: GPL-2.0-only
/* Numbers and escapes in a text buffer, compared with printf and with known texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "strbuf.h"

static void check_number(uint64_t v)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	char expected[32];

	strbuf__u64(&b, v);
	snprintf(expected, sizeof(expected), "%" PRIu64, v);
	assert_true(b.len == strlen(expected) && !strcmp(b.s, expected));

	strbuf__reset(&b);
	strbuf__s64(&b, v);
	snprintf(expected, sizeof(expected), "%" PRId64, (int64_t)v);
	assert_true(b.len == strlen(expected) && !strcmp(b.s, expected));
}

/* Every number of bits and of digits, at its ends. */
static void numbers(void **state)
{
	uint64_t v = 1;
	int i;

	(void)state;
	check_number(0);
	for (i = 0; i < 64; i++) {
		check_number(UINT64_MAX >> i);
		check_number(1ULL << i);
	}
	for (i = 0; i < 20; i++, v *= 10) {
		check_number(v - 1);
		check_number(v);
		check_number(v + 1);
	}
	srandom(1);
	for (i = 0; i < 100000; i++)
		check_number(((uint64_t)random() << 33 ^ (uint64_t)random()) >> random() % 64);
}

/* The buffer grows at every length, and each text keeps what is before it. */
static void growth(void **state)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	_cleanup_free_ char *expected = calloc(1000, 24);
	size_t len = 0;
	int i;

	(void)state;
	assert_non_null(expected);
	for (i = 0; i < 1000; i++) {
		strbuf__u64(&b, i * 1000003ULL);
		strbuf__json(&b, "abcdefghijk", i % 12);
		len += sprintf(expected + len, "%llu\"%.*s\"", i * 1000003ULL, i % 12,
			       "abcdefghijk");
		assert_true(b.len == len && b.len < b.cap && !strcmp(b.s, expected));
	}
}

static void check_json(const char *s, size_t n, const char *expected)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };

	strbuf__json(&b, s, n);
	assert_true(!strcmp(b.s, expected));
}

static void check_safe(const char *s, size_t n, const char *expected)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };

	strbuf__safe(&b, s, n);
	assert_true(!n || !strcmp(b.s, expected));
}

/* A special byte at every place of texts of every length up to 20. */
static void places(void **state)
{
	char text[32], expected[64];
	size_t n, i;

	(void)state;
	for (n = 1; n <= 20; n++) {
		for (i = 0; i < n; i++) {
			memset(text, 'x', sizeof(text));
			text[i] = '\n';
			snprintf(expected, sizeof(expected), "\"%.*s\\u000a%.*s\"", (int)i, text,
				 (int)(n - i - 1), text + i + 1);
			check_json(text, n, expected);
			snprintf(expected, sizeof(expected), "%.*s\\x0a%.*s", (int)i, text,
				 (int)(n - i - 1), text + i + 1);
			check_safe(text, n, expected);
		}
	}
}

static void escapes(void **state)
{
	(void)state;
	check_json("", 0, "\"\"");
	check_json("a\"b\\c<d>e&f", 11, "\"a\\\"b\\\\c\\u003cd\\u003ee\\u0026f\"");
	check_json("\303\251\377", 3, "\"\303\251\\u00ff\"");
	check_json("\0x", 2, "\"\\u0000x\"");
	check_safe("\342\200\256a\\", 5, "\\xe2\\x80\\xaea\\");
}

static void check_utf8(const char *s, size_t n, const char *expected, size_t len)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };

	strbuf__utf8(&b, s, n);
	assert_int_equal(b.len, len);
	assert_memory_equal(b.s, expected, len);
}

/* What is not UTF-8, or is escaped in JSON, becomes the character of its number. */
static void utf8(void **state)
{
	(void)state;
	check_utf8("", 0, "", 0);
	check_utf8("plain text, and more of it", 26, "plain text, and more of it", 26);
	check_utf8("\033\"\\\n\0x", 6, "\033\"\\\n\0x", 6);
	check_utf8("a\303\244\342\202\254", 6, "a\303\244\342\202\254", 6);
	check_utf8("a\377b\244", 4, "a\303\277b\302\244", 6);
	check_utf8("\303", 1, "\303\203", 2); /* cut */
	check_utf8("\302\205", 2, "\303\202\302\205", 4); /* U+0085, a control */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers), cmocka_unit_test(growth), cmocka_unit_test(places),
		cmocka_unit_test(escapes), cmocka_unit_test(utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
