// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A block is the same whether the records of its events were interned as they came or not, and
 * events that repeat take little memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cleanup.h"
#include "gen.h"
#include "trace/write/batch.h"
#include "trace/write/encode.h"

#define NR_TYPES 3
#define MAX_LEN 96

/* With a gap and a dynamic part, without gaps, and without fields. */
static const char *const formats[NR_TYPES] = { GEN_FORMAT_ALL, GEN_FORMAT_SWITCH, "" };

static struct world {
	struct encoder *enc;
	struct stk_layout layouts[NR_TYPES];
	struct record_key keys[NR_TYPES];
	struct batch_type types[NR_TYPES];
	struct batch interned, raw;
} t;

static int setup(void **state)
{
	t = (struct world){ 0 };
	assert_int_equal(encoder__new(1, &t.enc), 0);
	for (int i = 0; i < NR_TYPES; i++) {
		stk_layout__from_format(formats[i], &t.layouts[i]);
		record_key__set(&t.keys[i], &t.layouts[i], NULL, 0);
		t.types[i] = (struct batch_type){ &t.layouts[i], &t.keys[i] };
	}
	batch__init(&t.interned, 1);
	batch__init(&t.raw, 2);
	return 0;
}

static int teardown(void **state)
{
	encoder__free(t.enc);
	batch__free(&t.interned);
	batch__free(&t.raw);
	return 0;
}

static void add(struct batch *b, const struct stk_writer_event *e)
{
	assert_int_equal(batch__add(b, t.types, NR_TYPES, e), 0);
}

/* The batch's block, which is to be freed. */
static struct bytes_buf encode(struct batch *b)
{
	struct enc_batch batch = {
		.cpu = 3, .round = 7, .events = b, .types = t.types, .nr_types = NR_TYPES
	};
	struct bytes_buf out = { 0 };

	assert_int_equal(encoder__events(t.enc, &batch, &out), 0);
	batch__clear(b);
	return out;
}

/* Adds the event to both batches, one of which keeps all records as they are. */
static void add_both(const struct stk_writer_event *e)
{
	add(&t.interned, e);
	if (!t.raw.raw) {
		add(&t.raw, e);
		batch__clear(&t.raw);
	}
	memset(t.raw.raw, 1, NR_TYPES);
	add(&t.raw, e);
}

static void expect_same(void)
{
	struct bytes_buf a, b;

	assert_int_equal(t.interned.record_bytes, t.raw.record_bytes);
	a = encode(&t.interned);
	b = encode(&t.raw);
	assert_int_equal(a.len, b.len);
	assert_memory_equal(a.p, b.p, a.len);
	bytes_buf__free(&a);
	bytes_buf__free(&b);
}

/* Values: how many a byte may have; the smaller, the more records are equal. */
static struct stk_writer_event random_event(uint64_t *seed, unsigned int values, uint8_t *record)
{
	uint64_t x = gen_random(seed);
	struct stk_writer_event e = {
		.ts = 1000 + x % 5000,
		.event = (x >> 20) % NR_TYPES,
		.task = (x >> 30) % values,
		.kstack = (x >> 34) % values,
		.ustack = (x >> 50) % 97 == 0,
		.flags = (x >> 40) % 2,
		.marks = (x >> 45) % 50 ? 0 : STK_MARK_NO_FIELDS,
		.record = record,
	};

	/* some are shorter than their fixed part, or than the head */
	e.record_len = (x >> 52) % 16 ? 64 : (x >> 56) % MAX_LEN;
	for (unsigned int i = 0; i < MAX_LEN; i++)
		record[i] = i % 3 ? 0 : gen_random(seed) % (i == 30 ? 256 : values);
	memset(record + 16, 0, 12);
	return e;
}

static void test_same_block(void **state)
{
	static const unsigned int values[] = { 1, 2, 3, 200 };
	uint8_t record[MAX_LEN];
	uint64_t seed = 5;

	for (unsigned int block = 0; block < 400; block++) {
		uint32_t nr = 1 + gen_random(&seed) % (block % 8 ? 60 : 2000);

		for (uint32_t i = 0; i < nr; i++) {
			struct stk_writer_event e =
				random_event(&seed, values[block / 3 % ARRAY_SIZE(values)], record);

			add_both(&e);
		}
		expect_same();
	}
}

/* What lies between the fields is not compared, as the file does not keep it. */
static void test_gaps(void **state)
{
	uint8_t record[48] = { 0 };
	const struct stk_writer_event e = { .record = record, .record_len = sizeof(record) };

	for (uint8_t i = 0; i < 100; i++) {
		record[29] = record[0] = i;
		add(&t.interned, &e);
	}
	assert_int_equal(t.interned.records.nr, 1);
	assert_int_equal(t.interned.nr_tuples, 1);
	record[28] = 1;
	add(&t.interned, &e);
	assert_int_equal(t.interned.records.nr, 2);
}

static void test_memory(void **state)
{
	uint8_t record[64] = { 0 };
	struct stk_writer_event e = { .event = 1, .record = record, .record_len = sizeof(record) };
	struct bytes_buf block;
	uint64_t seed = 3;

	/* records that differ are kept as they are from the second block on */
	for (unsigned int round = 0; round < 2; round++) {
		assert_int_equal(round && t.interned.raw[1], round);
		for (unsigned int i = 0; i < 1000; i++) {
			uint64_t x = gen_random(&seed);

			memcpy(record + 32, &x, sizeof(x));
			add(&t.interned, &e);
		}
		assert_int_equal(t.interned.records.index.nr, round ? 0 : 1000);
		block = encode(&t.interned);
		bytes_buf__free(&block);
	}
	/* and equal ones are stored once, again from the second block on */
	memset(record, 0, sizeof(record));
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < 1000; i++)
			add(&t.interned, &e);
		assert_int_equal(t.interned.records.nr, round ? 1 : 1000);
		assert_int_equal(t.interned.record_bytes, 64000);
		block = encode(&t.interned);
		bytes_buf__free(&block);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same_block, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gaps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
