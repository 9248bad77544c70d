// SPDX-License-Identifier: GPL-2.0-only
/* One record per file: which observations are of the same file, its names, when it is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmocka.h>

#include "../trace/written.h"
#include "record/files/file_map.h"
#include "record/files/jit_source.h"
#include "record/files/seen_file.h"

#define EXT4 (8u << 20 | 1)
#define BTRFS 44u

struct test {
	struct gen_file f;
	struct stk_writer *w;
	struct file_map *m;
};

static int setup(void **state)
{
	struct stk_writer_opts opts = { .nr_cpus = 1 };
	struct test *t = calloc(1, sizeof(*t));

	t->w = gen_open(&t->f, &opts);
	assert_int_equal(file_map__new(&t->m), 0);
	file_map__set_writer(t->m, t->w);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct test *t = *state;

	file_map__free(t->m);
	gen_close(&t->f);
	free(t);
	return 0;
}

static struct wire_file_event file_event(uint32_t dev, uint64_t ino, uint64_t address)
{
	return (struct wire_file_event){
		.key = { WIRE_KEY_FILE, dev, { ino, 1, address, 1000, 4096 } },
		.tgid = 1,
	};
}

static struct seen_file seen(uint64_t st_dev, uint64_t ino, const char *path, const char *host_path)
{
	struct seen_file s = {
		.fd = open("/dev/null", O_RDONLY | O_CLOEXEC),
		.st = { .dev = st_dev, .ino = ino, .size = 4096, .mtime_ns = 1000 },
		.path = strdup(path),
		.host_path = strdup(host_path),
		.dev_major = 8,
		.dev_minor = 1,
		.inode = ino,
		.id_len = 20,
		.content_id = true,
	};

	memset(s.id, 'c', 20);
	return s;
}

static struct seen_file seen_with_id(const char *path, const char *host_path)
{
	struct seen_file s = seen(0x801, 7, path, host_path);

	s.id_len = 3;
	s.content_id = false;
	memcpy(s.id, "abc", 3);
	return s;
}

static struct seen_file gone(const char *path)
{
	return (struct seen_file){
		.fd = -1,
		.st = { .size = 4096, .mtime_ns = 1000 },
		.path = strdup(path),
		.host_path = strdup(""),
	};
}

/* Returns the number of the file. */
static uint32_t add(struct test *t, struct wire_file_event n, struct seen_file s)
{
	struct mapped_file *f;
	uint32_t number;

	assert_int_equal(file_map__add(t->m, &n, &s, &f), 0);
	assert_int_equal(s.fd, -1);
	assert_null(s.path);
	assert_int_equal(file_map__number(t->m, f, &number), 0);
	assert_ptr_equal(file_map__at(t->m, number), f);
	return number;
}

/* On a block device, device, inode and generation identify a file. */
static void test_same_inode(void **state)
{
	struct test *t = *state;
	struct wire_file_event n = file_event(EXT4, 7, 0xffff888000001000);
	struct seen_file s;

	assert_int_equal(add(t, n, seen(0x801, 7, "/bin/a", "/bin/a")), 1);
	/* evicted and read again */
	n.key.w[2] = 0xffff888000002000;
	assert_int_equal(add(t, n, seen(0x801, 7, "/bin/a", "/bin/a")), 1);
	/* through an overlay */
	assert_int_equal(add(t, n, seen(0x30, 99, "/bin/a", "")), 1);
	/* another link to it */
	assert_int_equal(add(t, n, seen(0x801, 7, "/bin/b", "/bin/b")), 1);
	/* a new link, which changed only ctime */
	n.key.w[5] = 5;
	assert_int_equal(add(t, n, seen(0x801, 7, "/bin/b", "/bin/b")), 1);
	/* with other contents */
	n.key.w[3] = 1001;
	assert_int_equal(add(t, n, seen(0x801, 7, "/bin/a", "/bin/a")), 2);
	n.key.w[4] = 4097;
	assert_int_equal(add(t, n, seen(0x801, 7, "/bin/a", "/bin/a")), 3);
	s = seen(0x801, 7, "/bin/a", "/bin/a");
	s.id[0] = 'd';
	assert_int_equal(add(t, n, s), 4);
	/* the inode number reused, another inode, another device */
	n.key.w[1] = 2;
	assert_int_equal(add(t, n, seen(0x801, 7, "/bin/a", "/bin/a")), 5);
	n.key.w[0] = 8;
	assert_int_equal(add(t, n, seen(0x801, 7, "/bin/a", "/bin/a")), 6);
	n.key.dev++;
	assert_int_equal(add(t, n, seen(0x801, 7, "/bin/a", "/bin/a")), 7);
	assert_int_equal(file_map__nr(t->m), 7);
	assert_null(file_map__at(t->m, 0));
	assert_null(file_map__at(t->m, 8));
	stk_writer__free(t->w);
}

