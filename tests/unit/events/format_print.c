/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's printf where it differs from libc's, its print helpers, and limits. */
#include "format_test.h"

#include "log.h"

/* One record for all tests; the data of the dynamic fields starts at 64. */
static const char fields[] = FIELD("unsigned short common_type", 0, 2, 0) FIELD("int a", 4, 4, 1)
	FIELD("u64 b", 8, 8, 0) FIELD("char s[8]", 16, 8, 0) FIELD("u8 ip[4]", 24, 4, 0)
		FIELD("__data_loc char[] str", 28, 4, 0) FIELD("__data_loc u32[] nums", 32, 4, 0)
			FIELD("__rel_loc char[] rel", 36, 4, 0)
				FIELD("__data_loc cpumask_t mask", 40, 4, 0)
					FIELD("const char * p", 48, 8, 0)
						FIELD("u16 w[3]", 56, 6, 0);

struct record {
	uint16_t type, pad;
	int32_t a;
	uint64_t b;
	char s[8];
	uint8_t ip[4];
	uint32_t str, nums, rel, mask;
	uint32_t pad2;
	uint64_t p;
	uint16_t w[4];
	char str_data[8];
	uint32_t nums_data[3];
	char rel_data[4];
	uint64_t mask_data[2];
} __attribute__((packed));

static const struct record rec = {
	.a = -7,
	.b = 0xffff888000001234,
	.s = "swapper",
	.ip = { 127, 0, 0, 1 },
	.str = 6 << 16 | 64,
	.nums = 12 << 16 | 72,
	.rel = 4 << 16 | (84 - 40),
	.mask = 16 << 16 | 88,
	.p = 0xffffffff82000000,
	.w = { 1, 0xabcd, 3 },
	.str_data = "hello",
	.nums_data = { 1, 0xdeadbeef, 3 },
	.rel_data = "rel",
	.mask_data = { 0x8000000000000005, 0x1 },
};

static void check_rec(const char *args, const void *r, size_t len, const char *want)
{
	char text[8192];

	snprintf(text, sizeof(text), "name: x\nID: 1\nformat:\n%s\nprint fmt: %s\n", fields, args);
	assert_prints(text, r, len, want);
}

static void check(const char *args, const char *want)
{
	check_rec(args, &rec, sizeof(rec), want);
}

static void test_numbers(void **state)
{
	check("\"%#x %#lx %#o\", 0, 0, 0", "0x0 0x0 0");
	check("\"%+u % u\", 1, 1", "1 1");
	check("\"%-05d|\", 42", "42   |");
	check("\"%08.3d|\", 42", "00000042|"); /* libc ignores the 0 here, the kernel does not */
	check("\"%.0d\", 0", "0"); /* libc prints nothing */
	check("\"%%%d%%\", 1", "%1%");
	check("\"%#X %X\", 0xab, 0xab", "0XAB AB");
	check("\"%d %u\", REC->b, REC->b", "4660 4660");
	check("\"%hhd\", 0x1ff", "-1");
}

static void test_pointers(void **state)
{
	check("\"%p|%px|%pK\", REC->b, (void *)REC->b, REC->p",
	      "ffff888000001234|ffff888000001234|ffffffff82000000");
	check("\"%p\", (void *)0", "0000000000000000");
	check("\"%20p|%-20p|\", REC->b, REC->b", "    ffff888000001234|ffff888000001234    |");
	check("\"%pS %ps\", REC->b, (void *)0", "0xffff888000001234 0x0");
	check("\"%20pS|\", REC->b", "  0xffff888000001234|");
	check("\"%p\", ((struct page *)vmemmap_base) + 2", "0000000000000080");
	check("\"%s\", REC->p", "0xffffffff82000000");
	check("\"%s %s\", (char *)0, (char *)1", "(null) (efault)");
}

static void test_strings(void **state)
{
	check("\"%s|%10s|%-10s|%.3s\", REC->s, REC->s, REC->s, REC->s",
	      "swapper|   swapper|swapper   |swa");
	check("\"%s %s %c\", __get_str(str), __get_rel_str(rel), __get_str(str)[1]", "hello rel e");
	check("\"%.*s|\", 2, (char *)__get_dynamic_array(str)", "he|");
	check("\"%s%s\", __get_str(str)[0] ? \" \" : \"\", __get_str((str))", " hello");
	check("\"%d %d\", __get_dynamic_array_len(str), __get_rel_dynamic_array_len(rel)", "6 4");
	check("\"%s\", REC->a < 0 ? __get_str(str) : \"none\"", "hello");
	check("\"%s\", (char *)REC->s + 3", "pper");
}

