// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records that ftrace writes with events: by their formats, whole and damaged; lines of file_map.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "../common_fields.h"
#include "cleanup.h"
#include "record/ftrace/ring/ftrace_stacks.h"

#define K(n) (0xffffffff81000000ULL + (n))

#define FORMAT(name, id, fields) \
	"name: " name "\nID: " #id "\n" COMMON fields "\nprint fmt: \"x\"\n"
#define U32(name, at) "\tfield:unsigned int " name ";\toffset:" #at ";\tsize:4;\tsigned:0;\n"
#define U64(name, at) "\tfield:u64 " name ";\toffset:" #at ";\tsize:8;\tsigned:0;\n"

static const char *const formats[FTRACE_NR_KINDS] = {
	[FTRACE_KERNEL_STACK] =
		FORMAT("kernel_stack", 4,
		       "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
		       "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n"),
	[FTRACE_USER_STACK] = FORMAT(
		"user_stack", 13,
		U32("tgid",
		    8) "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n"),
	[FTRACE_STACK_ID] = FORMAT("stack_id", 20, U32("stack_id", 8)),
	[FTRACE_STACK_ID_PAIR] =
		FORMAT("stack_id_pair", 21, U32("stack_id", 8) U32("below_id", 12)),
	[FTRACE_STACK_ID_COOKIE] = FORMAT("stack_id_cookie", 22,
					  U32("stack_id", 8) U32("below_id", 12) U64("cookie", 16)),
	[FTRACE_USER_STACK_ID] =
		FORMAT("user_stack_id", 23, U64("cookie", 8) U32("stack_id", 16) U32("tgid", 20)),
	[FTRACE_USER_STACK_UNWIND] = FORMAT(
		"user_stack_unwind", 24,
		U64("cookie",
		    8) U32("tgid",
			   16) "\tfield:int size;\toffset:20;\tsize:4;\tsigned:1;\n"
			       "\tfield:unsigned long caller[];\toffset:24;\tsize:0;\tsigned:0;\n"),
	[FTRACE_FILE_MAP] = FORMAT(
		"file_map", 25,
		U32("hash", 8) U32("build_id_size",
				   12) "\tfield:u8 build_id[20];\toffset:16;\tsize:20;\tsigned:0;\n"
				       "\tfield:char path[];\toffset:36;\tsize:0;\tsigned:0;\n"),
};

static struct ftrace_kinds kinds;

static int setup(void **state)
{
	enum ftrace_kind kind;

	for (kind = FTRACE_EVENT + 1; kind < FTRACE_NR_KINDS; kind++) {
		if (ftrace_kinds__add(&kinds, kind, formats[kind], strlen(formats[kind])))
			return -1;
	}
	return 0;
}

struct record {
	unsigned char bytes[256];
	size_t len;
};

static void put(struct record *rec, const void *p, size_t n)
{
	memcpy(rec->bytes + rec->len, p, n);
	rec->len += n;
}

static void put32(struct record *rec, uint32_t v)
{
	put(rec, &v, sizeof(v));
}

static void put64(struct record *rec, uint64_t v)
{
	put(rec, &v, sizeof(v));
}

static struct record start(uint16_t type)
{
	struct record rec = {};

	put(&rec, &type, 2);
	put(&rec, "\x11", 1);
	put(&rec, "\x22", 1);
	put32(&rec, 4711);
	return rec;
}

/* Decodes an exact copy, so that an overrun is detected. */
static int decode(const struct record *rec, size_t len, struct ftrace_record *ret_record)
{
	static void *copy;

	free(copy);
	copy = malloc(len ? len : 1);
	assert_non_null(copy);
	memcpy(copy, rec->bytes, len);
	return ftrace_kinds__decode(&kinds, copy, len, ret_record);
}

/* It decodes, and any prefix shorter than `least` bytes is refused. */
static struct ftrace_record whole(const struct record *rec, size_t least)
{
	struct ftrace_record r;
	size_t len;

	for (len = 0; len < least; len++)
		assert_int_equal(decode(rec, len, &r), -EBADMSG);
	assert_int_equal(decode(rec, rec->len, &r), 0);
	assert_int_equal(r.ctx.pid, 4711);
	assert_int_equal(r.ctx.flags, 0x11);
	assert_int_equal(r.ctx.preempt, 0x22);
	return r;
}

static void test_event(void **state)
{
	struct record rec = start(300);
	struct ftrace_record r = whole(&rec, 8);

	assert_int_equal(r.kind, FTRACE_EVENT);
	assert_int_equal(r.type, 300);
}

