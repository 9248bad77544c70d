// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sub-buffers of the ftrace ring buffer: one that a kernel wrote (tests/golden/ftrace; its records
 * must be those of the kernel's text), and constructed ones with everything that may occur.
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
#include <inttypes.h>

#include "cleanup.h"
#include "record/ftrace/ring/ftrace_page.h"
#include "record/ftrace/ring/ftrace_stacks.h"

#define PAGE 4096
#define HEAD 16 /* header of a sub-buffer */

static const char *golden; /* directory */

static const struct ftrace_page_format usual = {
	.timestamp = 0,
	.commit = 8,
	.commit_size = 8,
	.data = HEAD,
};

/* ---- constructed pages ----------------------------------------------------------------------- */

struct built {
	unsigned char bytes[4 * PAGE];
	size_t len; /* without the header */
};

static void put32(struct built *b, uint32_t v)
{
	memcpy(b->bytes + HEAD + b->len, &v, sizeof(v));
	b->len += sizeof(v);
}

static void put_head(struct built *b, unsigned int type_len, uint32_t delta)
{
	put32(b, type_len | delta << 5);
}

/* A record of n words, each of them tag. */
static void put_event(struct built *b, uint32_t delta, uint32_t n, uint32_t tag)
{
	put_head(b, n <= 28 ? n : 0, delta);
	if (n > 28)
		put32(b, (n + 1) * 4);
	while (n--)
		put32(b, tag);
}

static void put_time(struct built *b, unsigned int type, uint64_t value)
{
	put_head(b, type, value & 0x7ffffff);
	put32(b, (uint32_t)(value >> 27));
}

static void put_discarded(struct built *b, uint32_t delta, uint32_t n)
{
	put_head(b, 29, delta);
	put32(b, (n + 1) * 4);
	while (n--)
		put32(b, 0xdead);
}

static void finish(struct built *b, uint64_t ts, uint64_t flags)
{
	uint64_t commit = b->len | flags;

	memcpy(b->bytes, &ts, sizeof(ts));
	memcpy(b->bytes + 8, &commit, sizeof(commit));
}

static void want_event(struct ftrace_page *p, uint64_t ts, size_t words, uint32_t tag)
{
	struct ftrace_page_event ev;
	uint32_t v;
	size_t i;

	assert_int_equal(ftrace_page__next(p, &ev), 1);
	assert_int_equal(ev.ts, ts);
	assert_int_equal(ev.len, words * 4);
	for (i = 0; i < words; i++) {
		memcpy(&v, (const char *)ev.data + i * 4, 4);
		assert_int_equal(v, tag);
	}
}

static void want_end(struct ftrace_page *p, int how)
{
	struct ftrace_page_event ev;

	assert_int_equal(ftrace_page__next(p, &ev), how);
	assert_int_equal(ftrace_page__next(p, &ev), how); /* the result is repeated */
}

static void test_events(void **state)
{
	struct built b = {};
	struct ftrace_page p;

	put_event(&b, 0, 1, 11);
	put_event(&b, 5, 28, 12); /* the longest one with its length in the type field */
	put_event(&b, (1 << 27) - 1, 29, 13);
	put_event(&b, 0, 1000, 14);
	finish(&b, 1000, 0);
	ftrace_page__open(&p, &usual, b.bytes, 2 * PAGE); /* larger than a page */
	assert_int_equal(p.lost, 0);
	want_event(&p, 1000, 1, 11);
	want_event(&p, 1005, 28, 12);
	want_event(&p, 1005 + (1 << 27) - 1, 29, 13);
	want_event(&p, 1005 + (1 << 27) - 1, 1000, 14);
	want_end(&p, 0);
}

static void test_times(void **state)
{
	const uint64_t high = 3ULL << 59, stamp = (1ULL << 59) - 10;
	struct ftrace_page p;
	struct built b = {};

	put_event(&b, 0, 1, 1);
	put_time(&b, 30, (1ULL << 40) + 7);
	put_event(&b, 0, 1, 2);
	put_time(&b, 31, stamp);
	put_event(&b, 3, 1, 3);
	put_time(&b, 31, 5); /* its 59 bits wrapped */
	put_event(&b, 0, 1, 4);
	finish(&b, high + 100, 0);
	ftrace_page__open(&p, &usual, b.bytes, PAGE);
	want_event(&p, high + 100, 1, 1);
	want_event(&p, high + 107 + (1ULL << 40), 1, 2);
	want_event(&p, high + stamp + 3, 1, 3);
	want_event(&p, high + (1ULL << 59) + 5, 1, 4);
	want_end(&p, 0);
}

