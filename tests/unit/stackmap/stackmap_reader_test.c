// SPDX-License-Identifier: GPL-2.0-only
/* The user-space side of the stack map, on a map in memory that the kernel's source fills. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STACKMAP_HOST
#define STACKMAP_HOST_CPU() 0
#include "stackmap.bpf.h"
#include "stackmap.h"

#define STACKS 500

static struct stackmap *map;

static int setup(void **state)
{
	stackmap_settings = (struct stackmap_cfg){
		.line_mask = 2048 / STACKMAP_LINE - 1,
		.pool_words = 8 * STACKMAP_PAGE_WORDS,
		.cell_mask = 1,
		.seed = 7,
	};
	stackmap_mem.line = calloc(2048 / STACKMAP_LINE, sizeof(*stackmap_mem.line));
	stackmap_mem.page = calloc(8, sizeof(*stackmap_mem.page));
	stackmap_mem.cell = calloc(3, sizeof(*stackmap_mem.cell));
	if (!stackmap_mem.line || !stackmap_mem.page || !stackmap_mem.cell)
		return -1;
	return stackmap__open_memory(stackmap_mem.line, 2048 / STACKMAP_LINE, stackmap_mem.page, 8,
				     stackmap_mem.cell, 3, &map);
}

static int teardown(void **state)
{
	stackmap__free(map);
	free(stackmap_mem.line);
	free(stackmap_mem.page);
	free(stackmap_mem.cell);
	return 0;
}

static uint32_t fill(struct stackmap_buf *b, uint32_t u)
{
	uint32_t n = 1 + u * 37 % STACKMAP_WORDS, i;

	for (i = 0; i < n; i++)
		b->w[i] = ((uint64_t)u << 32) + i;
	return n;
}

static long get(uint32_t u)
{
	struct stackmap_buf b = {};

	return stackmap_get(&b, fill(&b, u), 0);
}

static void test_lookup(void **state)
{
	struct stackmap_buf b = {};
	struct stackmap_stack s;
	uint32_t u, n;
	long id;

	for (u = 0; u < STACKS; u++) {
		id = get(u);
		assert_true(id & STACKMAP_NEW);
		id &= ~STACKMAP_NEW;
		assert_int_equal(get(u), id);
		n = fill(&b, u);
		assert_int_equal(stackmap__lookup(map, id, &s), 0);
		assert_int_equal(s.n, n);
		assert_int_equal(s.refs, 2);
		assert_int_equal(s.id, 1ULL << 32 | id);
		assert_memory_equal(s.words, b.w, n * 8);
		assert_int_equal(stackmap__lookup(map, s.id, &s), 0);
		assert_int_equal(stackmap__lookup(map, s.id + (1ULL << 32), &s), -ESTALE);
	}
}

/* Any value is safe to look up; only ids are found. */
static void test_no_id(void **state)
{
	struct stackmap_stack s = { .n = 99 };
	uint64_t cursor = 0, id;
	char *is_id = calloc(1, 8 * STACKMAP_PAGE_WORDS);
	unsigned int answered = 0;
	uint32_t u;

	assert_int_equal(stackmap__lookup(map, 8, &s), -ENOENT);
	for (u = 0; u < STACKS; u++)
		is_id[(uint32_t)get(u)] = 1;
	for (id = 0; id < 9 * STACKMAP_PAGE_WORDS; id++) {
		if (!stackmap__lookup(map, id, &s)) {
			assert_true(id < 8 * STACKMAP_PAGE_WORDS && is_id[id]);
			answered++;
		}
	}
	assert_int_equal(answered, STACKS);
	assert_int_equal(stackmap__lookup(map, 0xffffffff, &s), -ENOENT);
	assert_int_equal(stackmap__lookup(map, UINT64_MAX, &s), -ESTALE);
	while (stackmap__next(map, &cursor, &s) == 1)
		answered--;
	assert_int_equal(answered, 0);
	free(is_id);
}

/* A record inside another record's words looks valid but was never published. */
static void test_forged(void **state)
{
	struct stackmap_buf b = { .w = { 5, (4ULL << 32) | 1, 0xa, 0xb, 0xc, 0xd } };
	struct stackmap_stack s;
	long id = stackmap_get(&b, 6, 0) & ~STACKMAP_NEW;

	assert_int_equal(stackmap__lookup(map, id, &s), 0);
	assert_int_equal(stackmap__lookup(map, id + 2, &s), -ENOENT);
}

static void test_damaged(void **state)
{
	struct stackmap_stack s;
	uint64_t cursor = 0;

	stackmap_mem.line[3].slot[0] = 0xfffffff0;
	assert_int_equal(stackmap__next(map, &cursor, &s), -EUCLEAN);
	assert_int_equal(cursor, 0);
}

