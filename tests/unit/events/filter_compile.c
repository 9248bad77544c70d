/* SPDX-License-Identifier: GPL-2.0-only */
/* Which filters are accepted and refused, and the position of the error. */
#include <errno.h>

#include "filter_test.h"

static int compile(const struct filter_features *features, const char *expr, char *why, size_t size)
{
	struct filter_prog prog;

	memset(&prog, 0x5a, sizeof(prog));
	return filter__compile(fmt, expr, features, &prog, why, size);
}

static void accepts(const struct filter_features *features, const char *expr)
{
	char why[256] = "";

	if (compile(features, expr, why, sizeof(why)))
		fail_msg("refused: %s: %s", expr, why);
}

/* What follows the name of an unknown field. */
#define FIELDS                                                                          \
	", the fields are: u8, s8, u16, s16, pad, u32, s32, u64, s64, name, str, rel, " \
	"mask, six, odd, blob, last, kptr, cptr, uptr, cpu_of"

static void refuses(const struct filter_features *features, const char *expr, const char *want)
{
	char why[256] = "";
	int err = compile(features, expr, why, sizeof(why));

	if (!err)
		fail_msg("accepted: %s", expr);
	assert_int_equal(err, -EINVAL);
	if (strcmp(why, want))
		fail_msg("%s:\n  got  %s\n  want %s", expr, why, want);
}

static void test_accepted(void **state)
{
	static const char *const exprs[] = {
		"u8==1",
		" u8 == 1 ",
		"\tu8\n==\r1\v",
		"u8\xa0==\xa0"
		"1",
		"u8 == 0x10",
		"u8 == 0X1f",
		"u8 == 017",
		"u8 == 0",
		"u8 == 1000",
		"s8 == -1",
		"s8 == -0x80",
		"s64 < -0",
		"u64 == 18446744073709551615",
		"s64 == -9223372036854775808",
		"u8 == 00000000000000000000001",
		"u8&1",
		"u8 & 1 && u16 & 2",
		"!u8 == 1",
		"!!u8 == 1",
		"! ( u8 == 1 )",
		"(u8==1)&&(u16==2)||!(s8==3)",
		"((((u8 == 1))))",
		"common_pid == 1",
		"common_type > 0",
		"common_flags & 1",
		"common_preempt_count <= 3",
		"CPU == 0",
		"cpu != 1",
		"common_cpu == 1",
		"CPU & 1",
		"COMM == \"x\"",
		"comm ~ 'x*'",
		"name == \"a b\"",
		"name == 'it\"s'",
		"name ~ \"*\"",
		"name == \"\"",
		"str ~ \"[\"",
		"rel != \"x\"",
		"kptr == \"x\"",
		"cptr.ustring ~ \"x\"",
		"six == \"\"",
		"odd == 1",
		"blob == 1",
		"uptr == 0",
		"mask == 1",
		"mask & CPUS{1-3}",
		"mask == CPUS{0}",
		"u8 == CPUS{5,7}",
		"u8.ustring == 1",
		"CPU & CPUS{ 0 , 2-N:1/2 }",
		"u8 == CPUS{all}",
		"u64 != CPUS{,}",
		"u64.function == schedule",
		"s64.function != schedule ",
		"u64.function == 0x1080",
		"name.ustring == 'a'",
		"(u64.function == schedule ) && u8 == 1",
		"stacktrace == 1",
		"0",
		" 0 ",
		"u8 == CPUS{0\n'} && u16 == CPUS{1\n'}",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(exprs); i++)
		accepts(&all_features, exprs[i]);
}