/* A clock below 59 bits may be set back: the time stamp is then taken as it is. */
static void test_stamp_back(void **state)
{
	struct ftrace_page p;
	struct built b = {};

	put_time(&b, 31, 50);
	put_event(&b, 1, 1, 1);
	finish(&b, 100, 0);
	ftrace_page__open(&p, &usual, b.bytes, PAGE);
	want_event(&p, 51, 1, 1);
	want_end(&p, 0);
}

static void test_padding(void **state)
{
	struct ftrace_page p;
	struct built b = {};

	put_discarded(&b, 20, 3);
	put_event(&b, 1, 2, 1);
	put_discarded(&b, 1, 40); /* 1 stands for 0, which would be the end */
	put_event(&b, 2, 2, 2);
	put_head(&b, 29, 0); /* nothing after it is read */
	put32(&b, 0xffffffff);
	put_event(&b, 1, 2, 3);
	finish(&b, 1000, 0);
	ftrace_page__open(&p, &usual, b.bytes, PAGE);
	want_event(&p, 1021, 2, 1);
	want_event(&p, 1023, 2, 2);
	want_end(&p, 0);
}

static int64_t lost_of(struct built *b, uint64_t flags, size_t len)
{
	struct ftrace_page p;

	finish(b, 0, flags);
	ftrace_page__open(&p, &usual, b->bytes, len);
	want_event(&p, 0, 2, 9);
	want_end(&p, 0);
	return p.lost;
}

static void test_lost(void **state)
{
	const uint64_t missed = 1u << 31, stored = 1u << 30, sign = 0xffffffff00000000;
	uint64_t n = 12345;
	struct built b = {};

	put_event(&b, 0, 2, 9);
	memcpy(b.bytes + HEAD + b.len, &n, sizeof(n));
	assert_int_equal(lost_of(&b, 0, PAGE), 0);
	assert_int_equal(lost_of(&b, missed, PAGE), -1);
	assert_int_equal(lost_of(&b, missed | stored, PAGE), 12345);
	/* The kernel's int is negative, and so is the long that it is stored as. */
	assert_int_equal(lost_of(&b, sign | missed | stored, PAGE), 12345);
	/* The count does not fit, although the flag is set. */
	assert_int_equal(lost_of(&b, missed | stored, HEAD + b.len + 7), -1);
	assert_int_equal(lost_of(&b, missed | stored, HEAD + b.len + 8), 12345);
	n = 1ULL << 63;
	memcpy(b.bytes + HEAD + b.len, &n, sizeof(n));
	assert_int_equal(lost_of(&b, missed | stored, PAGE), -1);
}

static void want_damaged(const struct built *b, size_t len)
{
	_cleanup_free_ void *copy = malloc(len ? len : 1); /* exact: detects an overrun */
	struct ftrace_page p;

	assert_non_null(copy);
	memcpy(copy, b->bytes, len);
	ftrace_page__open(&p, &usual, copy, len);
	want_end(&p, -EBADMSG);
}

static void test_damaged(void **state)
{
	struct built b = {};

	want_damaged(&b, 0);
	want_damaged(&b, HEAD - 1);
	while (b.len <= PAGE - HEAD)
		put_event(&b, 0, 1, 1);
	finish(&b, 0, 0);
	want_damaged(&b, PAGE); /* commits more than its size */

	b = (struct built){};
	put_head(&b, 5, 0);
	finish(&b, 0, 0);
	want_damaged(&b, PAGE); /* a record that extends past the commit */

	b = (struct built){};
	put_head(&b, 0, 0);
	finish(&b, 0, 0);
	want_damaged(&b, HEAD + 4); /* its length is missing */

	b = (struct built){};
	put_head(&b, 0, 0);
	put32(&b, 0xfffffffc);
	finish(&b, 0, 0);
	want_damaged(&b, PAGE);

	b = (struct built){};
	put_head(&b, 0, 0);
	put32(&b, 0); /* less than the length field */
	finish(&b, 0, 0);
	want_damaged(&b, PAGE);

	b = (struct built){};
	put_head(&b, 30, 7);
	finish(&b, 0, 0);
	want_damaged(&b, HEAD + 4);

	b = (struct built){};
	put_head(&b, 0, 0);
	put32(&b, 6); /* not a multiple of words */
	put32(&b, 0);
	finish(&b, 0, 0);
	want_damaged(&b, PAGE);

	b = (struct built){};
	b.len = 3;
	finish(&b, 0, 0);
	want_damaged(&b, PAGE);
}

