// SPDX-License-Identifier: GPL-2.0-only
/* Unwind tables that are published and evicted, as BPF programs see them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "log.h"
#include "record/files/table_cache.h"

#define MIB (1u << 20)
#define SECOND 1000000000ull

struct test {
	struct wire_file *entries;
	struct wire_user_ctl ctl;
	struct table_cache *c;
	uint64_t now;
	unsigned int warnings;
};

static int grace; /* the result of grace__wait() */

int __wrap_grace__wait(void);

int __wrap_grace__wait(void)
{
	return grace;
}

static void on_log(void *ctx, enum stk_log_level level, const char *msg)
{
	struct test *t = ctx;

	t->warnings += level == STK_LOG_WARN;
}

static int setup(void **state)
{
	struct test *t = calloc(1, sizeof(*t));

	t->entries = calloc(WIRE_MAX_FILES, sizeof(*t->entries));
	t->now = SECOND;
	assert_int_equal(table_cache__new(t->entries, &t->ctl, -1, MIB, &t->c), 0);
	log_set_sink(on_log, t);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct test *t = *state;

	log_set_sink(NULL, NULL);
	table_cache__free(t->c);
	free(t->entries);
	free(t);
	return 0;
}

/* A table whose words differ from those of any other table. */
static struct unwind_table *make(uint32_t id, uint32_t nr_words)
{
	struct unwind_table *t = calloc(1, sizeof(*t));
	uint32_t i;

	t->words = malloc(nr_words * 4);
	for (i = 0; i < nr_words; i++)
		t->words[i] = id << 20 ^ i;
	t->nr_words = nr_words;
	t->first_page = id + 1;
	t->nr_pages = id + 2;
	t->rules = 2 * id;
	t->cfi_bytes = 10 * nr_words;
	return t;
}

static void put(struct test *t, uint32_t id, uint32_t nr_words, bool wait)
{
	table_cache__put(t->c, id, make(id, nr_words), wait);
}

/* The entry and the table that the cache returns are the table that was put in. */
static void check_loaded(struct test *t, uint32_t id, uint32_t nr_words)
{
	const struct unwind_table *u = table_cache__get(t->c, id);
	const struct wire_file *e = &t->entries[id];
	uint32_t i;

	assert_int_equal(e->state, WIRE_FILE_LOADED);
	assert_non_null(u);
	assert_int_equal(u->nr_words, nr_words);
	assert_int_equal(e->first_page, id + 1);
	assert_int_equal(e->nr_pages, id + 2);
	assert_int_equal(e->rules, e->table + 2 * id);
	assert_true(e->table);
	for (i = 0; i < nr_words; i++)
		if (u->words[i] != (id << 20 ^ i))
			fail_msg("word %u of file %u", i, id);
}

static void check_none(struct test *t, uint32_t id, enum wire_file_state file_state)
{
	assert_int_equal(t->entries[id].state, file_state);
	assert_null(table_cache__get(t->c, id));
}

/*
 * A second passes, and these files are marked as used, as threads do when the generation changes.
 */
static void second(struct test *t, const uint32_t *used, size_t nr)
{
	uint32_t generation = t->ctl.generation;
	size_t i;

	table_cache__tick(t->c, t->now);
	for (i = 0; i < nr && t->ctl.generation != generation; i++)
		t->entries[used[i]].used = t->ctl.epoch;
	t->now += SECOND;
	table_cache__tick(t->c, t->now);
}

static void test_publish(void **state)
{
	struct table_cache_stats stats;
	struct test *t = *state;

	put(t, 1, 100, true);
	check_loaded(t, 1, 100);
	assert_int_equal(t->ctl.generation, 1);
	put(t, 2, 20000, true);
	check_loaded(t, 2, 20000);
	check_loaded(t, 1, 100);
	table_cache__none(t->c, 3);
	check_none(t, 3, WIRE_FILE_NO_CFI);
	assert_int_equal(t->ctl.generation, 3);
	check_none(t, 4, WIRE_FILE_NEW);
	table_cache__stats(t->c, &stats);
	assert_int_equal(stats.loaded, 2);
	assert_int_equal(stats.evicted, 0);
	assert_int_equal(stats.cfi_bytes, 201000);
	assert_int_equal(stats.bytes, 1024 + 79 * 1024);
	assert_int_equal(stats.peak, stats.bytes);
}

