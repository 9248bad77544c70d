// SPDX-License-Identifier: GPL-2.0-only
/* Files identified by their contents, and how much of this machine's files is read for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "built.h"
#include "symbols/usyms.h"

#define ID "0123456789abcdef0123456789abcdef01234567"
#define BUILD_SHARED "rm -rf whole* && $CC -nostdlib -shared -o whole functions.S -Wl,--build-id="

static const uint8_t id[20] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23,
				0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67 };
static const uint8_t other_id[20] = { 0x99 };

static struct usyms *new_usyms(void)
{
	struct usyms_opts opts = { 0 };
	struct usyms *u;

	assert_int_equal(usyms__new(&opts, &u), 0);
	return u;
}

static void expect(struct usyms *u, const struct usyms_file *file, uint64_t offset,
		   const char *name)
{
	struct elf_symbol found;

	assert_int_equal(usyms__find(u, file, offset, &found), 0);
	assert_string_equal(found.name, name);
}

static void test_without_build_id(void **state)
{
	struct usyms *u = new_usyms();
	struct usyms_file file = { 0 };
	uint8_t hash[20];
	const char *path;
	struct stat st;
	int fd;

	built__run(BUILD_SHARED "none");
	fd = built__open("whole");
	assert_int_equal(content_hash__from_fd(fd, UINT64_MAX, hash), 0);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	file.path = built__path("whole");
	file.id = hash;
	file.id_len = sizeof(hash);
	file.content = true;
	file.size = st.st_size;
	expect(u, &file, built__mark("whole", 9), "inner");
	file.size++;
	assert_int_equal(usyms__verify(u, &file, &path), -ESTALE);
	file.size = 0; /* a recorder that hashed it knew the size */
	assert_int_equal(usyms__verify(u, &file, &path), -ESTALE);
	file.size = st.st_size;
	file.id = id;
	assert_int_equal(usyms__verify(u, &file, &path), -ESTALE);
	/* without any id: size and time */
	file = (struct usyms_file){ .path = built__path("whole") };
	assert_int_equal(usyms__verify(u, &file, &path), -ESTALE);
	file.size = st.st_size;
	file.mtime_ns = st.st_mtim.tv_sec * 1000000000ULL + st.st_mtim.tv_nsec;
	expect(u, &file, built__mark("whole", 9), "inner");
	file.mtime_ns++;
	assert_int_equal(usyms__verify(u, &file, &path), -ESTALE);
	file.mtime_ns--;
	file.size++;
	assert_int_equal(usyms__verify(u, &file, &path), -ESTALE);
	usyms__free(u);
}

/* The number of bytes that this process has read from files. */
static uint64_t read_bytes(void)
{
	FILE *f = fopen("/proc/self/io", "r");
	unsigned long long bytes;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "rchar: %llu", &bytes), 1);
	fclose(f);
	return bytes;
}

#define MIB ((uint64_t)1 << 20)

/* An entry for a file of that size with this hash. */
static int verify_content(struct usyms *u, const char *name, const uint8_t *hash, uint64_t size)
{
	struct usyms_file file = {
		.path = built__path(name), .id = hash, .id_len = 20, .content = true, .size = size
	};
	const char *path;

	return usyms__verify(u, &file, &path);
}

/* Many entries for one file, each with another hash. */
static void test_hashed_once(void **state)
{
	struct usyms *u = new_usyms();
	uint64_t before = read_bytes();
	char name[64];

	built__run("truncate -s 8M large && ln -f large linked && cp --sparse=always large other");
	for (int i = 0; i < 16; i++) {
		uint8_t hash[20] = { i };

		snprintf(name, sizeof(name), "%.*s%s", 2 * i,
			 ".///./././././././././././././././././", i & 1 ? "large" : "linked");
		assert_int_equal(verify_content(u, name, hash, 8 * MIB), -ESTALE);
	}
	assert_in_range(read_bytes() - before, 8 * MIB, 9 * MIB);
	/* a separate file, and one that has changed */
	assert_int_equal(verify_content(u, "other", id, 8 * MIB), -ESTALE);
	assert_in_range(read_bytes() - before, 16 * MIB, 17 * MIB);
	built__run("printf x | dd of=large bs=1 conv=notrunc status=none");
	assert_int_equal(verify_content(u, "linked", other_id, 8 * MIB), -ESTALE);
	assert_in_range(read_bytes() - before, 24 * MIB, 25 * MIB);
	usyms__free(u);
}

/* Files that cannot match are not hashed. */
static void test_not_hashed(void **state)
{
	struct usyms *u = new_usyms();
	uint64_t before = read_bytes();
	struct stat st;

	built__run("truncate -s 8M large && truncate -s 65M larger");
	assert_int_equal(verify_content(u, "large", id, 8 * MIB - 1), -ESTALE);
	assert_int_equal(verify_content(u, "large", id, 0), -ESTALE);
	/* larger than what recorders hash */
	assert_int_equal(verify_content(u, "larger", id, 65 * MIB), -ESTALE);
	/* a file that is identified by its build id */
	built__run(BUILD_SHARED "0x" ID);
	built__run("truncate -s 8M whole");
	assert_int_equal(stat(built__path("whole"), &st), 0);
	assert_int_equal(verify_content(u, "whole", id, st.st_size), -ESTALE);
	assert_in_range(read_bytes() - before, 0, MIB);
	usyms__free(u);
}

static void test_hashed_enough(void **state)
{
	struct usyms_opts opts = { .max_hashed = 5 * MIB };
	uint64_t before = read_bytes();
	static const uint8_t zeros[20] = { 0x56, 0x47, 0xf0, 0x5e, 0xc1, 0x89, 0x58,
					   0x94, 0x7d, 0x32, 0x87, 0x4e, 0xeb, 0x78,
					   0x8f, 0xa3, 0x96, 0xa0, 0x5d, 0x0b };
	char name[20];
	struct usyms *u;

	built__run("for i in 0 1 2 3 4 5 6 7; do truncate -s 2M many$i; done");
	assert_int_equal(usyms__new(&opts, &u), 0);
	for (int i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "many%d", i % 8);
		assert_int_equal(verify_content(u, name, zeros, 2 * MIB), i % 8 < 2 ? 0 : -ESTALE);
	}
	assert_in_range(read_bytes() - before, 4 * MIB, 5 * MIB);
	usyms__free(u);
}

/* The symbols of a file with several names are read once. */
static void test_read_once(void **state)
{
	struct usyms *u = new_usyms();
	struct usyms_file file;
	uint64_t before, once, mark;

	built__run(BUILD_SHARED "0x" ID);
	built__run("ln whole whole2");
	mark = built__mark("whole", 9);
	file = (struct usyms_file){ .path = built__path("whole"), .id = id, .id_len = 20 };
	before = read_bytes();
	expect(u, &file, mark, "inner");
	once = read_bytes() - before;
	for (int i = 0; i < 8; i++) {
		file = (struct usyms_file){ .path = built__path(i & 1 ? "./whole" : "whole2"),
					    .id = id,
					    .id_len = 20 };
		file.size = i + 1; /* another entry */
		expect(u, &file, mark, "inner");
	}
	assert_in_range(read_bytes() - before, once, 2 * once);
	usyms__free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_build_id), cmocka_unit_test(test_hashed_once),
		cmocka_unit_test(test_not_hashed),	 cmocka_unit_test(test_hashed_enough),
		cmocka_unit_test(test_read_once),
	};

	return cmocka_run_group_tests(tests, built__setup, built__teardown);
}
