// SPDX-License-Identifier: GPL-2.0-only
/* Kept unwind tables: equal to converted ones, whatever lies in the directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../trace/gen.h"
#include "cleanup.h"
#include "clock.h"
#include "record/cache/cache_dir.h"
#include "record/files/table_store.h"
#include "trace/bytes.h"
#include "unwind/unwind.h"

#define HEADER 176 /* bytes of a kept table before its words; the CRC is at 4, of all from 8 on */
#define SIZES 136 /* where those of the table are */
#define MIB (1ull << 20)

static char dir[64], libc[256]; /* a directory for the test, a large library */

static uint64_t real_ns; /* of the real-time clock, if it is made up; else 0 */

int __real_clock_gettime(clockid_t id, struct timespec *ret);
int __wrap_clock_gettime(clockid_t id, struct timespec *ret);

int __wrap_clock_gettime(clockid_t id, struct timespec *ret)
{
	if (id != CLOCK_REALTIME || !real_ns)
		return __real_clock_gettime(id, ret);
	*ret = (struct timespec){ real_ns / SECOND_NS, real_ns % SECOND_NS };
	return 0;
}

/* A store and its directory. */
struct kept {
	struct cache_dir *dir;
	struct table_store *tables;
};

static struct kept open_at(const char *path, uint64_t max_bytes)
{
	struct kept k = { .dir = cache_dir__open_at(path, max_bytes) };

	if (k.dir)
		k.tables = table_store__new(k.dir);
	return k;
}

static struct kept open_store(uint64_t max_bytes)
{
	struct kept k = open_at(dir, max_bytes);

	assert_non_null(k.tables);
	return k;
}

static void close_store(struct kept *k)
{
	table_store__free(k->tables);
	cache_dir__free(k->dir);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return remove(path);
}