/* The tables that were idle longest are evicted, as many as necessary, and none that is in use. */
static void test_evict(void **state)
{
	static const uint32_t used[] = { 2, 4, 5 };
	struct table_cache_stats stats;
	struct test *t = *state;
	uint32_t id;

	for (id = 1; id <= 4; id++)
		put(t, id, 7 * 8192, true);
	t->ctl.epoch = 20;
	t->entries[1].used = 12;
	t->entries[2].used = 3; /* old, but its threads mark it when the generation changes */
	t->entries[3].used = 11;
	t->entries[4].used = 19;
	put(t, 5, 7 * 8192, true);
	/* it waits for room, but user space can use it meanwhile */
	assert_int_equal(t->entries[5].state, WIRE_FILE_NEW);
	assert_int_equal(table_cache__get(t->c, 5)->words[1], 5 << 20 ^ 1);
	second(t, used, 2);
	check_loaded(t, 5, 7 * 8192);
	check_loaded(t, 1, 7 * 8192);
	check_loaded(t, 2, 7 * 8192);
	check_none(t, 3, WIRE_FILE_NEW);
	check_loaded(t, 4, 7 * 8192);
	table_cache__stats(t->c, &stats);
	assert_int_equal(stats.evicted, 1);
	assert_int_equal(stats.loaded, 4);
	assert_int_equal(t->warnings, 0);
	/* it is loaded again on request */
	put(t, 3, 7 * 8192, true);
	second(t, used, 3);
	check_loaded(t, 3, 7 * 8192);
	check_none(t, 1, WIRE_FILE_NEW);
}

/* Where the kernel refuses to wait, a program may be using any table: none is evicted. */
static void test_no_grace(void **state)
{
	struct table_cache_stats stats;
	struct test *t = *state;
	uint32_t id;

	for (id = 1; id <= 4; id++)
		put(t, id, 7 * 8192, true);
	put(t, 5, 7 * 8192, true);
	grace = -EPERM;
	second(t, NULL, 0);
	grace = 0;
	for (id = 1; id <= 4; id++)
		check_loaded(t, id, 7 * 8192);
	check_none(t, 5, WIRE_FILE_NO_CFI);
	table_cache__stats(t->c, &stats);
	assert_int_equal(stats.evicted, 0);
	assert_int_equal(stats.loaded, 4);
	put(t, 6, 7 * 8192, true);
	second(t, NULL, 0);
	check_loaded(t, 6, 7 * 8192);
}

/* The same for a table that was replaced: its memory is not used again. */
static void test_no_grace_replaced(void **state)
{
	struct table_cache_stats stats;
	struct test *t = *state;

	put(t, 1, 7 * 8192, true);
	table_cache__replace(t->c, 1, make(2, 8192));
	grace = -EPERM;
	second(t, NULL, 0);
	second(t, NULL, 0);
	grace = 0;
	table_cache__stats(t->c, &stats);
	assert_int_equal(stats.bytes, 8 * 8192 * 4);
	second(t, NULL, 0);
	second(t, NULL, 0);
	table_cache__stats(t->c, &stats);
	assert_int_equal(stats.bytes, 8192 * 4);
}

/* Nothing is idle: the table is refused for a while. */
static void test_refuse(void **state)
{
	static const uint32_t used[] = { 1, 2 };
	struct table_cache_stats stats;
	struct test *t = *state;
	int i;

	put(t, 1, 14 * 8192, true);
	put(t, 2, 14 * 8192, true);
	put(t, 3, 14 * 8192, true);
	second(t, used, 2);
	check_loaded(t, 1, 14 * 8192);
	check_loaded(t, 2, 14 * 8192);
	check_none(t, 3, WIRE_FILE_NO_CFI);
	assert_int_equal(t->warnings, 1);
	table_cache__stats(t->c, &stats);
	assert_int_equal(stats.refused, 1);
	for (i = 0; i < 40 && t->entries[3].state == WIRE_FILE_NO_CFI; i++)
		second(t, used, 2);
	assert_in_range(i, 20, 35);
	check_none(t, 3, WIRE_FILE_NEW);
	/* meanwhile file 1 has become idle */
	put(t, 3, 14 * 8192, true);
	second(t, used + 1, 1);
	check_loaded(t, 3, 14 * 8192);
	check_none(t, 1, WIRE_FILE_NEW);
	assert_int_equal(t->warnings, 1);
}