/* Too long to be hashed, and without a build id: only ctime shows that it was overwritten. */
static void test_long_files(void **state)
{
	struct test *t = *state;
	struct wire_file_event n = file_event(EXT4, 7, 1);
	struct seen_file s = seen(0x801, 7, "/a", "/a");

	s.st.size = n.key.w[4] = 1 << 30;
	s.id_len = s.id[0] = s.content_id = 0;
	assert_int_equal(add(t, n, s), 1);
	n.key.w[5] = 5;
	s = seen(0x801, 7, "/a", "/a");
	s.st.size = n.key.w[4];
	s.id_len = s.id[0] = s.content_id = 0;
	assert_int_equal(add(t, n, s), 2);
	/* with a build id, ctime is ignored */
	s = seen_with_id("/a", "/a");
	s.st.size = n.key.w[4];
	assert_int_equal(add(t, n, s), 3);
	n.key.w[5] = 6;
	s = seen_with_id("/a", "/a");
	s.st.size = n.key.w[4];
	assert_int_equal(add(t, n, s), 3);
	stk_writer__free(t->w);
}

/* On btrfs several files may share all of these; only stat(2) distinguishes subvolumes. */
static void test_subvolumes(void **state)
{
	struct test *t = *state;
	struct wire_file_event n = file_event(BTRFS, 7, 0x1000);
	struct seen_file s = seen(0x50, 7, "/a", "/a");

	assert_int_equal(add(t, n, seen(0x50, 7, "/a", "/a")), 1);
	n.key.w[2] = 0x2000;
	assert_int_equal(add(t, n, seen(0x51, 7, "/snap/a", "/snap/a")), 2);
	s.st.ctime_ns = 5; /* another link to it */
	assert_int_equal(add(t, n, s), 1);
	/* for deleted files only the key is known */
	n.key.w[2] = 0x3000;
	assert_int_equal(add(t, n, gone("/a")), 3);
	n.key.w[2] = 0x4000;
	assert_int_equal(add(t, n, gone("/a")), 4);
	n.key.dev = EXT4;
	assert_int_equal(add(t, n, gone("/a")), 5);
	n.key.w[2] = 0x5000;
	assert_int_equal(add(t, n, gone("/a")), 5);
	stk_writer__free(t->w);
}

static void test_names(void **state)
{
	struct test *t = *state;
	struct wire_file_event n = file_event(EXT4, 7, 1);
	struct seen_file s = seen_with_id("/one", "/h/one");
	struct mapped_file *file;
	struct stk_reader *r;
	struct stk_file f;

	/* two before the file gets its number, the others later */
	assert_int_equal(file_map__add(t->m, &n, &s, &file), 0);
	s = seen_with_id("/two", "/h/two");
	assert_int_equal(file_map__update(t->m, file, &n, &s), 0);
	assert_int_equal(mapped_file__info(file)->nr_names, 2);
	assert_int_equal(mapped_file__info(file)->number, 0);
	assert_int_equal(add(t, n, seen_with_id("/one", "")), 1);
	assert_int_equal(add(t, n, seen_with_id("/three", "")), 1);
	assert_int_equal(add(t, n, seen_with_id("/two", "/h/two")), 1);

	r = read_back(t->w, &t->f);
	assert_int_equal(stk_reader__nr_files(r), 1);
	assert_int_equal(stk_reader__file(r, 1, &f), 0);
	assert_int_equal(f.nr_names, 3);
	assert_int_equal(f.id_kind, STK_ID_BUILD_ID);
	assert_memory_equal(f.id, "abc", 3);
	assert_int_equal(f.id_len, 3);
	assert_int_equal(f.inode, 7);
	assert_int_equal(f.mtime_ns, 1000);
	expect_path(r, 1, 0, "/one", "/h/one");
	expect_path(r, 1, 1, "/two", "/h/two");
	expect_path(r, 1, 2, "/three", "");
	stk_reader__free(r);
}

