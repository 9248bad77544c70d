// SPDX-License-Identifier: GPL-2.0-only
/* Generated code: perf-PID.map and jitdump, valid, truncated and crafted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/jit_symbols.h"

static int file_of(const void *data, size_t len)
{
	int fd = memfd_create("jit", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	return fd;
}

static int add_map(struct jit_symbols *s, const char *text)
{
	int fd = file_of(text, strlen(text));
	int err = jit_symbols__add_map(s, fd);

	close(fd);
	return err;
}

static struct jit_symbols *with_map(const char *text)
{
	struct jit_symbols *s;

	assert_int_equal(jit_symbols__new(&s), 0);
	assert_int_equal(add_map(s, text), 0);
	return s;
}

static void expect(const struct jit_symbols *s, uint64_t addr, const char *name)
{
	struct elf_symbol found;
	int err = jit_symbols__find(s, addr, &found);

	if (!name) {
		assert_int_equal(err, -ENOENT);
		return;
	}
	assert_int_equal(err, 0);
	assert_string_equal(found.name, name);
	assert_true(found.start <= addr && addr - found.start < found.size);
}

/* ---- perf-PID.map ---------------------------------------------------------------------------- */

static void test_map(void **state)
{
	struct jit_symbols *s = with_map("7f0000001000 20 first one\n"
					 "0x7f0000002000 0X10 LazyCompile:~f /a b.js:1\r\n"
					 "7F0000003000 1  no newline at the end\n"
					 "fffffffffffffff0 f last");

	expect(s, 0x7f0000000fff, NULL);
	expect(s, 0x7f0000001000, "first one");
	expect(s, 0x7f000000101f, "first one");
	expect(s, 0x7f0000001020, NULL);
	expect(s, 0x7f000000200f, "LazyCompile:~f /a b.js:1");
	expect(s, 0x7f0000003000, "no newline at the end");
	expect(s, 0x7f0000003001, NULL);
	/* a line that is still being written may be cut anywhere */
	expect(s, 0xfffffffffffffff0, NULL);
	expect(s, 0, NULL);
	expect(s, UINT64_MAX, NULL);
	assert_int_equal(jit_symbols__bad(s), 0);
	jit_symbols__free(s);
}

static void test_bad_lines(void **state)
{
	struct jit_symbols *s = with_map("\n"
					 "1000\n"
					 "1000 10\n"
					 "1000 10 \n"
					 "1000 0 empty\n"
					 "x000 10 x\n"
					 "1000 1x x\n"
					 "1000\t10\tx\n"
					 " 1000 10 x\n"
					 "-1000 10 x\n"
					 "10000000000000000 10 x\n"
					 "ffffffffffffffff 2 wraps\n"
					 "0x 10 x\n"
					 "2000 10 good\n");

	assert_int_equal(jit_symbols__bad(s), 13);
	expect(s, 0x1000, NULL);
	expect(s, 0x2000, "good");
	jit_symbols__free(s);
}

static void test_long_lines(void **state)
{
	static const char before[] = "1000 10 before\n2000 10 ";
	const size_t at = strlen(before), len = 300000;
	char *text = malloc(len + 200);
	struct elf_symbol found;
	struct jit_symbols *s;

	strcpy(text, before);
	memset(text + at, 'x', len);
	strcpy(text + at + len, "\n3000 10 after\n4000 10 more\n");
	s = with_map(text);
	assert_int_equal(jit_symbols__bad(s), 1);
	expect(s, 0x1000, "before");
	expect(s, 0x2000, NULL);
	expect(s, 0x3000, "after");
	expect(s, 0x4000, "more");
	jit_symbols__free(s);
	/* a name that is too long is cut */
	strcpy(text, "1000 10 ");
	memset(text + 8, 'x', 10000);
	strcpy(text + 10008, "\n2000 10 after\n");
	s = with_map(text);
	assert_int_equal(jit_symbols__find(s, 0x1000, &found), 0);
	assert_int_equal(strlen(found.name), 4095);
	expect(s, 0x2000, "after");
	jit_symbols__free(s);
	free(text);
}

static void test_no_file(void **state)
{
	struct jit_symbols *s = with_map("");

	assert_int_equal(jit_symbols__add_map(s, -1), -EBADF);
	assert_int_equal(jit_symbols__add_dump(s, -1), -EBADF);
	expect(s, 0x1000, NULL);
	jit_symbols__free(s);
	jit_symbols__free(NULL);
}

