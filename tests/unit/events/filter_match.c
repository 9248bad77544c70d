/* SPDX-License-Identifier: GPL-2.0-only */
/* Which records compiled filters select, on the host. */
#include <errno.h>
#include <fnmatch.h>

#include "filter_test.h"

static struct filter_input in;

static bool match_with(const struct filter_features *features, const char *expr,
		       const struct filter_record *r)
{
	static struct filter_prog prog;
	char why[256];

	if (filter__compile(fmt, expr, features, &prog, why, sizeof(why)))
		fail_msg("refused: %s: %s", expr, why);
	in.len = sizeof(*r);
	in.cpu = 3;
	memcpy(in.rec, r, sizeof(*r));
	return filter__match(&prog, &in);
}

static bool match(const char *expr, const struct filter_record *r)
{
	return match_with(&all_features, expr, r);
}

static void expect(const struct filter_record *r, bool selected, const char *const *exprs)
{
	for (; *exprs; exprs++) {
		if (match(*exprs, r) != selected)
			fail_msg("%s: %s", selected ? "not selected" : "selected", *exprs);
	}
}

#define YES(...) expect(&r, true, (const char *const[]){ __VA_ARGS__, NULL })
#define NO(...) expect(&r, false, (const char *const[]){ __VA_ARGS__, NULL })

static void test_numbers(void **state)
{
	struct filter_record r = filter_record();

	r.u8 = 200, r.s8 = -3, r.u16 = 65535, r.s16 = -32768, r.u32 = 4000000000u;
	r.s32 = -7, r.u64 = 1ULL << 63, r.s64 = INT64_MIN, r.last = 9;
	YES("u8 == 200", "u8 == 0xc8", "u8 == 0310", "u8 != 199", "u8 == 456", "u8 > 100",
	    "u8 >= 200", "u8 <= 200", "u8 >= 0", "u8 <= 255", "u8 & 8", "s8 == -3", "s8 < 0",
	    "s8 > -4", "s8 >= -3", "s8 <= 127", "s8 & -128", "s8 == 253", "s8 < 127",
	    "u16 == 65535", "u16 > 65534", "s16 == -32768", "s16 <= -32768", "s16 < 32767",
	    "u32 > 0x7fffffff", "u32 == 4000000000", "s32 < -6", "s32 >= -7", "s32 == 0xfffffff9",
	    "u64 == 9223372036854775808", "u64 > 9223372036854775807", "u64 & 0x8000000000000000",
	    "s64 < 0", "s64 <= 9223372036854775807", "last == 9", "common_type == 7",
	    "common_flags & 1", "common_preempt_count == 2", "common_pid == 4711", "CPU == 3",
	    "common_cpu >= 3", "CPU != -1");
	NO("u8 == 199", "u8 < 100", "u8 > 200", "u8 < 200", "u8 < 0", "u8 > 255", "u8 & 0x37",
	   "u8 & 0", "s8 > -3", "s8 < -128", "s8 > 127", "u16 > 65535", "u16 == 131070",
	   "s16 < -32768", "u32 < 0x7fffffff", "s32 >= 0", "s64 < -9223372036854775808",
	   "common_flags & 2", "common_pid < 0", "cpu > 3", "CPU == -1", "CPU & 3");
}

/* Fields of odd size, and other fields that the kernel compares with numbers. */
static void test_odd_fields(void **state)
{
	struct filter_record r = filter_record();

	YES("!odd == 0");
	NO("odd == 0", "odd != 0", "odd == CPUS{0}", "odd & CPUS{0,1}", "stacktrace == 0",
	   "stacktrace != 0");
	r.blob = 0x40008;
	YES("blob == 0x40008");
	r.mask = 0x200080;
	YES("mask == 0x200080", "mask < 0x200081");
	r.uptr = 0xffff888000000000;
	YES("uptr == 0xffff888000000000", "uptr > 1");
}

static void test_logic(void **state)
{
	struct filter_record r = filter_record();

	r.u8 = 1, r.u16 = 2, r.u32 = 3;
	YES("u8 == 1 && u16 == 2", "u8 == 0 || u16 == 2", "u8 == 1 || u16 == 9 && u32 == 9",
	    "!u8 == 0", "!!u8 == 1", "!(u8 == 1 && u16 == 3)", "!(!(u8 == 1))",
	    "u8 == 1 && !(u16 == 1 || u32 == 1)", "0", "  0\n");
	NO("u8 == 1 && u16 == 3", "(u8 == 1 || u16 == 9) && u32 == 9", "!u8 == 1",
	   "!(u8 == 0 || u16 == 2)");
}

