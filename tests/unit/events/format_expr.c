/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Each expression is compiled twice, by ev_format__parse() from its text and by the C compiler from
 * its tokens, and both must print the same for the same records.
 */
#include "format_test.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

struct record {
	s32 i;
	u32 u;
	s64 l;
	u64 ul;
	s16 h;
	u16 uh;
	s8 c;
	u8 uc;
	u32 arr[4];
	s16 sarr[2];
};

static const char fields[] = FIELD("int i", 0, 4, 1) FIELD("u32 u", 4, 4, 0) FIELD("s64 l", 8, 8, 1)
	FIELD("u64 ul", 16, 8, 0) FIELD("short h", 24, 2, 1) FIELD("u16 uh", 26, 2, 0)
		FIELD("s8 c", 28, 1, 1) FIELD("u8 uc", 29, 1, 0) FIELD("u32 arr[4]", 32, 16, 0)
			FIELD("s16 sarr[2]", 48, 4, 1);

static const struct record records[] = {
	{ .i = 0 },
	{ 1, 2, 3, 4, 5, 6, 7, 8, { 9, 10, 11, 12 }, { 13, 14 } },
	{ -1, 0xffffffff, -1, UINT64_MAX, -1, 0xffff, -1, 0xff, { ~0u, 1, ~0u, 1 }, { -1, 1 } },
	{ INT32_MIN,
	  0x80000000,
	  INT64_MIN,
	  1ull << 63,
	  INT16_MIN,
	  0x8000,
	  INT8_MIN,
	  0x80,
	  { 0x80000000, 0x7fffffff, 3, 2 },
	  { INT16_MIN, INT16_MAX } },
	{ 123456789,
	  3000000000u,
	  -5000000000,
	  10000000000u,
	  -300,
	  40000,
	  -100,
	  200,
	  { 0, 3000000000u, 7, 1 },
	  { -2, 2 } },
	{ 1000000007,
	  17,
	  1ll << 40,
	  0x123456789abcdef0,
	  1024,
	  31,
	  3,
	  30,
	  { 5, 4, 3, 2 },
	  { 100, -100 } },
};

static void check(const char *args, const struct record *rec, const char *want)
{
	char text[4096];

	snprintf(text, sizeof(text), "name: x\nID: 1\nformat:\n%s\nprint fmt: %s\n", fields, args);
	assert_prints(text, rec, sizeof(*rec), want);
}

