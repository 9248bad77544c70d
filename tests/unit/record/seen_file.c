// SPDX-License-Identifier: GPL-2.0-only
/* Files of other processes: opened while the processes run, and never replaced by another file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fcntl.h>

#include <cmocka.h>

#include "children.h"
#include "record/files/seen_file.h"
#include "record/files/snapshot.h"
#include "symbols/usyms.h"

static bool privileged;
static struct snapshot no_snapshot = { .prog_fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };
static struct seen_context ctx = { .snapshot = &no_snapshot };

static int setup(void **state)
{
	return children_begin() ? 0 : -1;
}

static int teardown(void **state)
{
	seen_context__free(&ctx);
	children_end();
	return 0;
}

static void need_privileges(void)
{
	if (privileged)
		return;
	print_message("skipped: /proc/PID/map_files cannot be opened without privileges\n");
	skip();
}

/* The file is found; its paths are as given, and the rest is in *ret_seen if not NULL. */
static void expect(const struct wire_file_event *n, const char *path, const char *host_path,
		   bool deleted)
{
	struct seen_file s;
	struct stat st;

	assert_int_equal(seen_file__open(&ctx, n, false, &s), 0);
	assert_int_equal(fstat(s.fd, &st), 0);
	assert_int_equal(st.st_ino, n->key.w[0]);
	assert_int_equal(s.inode, n->key.w[0]);
	assert_int_equal(s.dev_major << 20 | s.dev_minor, n->key.dev);
	assert_string_equal(s.path, path);
	assert_string_equal(s.host_path, host_path);
	assert_int_equal(s.deleted, deleted);
	seen_file__release(&s);
	seen_context__forget(&ctx);
}

static void expect_gone(const struct wire_file_event *n, const char *path)
{
	struct seen_file s;

	assert_int_equal(seen_file__open(&ctx, n, false, &s), -ENOENT);
	assert_int_equal(s.fd, -1);
	assert_string_equal(s.path, path);
	assert_string_equal(s.host_path, "");
	assert_int_equal(s.inode, n->key.w[0]);
	assert_int_equal(s.st.size, n->key.w[4]);
	seen_file__release(&s);
	seen_context__forget(&ctx);
}

static void test_alive(void **state)
{
	uint8_t own[64];
	const char *path = copy_self("prog");
	struct child c = child_mapping(NULL, path);
	struct wire_file_event n = file_event_of(&c, path);
	unsigned int own_len = 0;
	struct seen_file s;
	int fd;

	expect(&n, path, path, false);
	assert_int_equal(seen_file__open(&ctx, &n, true, &s), 0);
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	elf_build_id__from_fd(fd, own, &own_len);
	close(fd);
	assert_int_equal(s.id_len, own_len);
	assert_memory_equal(s.id, own, own_len);
	assert_non_null(s.table);
	assert_true(seen_file__is_steady(&s));
	assert_int_equal(link(path, in_dir("steady?")), 0);
	assert_false(seen_file__is_steady(&s));
	n = file_event_of(&c, path);
	seen_file__release(&s);
	/* the process is gone: the file is opened by its name */
	child_end(&c);
	expect(&n, path, path, false);
	/* also by another name, as long as the file is unchanged */
	assert_int_equal(link(path, in_dir("other")), 0);
	expect_gone(&n, path);
	n = file_event_of(&c, path);
	file_event_set_path(&n, in_dir("other"));
	expect(&n, in_dir("other"), in_dir("other"), false);
	n.nr_parts = n.len = 0;
	expect_gone(&n, "");
}

/* A file without a build id gets a hash of its contents, unless it is long. */
static void test_content(void **state)
{
	const char *path = in_dir("text");
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct seen_file s;
	struct wire_file_event n;
	struct child c;

	assert_int_equal(write(fd, "abc", 3), 3);
	c = child_mapping(NULL, path);
	n = file_event_of(&c, path);
	assert_int_equal(seen_file__open(&ctx, &n, true, &s), 0);
	assert_true(s.content_id);
	assert_int_equal(s.id_len, 20);
	assert_memory_equal(s.id, "\xba\x78\x16\xbf", 4); /* SHA-256 of "abc" */
	assert_null(s.table);
	assert_int_equal(s.table_err, -ENOEXEC);
	seen_file__release(&s);
	assert_int_equal(ftruncate(fd, SEEN_FILE_QUICK + 1), 0);
	n = file_event_of(&c, path);
	assert_int_equal(seen_file__open(&ctx, &n, true, &s), 0);
	assert_int_equal(s.id_len, 0);
	assert_int_equal(s.table_err, 0);
	seen_file__release(&s);
	child_end(&c);
	close(fd);
}

/* Another file at the same path, with the same size and mtime. */
static void test_replaced(void **state)
{
	const char *path = copy_self("prog"), *other = copy_self("new");
	struct child c = child_mapping(NULL, path);
	struct wire_file_event n = file_event_of(&c, path);
	struct timespec times[2] = { 0 };
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	times[1] = st.st_mtim;
	assert_int_equal(utimensat(AT_FDCWD, other, times, 0), 0);
	assert_int_equal(rename(other, path), 0);
	if (privileged)
		expect(&n, path, "", true);
	child_end(&c);
	expect_gone(&n, path);
}