static void test_dangling(void **state)
{
	struct filter_features f = all_features;
	struct filter_record r = filter_record();

	f.dangling_op = true;
	r.u8 = 1;
	assert_true(match_with(&f, "u8 == 1 &&", &r));
	assert_false(match_with(&f, "u8 == 2 ||", &r));
	assert_true(match_with(&f, "u8 == 2 || u8 == 1 || !", &r));
	assert_false(match_with(&f, "u8 == 1 && u8 == 2 &&", &r));
}

static void test_fixed_strings(void **state)
{
	struct filter_record r = filter_record();

	YES("name == \"swapper/0\"", "name != 'swapper'", "name ~ 'swap*'", "name ~ '*app*'",
	    "name ~ '!wap*'", "name ~ 'sw?pper[/]0'", "name ~ '*[0-9]'");
	NO("name == 'swapper'", "name == 'swapper/00'", "name ~ 'wap*'", "name ~ '*axp*'",
	   "name ~ '!swap*'", "name == ''", "name ~ '*[1-9]'");
	/* "end" uses the end of the field, not that of the string */
	NO("name ~ '*per/0'");
	memcpy(r.name, "fifteen_chars_x", 16);
	YES("name ~ '*chars_x'", "name == 'fifteen_chars_x'");
	/* a full field has no NUL: its last byte is taken for one */
	memcpy(r.name, "sixteen_chars_xy", 16);
	YES("name == 'sixteen_chars_xy'", "name ~ 'sixteen*'", "name ~ '*chars_x'",
	    "name ~ '*_xy*'", "name ~ '?ixteen_chars_xy'");
	NO("name == 'sixteen_chars_x'", "name == 'sixteen_chars_xyz'", "name ~ '*chars_xy'",
	   "name ~ 'sixteen_chars_xyz*'");
	r.s64 = (int64_t)'x' << 56; /* the byte before the field does not belong to it */
	NO("name ~ '*xsixteen_chars_x'");
	/* "middle" searches beyond the NUL */
	memcpy(r.name, "abc\0hidden\0\0\0\0\0\0", 16);
	YES("name ~ '*hidden*'", "name ~ '*'", "name ~ '**'");
	NO("name ~ 'abc[h]*'");
	memset(r.name, 0, sizeof(r.name));
	YES("name == ''", "name ~ ''", "name ~ '!?'");
	NO("name ~ '?'");
	memcpy(r.six, "mac123", 6);
	YES("six == 'mac123'", "six ~ '*123*'", "six ~ '1*' || u8 == 0");
	NO("six ~ '*1234*'");
	/* A pattern that starts with a digit is not a glob. */
	memcpy(r.six, "12*\0\0", 6);
	YES("six ~ '12*'");
	NO("six ~ '1*'");
}

static void test_comm(void **state)
{
	struct filter_record r = filter_record();

	strcpy(in.comm, "kworker/0:1");
	YES("COMM == 'kworker/0:1'", "comm ~ 'kworker*'", "COMM ~ '*/0:*'", "COMM != ''");
	NO("COMM == 'kworker'", "COMM ~ '*0:1'");
}

static void test_dynamic_strings(void **state)
{
	struct filter_record r = filter_record();

	YES("str == 'hello'", "str ~ '*llo'", "str ~ '*ell*'", "str ~ 'h*'", "str ~ 'h*o'",
	    "str ~ '*'", "rel == 'world'", "rel ~ '*rld'", "rel != 'hello'");
	NO("str == 'hell'", "str ~ '*hello_*'", "rel == 'hello'");
	/* without a length: up to the NUL */
	r.str &= 0xffff;
	YES("str == 'hello'", "str ~ 'hel*'", "str ~ '*ll*'");
	NO("str ~ '*llo'");
	r.str_data[6] = 'X';
	NO("str ~ '*X*'");
	/* beyond the record */
	r.str = 100u << 16 | (sizeof(r) - 2);
	NO("str ~ '*e*'", "str == 'hello'", "str ~ '*hello'", "str ~ 'hello*'");
	r.str = 6u << 16 | 0xfff0;
	NO("str == 'hello'", "str ~ '*e*'", "str ~ '[h]*'", "str ~ '*o'");
	r.rel = 0xffffffff;
	NO("rel == 'world'", "rel ~ '*w*'", "rel ~ '?*'");
}

static void test_pointers(void **state)
{
	struct filter_record r = filter_record();

	/* The host cannot follow pointers; such a comparison is false, negated or not. */
	YES("!kptr == 'x'");
	NO("kptr == 'x'", "kptr != 'x'", "kptr ~ '!x'", "cptr.ustring == 'x'",
	   "cptr.ustring != 'x'");
}

