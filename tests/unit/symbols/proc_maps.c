// SPDX-License-Identifier: GPL-2.0-only
/* Lines of /proc/PID/maps: lines of the kernel, and lines that it would not write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "symbols/usyms.h"

static int parse(const char *text, struct proc_mapping *m)
{
	static char line[8192];

	snprintf(line, sizeof(line), "%s", text);
	return proc_mapping__parse(line, m);
}

static void test_fields(void **state)
{
	struct proc_mapping m;

	assert_int_equal(parse("7f0a1c000000-7f0a1c021000 r-xp 0002a000 fe:01 1835011"
			       "                    /usr/lib/a b.so",
			       &m),
			 0);
	assert_int_equal(m.start, 0x7f0a1c000000);
	assert_int_equal(m.end, 0x7f0a1c021000);
	assert_int_equal(m.offset, 0x2a000);
	assert_int_equal(m.dev_major, 0xfe);
	assert_int_equal(m.dev_minor, 1);
	assert_int_equal(m.inode, 1835011);
	assert_string_equal(m.perms, "r-xp");
	assert_string_equal(m.path, "/usr/lib/a b.so");
	assert_false(m.deleted);
	/* the largest values */
	assert_int_equal(parse("ffffffffff600000-ffffffffffffffff --xs ffffffffffffffff "
			       "ffffffff:ffffffff 18446744073709551615 [vsyscall]",
			       &m),
			 0);
	assert_int_equal(m.end, UINT64_MAX);
	assert_int_equal(m.dev_minor, UINT32_MAX);
	assert_int_equal(m.inode, UINT64_MAX);
	assert_string_equal(m.path, "[vsyscall]");
	assert_string_equal(m.perms, "--xs");
}

static void test_no_name(void **state)
{
	struct proc_mapping m;

	assert_int_equal(parse("1000-2000 rw-p 00000000 00:00 0 ", &m), 0);
	assert_string_equal(m.path, "");
	assert_int_equal(parse("1000-2000 rw-p 00000000 00:00 0", &m), 0);
	assert_string_equal(m.path, "");
}

static void test_deleted(void **state)
{
	struct proc_mapping m;

	assert_int_equal(parse("1000-2000 r-xp 0 00:01 7 /tmp/a (deleted)", &m), 0);
	assert_true(m.deleted);
	assert_string_equal(m.path, "/tmp/a");
	assert_int_equal(parse("1000-2000 r-xp 0 00:01 7 [a (deleted)", &m), 0);
	assert_false(m.deleted);
	assert_int_equal(parse("1000-2000 r-xp 0 00:01 7 (deleted)", &m), 0);
	assert_false(m.deleted);
}

static void test_escapes(void **state)
{
	struct proc_mapping m;

	assert_int_equal(parse("1000-2000 r-xp 0 00:01 7 /a\\012b\\040\\01\\\\012 (deleted)", &m),
			 0);
	assert_string_equal(m.path, "/a\nb\\040\\01\\\n");
	assert_true(m.deleted);
}

static void test_bad(void **state)
{
	static const char *const bad[] = {
		"",
		"1000",
		"1000-",
		"1000-2000",
		"1000-2000 ",
		"1000-2000 r-xp",
		"1000-2000 r-xp ",
		"1000-2000 r-xp 0",
		"1000-2000 r-xp 0 00:01",
		"1000-2000 r-xp 0 00:01 ",
		"1000-2000 r-xp 0 00:01 x",
		"1000-2000 r-xp 0 00:01 7x",
		"1000-2000 r-xp 0 0001 7 /a",
		"1000-2000 rwxpp 0 00:01 7 /a",
		"1000-2000 rwx 0 00:01 7 /a",
		"1000-2000 xwrp 0 00:01 7 /a",
		"1000 2000 r-xp 0 00:01 7 /a",
		"2000-1000 r-xp 0 00:01 7 /a",
		"-2000 r-xp 0 00:01 7 /a",
		"+1000-2000 r-xp 0 00:01 7 /a",
		" 1000-2000 r-xp 0 00:01 7 /a",
		"1000-2000  r-xp 0 00:01 7 /a",
		"10000000000000000-20000000000000000 r-xp 0 00:01 7 /a",
		"1000-2000 r-xp 0 100000000:01 7 /a",
		"1000-2000 r-xp 0 00:01 18446744073709551616 /a",
		"g000-h000 r-xp 0 00:01 7 /a",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct proc_mapping m = { .inode = 42 };

		assert_int_equal(parse(bad[i], &m), -EINVAL);
		assert_int_equal(m.inode, 42);
	}
}

/* This kernel's lines for this process; the odd name stands for all. */
static void test_own(void **state)
{
	char name[] = "/tmp/maps\nand (more) \\040.XXXXXX", line[8192];
	int fd = mkstemp(name);
	struct proc_mapping m;
	unsigned int seen = 0;
	struct stat st;
	void *mapped;
	FILE *maps;

	assert_true(fd >= 0 && !ftruncate(fd, 8192) && !fstat(fd, &st));
	mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 4096);
	assert_true(mapped != MAP_FAILED);
	for (int pass = 0; pass < 2; pass++) {
		maps = fopen("/proc/self/maps", "r");
		assert_non_null(maps);
		while (fgets(line, sizeof(line), maps)) {
			line[strcspn(line, "\n")] = '\0';
			assert_int_equal(proc_mapping__parse(line, &m), 0);
			if (m.start != (uintptr_t)mapped)
				continue;
			assert_string_equal(m.path, name);
			assert_int_equal(m.deleted, pass);
			assert_int_equal(m.inode, st.st_ino);
			assert_int_equal(m.offset, 4096);
			seen++;
		}
		fclose(maps);
		if (!pass)
			unlink(name);
	}
	assert_int_equal(seen, 2);
	munmap(mapped, 4096);
	close(fd);
}

/* The vdso is an ELF file that is only in memory. */
static void test_vdso(void **state)
{
	uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
	FILE *maps = fopen("/proc/self/maps", "r");
	struct elf_symbols *s = NULL;
	struct elf_symbol found;
	struct proc_mapping m;
	unsigned int len, nr = 0;
	char line[8192];
	uint8_t id[64];

	assert_non_null(maps);
	if (!vdso) {
		fclose(maps);
		print_message("this process has no vdso\n");
		skip();
	}
	while (!s && fgets(line, sizeof(line), maps)) {
		line[strcspn(line, "\n")] = '\0';
		assert_int_equal(proc_mapping__parse(line, &m), 0);
		if (m.start == vdso)
			assert_int_equal(
				elf_symbols__from_image((void *)m.start, m.end - m.start, &s), 0);
	}
	fclose(maps);
	assert_non_null(s);
	assert_string_equal(m.path, "[vdso]");
	assert_int_equal(elf_build_id__from_image((void *)m.start, m.end - m.start, id, &len), 0);
	for (uint64_t at = 0; at < m.end - m.start; at++)
		nr += !elf_symbols__find(s, at, &found) && strstr(found.name, "clock_gettime");
	assert_true(nr > 0);
	elf_symbols__free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),	cmocka_unit_test(test_no_name),
		cmocka_unit_test(test_deleted), cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_bad),	cmocka_unit_test(test_own),
		cmocka_unit_test(test_vdso),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
