// SPDX-License-Identifier: GPL-2.0-only
/* Escapes, numbers, durations and JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "ui/out.h"

/* Compares the buffer and empties it. */
static void assert_text(struct strbuf *b, const char *want)
{
	assert_string_equal(b->s, want);
	strbuf__reset(b);
}

/* Both escapes of a text of 'a's with one other byte, which the fast path must find. */
static void assert_escaped(const char *s, size_t len, size_t at)
{
	static const char as[] = "aaaaaaaaaaaaaaaaaaaa";
	unsigned char c = s[at];
	bool safe = c >= 0x20 && c < 0x7f;
	struct strbuf b = { 0 };
	char one[8], want[64];

	snprintf(one, sizeof(one), safe ? "%c" : "\\x%02x", c);
	snprintf(want, sizeof(want), "%.*s%s%.*s", (int)at, as, one, (int)(len - at - 1), as);
	strbuf__safe(&b, s, len);
	assert_text(&b, want);
	if (c == '"' || c == '\\')
		snprintf(one, sizeof(one), "\\%c", c);
	else if (!safe || strchr("<>&", c))
		snprintf(one, sizeof(one), "\\u00%02x", c);
	snprintf(want, sizeof(want), "\"%.*s%s%.*s\"", (int)at, as, one, (int)(len - at - 1), as);
	strbuf__json(&b, s, len);
	assert_text(&b, want);
	strbuf__free(&b);
}

/* Every byte, at every position of texts up to two words long. */
static void test_escapes(void **state)
{
	char text[20];
	unsigned int c, at, len;

	for (len = 1; len < sizeof(text); len++)
		for (at = 0; at < len; at++)
			for (c = 0; c < 256; c++) {
				memset(text, 'a', sizeof(text));
				text[at] = c;
				assert_escaped(text, len, at);
			}
}

static void test_unicode(void **state)
{
	static const char text[] = "h\xc3\xa4tte \xe2\x82\xac \xf0\x9f\x98\x80 \x1b[31m";
	struct strbuf b = { 0 };

	strbuf__text(&b, text);
	assert_text(&b, "h\xc3\xa4tte \xe2\x82\xac \xf0\x9f\x98\x80 \\x1b[31m");
	strbuf__json(&b, text, strlen(text));
	assert_text(&b, "\"h\xc3\xa4tte \xe2\x82\xac \xf0\x9f\x98\x80 \\u001b[31m\"");
	strbuf__text(&b, "");
	strbuf__json(&b, "", 0);
	assert_text(&b, "\"\"");
	strbuf__free(&b);
}

/* The buffer is emptied between any two calls, as out__drain() may do. */
static void test_json(void **state)
{
	struct strbuf b = { 0 };
	struct json j = { .out = &b };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		json__record(&j, "a");
		json__u64(&j, "n", UINT64_MAX);
		json__s64(&j, "m", -1);
		json__string(&j, "s", NULL);
		assert_text(&b, "{\"type\":\"a\",\"n\":18446744073709551615,\"m\":-1,\"s\":null");
		json__array(&j, "v");
		json__object(&j, NULL);
		json__end(&j);
		assert_text(&b, ",\"v\":[{}");
		json__array(&j, NULL);
		json__real(&j, NULL, 1, 2);
		json__maybe(&j, NULL, false, 1);
		json__maybe(&j, NULL, true, 1);
		json__end(&j);
		json__end(&j);
		json__object(&j, "o");
		json__end(&j);
		json__name(&j, "<");
		json__bool(&j, NULL, true);
		json__bytes(&j, "b", "\0", 1);
		json__printf(&j, "x", "0x%x", 255);
		strbuf__puts(json__value(&j, "y"), "[]");
		json__end(&j);
		assert_text(&b, ",[1.00,null,1]],\"o\":{},\"\\u003c\":true,\"b\":\"\\u0000\","
				"\"x\":\"0xff\",\"y\":[]}\n");
	}
	strbuf__free(&b);
}

static void test_durations(void **state)
{
	static const struct {
		unsigned __int128 ns;
		const char *text;
	} cases[] = {
		{ 0, "0 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 us" },
		{ 9994, "9.99 us" },
		{ 9996, "10.0 us" },
		{ 99949, "99.9 us" },
		{ 99951, "100 us" },
		{ 999499, "999 us" },
		{ 999500, "1.00 ms" },
		{ 999600000, "1.00 s" },
		{ 59900000000, "59.9 s" },
		{ 1234567000000, "1235 s" },
		{ (unsigned __int128)1 << 64, "18446744074 s" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(text__ns(cases[i].ns).s, cases[i].text);
}

static void test_numbers(void **state)
{
	struct strbuf b = { 0 };

	assert_string_equal(text__number(0).s, "0");
	assert_string_equal(text__number(999).s, "999");
	assert_string_equal(text__number(1000).s, "1,000");
	assert_string_equal(text__number(1234567).s, "1,234,567");
	assert_string_equal(text__number(UINT64_MAX).s, "18,446,744,073,709,551,615");
	assert_string_equal(text__count(0, "event").s, "0 events");
	assert_string_equal(text__count(1, "event").s, "1 event");
	assert_string_equal(text__count(1234, "more line").s, "1,234 more lines");
	assert_string_equal(text__bytes(999).s, "999 B");
	assert_string_equal(text__bytes(1000).s, "1.00 KB");
	assert_string_equal(text__bytes(12345678).s, "12.35 MB");
	out__percent(&b, 1, 3, 7);
	out__percent(&b, 0, 0, 0);
	assert_text(&b, "  33.330.00");
	strbuf__free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escapes), cmocka_unit_test(test_unicode),
		cmocka_unit_test(test_json),	cmocka_unit_test(test_durations),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