static void test_long_strings(void **state)
{
	struct filter_record r = filter_record();
	char expr[300];
	size_t n;

	for (n = 0; n < sizeof(r.str_data); n++) {
		char s[sizeof(r.str_data)] = "";

		memset(s, 'a', n);
		filter_set_string(&r, s);
		snprintf(expr, sizeof(expr), "str == '%s'", s);
		YES(expr);
		snprintf(expr, sizeof(expr), "str ~ '*%s*'", s);
		YES(expr);
		snprintf(expr, sizeof(expr), "str ~ '*%sa*'", s);
		NO(expr);
		snprintf(expr, sizeof(expr), "str == '%sa'", s);
		NO(expr);
		if (!n)
			continue;
		r.str_data[n - 1] = 'b';
		YES("str ~ '*b*'", "str ~ '*b'");
		NO(expr, "str ~ '*c*'");
		snprintf(expr, sizeof(expr), "str == '%s'", s);
		NO(expr);
	}
}

static uint32_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

/* All kinds of match, against fnmatch(), which agrees except in the kernel's special cases. */
static void test_globs_like_fnmatch(void **state)
{
	static const char letters[] = "aaabbc*?[]!-", plain[] = "aabbc]-";
	struct filter_record r = filter_record();
	char pat[12], s[12], expr[64];
	unsigned int round, matched = 0;
	uint64_t seed = 1;
	size_t i, n;

	for (round = 0; round < 200000; round++) {
		n = 1 + next(&seed) % (sizeof(pat) - 1);
		for (i = 0; i < n; i++)
			pat[i] = letters[next(&seed) % (sizeof(letters) - 1)];
		pat[n] = '\0';
		n = next(&seed) % sizeof(s);
		for (i = 0; i < n; i++)
			s[i] = plain[next(&seed) % (sizeof(plain) - 1)];
		s[n] = '\0';
		if (pat[0] == '!')
			continue;
		filter_set_string(&r, s);
		snprintf(expr, sizeof(expr), "str ~ '%s'", pat);
		if (match(expr, &r) != !fnmatch(pat, s, 0))
			fail_msg("'%s' against '%s': %d", pat, s, match(expr, &r));
		matched += match(expr, &r);
	}
	assert_in_range(matched, 3000, 200000);
}