static void test_stats(void **state)
{
	struct stackmap_stats st;
	uint64_t words = 0;
	uint32_t u;

	for (u = 0; u < STACKS; u++) {
		struct stackmap_buf b;

		words += STACKMAP_ROOM(fill(&b, u));
		get(u);
	}
	assert_int_equal(stackmap_get_call(NULL, 1, 0), -STACKMAP_EARG);
	assert_int_equal(stackmap_get_call(&(struct stackmap_buf){}, 0, 0), -STACKMAP_EARG);
	assert_int_equal(stackmap_get_call(&(struct stackmap_buf){}, 129, 0), -STACKMAP_EARG);
	assert_int_equal(stackmap__stats(map, &st), 0);
	assert_int_equal(st.stacks, STACKS);
	assert_int_equal(st.capacity, 1024);
	assert_int_equal(st.pool_used, words);
	assert_int_equal(st.pool_words, 8 * STACKMAP_PAGE_WORDS - STACKMAP_FIRST);
	assert_int_equal(st.pool_wasted + st.pool_spare + st.races + st.probe_limit, 0);
	assert_int_equal(st.bad_argument, 2);
	assert_int_equal(st.generation, 1);
}

static void test_reset(void **state)
{
	struct stackmap_stack s;
	struct stackmap_stats st;
	uint64_t old, cursor = 0;
	uint32_t u;

	for (u = 0; u < STACKS; u++)
		get(u);
	assert_int_equal(stackmap__next(map, &cursor, &s), 1);
	old = s.id;
	assert_int_equal(stackmap__release(map), -EINVAL);
	assert_int_equal(stackmap__hold(map), 0);
	assert_int_equal(stackmap__hold(map), 0);
	assert_int_equal(stackmap__reset(map), -EBUSY);
	assert_int_equal(stackmap__release(map), 0);
	assert_int_equal(stackmap__reset(map), -EBUSY);
	assert_int_equal(stackmap__lookup(map, old, &s), 0);
	assert_int_equal(stackmap__release(map), 0);
	assert_int_equal(stackmap__reset(map), 0);
	assert_int_equal(stackmap__generation(map), 2);
	assert_int_equal(stackmap__lookup(map, old, &s), -ESTALE);
	assert_int_equal(stackmap__lookup(map, (uint32_t)old, &s), -ENOENT);
	cursor = 0;
	assert_int_equal(stackmap__next(map, &cursor, &s), 0);
	assert_int_equal(stackmap__stats(map, &st), 0);
	assert_int_equal(st.stacks + st.pool_used + st.pool_full, 0);
	for (u = 0; u < STACKS; u++)
		assert_true(get(u) & STACKMAP_NEW);
	cursor = 0;
	assert_int_equal(stackmap__next(map, &cursor, &s), 1);
	assert_int_equal(s.id >> 32, 2);
}

/*
 * A buffer remembers the last id.  In the next generation that place of the pool may be inside
 * another record whose words look like the old stack: that is not a record.
 */
static void test_old_hint(void **state)
{
	struct stackmap_buf b = { .w = { 1, 2, 3 } }, c = {};
	struct stackmap_stack s;
	long id;

	assert_int_equal(get(3) & ~STACKMAP_NEW, STACKMAP_FIRST);
	id = stackmap_get(&b, 3, 0) & ~STACKMAP_NEW;
	assert_int_equal(stackmap_get(&b, 3, 0), id);
	assert_int_equal(stackmap__lookup(map, b.hint, &s), 0);
	assert_int_equal(s.refs, 2);
	assert_int_equal(stackmap__reset(map), 0);
	c.w[id - STACKMAP_FIRST - 1] = 3ULL << 32;
	c.w[id - STACKMAP_FIRST] = 1;
	c.w[id - STACKMAP_FIRST + 1] = 2;
	c.w[id - STACKMAP_FIRST + 2] = 3;
	assert_int_equal(stackmap_get(&c, 128, 0) & ~STACKMAP_NEW, STACKMAP_FIRST);
	id = stackmap_get(&b, 3, 0);
	assert_true(id & STACKMAP_NEW);
	assert_int_equal(stackmap__lookup(map, (uint32_t)id, &s), 0);
	assert_int_equal(b.hint >> 32, 2);
}

/* An insertion that meets a reset fails and is counted; a hit still works. */
static void test_resetting(void **state)
{
	struct stackmap_stats st;
	long id = get(1) & ~STACKMAP_NEW;

	stackmap_mem.cell[0].head.users = STACKMAP_RESETTING;
	assert_int_equal(get(2), -STACKMAP_ERESET);
	assert_int_equal(get(1), id);
	assert_int_equal(stackmap__hold(map), -EBUSY);
	assert_int_equal(stackmap__reset(map), -EBUSY);
	stackmap_mem.cell[0].head.users = 0;
	assert_true(get(2) > 0);
	assert_int_equal(stackmap__stats(map, &st), 0);
	assert_int_equal(st.resetting, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lookup, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_id, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stats, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reset, setup, teardown),
		cmocka_unit_test_setup_teardown(test_old_hint, setup, teardown),
		cmocka_unit_test_setup_teardown(test_resetting, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