static void test_flags(void **state)
{
	check("\"%s\", __print_flags(5, \"|\", { 1, \"A\" }, { 4, \"C\" })", "A|C");
	check("\"%s\", __print_flags(0xd5, \"|\", { 1, \"A\" }, { 4, \"C\" })", "A|C|0xd0");
	check("\"%s\", __print_flags(0xd0, \", \", { 1, \"A\" })", "0xd0");
	check("\"[%s]\", __print_flags(0, \"|\", { 0, \"ZERO\" })", "[]");
	check("\"%s\", __print_flags(8, \"\", { 0, \"ZERO\" }, { 8, \"EIGHT\" })", "ZEROEIGHT");
	check("\"%s\", __print_flags(7, NULL, { 3, \"B\" }, { 1, \"A\" }, { 4, \"C\" })", "BC");
	check("\"%s\", __print_flags(REC->a, \"|\", { 1, \"A\" })", "A|0xfffffffffffffff8");
	check("\"%s\", __print_flags(3, \"|\", { 1, \"A\" }, { -1, ((void *)0) }, { 2, \"B\" })",
	      "A|0x2");
	check("\"%6s|%-6s|\", __print_flags(1, \"|\", { 1, \"A\" }), "
	      "__print_symbolic(1, {1, \"B\"})",
	      "     A|B     |");
}

static void test_symbolic(void **state)
{
	check("\"%s %s\", __print_symbolic(2, { 1, \"A\" }, { 2, \"B\" }), "
	      "__print_symbolic(3, { 1, \"A\" },)",
	      "B 0x3");
	check("\"%s\", __print_symbolic(REC->a, { -7, \"minus\" \" seven\" })", "minus seven");
	check("\"%s\", __print_symbolic(REC->a, { (unsigned int)-7, \"four bytes\" })",
	      "0xfffffffffffffff9");
	check("\"%s\", __print_symbolic(1, { 1, \"\" })", "0x1"); /* as the kernel does */
	check("\"%s\", __print_symbolic(1, { })", "0x1");
	check("\"%s\", __print_symbolic(10, { TCP_LISTEN, \"TCP_LISTEN\" })", "TCP_LISTEN");
	check("\"%s|%s|\", nvme_trace_disk_name(p, REC->s), nvme_trace_disk_name(p, REC->s + 7)",
	      "disk=swapper, ||");
	check("\"%s %s\", mc_event_error_type(1), mc_event_error_type(9)", "Uncorrected Info");
}

static void test_arrays(void **state)
{
	check("\"%s\", __print_array(__get_dynamic_array(nums), "
	      "__get_dynamic_array_len(nums) / sizeof(u32), sizeof(u32))",
	      "{0x1,0xdeadbeef,0x3}");
	check("\"%s %s\", __print_array(REC->w, 2, 2), __print_array(REC->w, 0, 2)",
	      "{0x1,0xabcd} {}");
	check("\"%s\", __print_dynamic_array(nums, 8)", "{0xdeadbeef00000001}");
	check("\"%s %s\", __print_hex(REC->ip, 4), __print_hex_str(REC->ip, 4)",
	      "7f 00 00 01 7f000001");
	check("\"%s\", __get_bitmask(mask)", "00000000,00000001,80000000,00000005");
	check("\"%s\", __get_cpumask(mask)", "00000000,00000001,80000000,00000005");
	check("\"%*pbl|%*pb\", 65, __get_dynamic_array(mask), 33, __get_dynamic_array(mask)",
	      "0,2,63-64|0,00000005");
	check("\"%x\", ((u32 *)__get_dynamic_array(nums))[1]", "deadbeef");
	check("\"%x %x\", REC->w[1], REC->w[REC->a + 9]", "abcd 3");
}

static void test_hex_dump(void **state)
{
	check("\"x%s\", __print_hex_dump(\"> \", DUMP_PREFIX_OFFSET, 16, 1, REC->s, 18, 1)",
	      "x\n> 00000000: 73 77 61 70 70 65 72 00 7f 00 00 01 40 00 06 00  swapper.....@...\n"
	      "> 00000010: 48 00"
	      "                                            H.\n");
	check("\"x%s\", __print_hex_dump(\"\", 0, 32, 4, REC->w, 8, 0)", "x\nabcd0001 00000003\n");
}