static int begin(void **state)
{
	strcpy(dir, "/var/tmp/stackonce-test-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int end(void **state)
{
	return nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static bool equal(const struct unwind_table *a, const struct unwind_table *b)
{
	struct unwind_table x = *a, y = *b;

	x.words = y.words = NULL;
	return !memcmp(&x, &y, sizeof(x)) && !memcmp(a->words, b->words, a->nr_words * 4ul);
}

/* What the store says of a file is what is converted afresh. */
static void check_file(struct kept s, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct unwind_table *kept = NULL, *fresh = NULL;
	int err;

	assert_true(fd >= 0);
	err = unwind__from_fd(fd, &fresh);
	assert_int_equal(table_store__get(s.tables, fd, true, &kept), err);
	if (!err)
		assert_true(equal(kept, fresh));
	if (!err)
		assert_true(unwind__is_valid(fresh));
	unwind__free(fresh);
	unwind__free(kept);
}

static struct table_store_stats stats_of(struct kept s)
{
	struct table_store_stats stats;

	table_store__stats(s.tables, &stats);
	return stats;
}

/* The only kept table. */
static void kept_path(char path[512])
{
	_cleanup_closedir_ DIR *d = opendir(dir);
	struct dirent *e;
	unsigned int nr = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		if (!strncmp(e->d_name, "unwind-", 7) && ++nr)
			snprintf(path, 512, "%s/%s", dir, e->d_name);
	assert_int_equal(nr, 1);
}

/* Keeps only the library's table; skips the test if files of its file system are not kept. */
static void keep_one(char path[512])
{
	struct kept s = open_store(256 * MIB);

	check_file(s, libc);
	if (!stats_of(s).added)
		printf("%s is on a file system whose files are not kept\n", libc);
	if (!stats_of(s).added)
		skip();
	close_store(&s);
	kept_path(path);
}

static struct table_store_stats look(void)
{
	struct kept s = open_store(256 * MIB);
	struct table_store_stats stats;

	check_file(s, libc);
	stats = stats_of(s);
	close_store(&s);
	return stats;
}

static char *read_all(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "r");
	char *bytes;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	*ret_len = ftell(f);
	rewind(f);
	bytes = malloc(*ret_len);
	assert_int_equal(fread(bytes, 1, *ret_len, f), *ret_len);
	fclose(f);
	return bytes;
}

static void write_all(const char *path, const char *bytes, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

/* All libraries of this machine: as converted, from the store, and again. */
static void test_same(void **state)
{
	struct kept s = open_store(2048 * MIB);
	char folder[256], path[600];
	struct table_store_stats stats;
	struct dirent *e;
	unsigned int round;
	struct stat st;
	DIR *d;

	strcpy(folder, libc);
	*strrchr(folder, '/') = '\0';
	for (round = 0; round < 2; round++) {
		d = opendir(folder);
		while ((e = readdir(d))) {
			snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
			if (!lstat(path, &st) && S_ISREG(st.st_mode) && strstr(path, ".so"))
				check_file(s, path);
		}
		closedir(d);
	}
	stats = stats_of(s);
	printf("%u tables kept, %u found, %u converted\n", stats.added, stats.found,
	       stats.converted);
	assert_true(stats.found >= stats.added); /* several links to a file */
	close_store(&s);
}

static void test_damaged(void **state)
{
	char path[512], *bytes;
	uint64_t seed = 7;
	size_t len, i;

	keep_one(path);
	assert_int_equal(look().found, 1);
	bytes = read_all(path, &len);
	for (i = 0; i < 60; i++) { /* cut, also in the header */
		write_all(path, bytes, i < 20 ? i * 9 : gen_random(&seed) % len);
		assert_int_equal(look().found, 0);
	}
	for (i = 0; i < 300; i++) {
		size_t at = i < HEADER ? i : gen_random(&seed) % len;
		char bit = 1 << gen_random(&seed) % 8;

		bytes[at] ^= bit;
		write_all(path, bytes, len);
		assert_int_equal(look().found, 0);
		bytes[at] ^= bit;
	}
	write_all(path, bytes, len);
	assert_int_equal(look().found, 1);
	free(bytes);
}

/* A wrong table with the right checksum: refused, or whatever it says lies within it. */
static void test_wrong_tables(void **state)
{
	struct kept s;
	struct unwind_table *t;
	uint64_t seed = 11, off;
	char path[512], *bytes, *changed;
	unsigned int i, n, refused = 0;
	size_t len, at;
	uint32_t crc;
	int fd = open(libc, O_RDONLY | O_CLOEXEC);

	keep_one(path);
	bytes = read_all(path, &len);
	changed = malloc(len);
	s = open_store(256 * MIB);
	for (i = 0; i < 300; i++) {
		memcpy(changed, bytes, len);
		for (n = 0; n <= i % 3; n++) {
			/* the sizes in the header, the pages, or anything */
			at = i % 4 == 0 ? SIZES + gen_random(&seed) % 40 :
			     i % 4 < 3	? HEADER + gen_random(&seed) % 2000 :
					  HEADER + gen_random(&seed) % (len - HEADER);
			changed[at] = gen_random(&seed);
		}
		crc = crc32c(0, changed + 8, len - 8);
		memcpy(changed + 4, &crc, 4);
		write_all(path, changed, len);
		assert_int_equal(table_store__get(s.tables, fd, false, &t), 0);
		for (off = 0; off < 4 * MIB; off += 777)
			unwind__find(t, off);
		unwind__free(t);
	}
	refused = stats_of(s).converted;
	printf("%u of 300 refused\n", refused);
	assert_true(refused > 100);
	close_store(&s);
	close(fd);
	free(bytes);
	free(changed);
}

static bool opens(const char *path)
{
	struct kept s = open_at(path, MIB);

	close_store(&s);
	return s.dir;
}

/* Nobody else may be able to change the directory or what is in it. */
static void test_others(void **state)
{
	char path[512], inner[128], link[128];

	keep_one(path);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(look().found, 0);
	assert_int_equal(look().found, 1); /* it was replaced */
	if (!geteuid()) {
		assert_int_equal(chown(path, 1, 1), 0);
		assert_int_equal(look().found, 0);
	}
	snprintf(inner, sizeof(inner), "%s/a/b", dir);
	assert_true(opens(inner)); /* created */
	assert_int_equal(chmod(inner, 0770), 0);
	assert_false(opens(inner));
	assert_int_equal(chmod(inner, 0702), 0);
	assert_false(opens(inner));
	assert_int_equal(chmod(inner, 0755), 0);
	assert_true(opens(inner));
	snprintf(link, sizeof(link), "%s/link", dir);
	assert_int_equal(symlink("a", link), 0);
	strcat(link, "/b");
	assert_false(opens(link));
	if (!geteuid()) {
		snprintf(path, sizeof(path), "%s/a", dir);
		assert_int_equal(chown(path, 1, 1), 0);
		assert_false(opens(inner));
	}
	assert_false(opens("relative"));
	assert_false(opens("/proc/stackonce")); /* as a home that is read-only */
	assert_false(opens("/dev/null/stackonce"));
}

/* What is not a regular file is no table: a link, a FIFO without a writer. */
static void test_no_file(void **state)
{
	char path[512];

	keep_one(path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(look().found, 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(libc, path), 0);
	assert_int_equal(look().found, 0);
	assert_int_equal(look().found, 1);
}

static void test_full_disk(void **state)
{
	struct rlimit before, none = { 1000, RLIM_INFINITY };
	struct kept s = open_store(256 * MIB);
	struct dirent *e;
	DIR *d;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	none.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_FSIZE, &none);
	check_file(s, libc);
	check_file(s, libc);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(stats_of(s).added, 0);
	assert_int_equal(stats_of(s).converted, 2);
	close_store(&s);
	d = opendir(dir);
	while ((e = readdir(d)))
		assert_int_not_equal(*e->d_name, 'u'); /* no remains */
	closedir(d);
}

/* A file that has just changed may change again within the resolution of its times. */
static void test_new_file(void **state)
{
	struct kept s = open_store(256 * MIB);
	char copy[128], *bytes;
	struct stat st;
	size_t len;

	bytes = read_all(libc, &len);
	snprintf(copy, sizeof(copy), "%s/copy", dir);
	write_all(copy, bytes, len);
	assert_int_equal(stat(copy, &st), 0);
	real_ns = (st.st_ctim.tv_sec + 2) * SECOND_NS + st.st_ctim.tv_nsec;
	check_file(s, copy);
	assert_int_equal(stats_of(s).added, 0);
	real_ns++;
	check_file(s, copy);
	real_ns = 0;
	if (!stats_of(s).added)
		printf("%s is on a file system whose files are not kept\n", copy);
	close_store(&s);
	free(bytes);
}

static void test_limit(void **state)
{
	char path[512], old[600];
	struct kept s;
	struct stat st;
	unsigned int i;

	keep_one(path);
	assert_int_equal(stat(path, &st), 0);
	for (i = 0; i < 4; i++) { /* older ones */
		struct timespec times[2] = { { i + 1, 0 }, { i + 1, 0 } };

		snprintf(old, sizeof(old), "%s/unwind-old-%u", dir, i);
		assert_int_equal(link(path, old), 0);
		assert_int_equal(unlink(old), 0);
		write_all(old, "", 0);
		assert_int_equal(truncate(old, st.st_size), 0);
		assert_int_equal(utimensat(AT_FDCWD, old, times, 0), 0);
	}
	assert_int_equal(unlink(path), 0);
	s = open_store(3 * st.st_size);
	check_file(s, libc);
	assert_int_equal(stats_of(s).added, 1);
	close_store(&s);
	assert_int_equal(access(path, F_OK), 0);
	for (i = 0; i < 4; i++) {
		snprintf(old, sizeof(old), "%s/unwind-old-%u", dir, i);
		assert_int_equal(!access(old, F_OK), i == 3); /* the three oldest are gone */
	}
	/* a table that exceeds the limit alone is not kept */
	assert_int_equal(unlink(path), 0);
	s = open_store(st.st_size - 1);
	check_file(s, libc);
	assert_int_equal(stats_of(s).added, 0);
	close_store(&s);
}

static void test_two_recorders(void **state)
{
	struct kept a = open_store(256 * MIB);
	struct kept b = open_store(256 * MIB);
	char path[512];

	check_file(a, libc);
	if (!stats_of(a).added)
		skip();
	kept_path(path);
	assert_int_equal(unlink(path), 0); /* by another one's limit */
	check_file(b, libc);
	check_file(a, libc);
	assert_int_equal(stats_of(a).found, 1);
	assert_int_equal(stats_of(b).added, 1);
	close_store(&a);
	close_store(&b);
}

/* The library that printf() is in. */
static bool find_library(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512], *path;

	while (f && fgets(line, sizeof(line), f)) {
		path = strchr(line, '/');
		if (path && strstr(path, "/libc.so.6") && strlen(path) < sizeof(libc)) {
			strcpy(libc, path);
			libc[strcspn(libc, "\n")] = '\0';
		}
	}
	fclose(f);
	return *libc;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same, begin, end),
		cmocka_unit_test_setup_teardown(test_damaged, begin, end),
		cmocka_unit_test_setup_teardown(test_wrong_tables, begin, end),
		cmocka_unit_test_setup_teardown(test_others, begin, end),
		cmocka_unit_test_setup_teardown(test_no_file, begin, end),
		cmocka_unit_test_setup_teardown(test_full_disk, begin, end),
		cmocka_unit_test_setup_teardown(test_new_file, begin, end),
		cmocka_unit_test_setup_teardown(test_limit, begin, end),
		cmocka_unit_test_setup_teardown(test_two_recorders, begin, end),
	};

	if (!find_library()) {
		printf("skipped: this program is not linked to libc.so.6\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