/* ---- overlaps -------------------------------------------------------------------------------- */

static void test_overlap(void **state)
{
	struct jit_symbols *s = with_map("1000 100 a\n1040 40 b\n1060 80 c\n0ff0 20 d\n1048 8 e\n");

	expect(s, 0x0fef, NULL);
	expect(s, 0x0ff0, "d");
	expect(s, 0x100f, "d");
	expect(s, 0x1010, "a");
	expect(s, 0x103f, "a");
	expect(s, 0x1040, "b");
	expect(s, 0x1048, "e");
	expect(s, 0x1050, "b");
	expect(s, 0x105f, "b");
	expect(s, 0x1060, "c");
	expect(s, 0x10df, "c");
	expect(s, 0x10e0, "a");
	expect(s, 0x10ff, "a");
	expect(s, 0x1100, NULL);
	assert_int_equal(add_map(s, "1000 100 again\n"), 0);
	expect(s, 0x0ff0, "d");
	expect(s, 0x1048, "again");
	jit_symbols__free(s);
}

/* Compares with a simple implementation. */
static void test_overlap_random(void **state)
{
	enum { ADDRS = 400, FUNCTIONS = 120 };
	unsigned int seed = 1;

	for (int round = 0; round < 200; round++) {
		int last[ADDRS];
		char text[FUNCTIONS * 32] = "", name[16];
		size_t len = 0;
		struct jit_symbols *s;

		memset(last, -1, sizeof(last));
		for (int i = 0; i < FUNCTIONS; i++) {
			unsigned int start = rand_r(&seed) % (ADDRS - 1);
			unsigned int size = 1 + rand_r(&seed) % (i % 3 ? 9 : ADDRS - 1 - start);

			len += sprintf(text + len, "%x %x f%d\n", start, size, i);
			for (unsigned int at = start; at < start + size && at < ADDRS; at++)
				last[at] = i;
		}
		s = with_map(text);
		for (int at = 0; at < ADDRS; at++) {
			sprintf(name, "f%d", last[at]);
			expect(s, at, last[at] < 0 ? NULL : name);
		}
		jit_symbols__free(s);
	}
}

/* ---- jitdump --------------------------------------------------------------------------------- */

struct dump {
	char data[65536];
	size_t len;
};

static void put32(struct dump *d, uint32_t v)
{
	memcpy(d->data + d->len, &v, sizeof(v));
	d->len += sizeof(v);
}

static void put64(struct dump *d, uint64_t v)
{
	memcpy(d->data + d->len, &v, sizeof(v));
	d->len += sizeof(v);
}

static void put_header(struct dump *d, uint32_t magic, uint32_t version, uint32_t size)
{
	put32(d, magic);
	put32(d, version);
	put32(d, size);
	put32(d, 62);
	put32(d, 0);
	put32(d, 4711);
	put64(d, 1);
	put64(d, 0);
	memset(d->data + d->len, 0xee, size > 40 ? size - 40 : 0);
	d->len += size > 40 ? size - 40 : 0;
}

static void put_load(struct dump *d, uint64_t addr, uint64_t size, uint64_t index, const char *name,
		     uint32_t code)
{
	put32(d, 0);
	put32(d, 16 + 40 + strlen(name) + 1 + code);
	put64(d, 2);
	put32(d, 1);
	put32(d, 1);
	put64(d, addr);
	put64(d, addr);
	put64(d, size);
	put64(d, index);
	strcpy(d->data + d->len, name);
	d->len += strlen(name) + 1;
	memset(d->data + d->len, 0xcc, code);
	d->len += code;
}

static void put_move(struct dump *d, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	put32(d, 1);
	put32(d, 16 + 48);
	put64(d, 3);
	put32(d, 1);
	put32(d, 1);
	put64(d, to);
	put64(d, from);
	put64(d, to);
	put64(d, size);
	put64(d, index);
}

static void put_other(struct dump *d, uint32_t id, uint32_t size)
{
	put32(d, id);
	put32(d, 16 + size);
	put64(d, 4);
	memset(d->data + d->len, 0, size);
	d->len += size;
}

static struct jit_symbols *with_dump(const struct dump *d, size_t len, int expected)
{
	int fd = file_of(d->data, len);
	struct jit_symbols *s;

	assert_int_equal(jit_symbols__new(&s), 0);
	assert_int_equal(jit_symbols__add_dump(s, fd), expected);
	close(fd);
	return s;
}

#define JITDUMP 0x4a695444