static void test_kernel_stack(void **state)
{
	struct record rec = start(4);
	struct ftrace_record r;
	uint32_t huge[] = { 3, 4, 0x20000000, 0x80000000, 0xffffffff };
	size_t i;

	put32(&rec, 2);
	put32(&rec, 0);
	put64(&rec, K(1));
	put64(&rec, K(2));
	r = whole(&rec, rec.len);
	assert_int_equal(r.kind, FTRACE_KERNEL_STACK);
	assert_int_equal(r.nr_words, 2);
	assert_true(ftrace_record__word(&r, 0) == K(1) && ftrace_record__word(&r, 1) == K(2));
	for (i = 0; i < ARRAY_SIZE(huge); i++) { /* more words than the record has */
		memcpy(rec.bytes + 8, &huge[i], 4);
		assert_int_equal(decode(&rec, rec.len, &r), -EBADMSG);
	}
	rec.len = 8;
	put32(&rec, 2);
	put32(&rec, 0);
	put64(&rec, K(1));
	put64(&rec, UINT64_MAX);
	r = whole(&rec, rec.len);
	assert_int_equal(r.nr_words, 1);
}

static void test_user_stack(void **state)
{
	struct record rec = start(13);
	struct ftrace_record r;
	int i;

	put32(&rec, 99);
	put32(&rec, 0);
	for (i = 0; i < 8; i++)
		put64(&rec, i < 3 ? 0x1000 + i : 0);
	r = whole(&rec, 16);
	assert_int_equal(r.kind, FTRACE_USER_STACK);
	assert_int_equal(r.tgid, 99);
	assert_int_equal(r.nr_words, 3);
	assert_int_equal(ftrace_record__word(&r, 2), 0x1002);
	for (i = 3; i < 8; i++)
		memcpy(rec.bytes + 16 + i * 8, "12345678", 8);
	r = whole(&rec, 16);
	assert_int_equal(r.nr_words, 8);
}

static void test_ids(void **state)
{
	struct record rec = start(20);
	struct ftrace_record r;

	put32(&rec, 77);
	r = whole(&rec, 12);
	assert_int_equal(r.kind, FTRACE_STACK_ID);
	assert_int_equal(r.stack_id, 77);

	rec = start(21);
	put32(&rec, 78);
	put32(&rec, 79);
	r = whole(&rec, 16);
	assert_int_equal(r.kind, FTRACE_STACK_ID_PAIR);
	assert_true(r.stack_id == 78 && r.below_id == 79);

	rec = start(22);
	put32(&rec, 80);
	put32(&rec, 0);
	put64(&rec, 0x123456789abcULL);
	r = whole(&rec, 24);
	assert_int_equal(r.kind, FTRACE_STACK_ID_COOKIE);
	assert_true(r.stack_id == 80 && !r.below_id && r.cookie == 0x123456789abcULL);

	rec = start(23);
	put64(&rec, 0x123456789abdULL);
	put32(&rec, 81);
	put32(&rec, 4700);
	r = whole(&rec, 24);
	assert_int_equal(r.kind, FTRACE_USER_STACK_ID);
	assert_true(r.stack_id == 81 && r.tgid == 4700 && r.cookie == 0x123456789abdULL);
}

static void test_unwind(void **state)
{
	struct record rec = start(24);
	struct ftrace_record r;

	put64(&rec, 5);
	put32(&rec, 4700);
	put32(&rec, 4);
	put64(&rec, 0xcafe);
	put64(&rec, 0); /* an offset may be 0 */
	put64(&rec, 0xbeef);
	put64(&rec, 0x20);
	r = whole(&rec, rec.len);
	assert_int_equal(r.kind, FTRACE_USER_STACK_UNWIND);
	assert_true(r.cookie == 5 && r.tgid == 4700 && r.nr_words == 4);
	assert_int_equal(ftrace_record__word(&r, 3), 0x20);
	memcpy(rec.bytes + 20, "\3\0\0", 4); /* half a pair */
	assert_int_equal(decode(&rec, rec.len, &r), -EBADMSG);
}

static void test_file_map(void **state)
{
	struct record rec = start(25);
	struct ftrace_record r;
	uint32_t size = 21;

	put32(&rec, 0xcafe);
	put32(&rec, 20);
	put(&rec, "01234567890123456789", 20);
	put(&rec, "/usr/bin/cat\0\0\0", 16);
	r = whole(&rec, 36);
	assert_int_equal(r.kind, FTRACE_FILE_MAP);
	assert_int_equal(r.hash, 0xcafe);
	assert_int_equal(r.build_id_size, 20);
	assert_memory_equal(r.build_id, "01234567890123456789", 20);
	assert_int_equal(r.path_len, 12);
	assert_memory_equal(r.path, "/usr/bin/cat", 12);
	assert_int_equal(decode(&rec, 40, &r), 0); /* a path that is not terminated */
	assert_int_equal(r.path_len, 4);
	memcpy(rec.bytes + 12, &size, 4);
	assert_int_equal(decode(&rec, rec.len, &r), -EBADMSG);
}