static void test_globs(void **state)
{
	struct filter_record r = filter_record();

	filter_set_string(&r, "a*b[c]\\d\xe9");
	YES("str ~ 'a\\*b\\[c]\\\\d?'", "str ~ 'a[*]b[[]c[]][\\]d[!a-z]'",
	    "str ~ 'a*b[c*'"); /* not closed: a '[' */
	NO("str ~ 'a\\?b*[!z]'");
	YES("str ~ 'a*[\xe0-\xff]'");
	NO("str ~ 'a*[z-a]?*'", "str ~ 'a*d?\\x'");
	filter_set_string(&r, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
	YES("str ~ '*a?*a?*ab'");
	NO("str ~ '*a*a*a*a*a*a*a[c]'");
	filter_set_string(&r, "x");
	YES("str ~ '[x]\\'"); /* a backslash at the end quotes the NUL */
}

static void test_cpus(void **state)
{
	struct filter_record r = filter_record();

	r.u8 = 5, r.u64 = 1ULL << 32 | 6, r.cpu_of = -1, r.u16 = 250;
	YES("u8 == CPUS{5}", "u8 & CPUS{5}", "u8 & CPUS{4-6}", "u8 != CPUS{4-6}",
	    "u8 & CPUS{1-N:1/2}", "u8 != CPUS{,}", "u64 & CPUS{6,7}", "u64 != CPUS{0,1}",
	    "cpu_of != CPUS{0}", "CPU & CPUS{2-3}", "CPU == CPUS{3}", "CPU & CPUS{3}",
	    "CPU != CPUS{1,2}");
	NO("u8 != CPUS{5}", "u8 == CPUS{4-6}", "u8 & CPUS{0-N:1/2}", "u8 & CPUS{,}",
	   "u64 == CPUS{6}", "cpu_of & CPUS{all}", "cpu_of != CPUS{0,1}", "u16 != CPUS{0,1}",
	   "u16 & CPUS{all}", "CPU == CPUS{2-3}", "CPU != CPUS{3}", "CPU & CPUS{0-2}");
	r.u8 = 199, r.u16 = 0x8001, r.last = 0xff;
	YES("u8 & CPUS{198-199}");
	NO("u16 & CPUS{0-1}", "u16 & CPUS{all}", "last & CPUS{all}");
	r.mask_data[0] = 6, r.mask_data[3] = ~0ULL << 8; /* 200 and up: no CPUs */
	YES("mask == CPUS{1,2}", "mask & CPUS{2,100}", "mask != CPUS{1}", "mask & CPUS{1}");
	NO("mask != CPUS{1-2}", "mask == CPUS{1}", "mask & CPUS{3-N}", "mask & CPUS{0}");
	r.mask_data[0] = 0, r.mask_data[3] = 1ULL << 7;
	YES("mask == CPUS{199}", "mask == CPUS{N}", "mask & CPUS{all}");
	NO("mask == CPUS{198-199}");
	r.mask_data[3] = 0;
	YES("mask == CPUS{,}");
	NO("mask & CPUS{all}");
	r.mask = 32u << 16 | 0xfff8; /* outside: an empty mask */
	YES("mask == CPUS{,}");
	NO("mask & CPUS{all}");
}

static void test_functions(void **state)
{
	struct filter_record r = filter_record();

	r.u64 = 0x10ff;
	YES("u64.function == schedule", "u64.function == 0x1000");
	NO("u64.function != schedule");
	r.u64 = 0x1100;
	YES("u64.function != schedule ");
	NO("u64.function == schedule", "u64.function == 0x1001");
	r.u64 = 0xfff;
	YES("!u64.function == schedule && u8 == 0");
	NO("u64.function == schedule");
}

static void test_lengths(void **state)
{
	static struct filter_prog prog;
	struct filter_record r = filter_record();
	char why[64];

	assert_int_equal(filter__compile(fmt, "u8 == 0 || last == 0", &all_features, &prog, why,
					 sizeof(why)),
			 0);
	assert_int_equal(prog.min_len, 82);
	memcpy(in.rec, &r, sizeof(r));
	in.len = 82;
	assert_true(filter__match(&prog, &in));
	in.len = 81;
	assert_false(filter__match(&prog, &in));
	in.len = FILTER_REC_MAX + 1;
	assert_false(filter__match(&prog, &in));
}

/* Random parentheses, &&, || and ! over four bits, against direct evaluation. */
struct tree {
	uint64_t seed;
	struct strbuf text;
};

static uint32_t tree_of(struct tree *t, int depth)
{
	uint32_t dice = next(&t->seed) % 8, bit, a, b;

	if (depth <= 0 || dice < 2) {
		bit = next(&t->seed) % 4;
		strbuf__printf(&t->text, "u8 & %u", 1u << bit);
		for (a = 0, b = 0; b < 16; b++)
			a |= (b >> bit & 1) << b;
		return a;
	}
	strbuf__puts(&t->text, dice < 4 ? "!(" : "(");
	a = tree_of(t, depth - 1);
	for (b = next(&t->seed) % 3; b--;) {
		uint32_t all = tree_of((strbuf__puts(&t->text, " || "), t), depth - 1);

		while (next(&t->seed) % 2)
			all &= tree_of((strbuf__puts(&t->text, "&&"), t), depth - 1);
		a |= all;
	}
	strbuf__puts(&t->text, ")");
	return dice < 4 ? ~a & 0xffff : a;
}

static void test_random_logic(void **state)
{
	static struct filter_prog prog;
	struct tree t = { .seed = 1 };
	struct filter_record r = filter_record();
	unsigned int round, run = 0, value;
	char why[64];

	for (round = 0; round < 5000; round++) {
		uint32_t truth;
		int err;

		strbuf__reset(&t.text);
		truth = tree_of(&t, 4);
		err = filter__compile(fmt, t.text.s, &all_features, &prog, why, sizeof(why));
		if (err == -E2BIG || t.text.len > 4095)
			continue;
		if (err)
			fail_msg("%s: %s", t.text.s, why);
		in.len = sizeof(r);
		for (value = 0; value < 16; value++) {
			r.u8 = value;
			memcpy(in.rec, &r, sizeof(r));
			if (filter__match(&prog, &in) != (truth >> value & 1))
				fail_msg("%s with u8 == %u", t.text.s, value);
		}
		run++;
	}
	assert_true(run > 4000);
	strbuf__free(&t.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),		cmocka_unit_test(test_odd_fields),
		cmocka_unit_test(test_logic),		cmocka_unit_test(test_dangling),
		cmocka_unit_test(test_fixed_strings),	cmocka_unit_test(test_comm),
		cmocka_unit_test(test_dynamic_strings), cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_long_strings),	cmocka_unit_test(test_globs_like_fnmatch),
		cmocka_unit_test(test_globs),		cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_functions),	cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_random_logic),
	};

	return cmocka_run_group_tests(tests, filter_format__parse, filter_format__free);
}