static void test_refused(void **state)
{
	static const char *const cases[][2] = {
		{ "", "column 1: no expression" },
		{ "  ", "column 3: no expression" },
		{ "foo == 1", "column 1: unknown field 'foo'" FIELDS },
		{ "u8 == 1 && foo == 1", "column 12: unknown field 'foo'" FIELDS },
		{ "== 1", "column 1: expected a field name" },
		{ "u8", "column 3: expected one of == != < <= > >= & ~" },
		{ "u8 = 1", "column 4: expected one of == != < <= > >= & ~" },
		{ "u8 | 1", "column 4: expected one of == != < <= > >= & ~" },
		{ "u8 ==", "column 6: expected a number or a quoted string" },
		{ "u8 == x", "column 7: expected a number or a quoted string" },
		{ "u8 == +1", "column 7: expected a number or a quoted string" },
		{ "u8 == 0x", "column 7: '0x' is not a number" },
		{ "u8 == 08", "column 7: '08' is not a number" },
		{ "u8 == 1z", "column 7: '1z' is not a number" },
		{ "u8 == 1.5", "column 8: expected && or || or the end" },
		{ "u8 == -1", "column 7: the field is unsigned" },
		{ "s8 == -", "column 7: '-' is not a number" },
		{ "s8 == --1", "column 7: '-' is not a number" },
		{ "s8 == 9223372036854775808", "column 7: the number is out of range" },
		{ "s8 == -9223372036854775809", "column 7: the number is out of range" },
		{ "u8 == 18446744073709551616", "column 7: the number is out of range" },
		{ "u8 == 000000000000000000000001",
		  "column 7: the number is longer than 23 characters" },
		{ "u8 ~ 1", "column 4: ~ is for strings" },
		{ "u8 == 'a'", "column 7: the field is not a string" },
		{ "u8 < 'a'", "column 4: strings support only == != ~" },
		{ "name < \"a\"", "column 6: strings support only == != ~" },
		{ "name == 1", "column 9: the field is a string: the value needs quotes" },
		{ "name == a", "column 9: expected a number or a quoted string" },
		{ "name == \"a", "column 9: the quote is not closed" },
		{ "name == \"a'", "column 9: the quote is not closed" },
		{ "(u8 == 1", "column 1: '(' without a ')'" },
		{ "(u8 == 1 && ((u16 == 2)", "column 13: '(' without a ')'" },
		{ "u8 == 1)", "column 8: ')' without a '('" },
		{ "u8 == 1 u8 == 2", "column 9: expected && or || or the end" },
		{ "u8 == 1 & u8 == 2", "column 9: expected && or || or the end" },
		{ "u8 == 1 &&", "column 11: a comparison is missing at the end" },
		{ "u8 == 1 || !", "column 13: a comparison is missing at the end" },
		{ "u8 == 1 && || u8 == 2", "column 12: expected a field name" },
		{ "()", "column 2: expected a field name" },
		{ "u8 == CPUS", "column 11: expected '{'" },
		{ "u8 == CPUS{0", "column 11: '{' without a '}'" },
		{ "u8 == CPUS{}", "column 12: not a list of CPUs below 200" },
		{ "u8 == CPUS{200}", "column 12: not a list of CPUs below 200" },
		{ "u8 == CPUS{3-1}", "column 12: not a list of CPUs below 200" },
		{ "u8 == CPUS{0-3:2/1}", "column 12: not a list of CPUs below 200" },
		{ "u8 == CPUS{0-3:1/0}", "column 12: not a list of CPUs below 200" },
		{ "u8 < CPUS{0}", "column 4: CPUS{} supports only == != &" },
		{ "name == CPUS{0}", "column 9: the field does not contain CPU numbers" },
		{ "COMM == CPUS{0}", "column 9: the field does not contain CPU numbers" },
		{ "stacktrace == CPUS{0}", "column 15: the field does not contain CPU numbers" },
		{ "stacktrace == 'a'", "column 15: the field is not a string" },
		{ "u32.function == schedule", "column 17: only 8-byte fields support .function" },
		{ "u64.function < schedule", "column 14: .function supports only == !=" },
		{ "u64.function == nothing",
		  "column 17: no such kernel function (a name ends at a space)" },
		{ "(u64.function == schedule)",
		  "column 18: no such kernel function (a name ends at a space)" },
		{ "u64.function == 0x10",
		  "column 17: no such kernel function (a name ends at a space)" },
		{ "u64.func == schedule", "column 4: expected one of == != < <= > >= & ~" },
		{ "u8 == CPUS{0\n(} )", "column 17: ')' without a '('" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		refuses(&all_features, cases[i][0], cases[i][1]);
}

/* What an older kernel lacks, and what only a kernel before the fix accepts. */
static void test_features(void **state)
{
	struct filter_features old = { .nr_cpus = 4 }, dangling = all_features;

	dangling.dangling_op = true;
	refuses(&old, "u8 == CPUS{0}", "column 7: expected a number or a quoted string");
	refuses(&old, "mask == CPUS{0}", "column 9: expected a number or a quoted string");
	accepts(&old, "mask == 1");
	refuses(&old, "common_cpu == 0", "column 1: unknown field 'common_cpu'" FIELDS);
	accepts(&old, "cpu == 0");
	refuses(&old, "stacktrace == 0", "column 1: unknown field 'stacktrace'" FIELDS);
	refuses(&old, "u64.function == schedule", "column 4: expected one of == != < <= > >= & ~");
	accepts(&dangling, "u8 == 1 &&");
	accepts(&dangling, "u8 == 1 || ! ");
	accepts(&dangling, "u8 == 1 && u8 == 2 ||");
	refuses(&dangling, "u8 == 1 || u8 == 2 &&",
		"column 22: a comparison is missing at the end");
	refuses(&dangling, "!", "column 2: no expression");
}

static char *repeated(const char *first, const char *rest, unsigned int times)
{
	struct strbuf b = { 0 };

	strbuf__puts(&b, first);
	while (times--)
		strbuf__puts(&b, rest);
	return b.s;
}

static void test_limits(void **state)
{
	_cleanup_free_ char *most = repeated("u8==1", "||u8==1", FILTER_MAX_PREDS - 1);
	_cleanup_free_ char *many = repeated("u8==1", "||u8==1", FILTER_MAX_PREDS);
	_cleanup_free_ char *longest = repeated("u8==1", " ", 4090);
	_cleanup_free_ char *too_long = repeated("u8==1", " ", 4091);
	_cleanup_free_ char *classes = repeated("str~'[a]b*'", "||str~'[a]b[a][a][a][a][a]*'", 50);
	_cleanup_free_ char *pattern = repeated("str=='", "x", 255);
	_cleanup_free_ char *long_pattern = repeated(pattern, "x", 1);
	_cleanup_free_ char *deep = repeated("", "(", 2000);
	char why[256];
	struct strbuf b = { 0 };

	accepts(&all_features, most);
	assert_int_equal(compile(&all_features, many, why, sizeof(why)), -E2BIG);
	assert_string_equal(why, "column 897: more than 128 comparisons");
	accepts(&all_features, longest);
	refuses(&all_features, too_long, "column 4096: longer than 4095 bytes");
	assert_int_equal(compile(&all_features, classes, why, sizeof(why)), -E2BIG);
	assert_non_null(strstr(why, "the patterns need more than 4096 bytes"));
	strbuf__puts(&b, pattern);
	strbuf__puts(&b, "'");
	accepts(&all_features, b.s);
	strbuf__reset(&b);
	strbuf__printf(&b, "%s'", long_pattern);
	refuses(&all_features, b.s, "column 6: the string is longer than 255 bytes");
	strbuf__reset(&b);
	strbuf__printf(&b, "%su8==1", deep);
	strbuf__pad(&b, ')', 2000);
	accepts(&all_features, b.s);
	strbuf__free(&b);
}

/* Errors leave the program untouched and do not write beyond the buffer. */
static void test_error_buffer(void **state)
{
	struct filter_prog prog, before;
	char why[12];
	size_t len;

	memset(&prog, 0x5a, sizeof(prog));
	before = prog;
	for (len = 0; len <= 11; len++) {
		memset(why, '#', sizeof(why));
		assert_int_equal(filter__compile(fmt, "nothing == 1", &all_features, &prog, why,
						 len),
				 -EINVAL);
		assert_int_equal(why[len], '#');
		assert_true(!len || strlen(why) < len);
	}
	assert_memory_equal(&prog, &before, sizeof(prog));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepted),     cmocka_unit_test(test_refused),
		cmocka_unit_test(test_features),     cmocka_unit_test(test_limits),
		cmocka_unit_test(test_error_buffer),
	};

	return cmocka_run_group_tests(tests, filter_format__parse, filter_format__free);
}