static void test_dump(void **state)
{
	static struct dump d;
	struct jit_symbols *s;

	put_header(&d, JITDUMP, 1, 48); /* a header may grow */
	put_other(&d, 2, 100); /* debug info */
	put_load(&d, 0x1000, 0x40, 1, "Lfoo;bar(I)V", 0x40);
	put_other(&d, 4, 24); /* unwinding info */
	put_load(&d, 0x2000, 0x40, 2, "second", 0x40);
	put_move(&d, 0x1000, 0x3000, 0x40, 1);
	put_load(&d, 0x3020, 0x10, 3, "after the move", 0);
	put_load(&d, 0x5000, 0x10, 1, "first's index again", 0);
	put_move(&d, 0x1000, 0x6000, 0x40, 99); /* of an unknown function */
	put_other(&d, 77, 8); /* an unknown type */
	put_load(&d, 0x7000, 0, 4, "no size", 0);
	put_load(&d, 0x7000, 0x10, 4, "", 0);
	put_load(&d, UINT64_MAX - 1, 0x10, 4, "wraps", 0);
	put_other(&d, 3, 0); /* close */
	put_load(&d, 0x8000, 0x10, 5, "after the end", 0);
	s = with_dump(&d, d.len, 0);
	expect(s, 0x1000, "Lfoo;bar(I)V");
	expect(s, 0x103f, "Lfoo;bar(I)V");
	expect(s, 0x1040, NULL);
	expect(s, 0x2000, "second");
	expect(s, 0x3000, "Lfoo;bar(I)V");
	expect(s, 0x3020, "after the move");
	expect(s, 0x3030, "Lfoo;bar(I)V");
	expect(s, 0x5000, "first's index again");
	expect(s, 0x6000, NULL);
	expect(s, 0x7000, NULL);
	expect(s, 0x8000, NULL);
	assert_int_equal(jit_symbols__bad(s), 4);
	jit_symbols__free(s);
}

/* The dump of a running program, cut anywhere: whole records are used. */
static void test_torn(void **state)
{
	static struct dump d;
	size_t first;

	put_header(&d, JITDUMP, 1, 40);
	put_load(&d, 0x1000, 0x40, 1, "first", 0x40);
	first = d.len;
	put_load(&d, 0x2000, 0x40, 2, "second", 0x40);
	for (size_t len = 0; len <= d.len; len++) {
		struct jit_symbols *s = with_dump(&d, len, len < 40 ? -EINVAL : 0);
		struct elf_symbol found;

		if (len >= first)
			expect(s, 0x1000, "first");
		if (!jit_symbols__find(s, 0x2000, &found))
			assert_string_equal(found.name, "second");
		else
			assert_true(len < first + 16 + 40 + sizeof("second"));
		jit_symbols__free(s);
	}
}

static void test_bad_dumps(void **state)
{
	static struct dump d;

	put_header(&d, 0x4454694a, 1, 40); /* of the other byte order */
	jit_symbols__free(with_dump(&d, d.len, -EINVAL));
	d.len = 0;
	put_header(&d, JITDUMP, 2, 40);
	jit_symbols__free(with_dump(&d, d.len, -EINVAL));
	d.len = 0;
	put_header(&d, JITDUMP, 1, 39);
	jit_symbols__free(with_dump(&d, d.len, -EINVAL));
	/* a record whose size does not advance */
	d.len = 0;
	put_header(&d, JITDUMP, 1, 40);
	put32(&d, 2);
	put32(&d, 15);
	put64(&d, 0);
	put_load(&d, 0x1000, 0x10, 1, "not reached", 0);
	jit_symbols__free(with_dump(&d, d.len, 0));
	/* a name that is not terminated within its record */
	d.len = 0;
	put_header(&d, JITDUMP, 1, 40);
	put_load(&d, 0x1000, 0x10, 1, "name", 0);
	d.data[44] -= 1;
	put_load(&d, 0x2000, 0x10, 1, "x", 0);
	jit_symbols__free(with_dump(&d, d.len, 0));
}

static void test_long_name(void **state)
{
	static struct dump d;
	struct elf_symbol found;
	struct jit_symbols *s;
	char name[9001];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	put_header(&d, JITDUMP, 1, 40);
	put_load(&d, 0x1000, 0x40, 1, name, 0x40);
	put_load(&d, 0x2000, 0x40, 2, "second", 0x40);
	s = with_dump(&d, d.len, 0);
	assert_int_equal(jit_symbols__find(s, 0x1000, &found), 0);
	assert_int_equal(strlen(found.name), 4095);
	expect(s, 0x2000, "second");
	jit_symbols__free(s);
}