/* ---- a kernel's page ------------------------------------------------------------------------- */

static char *load(const char *name, size_t *ret_len)
{
	char path[4096], *text = calloc(1, 65536);
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", golden, name);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_non_null(text);
	*ret_len = fread(text, 1, 65535, f);
	fclose(f);
	return text;
}

static void add_kind(struct ftrace_kinds *k, enum ftrace_kind kind)
{
	_cleanup_free_ char *text = NULL;
	char name[64];
	size_t len;

	snprintf(name, sizeof(name), "%s.format", ftrace_kind__name(kind));
	text = load(name, &len);
	assert_int_equal(ftrace_kinds__add(k, kind, text, len), 0);
}

static void test_captured(void **state)
{
	_cleanup_free_ char *text = NULL, *page = NULL, *want = NULL, *got = NULL;
	_cleanup_fclose_ FILE *out = NULL;
	struct ftrace_page_format format;
	struct ftrace_page_event ev;
	struct ftrace_kinds kinds = {};
	struct ftrace_record r;
	struct ftrace_page p;
	size_t len, got_len;
	uint32_t i;

	text = load("header_page", &len);
	assert_int_equal(ftrace_page_format__parse(text, &format), 0);
	assert_memory_equal(&format, &usual, sizeof(format));
	add_kind(&kinds, FTRACE_KERNEL_STACK);
	add_kind(&kinds, FTRACE_USER_STACK);
	page = load("page", &len);
	assert_int_equal(len, PAGE);
	want = load("records", &len);
	out = open_memstream(&got, &got_len);
	ftrace_page__open(&p, &format, page, PAGE);
	assert_int_equal(p.lost, 107710);
	while (ftrace_page__next(&p, &ev) == 1) {
		assert_int_equal(ftrace_kinds__decode(&kinds, ev.data, ev.len, &r), 0);
		fprintf(out, "%" PRIu64 " %d %u", (ev.ts + 500) / 1000, r.ctx.pid, r.type);
		for (i = 0; i < r.nr_words; i++)
			fprintf(out, " %016" PRIx64, ftrace_record__word(&r, i));
		fputc('\n', out);
	}
	fflush(out);
	assert_string_equal(got, want);
	want_end(&p, 0);
}

static void want_refused(const char *text)
{
	struct ftrace_page_format f = { .data = 99 };

	assert_int_equal(ftrace_page_format__parse(text, &f), -EINVAL);
	assert_int_equal(f.data, 99);
}

static void test_format(void **state)
{
	static const char other[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				    "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
				    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				    "\tfield: char data;\toffset:12;\tsize:4084;\tsigned:0;\n";
	struct ftrace_page_format f;

	assert_int_equal(ftrace_page_format__parse(other, &f), 0);
	assert_int_equal(f.commit_size, 4);
	assert_int_equal(f.data, 12);
	want_refused("");
	want_refused("field:");
	want_refused("field: u64 timestamp; offset:0; size:8;");
	want_refused("field: u64 timestamp;\toffset:0;\tsize:4;\n"
		     "field: local_t commit;\toffset:8;\tsize:8;\n"
		     "field: char data;\toffset:16;\tsize:1;");
	want_refused("field: u64 timestamp;\toffset:0;\tsize:8;\n"
		     "field: local_t commit;\toffset:8;\tsize:8;\n"
		     "field: char data;\toffset:8;\tsize:1;");
	want_refused("field: u64 timestamp;\toffset:0;\tsize:8;\n"
		     "field: local_t commit;\toffset:8;\tsize:8;\n"
		     "field: char data;\toffset:17;\tsize:1;");
	want_refused("field: u64 mytimestamp;\toffset:0;\tsize:8;\n");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),	   cmocka_unit_test(test_times),
		cmocka_unit_test(test_stamp_back), cmocka_unit_test(test_padding),
		cmocka_unit_test(test_lost),	   cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_captured),   cmocka_unit_test(test_format),
	};

	if (argc != 2)
		return 2;
	golden = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
