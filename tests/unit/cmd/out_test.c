// SPDX-License-Identifier: GPL-2.0-only
/* The quick paths of the output buffer give what the careful ones give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "cleanup.h"
#include "ui/out.h"

static void assert_same(const char *s, size_t n)
{
	struct strbuf quick = { 0 }, careful = { 0 };

	out__safe(&quick, s, n);
	strbuf__puts(&quick, "|");
	out__json(&quick, s, n);
	strbuf__safe(&careful, s, n);
	strbuf__puts(&careful, "|");
	strbuf__json(&careful, s, n);
	assert_string_equal(quick.s, careful.s);
	strbuf__free(&quick);
	strbuf__free(&careful);
}

/* Every byte, at every place of texts up to two words long. */
static void test_escapes(void **state)
{
	char text[20];
	unsigned int c, at, len;

	for (len = 0; len < sizeof(text); len++)
		for (at = 0; at < len; at++)
			for (c = 0; c < 256; c++) {
				memset(text, 'a', sizeof(text));
				text[at] = c;
				assert_same(text, len);
			}
	assert_same("", 0);
	assert_same("h\xc3\xa4tte \xe2\x82\xac \xf0\x9f\x98\x80 \x1b[31m", 22);
}

static void test_numbers(void **state)
{
	static const struct {
		uint64_t v;
		int width;
		const char *text;
	} cases[] = {
		{ 0, 0, "0" },
		{ 999, 0, "999" },
		{ 1000, 0, "1,000" },
		{ 1234567, 0, "1,234,567" },
		{ 1234567, 12, "   1,234,567" },
		{ 100000, 3, "100,000" },
		{ UINT64_MAX, 0, "18,446,744,073,709,551,615" },
	};
	struct strbuf b = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		strbuf__reset(&b);
		out__number(&b, cases[i].v, cases[i].width);
		assert_string_equal(b.s, cases[i].text);
	}
	strbuf__reset(&b);
	out__bytes(&b, 999);
	strbuf__puts(&b, " ");
	out__bytes(&b, 1000);
	strbuf__puts(&b, " ");
	out__bytes(&b, 12345678);
	strbuf__puts(&b, " ");
	out__percent(&b, 1, 3, 7);
	strbuf__puts(&b, " ");
	out__percent(&b, 0, 0, 0);
	assert_string_equal(b.s, "999 B 1.00 KB 12.35 MB   33.33 0.00");
	strbuf__free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