/* A table that is to replace another and finds no room is refused, too, for a while. */
static void test_refuse_replaced(void **state)
{
	struct table_cache_stats stats;
	struct test *t = *state;
	int i;

	put(t, 1, 20 * 8192, true);
	put(t, 2, 8192, true);
	table_cache__replace(t->c, 2, make(2, 14 * 8192));
	check_none(t, 2, WIRE_FILE_NO_CFI);
	assert_true(table_cache__is_refused(t->c, 2));
	table_cache__replace(t->c, 3, make(3, 14 * 8192));
	check_none(t, 3, WIRE_FILE_NO_CFI);
	assert_int_equal(t->warnings, 1);
	table_cache__stats(t->c, &stats);
	assert_int_equal(stats.refused, 2);
	assert_int_equal(stats.loaded, 1);
	table_cache__replace(t->c, 2, make(2, 8192)); /* it is early */
	check_none(t, 2, WIRE_FILE_NO_CFI);
	for (i = 0; i < 40 && t->entries[3].state == WIRE_FILE_NO_CFI; i++)
		second(t, NULL, 0);
	assert_in_range(i, 20, 35);
	check_none(t, 2, WIRE_FILE_NEW);
	table_cache__none(t->c, 1);
	check_none(t, 1, WIRE_FILE_NO_CFI);
	second(t, NULL, 0);
	second(t, NULL, 0);
	table_cache__stats(t->c, &stats);
	assert_int_equal(stats.bytes, 0);
	table_cache__replace(t->c, 2, make(2, 14 * 8192));
	check_loaded(t, 2, 14 * 8192);
	table_cache__replace(t->c, 3, make(3, 14 * 8192));
	check_loaded(t, 3, 14 * 8192);
}

/* The number of waiting tables is bounded, and one that can never fit does not wait. */
static void test_bounds(void **state)
{
	struct test *t = *state;
	uint32_t id;

	put(t, 1, 32 * 8192, true);
	check_none(t, 1, WIRE_FILE_NO_CFI);
	assert_int_equal(t->warnings, 1);
	put(t, 2, 31 * 8192, true);
	check_loaded(t, 2, 31 * 8192);
	for (id = 3; id < 10; id++)
		put(t, id, 5 * 8192, true);
	assert_non_null(table_cache__get(t->c, 3));
	check_none(t, 6, WIRE_FILE_NO_CFI);
	check_none(t, 9, WIRE_FILE_NO_CFI);
	second(t, NULL, 0);
	check_loaded(t, 3, 5 * 8192);
	check_loaded(t, 5, 5 * 8192);
	check_none(t, 2, WIRE_FILE_NEW);
}

/* Without waiting nothing changes, and the table may be put in later. */
static void test_no_wait(void **state)
{
	struct test *t = *state;

	put(t, 1, 31 * 8192, false);
	put(t, 2, 31 * 8192, false);
	check_loaded(t, 1, 31 * 8192);
	check_none(t, 2, WIRE_FILE_NEW);
	second(t, NULL, 0);
	check_loaded(t, 1, 31 * 8192);
	put(t, 2, 31 * 8192, true);
	second(t, NULL, 0);
	check_loaded(t, 2, 31 * 8192);
	check_none(t, 1, WIRE_FILE_NEW);
	put(t, 2, 100, true); /* it has a table already */
	check_loaded(t, 2, 31 * 8192);
}

static void test_epoch(void **state)
{
	struct test *t = *state;
	uint32_t epoch, generation;
	int i;

	table_cache__tick(t->c, t->now);
	epoch = t->ctl.epoch;
	generation = t->ctl.generation;
	for (i = 0; i < 100; i++)
		table_cache__tick(t->c, t->now += SECOND / 10);
	assert_int_equal(t->ctl.epoch, epoch + 10);
	assert_int_equal(t->ctl.generation, generation);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_publish, setup, teardown),
		cmocka_unit_test_setup_teardown(test_evict, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_grace, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_grace_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refuse, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refuse_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(test_epoch, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