/* The same with a dynamic string. */
static void test_file_map_dynamic(void **state)
{
	static const char text[] = FORMAT(
		"file_map", 25,
		U32("hash",
		    8) U32("build_id_size",
			   12) "\tfield:u8 build_id[20];\toffset:16;\tsize:20;\tsigned:0;\n"
			       "\tfield:__data_loc char[] path;\toffset:36;\tsize:4;\tsigned:0;\n");
	struct ftrace_kinds before = kinds;
	struct record rec = start(25);
	struct ftrace_record r;
	uint32_t bad[] = { 5 << 16 | 41, 46 << 16, 0xffffffff, 45 }, i;

	assert_int_equal(ftrace_kinds__add(&kinds, FTRACE_FILE_MAP, text, strlen(text)), 0);
	put32(&rec, 0xcafe);
	put32(&rec, 0);
	put(&rec, "01234567890123456789", 20);
	put32(&rec, 5 << 16 | 40);
	put(&rec, "/bin", 5);
	r = whole(&rec, rec.len);
	assert_int_equal(r.path_len, 4);
	assert_memory_equal(r.path, "/bin", 4);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		memcpy(rec.bytes + 36, &bad[i], 4);
		assert_int_equal(decode(&rec, rec.len, &r), bad[i] == 45 ? 0 : -EBADMSG);
	}
	assert_int_equal(r.path_len, 0);
	kinds = before;
}

static void test_refused(void **state)
{
	static const char missing[] = FORMAT("stack_id", 20, U32("other", 8));
	static const char wide[] = FORMAT("stack_id", 20, U64("stack_id", 8));
	static const char narrow[] =
		FORMAT("user_stack", 13,
		       U32("tgid",
			   8) "\tfield:unsigned int caller[8];\toffset:12;\tsize:32;\tsigned:0;\n");
	struct ftrace_kinds k = {}, none = {};

	assert_int_equal(ftrace_kinds__add(&k, FTRACE_STACK_ID, missing, strlen(missing)), -EINVAL);
	assert_int_equal(ftrace_kinds__add(&k, FTRACE_STACK_ID, wide, strlen(wide)), -EINVAL);
	assert_int_equal(ftrace_kinds__add(&k, FTRACE_USER_STACK, narrow, strlen(narrow)), -EINVAL);
	assert_int_equal(ftrace_kinds__add(&k, FTRACE_STACK_ID, "nothing", 7), -EINVAL);
	assert_memory_equal(&k, &none, sizeof(k));
}

static void test_lines(void **state)
{
	const char *text = "# hash=… path=… build_id=…\n"
			   "hash=0xcafe path=/a b build_id=9 build_id=00ff10\n"
			   "hash=0xffffffff path=x build_id=none\n"
			   "something else\n"
			   "hash=0x100000000 path=x build_id=none\n"
			   "hash=0x1 path=x build_id=0\n"
			   "hash=0x1 path=x build_id=0g\n"
			   "hash=0x1 path=x\n"
			   "hash=0x1 build_id=00\n"
			   "hash=0x1 path=x build_id=00112233445566778899aabbccddeeff0011223344\n"
			   "\n"
			   "hash=0x2 path=last build_id=none";
	const int want[] = { 1,	       1,	 -EBADMSG, -EBADMSG, -EBADMSG, -EBADMSG,
			     -EBADMSG, -EBADMSG, -EBADMSG, 1,	     0,	       0 };
	struct ftrace_file f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(want); i++) {
		assert_int_equal(ftrace_file__next(&text, &f), want[i]);
		if (i == 0) {
			assert_int_equal(f.hash, 0xcafe);
			assert_int_equal(f.path_len, 15);
			assert_memory_equal(f.path, "/a b build_id=9", 15);
			assert_int_equal(f.build_id_size, 3);
			assert_memory_equal(f.build_id, "\0\xff\x10", 3);
		}
		if (i == 1)
			assert_true(f.hash == 0xffffffff && !f.build_id_size);
		if (i == 9)
			assert_true(f.hash == 2 && f.path_len == 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event),
		cmocka_unit_test(test_kernel_stack),
		cmocka_unit_test(test_user_stack),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_unwind),
		cmocka_unit_test(test_file_map),
		cmocka_unit_test(test_file_map_dynamic),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
