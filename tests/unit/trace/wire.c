// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Integers, checksums, and the columns of a format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "trace/read/arena.h"
#include "trace/dict.h"
#include "trace/layout.h"
#include "trace/bytes.h"

static void test_crc(void **state)
{
	uint8_t bytes[48];

	/* RFC 3720, B.4 */
	memset(bytes, 0, 32);
	assert_int_equal(crc32c(0, bytes, 32), 0x8a9136aa);
	memset(bytes, 0xff, 32);
	assert_int_equal(crc32c(0, bytes, 32), 0x62a8ab43);
	for (int i = 0; i < 48; i++)
		bytes[i] = i;
	assert_int_equal(crc32c(0, bytes, 32), 0x46dd794e);
	assert_int_equal(crc32c(crc32c(0, bytes, 13), bytes + 13, 19), 0x46dd794e);
	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(crc32c(0, "", 0), 0);
	for (size_t n = 0; n <= sizeof(bytes); n++)
		assert_int_equal(crc32c_portable(7, bytes, n), crc32c(7, bytes, n));
}

static void test_varints(void **state)
{
	struct bytes_buf b = { 0 };
	struct bytes_cur c;

	for (int shift = 0; shift < 64; shift++)
		for (uint64_t d = 0; d < 3; d++) {
			bytes_put_varint(&b, (1ULL << shift) - 1 + d);
			bytes_put_svarint(&b, 0 - ((1ULL << shift) - 1 + d));
		}
	c = bytes_cur(b.p, b.len);
	for (int shift = 0; shift < 64; shift++)
		for (uint64_t d = 0; d < 3; d++) {
			assert_int_equal(bytes_get_varint(&c), (1ULL << shift) - 1 + d);
			assert_int_equal(bytes_get_svarint(&c), 0 - ((1ULL << shift) - 1 + d));
		}
	assert_int_equal(bytes_left(&c), 0);
	assert_false(c.bad);
	assert_int_equal(bytes_get_varint(&c), 0);
	assert_true(c.bad);
	assert_null(bytes_get(&c, 0));
	c = bytes_cur("\x80", 1);
	bytes_get_varint(&c);
	assert_true(c.bad);
	c = bytes_cur("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
	assert_int_equal(bytes_get_varint(&c), UINT64_MAX);
	assert_false(c.bad);
	c = bytes_cur("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10); /* 65 bits */
	bytes_get_varint(&c);
	assert_true(c.bad);
	c = bytes_cur("\x05", 1);
	assert_int_equal(bytes_get_max(&c, 4), 0);
	assert_true(c.bad);
	assert_int_equal(bytes_zigzag(0), 0);
	assert_int_equal(bytes_zigzag(0 - 1ULL), 1);
	assert_int_equal(bytes_zigzag(1), 2);
	bytes_buf__free(&b);
}

/* Room for no byte is room: NULL means that memory is out. */
static void test_no_room(void **state)
{
	struct bytes_buf b = { 0 };

	assert_non_null(bytes_buf__room(&b, 0));
	assert_false(b.failed);
	bytes_buf__free(&b);
}

static void test_dict(void **state)
{
	struct dict d = { 0 };

	for (int again = 0; again < 2; again++) {
		assert_int_equal(dict__reset(&d, 4), 0);
		for (int round = 0; round < 2; round++)
			for (uint32_t i = 0; i < 10000; i++) {
				size_t off = d.keys.len;

				bytes_put(&d.keys, &i, 1 + i % 4); /* keys of all lengths */
				bytes_put(&d.keys, &i, 4);
				assert_int_equal(dict__intern(&d, off), i);
			}
		assert_int_equal(d.nr, 10000);
		assert_memory_equal(dict__key(&d, 7) + 4, (uint32_t[]){ 7 }, 4);
	}
	dict__free(&d);
}

static void test_arena(void **state)
{
	struct budget budget = { .memory = BUDGET_MEMORY - (1 << 20) };
	struct arena a = { .budget = &budget };
	char *first = arena__string(&a, "abc", 2), *big;

	assert_string_equal(first, "ab");
	assert_int_equal((uintptr_t)arena__alloc(&a, 1) % 16, 0);
	big = arena__zalloc(&a, 100000);
	assert_non_null(big);
	assert_int_equal(big[99999], 0);
	assert_string_equal(first, "ab");
	assert_null(arena__alloc(&a, SIZE_MAX));
	assert_false(budget.exhausted);
	assert_null(arena__alloc(&a, 1 << 20));
	assert_true(budget.exhausted);
	assert_non_null(arena__alloc(&a, 100));
	arena__free(&a);
	assert_int_equal(a.total, 0);
	assert_int_equal(budget.memory, BUDGET_MEMORY - (1 << 20));
}

/* The budget grows with the bytes read, and never wraps. */
static void test_budget(void **state)
{
	struct budget b = { 0 };

	assert_false(budget__has(&b, UINT64_MAX, 0));
	assert_false(budget__has(&b, 0, UINT64_MAX));
	assert_true(budget__take(&b, BUDGET_MEMORY));
	assert_true(budget__work(&b, BUDGET_WORK));
	assert_false(budget__has(&b, 1, 0));
	assert_false(budget__has(&b, 0, 1));
	b.bytes = 1;
	assert_true(budget__take(&b, BUDGET_MEMORY_FACTOR));
	assert_true(budget__work(&b, BUDGET_WORK_FACTOR));
	assert_false(b.exhausted);
	assert_false(budget__take(&b, 1));
	assert_true(b.exhausted);
	budget__give(&b, BUDGET_MEMORY);
	assert_true(budget__take(&b, BUDGET_MEMORY));
	assert_true(budget__take(NULL, UINT64_MAX));
}

static void assert_column(const struct stk_layout *l, uint32_t i, uint32_t offset, uint32_t size)
{
	assert_true(i < l->nr);
	assert_int_equal(l->col[i].offset, offset);
	assert_int_equal(l->col[i].size, size);
}

static void test_layout(void **state)
{
	static struct stk_layout l;
	char many[40 * 300] = "", *p = many;

	stk_layout__from_format("", &l);
	assert_int_equal(l.nr, 0);
	assert_int_equal(l.fixed, STK_RECORD_HEAD);
	stk_layout__from_format("name: x\nID: 4711\nformat:\n"
				"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
				"\tfield:u64 late;\toffset:32;\tsize:8;\tsigned:0;\n"
				"\tfield:char a[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				"\tfield:char overlaps;\toffset:20;\tsize:8;\tsigned:0;\n"
				"\tfield:char empty[];\toffset:24;\tsize:0;\tsigned:0;\n"
				"\tfield:char far;\toffset:65535;\tsize:2;\tsigned:0;\n"
				"\tfield:char odd;\toffset:x;\tsize:2;\tsigned:0;\n"
				"\tfield:char huge;\toffset:99999999999;\tsize:2;\tsigned:0;\n"
				"\nprint fmt: \"field: offset:50; size:4;\", REC->a\n",
				&l);
	assert_int_equal(l.id, 4711);
	assert_int_equal(l.nr, 2);
	assert_column(&l, 0, 8, 16);
	assert_column(&l, 1, 32, 8);
	assert_int_equal(l.fixed, 40);
	for (int i = 0; i < 300; i++)
		p += sprintf(p, "field:f; offset:%d; size:4;\n", 8 + 4 * i);
	stk_layout__from_format(many, &l);
	assert_int_equal(l.nr, STK_MAX_COLUMNS);
	assert_int_equal(l.fixed, 8 + 4 * STK_MAX_COLUMNS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crc),	cmocka_unit_test(test_varints),
		cmocka_unit_test(test_no_room), cmocka_unit_test(test_dict),
		cmocka_unit_test(test_arena),	cmocka_unit_test(test_budget),
		cmocka_unit_test(test_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