static void test_many_names(void **state)
{
	struct test *t = *state;
	struct wire_file_event n = file_event(EXT4, 7, 1);
	struct stk_reader *r;
	struct stk_file f;
	char path[32];
	int i;

	for (i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), "/name%d", i);
		assert_int_equal(add(t, n, seen(0x801, 7, path, path)), 1);
	}
	r = read_back(t->w, &t->f);
	assert_int_equal(stk_reader__file(r, 1, &f), 0);
	assert_int_equal(f.nr_names, FILE_MAP_MAX_NAMES);
	stk_reader__free(r);
}

/* A deleted file is found again: it keeps its number and gets all details. */
static void test_found(void **state)
{
	struct test *t = *state;
	struct wire_file_event n = file_event(BTRFS, 7, 1);
	struct seen_file s = gone("/lib/x.so");
	struct mapped_file *file;
	struct stk_reader *r;
	struct stk_file f;
	uint32_t number;

	assert_int_equal(file_map__add(t->m, &n, &s, &file), 0);
	assert_int_equal(file_map__number(t->m, file, &number), 0);
	assert_int_equal(mapped_file__info(file)->flags, STK_FILE_GONE);
	assert_true(mapped_file__open(file) < 0);
	s = seen(0x50, 7, "/lib/x.so", "/ctr/lib/x.so");
	s.deleted = true;
	s.content_id = false;
	s.id_len = 2;
	memcpy(s.id, "id", 2);
	assert_int_equal(file_map__update(t->m, file, &n, &s), 0);
	assert_int_equal(mapped_file__info(file)->flags, STK_FILE_DELETED);
	assert_int_equal(file_map__number(t->m, file, &number), 0);
	assert_int_equal(number, 1);
	/* deleted again: the details are kept */
	s = gone("/lib/x.so");
	assert_int_equal(file_map__update(t->m, file, &n, &s), 0);
	s = gone("");
	assert_int_equal(file_map__update(t->m, file, &n, &s), 0);
	assert_int_equal(mapped_file__info(file)->nr_names, 1);
	/* another file, of which only the key is known */
	n.key.w[0]++;
	s = gone("/lib/y.so");
	assert_int_equal(file_map__add(t->m, &n, &s, &file), 0);
	assert_int_equal(file_map__number(t->m, file, &number), 0);
	s = seen(0x50, 8, "/lib/y.so", "");
	assert_int_equal(file_map__update(t->m, file, &n, &s), 0);
	r = read_back(t->w, &t->f);
	assert_int_equal(stk_reader__nr_files(r), 2);
	assert_int_equal(stk_reader__file(r, 2, &f), 0);
	assert_int_equal(f.flags, 0);
	assert_int_equal(stk_reader__file(r, 1, &f), 0);
	assert_int_equal(f.flags, STK_FILE_DELETED);
	assert_int_equal(f.id_len, 2);
	assert_int_equal(f.inode, 7);
	stk_reader__free(r);
}

static struct jit_source *source(void)
{
	struct jit_source *j;

	assert_int_equal(jit_source__new(getpid(), 123, &j), 0);
	return j;
}

/* The windows of a program share its source, until the process executes another one. */
static void test_programs(void **state)
{
	struct test *t = *state;
	struct wire_file_event jit = { .key = { WIRE_KEY_JIT, 0, { 1, 0x7fffffff, 123 } } };
	struct mapped_file *a, *b, *next, *late;

	assert_int_equal(file_map__add_jit(t->m, &jit, NULL, &a), 0);
	assert_non_null(mapped_file__jit(a));
	jit.key.w[0]++;
	assert_int_equal(file_map__add_jit(t->m, &jit, source(), &b), 0);
	assert_ptr_equal(mapped_file__jit(a), mapped_file__jit(b));
	jit.key.w[0] += 1ull << 32;
	assert_int_equal(file_map__add_jit(t->m, &jit, NULL, &next), 0);
	assert_non_null(mapped_file__jit(next));
	assert_null(mapped_file__jit(a));
	assert_null(mapped_file__jit(b));
	jit.key.w[0] -= (1ull << 32) - 1;
	assert_int_equal(file_map__add_jit(t->m, &jit, NULL, &late), 0);
	assert_null(mapped_file__jit(late));
	assert_non_null(mapped_file__jit(next));
	stk_writer__free(t->w);
}

