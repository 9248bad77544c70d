// SPDX-License-Identifier: GPL-2.0-only
/* The memory of unwind tables: allocation, compared with a model of one byte per unit. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../trace/gen.h"
#include "record/files/table_slabs.h"
#include "unwind/table.h"
#include "wire.h"

#define UNIT 256
#define SLAB_WORDS (WIRE_SLAB_CHUNKS * UNW_CHUNK_WORDS)
#define SLABS 4
#define UNITS (SLABS * SLAB_WORDS / UNIT)

struct table {
	uint32_t addr, nr;
};

static uint8_t model[UNITS];

static uint32_t units_of(uint32_t nr)
{
	return nr ? (nr + UNIT - 1) / UNIT : 1;
}

static void check_place(const struct table *t)
{
	assert_true(t->addr);
	assert_int_equal(t->addr % UNIT, 0);
	assert_true(t->addr + (uint64_t)t->nr <= (uint64_t)SLABS * SLAB_WORDS);
	if (t->nr > UNW_CHUNK_WORDS)
		assert_int_equal(t->addr % UNW_CHUNK_WORDS, 0);
	else if (t->nr)
		assert_int_equal(t->addr / UNW_CHUNK_WORDS,
				 (t->addr + t->nr - 1) / UNW_CHUNK_WORDS);
}

/* Takes the range in the model, and writes all of it. */
static void take(struct table_slabs *t, const struct table *table, uint8_t tag)
{
	uint32_t i;

	check_place(table);
	for (i = 0; i < units_of(table->nr); i++) {
		assert_int_equal(model[table->addr / UNIT + i], 0);
		model[table->addr / UNIT + i] = 1;
	}
	memset(table_slabs__words(t, table->addr), tag, table->nr * 4);
}

static void give(struct table_slabs *t, const struct table *table, uint8_t tag)
{
	const uint8_t *bytes = (const uint8_t *)table_slabs__words(t, table->addr);
	uint32_t i;

	for (i = 0; i < table->nr * 4; i++)
		if (bytes[i] != tag)
			fail_msg("another table wrote here");
	memset(model + table->addr / UNIT, 0, units_of(table->nr));
	table_slabs__release(t, table->addr, table->nr);
}

/* Whether the model has room for a table of that length. */
static bool has_room(uint32_t nr)
{
	uint32_t units = units_of(nr), chunk = UNW_CHUNK_WORDS / UNIT, at, n;

	for (at = 1; at + units <= UNITS; at++) {
		if (nr > UNW_CHUNK_WORDS ? at % chunk != 0 : at / chunk != (at + units - 1) / chunk)
			continue;
		for (n = 0; n < units && !model[at + n]; n++)
			;
		if (n == units)
			return true;
	}
	return false;
}

static uint32_t random_length(uint64_t *seed)
{
	switch (gen_random(seed) % 8) {
	case 0:
		return gen_random(seed) % (2 * SLAB_WORDS);
	case 1:
		return gen_random(seed) % (4 * UNW_CHUNK_WORDS);
	case 2:
		return UNW_CHUNK_WORDS + gen_random(seed) % 3 - 1;
	default:
		return gen_random(seed) % UNW_CHUNK_WORDS;
	}
}

static void test_random(void **state)
{
	struct table v[200] = { 0 };
	unsigned int full = 0, i, nr;
	uint64_t seed = 5, bytes = 0;
	struct table_slabs *t;
	int err;

	memset(model, 0, sizeof(model));
	assert_int_equal(table_slabs__new(-1, SLABS * SLAB_WORDS * 4ull - 1, &t), 0);
	for (i = 0; i < 20000; i++) {
		struct table *table = &v[gen_random(&seed) % 200];
		uint8_t tag = table - v + 1;

		if (table->addr) {
			give(t, table, tag);
			bytes -= table_slabs__size(table->nr);
			table->addr = 0;
		} else {
			nr = random_length(&seed);
			err = table_slabs__alloc(t, nr, &table->addr);
			if (err) {
				assert_int_equal(err, -ENOSPC);
				assert_false(has_room(nr));
				table->addr = 0;
				full++;
				continue;
			}
			table->nr = nr;
			take(t, table, tag);
			bytes += table_slabs__size(nr);
		}
		assert_int_equal(table_slabs__bytes(t), bytes);
	}
	/* full often, but not always */
	assert_in_range(full, 1000, 9000);
	table_slabs__free(t);
}

/* Freed ranges merge into one piece. */
static void test_coalesce(void **state)
{
	uint32_t big = (SLABS * WIRE_SLAB_CHUNKS - 1) * UNW_CHUNK_WORDS, addr, a[1000];
	struct table_slabs *t;
	unsigned int i;

	assert_int_equal(table_slabs__new(-1, SLABS * SLAB_WORDS * 4ull, &t), 0);
	for (i = 0; i < 1000; i++)
		assert_int_equal(table_slabs__alloc(t, 300 + i, &a[i]), 0);
	assert_int_equal(table_slabs__alloc(t, big, &addr), -ENOSPC);
	for (i = 0; i < 1000; i += 2)
		table_slabs__release(t, a[i], 300 + i);
	for (i = 1; i < 1000; i += 2)
		table_slabs__release(t, a[i], 300 + i);
	assert_int_equal(table_slabs__bytes(t), 0);
	assert_int_equal(table_slabs__alloc(t, big, &addr), 0);
	assert_int_equal(addr, UNW_CHUNK_WORDS);
	table_slabs__words(t, addr)[big - 1] = 1;
	table_slabs__release(t, addr, big);
	assert_int_equal(table_slabs__alloc(t, big + 1, &addr), -E2BIG);
	table_slabs__free(t);
}

/* Chunk boundaries: a table may end at one, and a small table never crosses one. */
static void test_edges(void **state)
{
	struct table_slabs *t;
	uint32_t a, b, c;

	assert_int_equal(table_slabs__new(-1, 1, &t), 0);
	assert_int_equal(table_slabs__alloc(t, UNW_CHUNK_WORDS, &a), 0);
	assert_int_equal(a, UNW_CHUNK_WORDS); /* word 0 is reserved */
	assert_int_equal(table_slabs__alloc(t, UNW_CHUNK_WORDS - UNIT, &b), 0);
	assert_int_equal(b, UNIT);
	assert_int_equal(table_slabs__alloc(t, UNW_CHUNK_WORDS + 1, &c), 0);
	assert_int_equal(c, 2 * UNW_CHUNK_WORDS);
	assert_int_equal(table_slabs__alloc(t, 1, &a), 0);
	assert_int_equal(a, 3 * UNW_CHUNK_WORDS + UNIT); /* after the large table */
	assert_int_equal(table_slabs__max_bytes(t), SLAB_WORDS * 4);
	table_slabs__free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_coalesce),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
