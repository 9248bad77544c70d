// SPDX-License-Identifier: GPL-2.0-only
/* What is kept of processes with generated code that have exited. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "children.h"
#include "clock.h"
#include "log.h"
#include "record/files/jit_source.h"
#include "record/files/jit_tables.h"
#include "record/files/table_cache.h"
#include "symbols/jit_symbols.h"

static time_t monotonic = 1000; /* s */
static int64_t real_to_boot; /* ns from the real-time clock to the boot clock; 0: as it is */

int __real_clock_gettime(clockid_t id, struct timespec *ret);
int __wrap_clock_gettime(clockid_t id, struct timespec *ret);

int __wrap_clock_gettime(clockid_t id, struct timespec *ret)
{
	int err = __real_clock_gettime(id, ret);
	int64_t ns;

	if (id == CLOCK_MONOTONIC)
		*ret = (struct timespec){ .tv_sec = monotonic };
	if (id == CLOCK_REALTIME && real_to_boot) {
		__real_clock_gettime(CLOCK_BOOTTIME, ret);
		ns = ret->tv_sec * (int64_t)SECOND_NS + ret->tv_nsec - real_to_boot;
		*ret = (struct timespec){ ns / (int64_t)SECOND_NS, ns % (int64_t)SECOND_NS };
	}
	return err;
}

static unsigned int warnings;

static void count_log(void *ctx, enum stk_log_level level, const char *msg)
{
	warnings += level == STK_LOG_WARN;
}

static struct jit_source *source_of(const struct child *c, struct jit_memory *m)
{
	struct jit_source *j;

	assert_int_equal(jit_source__new(c->pid, process__start_ns(c->pid), &j), 0);
	jit_source__set_memory(j, m);
	return j;
}

/* A process that has written a map, at that time (NULL: now), and exits. */
static struct jit_source *exited_at(struct child *c, const struct timespec *mtime,
				    struct jit_memory *m)
{
	struct jit_source *j = source_of(c, m);
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", c->pid);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("1000 100 name\n", f);
	fclose(f);
	if (mtime)
		assert_int_equal(
			utimensat(AT_FDCWD, path, (struct timespec[]){ *mtime, *mtime }, 0), 0);
	child_end(c);
	assert_int_equal(jit_source__poll(j), 0);
	unlink(path);
	return j;
}

static struct jit_source *exited(struct jit_memory *m)
{
	struct child c = child_mapping(NULL, "/proc/self/exe");

	return exited_at(&c, NULL, m);
}

/* Whether there are names in a file of that age when the process starts so long after a second. */
static bool has_names(int64_t after_ns, int64_t older_ns)
{
	const int64_t start = 1000000000 * (int64_t)SECOND_NS + after_ns, at = start - older_ns;
	const struct timespec mtime = { at / (int64_t)SECOND_NS, at % (int64_t)SECOND_NS };
	struct child c = child_mapping(NULL, "/proc/self/exe");
	struct jit_symbols *s;
	struct jit_source *j;
	int err;

	real_to_boot = (int64_t)process__start_ns(c.pid) - start;
	j = exited_at(&c, &mtime, NULL);
	real_to_boot = 0;
	err = jit_source__symbols(j, &s);
	jit_source__free(j);
	assert_true(!err || err == -ENOENT);
	return !err;
}

/*
 * A file that the process has just written may seem to be older: its time is that of the last tick,
 * or the last full second.
 */
static void test_times(void **state)
{
	assert_true(has_names(0, 0));
	assert_true(has_names(0, 10000000));
	assert_true(has_names(500000000, 500000000));
	assert_false(has_names(500000000, 400000000));
	assert_false(has_names(0, 500000000));
	assert_false(has_names(500000000, 500000000 + SECOND_NS));
}