/* The same inode with other contents. */
static void test_changed(void **state)
{
	const char *path = copy_self("prog");
	struct child c = child_mapping(NULL, path);
	struct wire_file_event n = file_event_of(&c, path);
	struct timespec times[2] = { { 1, 0 }, { 1, 0 } };

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	expect_gone(&n, path);
	n = file_event_of(&c, path);
	expect(&n, path, path, false);
	/* overwritten, with the mtime set back: the mapping has the new contents */
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(truncate(path, n.key.w[4]), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	if (privileged)
		expect(&n, path, path, false);
	child_end(&c);
	expect_gone(&n, path);
	c = child_mapping(NULL, path);
	n = file_event_of(&c, path);
	assert_int_equal(truncate(path, 100), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	expect_gone(&n, path);
	child_end(&c);
}

static void test_deleted(void **state)
{
	const char *path, *odd;
	struct child c;
	struct wire_file_event n;

	need_privileges();
	path = copy_self("prog");
	c = child_mapping(NULL, path);
	n = file_event_of(&c, path);
	assert_int_equal(unlink(path), 0);
	expect(&n, path, "", true);
	child_end(&c);
	expect_gone(&n, path);

	/* one of two links is deleted */
	path = copy_self("prog");
	assert_int_equal(link(path, in_dir("second")), 0);
	c = child_mapping(NULL, path);
	n = file_event_of(&c, path);
	assert_int_equal(unlink(path), 0);
	expect(&n, path, "", true);
	child_end(&c);

	/* a file whose name ends like that */
	odd = copy_self("prog (deleted)");
	c = child_mapping(NULL, odd);
	n = file_event_of(&c, odd);
	expect(&n, odd, odd, false);
	child_end(&c);
}

/* The mapping has moved, or the event names another thread of the same address space. */
static void test_moved(void **state)
{
	const char *path;
	struct wire_file_event n;
	struct child c;

	need_privileges();
	path = copy_self("prog");
	c = child_mapping(NULL, path);
	n = file_event_of(&c, path);
	n.nr_parts = n.len = 0;
	n.start += 0x1000000;
	n.end += 0x1000000;
	expect(&n, path, path, false);
	n.tgid = 0x7fffffff;
	expect(&n, path, path, false);
	n.tid = 0x7fffffff;
	expect_gone(&n, "");
	child_end(&c);
}

/* What is at the path is no regular file, and is not opened. */
static void test_no_file(void **state)
{
	const char *path = copy_self("prog");
	struct child c = child_mapping(NULL, path);
	struct wire_file_event n = file_event_of(&c, path);

	child_end(&c);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10);
	expect_gone(&n, path);
	assert_int_equal(file_open_regular(path), -ENOENT);
	assert_int_equal(file_open_regular("/dev/null"), -ENOENT);
	alarm(0);
}

static void test_chroot(void **state)
{
	struct wire_file_event n;
	const char *path;
	struct child c;

	need_privileges();
	assert_int_equal(mkdir(in_dir("root"), 0755), 0);
	assert_int_equal(mkdir(in_dir("root/bin"), 0755), 0);
	path = copy_self("root/bin/prog");
	c = child_mapping(in_dir("root"), "/bin/prog");
	n = file_event_of(&c, path);
	expect(&n, "/bin/prog", path, false);
	child_end(&c);
	expect(&n, path, path, false);
}

static void test_mount_namespace(void **state)
{
	const char *path, *at;
	struct wire_file_event n;
	struct child c;

	need_privileges();
	assert_int_equal(mkdir(in_dir("real"), 0755), 0);
	assert_int_equal(mkdir(in_dir("at"), 0755), 0);
	path = copy_self("real/prog");
	at = in_dir("at/prog");
	c = child_mounting(in_dir("real"), in_dir("at"), at);
	n = file_event_of(&c, path);
	file_event_set_path(&n, at);
	/* the path in the event, and the same file in that namespace */
	expect(&n, at, path, false);
	/* the process is gone, but its mount namespace still exists */
	n.tgid = n.tid = 0x7fffffff;
	expect(&n, at, path, false);
	child_end(&c);
	expect_gone(&n, at);
}

/* Invalid file events are refused. */
static void test_damaged(void **state)
{
	struct wire_file_event n = {
		.key = { WIRE_KEY_FILE, ~0u, { ~0ull, ~0ull, ~0ull, ~0ull, ~0ull } }
	};

	n.tgid = n.tid = ~0u;
	n.start = n.end = n.offset = ~0ull;
	n.nr_parts = ~0u;
	n.len = ~0u;
	memset(n.parts, 'x', sizeof(n.parts));
	expect_gone(&n, "");
	n.parts[100] = '\0';
	expect_gone(&n, "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_alive, setup, teardown),
		cmocka_unit_test_setup_teardown(test_content, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deleted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_moved, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_chroot, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mount_namespace, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
	};

	privileged = may_open_mappings();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