static void test_addresses(void **state)
{
	static const uint8_t in6[28] = { 10, 0,	   0,	 80,	   0,	     0,	      0,
					 5,  0xfe, 0x80, [22] = 1, [23] = 2, [24] = 3 };
	static const uint8_t mapped[16] = { [10] = 0xff, [11] = 0xff, 1, 2, 3, 4 };
	static const char sa[] =
		FORMAT("x", FIELD("u8 a[28]", 0, 28, 0),
		       "\"%pISpc|%pISpfsc|%pIS|%piS\", REC->a, REC->a, REC->a, REC->a");
	static const char ip[] = FORMAT(
		"x", FIELD("u8 a[16]", 0, 16, 0),
		"\"%pI6|%pi6|%pI6c|%-12pI4|%15pi4|%pI4h\", REC->a, REC->a, REC->a, REC->a, REC->a, REC->a");
	static const char id[] = FORMAT(
		"x", FIELD("u8 a[16]", 0, 16, 0),
		"\"%pUb|%pUL|%pM|%pMF|%pmR|%*phC|%*phN|%pa\", REC->a, REC->a, REC->a, REC->a, REC->a, "
		"3, REC->a, 2, REC->a, &REC->a[8]");

	assert_prints(sa, in6, 28,
		      "[fe80::102]:80|[fe80::102]:80/5%3|"
		      "fe80:0000:0000:0000:0000:0000:0000:0102|fe800000000000000000000000000102");
	assert_prints(ip, mapped, 16,
		      "0000:0000:0000:0000:0000:ffff:0102:0304|"
		      "00000000000000000000ffff01020304|::ffff:1.2.3.4|0.0.0.0     |"
		      "000.000.000.000|0.0.0.0");
	assert_prints(id, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\xa0", 16,
		      "01020304-0506-0708-090a-0b0c0d0e0fa0|04030201-0605-0807-090A-0B0C0D0E0FA0|"
		      "01:02:03:04:05:06|01-02-03-04-05-06|060504030201|01:02:03|0102|"
		      "0xa00f0e0d0c0b0a09");
	check("\"%pI4 %pISp\", REC->ip, REC->s", "127.0.0.1 (einval)");
}

static void test_time(void **state)
{
	static const char text[] = FORMAT(
		"x", FIELD("u64 t", 0, 8, 0),
		"\"%llu.%09u %u\", __print_ns_to_secs(REC->t), __print_ns_without_secs(REC->t), "
		"jiffies_to_msecs(REC->t)");
	uint64_t t = 12000000034;

	assert_prints(text, &t, 8, "12.000000034 755359880");
}

static void test_jiffies(void **state)
{
	static const char text[] = FORMAT("x", FIELD("unsigned long when", 0, 8, 0),
					  "\"age=%lu\", (jiffies - REC->when) / 250");
	const struct ev_print_ctx ctx = { .jiffies = 4294900000, .long_size = 8 };
	uint64_t when = 4294892296;
	struct ev_format *f = parse_compiled(text);
	struct strbuf out = { 0 };
	char *unknown = print(f, &when, sizeof(when));

	ev_format__print(f, &ctx, &when, sizeof(when), &out);
	assert_string_equal(out.s, "age=30");
	assert_string_equal(unknown, "when=4294892296");
	free(unknown);
	strbuf__free(&out);
	ev_format__free(f);
}

/* Missing bytes of a record print as zeros, and nothing outside is read (see the sanitizers). */
static void test_short(void **state)
{
	static const char args[] =
		"\"%d %llu %s|%s|%s|%s|%pI4\", REC->a, REC->b, REC->s, "
		"__get_str(str), __print_hex(__get_dynamic_array(nums), 4), __get_bitmask(mask), REC->ip";
	struct record bad = rec;

	check_rec(args, &rec, 0, "0 0 ||00 00 00 00||0.0.0.0");
	check_rec(args, &rec, 8, "-7 0 ||00 00 00 00||0.0.0.0");
	check_rec(args, &rec, 27, "-7 18446612682070037044 swapper||00 00 00 00||127.0.0.0");
	for (size_t n = 0; n <= sizeof(rec); n++) {
		char text[8192], *got;
		uint8_t *copy = malloc(n ? n : 1);
		struct ev_format *f;

		memcpy(copy, &rec, n);
		snprintf(text, sizeof(text), "name: x\nID: 1\nformat:\n%s\nprint fmt: %s\n", fields,
			 args);
		f = parse_compiled(text);
		got = print(f, copy, n);
		assert_non_null(got);
		free(got);
		free(copy);
		ev_format__free(f);
	}
	bad.str = 0xffffffff;
	bad.nums = 0xffff0000 | (sizeof(rec) - 2);
	bad.mask = 4u << 16 | 0xfff0;
	check_rec("\"%s|%s|%s\", __get_str(str), __print_hex(__get_dynamic_array(nums), 4), "
		  "__get_bitmask(mask)",
		  &bad, sizeof(bad), "|00 00 00 00|00000000");
}

