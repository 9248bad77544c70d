// SPDX-License-Identifier: GPL-2.0-only
/* Messages about records that differ from the kernel's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../common_fields.h"
#include "events/format.h"
#include "native_check.h"
#include "record/kernel/native_difference.h"
#include "strbuf.h"

static const char text[] = "name: made\nID: 7\n" COMMON
			   "\tfield:unsigned long address;\toffset:8;\tsize:8;\tsigned:0;\n"
			   "\tfield:int vec;\toffset:16;\tsize:4;\tsigned:1;\n"
			   "\tfield:int node;\toffset:20;\tsize:4;\tsigned:1;\n"
			   "\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n"
			   "\nprint fmt: \"vec=%d\", REC->vec\n";

static struct native_check check;
static struct ev_format *fmt;

static void set(struct native_pair *p, unsigned int at, const void *kernel, const void *own,
		size_t size)
{
	memcpy((char *)p->kernel + at, kernel, size);
	memcpy((char *)p->own + at, own, size);
}

static struct native_pair *begin(enum native_verdict v)
{
	memset(&check, 0, sizeof(check));
	memset((char *)check.fields + 8, 0xff, sizeof(check.fields) - 8);
	memset((char *)check.steady + 8, 0xff, sizeof(check.steady) - 8);
	check.compared[v] = 1;
	check.pair[v].size = 36;
	check.pair[v].is_complete = 1;
	return &check.pair[v];
}

static void want(const char *expected)
{
	struct strbuf b = { 0 };

	native_difference__print(&check, fmt, &b);
	assert_string_equal(b.s, expected);
	strbuf__free(&b);
}

/* Two fields share a word: the one that differs is named. */
static void test_number(void **state)
{
	struct native_pair *p = begin(NATIVE_DIFFERED);

	p->at = 16;
	set(p, 16, &(int32_t){ 5 }, &(int32_t){ 5 }, 4);
	set(p, 20, &(int32_t){ -1 }, &(int32_t){ 3 }, 4);
	want("node was -1 in the kernel's record and 3 in the recorder's");
}

/* What may change is not what the record is wrong for. */
static void test_changed_beside(void **state)
{
	struct native_pair *p = begin(NATIVE_DIFFERED);

	p->at = 16;
	memset((char *)check.steady + 16, 0, 4);
	set(p, 16, &(int32_t){ 1 }, &(int32_t){ 2 }, 4);
	set(p, 20, &(int32_t){ 7 }, &(int32_t){ 8 }, 4);
	want("node was 7 in the kernel's record and 8 in the recorder's");
}

static void test_changed(void **state)
{
	struct native_pair *p = begin(NATIVE_CHANGED);

	p->at = 16;
	memset((char *)check.steady + 16, 0, 8);
	set(p, 16, &(int32_t){ 1 }, &(int32_t){ 2 }, 4);
	want("vec was 1 in the kernel's record and 2 in the recorder's");
}

/* A string lies behind the fields. */
static void test_string(void **state)
{
	struct native_pair *p = begin(NATIVE_DIFFERED);
	uint32_t loc = 28 | 8 << 16;

	p->at = 32;
	set(p, 24, &loc, &loc, 4);
	set(p, 28, "size-a\n", "size-b\n", 8);
	want("name was size-a\n in the kernel's record and size-b\n in the recorder's");
}

static void test_unknown(void **state)
{
	struct native_pair *p = begin(NATIVE_DIFFERED);

	p->at = 40; /* no field has it */
	set(p, 40, "a", "b", 1);
	want("an unknown field");
	p->at = UINT64_MAX;
	want("an unknown field");
	p->at = 8;
	set(p, 8, "a", "b", 1);
	p->is_complete = 0; /* a program is writing it */
	want("an unknown field");
}

static int set_up(void **state)
{
	return ev_format__parse(text, strlen(text), &fmt);
}

static int tear_down(void **state)
{
	ev_format__free(fmt);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_number),	cmocka_unit_test(test_changed_beside),
		cmocka_unit_test(test_changed), cmocka_unit_test(test_string),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