#define DIFF(...)                                                     \
	do {                                                          \
		for (size_t _r = 0; _r < ARRAY_SIZE(records); _r++) { \
			const struct record *REC = &records[_r];      \
			char _want[1024];                             \
			snprintf(_want, sizeof(_want), __VA_ARGS__);  \
			check(#__VA_ARGS__, REC, _want);              \
		}                                                     \
	} while (0)

/* The compiler warns about many constructs that print fmts use. */
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wbool-operation"
#pragma GCC diagnostic ignored "-Wformat-truncation"
#pragma GCC diagnostic ignored "-Wunused-value"

static void test_fields(void **state)
{
	DIFF("%d %u %ld %lu %d %u %d %u", REC->i, REC->u, REC->l, REC->ul, REC->h, REC->uh, REC->c,
	     REC->uc);
	DIFF("%x %x %lx %lX %x %x %hhx %o", REC->i, REC->u, REC->l, REC->ul, REC->h, REC->uh,
	     REC->c, REC->uc);
	DIFF("%hhd %hd %hhu %hu %lld %llu %zx", REC->c, REC->h, REC->uc, REC->uh, (long long)REC->l,
	     (unsigned long long)REC->ul, (size_t)REC->ul);
	DIFF("%u %d %u", REC->arr[0], REC->sarr[1], REC->arr[REC->uc & 3]);
	DIFF("%zu %zu %zu %zu %zu", sizeof(REC->arr), sizeof(REC->h), sizeof(u64),
	     sizeof(unsigned short), sizeof REC->l);
	DIFF("%d %u", *REC->sarr, *(REC->arr + 1));
	DIFF("%x %u", ((u8 *)&REC->u)[1], *(u16 *)&REC->arr[2]);
}

static void test_arithmetic(void **state)
{
	DIFF("%u %u", REC->u + 1, REC->u * 3 - 2);
	DIFF("%ld %ld", REC->l / 3, REC->l % 3);
	DIFF("%lu %lu", REC->ul / 3, REC->ul % 1000);
	DIFF("%ld %lu", REC->i / 3 + REC->l / 7, REC->u / 5 + REC->ul / 2);
	DIFF("%d %d", REC->h * REC->h, REC->c * -3);
	DIFF("%lu", REC->ul + REC->i); /* the int is sign-extended first */
	DIFF("%lu", REC->ul + REC->u);
	DIFF("%u", REC->u + REC->i);
	DIFF("%d", REC->uc - REC->uh); /* both become int */
	DIFF("%ld %d", -(REC->l / 2), -REC->h);
	DIFF("%u %lu %d", ~REC->u, ~REC->ul, ~REC->uc);
	DIFF("%d %d", !REC->i, !!REC->l);
	DIFF("%d", +REC->c);
}

static void test_bits(void **state)
{
	DIFF("%u %u %u", REC->u >> 20, REC->u & ((1U << 20) - 1), (unsigned int)(REC->u >> 31));
	DIFF("%d %ld", REC->i >> 3, REC->l >> 40);
	DIFF("%lu %lu", REC->ul << 7, REC->ul >> 63);
	DIFF("%lu", 1UL << (REC->uc & 63));
	DIFF("%u", REC->u << (REC->uh & 31));
	DIFF("%d", REC->uc << 3 | REC->uc >> 5);
	DIFF("%lx", REC->l & ~0xffUL ^ REC->ul | 0x10);
	DIFF("%x", REC->i & 0xff000000);
	DIFF("%llx", (unsigned long long)((u8)(REC->ul >> 12) | ((REC->ul >> 32) & 0xffffff00)));
}

static void test_comparisons(void **state)
{
	DIFF("%d %d %d", REC->i < REC->u, REC->l<REC->ul, REC->l> REC->u);
	DIFF("%d %d", REC->i < -1, REC->u == -1);
	DIFF("%d %d", REC->l == -1, REC->ul != -1UL);
	DIFF("%d %d %d", REC->c >= REC->uc, REC->h <= REC->uh, REC->i >= 0);
	DIFF("%d %d", REC->i && REC->u || REC->l, REC->c || REC->h && REC->uc);
	DIFF("%d", REC->i == 1 != 0 < 2);
	DIFF("%d", (unsigned long)(void *)(REC->ul) >= (unsigned long)-4095);
}

static void test_conditional(void **state)
{
	DIFF("%s", REC->i ? "yes" : "no");
	DIFF("%s", REC->i < 0 ? "neg" : REC->i ? "pos" : "zero");
	DIFF("%ld", REC->i ? REC->u : REC->l);
	DIFF("%lu", REC->c ? REC->i : REC->ul);
	DIFF("%d", REC->i ?: 42);
	DIFF("%c%c", REC->i ? 'F' : ' ', REC->uc & 1 ? '\n' : '.');
	DIFF("%s%s",
	     !REC->i ? "" :
		       "a"
		       "b",
	     REC->l ? "|" : "");
	DIFF("%ld", __builtin_expect(!!(REC->l), 0) ? 0 : REC->l);
}

static void test_casts(void **state)
{
	DIFF("%d %u %d %u", (s8)REC->i, (u8)REC->i, (short)REC->l, (unsigned short)REC->l);
	DIFF("%lu %ld", (unsigned long)REC->i, (long)REC->u);
	DIFF("%lu %ld", (unsigned long)REC->c, (long int)(unsigned int)REC->h);
	DIFF("%llu", (unsigned long long)(REC->u) * 3);
	DIFF("%d %d", (_Bool)REC->ul, (_Bool)(REC->ul & 0x100));
	DIFF("%u", ((unsigned int)((REC->u) >> 20)));
	DIFF("%d", (int)(char)REC->u);
	DIFF("%lx", (u64)(s32)(u16)REC->l);
	DIFF("%d", (int)sizeof(int) * -1);
	DIFF("%ld", (long)REC->l - REC->u);
	DIFF("%x", (u32)((((1UL))) << (31)));
}

static void test_literals(void **state)
{
	DIFF("%d %d %d %d", 0, 017, 0x7f, 'A');
	DIFF("%u %u", 4294967295u, 0xffffffff);
	DIFF("%ld %ld %lu", 4294967296, 0x1ffffffff, 18446744073709551615u);
	DIFF("%d %d", -1 < 0u, -1 < 0);
	DIFF("%d %d", 0x80000000 > -1, 2147483648 > -1);
	DIFF("%c%c%c%c", '\\', '\'', '\x41', '\101');
	DIFF("a\tb\"c\\%%"
	     "d%s",
	     "e"
	     "\x41"
	     "f\101");
}

static void test_statements(void **state)
{
	DIFF("%d", ({
		     int x = (REC->i);
		     int y = (128);
		     ((x) < (y) ? (x) : (y));
	     }));
	DIFF("%lu", ({
		     u8 x = REC->ul;
		     unsigned long y = x + 1;
		     y *x;
	     }));
	DIFF("%d", ({
		     __auto_type x = REC->c;
		     ({
			     int x = 3;
			     x;
		     }) + x;
	     }));
}

static void test_printf_flags(void **state)
{
	DIFF("[%5d][%-5d][%05d][%+d][% d][%.3d][%8.3d]", REC->h, REC->h, REC->h, REC->h, REC->h,
	     REC->h, REC->h);
	DIFF("[%08lx][%16lx][%-16lx][%016lx][%2.2x]", REC->ul, REC->ul, REC->ul, REC->ul, REC->uc);
	DIFF("[%#x][%#10x][%-#10x][%#o]", REC->u | 1, REC->u | 1, REC->u | 1, REC->u | 1);
	DIFF("[%*d][%-*d][%*d]", 6, REC->h, 6, REC->h, -7, REC->c);
	DIFF("[%5s][%-5s][%.2s][%-6.1s][%.*s]", "abc", "abc", "abc", "abc", REC->uc & 3, "abc");
	DIFF("[%3c][%-3c]", 'a', 'b');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),	     cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_bits),	     cmocka_unit_test(test_comparisons),
		cmocka_unit_test(test_conditional),  cmocka_unit_test(test_casts),
		cmocka_unit_test(test_literals),     cmocka_unit_test(test_statements),
		cmocka_unit_test(test_printf_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