/* The names of all processes together are limited. */
static void test_memory(void **state)
{
	const size_t size = sizeof(struct jit_function) + strlen("name") + 1;
	struct jit_memory m = { .used = JIT_SOURCES_MAX - size };
	struct jit_source *first, *second, *third;
	struct jit_symbols *s;

	log_set_sink(count_log, NULL);
	first = exited(&m);
	assert_int_equal(jit_source__symbols(first, &s), 0);
	assert_int_equal(s->nr, 1);
	assert_true(m.used == JIT_SOURCES_MAX);
	assert_int_equal(warnings, 0);
	second = exited(&m);
	third = exited(&m);
	assert_int_equal(jit_source__symbols(second, &s), -ENOENT);
	assert_int_equal(jit_source__symbols(third, &s), -ENOENT);
	assert_true(m.used == JIT_SOURCES_MAX);
	assert_int_equal(warnings, 1);
	log_set_sink(NULL, NULL);
	jit_source__free(second);
	jit_source__free(third);
	jit_source__free(first);
	assert_true(m.used == JIT_SOURCES_MAX - size);
}

/* A dump of one function. */
static void write_dump(const char *path)
{
	uint32_t head[] = { 0x4a695444, 1, 40, 62, 0, 1 }, load[] = { 0, 16 + 40 + 5 };
	uint64_t rest[] = { 0, 0 }, ts = 100, where[] = { 0x1000, 0x1000, 0x20, 1 };
	uint32_t who[] = { 1, 1 };
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fwrite(head, sizeof(head), 1, f);
	fwrite(rest, sizeof(rest), 1, f);
	fwrite(load, sizeof(load), 1, f);
	fwrite(&ts, sizeof(ts), 1, f);
	fwrite(who, sizeof(who), 1, f);
	fwrite(where, sizeof(where), 1, f);
	fwrite("name", 5, 1, f);
	fclose(f);
}

/* Its functions are freed when no copied stack can be of it any more, its names are kept. */
static void test_dumped(void **state)
{
	const char *path = in_dir("dump");
	struct jit_symbols *s;
	struct jit_source *j;
	struct child c;
	char name[64];

	write_dump(path);
	c = child_mapping(NULL, path);
	snprintf(name, sizeof(name), "/tmp/jit-%d.dump", c.pid);
	assert_int_equal(rename(path, name), 0); /* the mapping is that of a dump now */
	j = source_of(&c, NULL);
	assert_int_equal(jit_source__poll(j), 0);
	assert_int_equal(jit_source__dumped(j)->nr, 1);
	child_end(&c);
	assert_int_equal(jit_source__poll(j), 0);
	monotonic += 9;
	assert_int_equal(jit_source__poll(j), 0);
	assert_int_equal(jit_source__dumped(j)->nr, 1);
	monotonic += 2;
	assert_int_equal(jit_source__poll(j), 0);
	assert_int_equal(jit_source__dumped(j)->nr, 0);
	assert_int_equal(jit_source__nr_dumped(j), 0);
	assert_int_equal(jit_source__symbols(j, &s), 0);
	assert_int_equal(s->nr, 1);
	jit_source__free(j);
	unlink(name);
}

/* The windows of a process that has exited serve its copied stacks, and no longer. */
static void test_windows(void **state)
{
	static struct wire_file entries[WIRE_MAX_FILES];
	struct child c = child_mapping(NULL, "/proc/self/exe");
	const struct wire_file_event n = { .file = 7, .key.w = { 1 } };
	struct wire_user_ctl ctl = { 0 };
	struct jit_source *j = source_of(&c, NULL), *gone;
	struct table_cache *cache;
	struct jit_tables *t;

	assert_int_equal(table_cache__new(entries, &ctl, -1, 1 << 20, &cache), 0);
	assert_int_equal(jit_tables__new(entries, cache, &t), 0);
	assert_int_equal(jit_tables__add(t, &n, j), 0);
	jit_tables__poll(t);
	child_end(&c);
	jit_tables__poll(t);
	monotonic += 9;
	jit_tables__poll(t);
	assert_true(jit_tables__has(t, 7));
	monotonic += 2;
	jit_tables__poll(t);
	assert_false(jit_tables__has(t, 7));
	jit_source__free(j);
	/* one that was gone before anything of it was read */
	assert_int_equal(jit_source__new(c.pid, 1, &gone), 0);
	assert_true(jit_source__has_exited(gone));
	assert_false(jit_source__is_done(gone));
	monotonic += 11;
	assert_true(jit_source__is_done(gone));
	jit_source__free(gone);
	jit_tables__free(t);
	table_cache__free(cache);
}

static int setup(void **state)
{
	return !children_begin();
}

static int teardown(void **state)
{
	children_end();
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_dumped),
		cmocka_unit_test(test_windows),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