/* Files without a number are not in the recording. */
static void test_unused(void **state)
{
	struct test *t = *state;
	struct wire_file_event n = file_event(EXT4, 7, 1), jit = { 0 };
	struct seen_file s = seen(0x801, 7, "/unused", "/unused");
	struct mapped_file *file;
	struct stk_reader *r;
	struct stk_file f;
	uint32_t number;

	assert_int_equal(file_map__add(t->m, &n, &s, &file), 0);
	jit.key = (struct wire_file_key){ WIRE_KEY_JIT,
					  0,
					  { 0x7full << (40 - WIRE_JIT_BITS), 0x7fffffff, 123 } };
	assert_int_equal(file_map__add_jit(t->m, &jit, source(), &file), 0);
	assert_int_equal(file_map__number(t->m, file, &number), 0);
	assert_int_equal(number, 1);
	assert_int_equal(file_map__add_vdso(t->m, (const uint8_t *)"vdso", 4, &file), 0);
	assert_int_equal(file_map__number(t->m, file, &number), 0);
	assert_int_equal(number, 2);
	assert_int_equal(file_map__add_jit(t->m, &jit, source(), &file), 0);
	assert_int_equal(file_map__number(t->m, file, &number), 0);
	assert_int_equal(number, 1);
	jit.key.w[0]++;
	assert_int_equal(file_map__add_jit(t->m, &jit, source(), &file), 0);
	assert_int_equal(file_map__number(t->m, file, &number), 0);
	assert_int_equal(number, 3);
	r = read_back(t->w, &t->f);
	assert_int_equal(stk_reader__nr_files(r), 3);
	assert_int_equal(stk_reader__file(r, 1, &f), 0);
	assert_int_equal(f.kind, STK_FILE_JIT);
	assert_string_equal(f.path, "[jit]");
	assert_int_equal(f.pid, 0x7fffffff);
	assert_int_equal(f.start_ns, 123);
	assert_true(f.base == 0x7full << 40);
	assert_int_equal(stk_reader__file(r, 2, &f), 0);
	assert_int_equal(f.kind, STK_FILE_VDSO);
	assert_string_equal(f.path, "[vdso]");
	assert_memory_equal(f.id, "vdso", 4);
	stk_reader__free(r);
}

/* Deleted files are kept open until their symbols are written; more than 512 are counted. */
static void test_not_kept(void **state)
{
	struct test *t = *state;
	char path[32];
	unsigned int i;

	for (i = 0; i < 512 + 3; i++) {
		struct seen_file s;

		snprintf(path, sizeof(path), "/tmp/%u", i);
		s = seen(0x801, 100 + i, path, path);
		s.deleted = true;
		assert_int_equal(file_map__not_kept(t->m), i < 512 ? 0 : i - 512);
		add(t, file_event(EXT4, 100 + i, i), s);
	}
	add(t, file_event(EXT4, 5000, 1), seen(0x801, 5000, "/bin/a", "/bin/a"));
	assert_int_equal(file_map__not_kept(t->m), 3);
}

/* The same for the windows of processes that generate code, which share a descriptor. */
static void test_jit_not_kept(void **state)
{
	struct wire_file_event n = { .key = { WIRE_KEY_JIT, 0, { 1, 0, 123 } } };
	struct test *t = *state;
	struct jit_source *j;
	struct mapped_file *file;

	for (unsigned int i = 0; i < 512 + 3; i++) {
		n.key.w[1] = 1000 + i;
		assert_int_equal(jit_source__new(getpid(), process__start_ns(getpid()), &j), 0);
		assert_int_equal(jit_source__nr_fds(j), 1);
		assert_int_equal(file_map__add_jit(t->m, &n, j, &file), 0);
		assert_int_equal(!mapped_file__jit(file), i >= 512);
		n.key.w[0]++;
		assert_int_equal(file_map__add_jit(t->m, &n, source(), &file), 0);
		n.key.w[0]--;
		assert_int_equal(file_map__not_kept(t->m), i < 512 ? 0 : 2 * (i - 511));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same_inode, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_subvolumes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_found, setup, teardown),
		cmocka_unit_test_setup_teardown(test_programs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_jit_not_kept, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