/* No event prints more than 64 KiB or takes long. */
static void test_limits(void **state)
{
	static const char *const texts[] = {
		"\"%99999999d%*d%.*d%-99999999s\", 1, 0x7fffffff, 1, 0x7fffffff, 1, \"x\"",
		"\"%s\", __print_hex(REC->s, 0x7fffffff)",
		"\"%s\", __print_array(REC->s, 0x7fffffff, 8)",
		"\"%*pbl%*pb\", 0x7fffffff, REC->s, 0x7fffffff, REC->s",
		"\"%s\", __print_hex_dump(\"\", 0, 16, 1, REC->s, 0x7fffffff, 1)",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char text[8192], *got;
		struct ev_format *f;

		snprintf(text, sizeof(text), "name: x\nID: 1\nformat:\n%s\nprint fmt: %s\n", fields,
			 texts[i]);
		f = parse_compiled(text);
		got = print(f, &rec, sizeof(rec));
		assert_true(strlen(got) <= 64 << 10);
		free(got);
		ev_format__free(f);
	}
}

static void refuse(const char *args, const char *why)
{
	_cleanup_free_ char *text = malloc(strlen(args) + 8192);
	struct ev_format *f;
	char *got;

	sprintf(text, "name: x\nID: 1\nformat:\n%s\nprint fmt: %s\n", fields, args);
	f = parse(text);
	assert_false(ev_format__compiled(f));
	assert_non_null(strstr(ev_format__why(f), why));
	got = print(f, &rec, sizeof(rec));
	assert_string_equal(got, "a=-7 b=18446612682070037044 s=swapper ip={127,0,0,1} str=hello "
				 "nums={1,3735928559,3} rel=rel "
				 "mask=00000000,00000001,80000000,00000005 p=0xffffffff82000000 "
				 "w={1,43981,3}");
	free(got);
	ev_format__free(f);
}

static void test_refused(void **state)
{
	char deep[4096] = "\"%d\", ", wide[4096] = "\"%d\", ({ ";
	size_t n = strlen(wide);

	refuse("\"%d\", UNHEARD_OF", "unknown identifier 'UNHEARD_OF'");
	refuse("\"%d\", unheard_of(1)", "unknown function 'unheard_of'");
	refuse("\"%d\", REC->nope", "no field 'nope'");
	refuse("\"%d %d\", 1", "too few arguments");
	refuse("\"%q\", 1", "unknown conversion");
	refuse("\"%d\", 1 +", "operand expected");
	refuse("\"%d\" 1", "unexpected '1'");
	refuse("\"%d", "unterminated");
	refuse("", "a string expected");
	refuse("\"%d\", \"text\"", "a number expected");
	refuse("\"%d\", *(int *)REC->b", "outside the record");
	refuse("\"%pI4\", REC->b", "not in the record");
	refuse("\"%s\", __print_symbolic(1, { REC->a, \"x\" })", "constant expected");
	refuse("\"%s\", __get_str(a)", "not a dynamic field");
	refuse("\"%d\", 99999999999999999999999", "too big");
	memset(deep + strlen(deep), '(', 1000);
	refuse(deep, "too deep");
	/* doubling: evaluation would take 2^40 operations */
	n += sprintf(wide + n, "int x0 = REC->a + REC->a; ");
	for (int i = 1; i < 14; i++)
		n += sprintf(wide + n, "int x%d = x%d + x%d; ", i, i - 1, i - 1);
	strcpy(wide + n, "x13; })");
	refuse(wide, "too big");
}

static void test_not_formats(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"name: x\nID: 1\n",
		"print fmt: \"\"",
		FORMAT("x", "\tfield:int a;\toffset:99999999;\tsize:4;\tsigned:1;\n", "\"\""),
		FORMAT("x", "\tfield:int a;\toffset:0;\tsize:4294967296;\tsigned:1;\n", "\"\""),
		FORMAT("x", "\tfield:int;\toffset:0;\tsize:4;\tsigned:1;\n", "\"\""),
		FORMAT("x", "\tfield:int a\toffset:0;\tsize:4;\tsigned:1;\n", "\"\""),
		FORMAT("", FIELD("int a", 0, 4, 1), "\"\""),
		"name: x\nID: 99999999999\n" FIELD("int a", 0, 4, 1) "print fmt: \"\"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct ev_format *f = (void *)1;

		assert_true(ev_format__parse(texts[i], strlen(texts[i]), &f) < 0);
		assert_ptr_equal(f, (void *)1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),	 cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_strings),	 cmocka_unit_test(test_flags),
		cmocka_unit_test(test_symbolic), cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_hex_dump), cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_time),	 cmocka_unit_test(test_jiffies),
		cmocka_unit_test(test_short),	 cmocka_unit_test(test_limits),
		cmocka_unit_test(test_refused),	 cmocka_unit_test(test_not_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