/* ---- unwind tables --------------------------------------------------------------------------- */

/* Bytes of .eh_frame, then as many of .eh_frame_hdr; claimed: what the record says it has. */
static void put_frames(struct dump *d, uint8_t byte, uint32_t len, uint64_t claimed)
{
	put32(d, 4);
	put32(d, 16 + 24 + 2 * len);
	put64(d, 5);
	put64(d, claimed);
	put64(d, len);
	put64(d, 0);
	memset(d->data + d->len, byte, 2 * len);
	d->len += 2 * len;
}

static void expect_frames(const struct jit_symbols *s, size_t i, uint8_t byte, uint32_t len,
			  uint64_t vaddr)
{
	const struct jit_frames *f = &s->v[i].frames;

	assert_true(i < s->nr);
	assert_int_equal(f->len, len);
	if (!len)
		return;
	assert_int_equal(s->frames[f->at], byte);
	assert_int_equal(s->frames[f->at + len - 1], byte);
	assert_true(f->vaddr == vaddr);
}

static void test_frames(void **state)
{
	static struct dump d;
	struct jit_symbols *s;

	put_header(&d, JITDUMP, 1, 40);
	put_frames(&d, 1, 10, 20);
	put_load(&d, 0x1000, 0x41, 1, "first", 0x41);
	put_load(&d, 0x2000, 0x40, 2, "has none", 0x40);
	put_frames(&d, 2, 10000, 20000); /* longer than what is read of a record at once */
	put_load(&d, 0x3000, 0x40, 3, "third", 0x40);
	put_move(&d, 0x3000, 0x4000, 0x40, 3);
	put_move(&d, 0x1000, 0x5000, 0x20, 1); /* a part of it */
	put_frames(&d, 3, 10, 21); /* more than the record has */
	put_load(&d, 0x6000, 0x40, 4, "bad frames", 0x40);
	put_frames(&d, 4, 10, 9); /* less than the header */
	put_frames(&d, 5, 10, 20);
	s = with_dump(&d, d.len, 0);
	assert_int_equal(s->nr, 6);
	expect_frames(s, 0, 1, 10, 0x1048);
	expect_frames(s, 1, 0, 0, 0);
	expect_frames(s, 2, 2, 10000, 0x3040);
	expect_frames(s, 3, 2, 10000, 0x4040);
	expect_frames(s, 4, 0, 0, 0);
	expect_frames(s, 5, 0, 0, 0);
	assert_int_equal(s->nr_framed, 3);
	assert_int_equal(jit_symbols__bad(s), 2);
	jit_symbols__free(s);
}

/* A dump that is read while it is written, byte by byte: no record is lost. */
static void test_pieces(void **state)
{
	static struct dump d;
	int fd = file_of("", 0);
	struct jit_symbols *s;

	put_header(&d, JITDUMP, 1, 40);
	put_frames(&d, 1, 10, 20);
	put_load(&d, 0x1000, 0x40, 1, "first", 0x40);
	put_frames(&d, 2, 5000, 10000);
	put_load(&d, 0x2000, 0x40, 2, "second", 0x40);
	put_move(&d, 0x1000, 0x3000, 0x40, 1);
	assert_int_equal(jit_symbols__new(&s), 0);
	for (size_t len = 0; len <= d.len; len++) {
		if (len)
			assert_int_equal(pwrite(fd, d.data + len - 1, 1, len - 1), 1);
		assert_int_equal(jit_symbols__read_dump(s, fd, true), len < 40 ? -EINVAL : 0);
	}
	assert_int_equal(jit_symbols__settle(s), 0);
	assert_int_equal(s->nr, 3);
	expect(s, 0x1000, "first");
	expect(s, 0x2000, "second");
	expect(s, 0x3000, "first");
	expect_frames(s, 0, 1, 10, 0x1040);
	expect_frames(s, 1, 2, 5000, 0x2040);
	expect_frames(s, 2, 1, 10, 0x3040);
	assert_int_equal(jit_symbols__bad(s), 0);
	jit_symbols__free(s);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map),	   cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_long_lines), cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_overlap),	   cmocka_unit_test(test_overlap_random),
		cmocka_unit_test(test_dump),	   cmocka_unit_test(test_torn),
		cmocka_unit_test(test_bad_dumps),  cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_frames),	   cmocka_unit_test(test_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
