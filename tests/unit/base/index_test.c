// SPDX-License-Identifier: GPL-2.0-only
/* The hash index compared with a plain array, and code built on it and on growing arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "idmap.h"
#include "index.h"
#include "seeded_hash.h"
#include "string_table.h"

#define MAX_ENTRIES 4096

/* The number of allocations that still succeed; negative: all. */
static int allocations = -1;

void *__real_calloc(size_t nr, size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__real_reallocarray(void *p, size_t nr, size_t size);
void *__wrap_reallocarray(void *p, size_t nr, size_t size);

static bool is_given(void)
{
	if (allocations > 0)
		allocations--;
	else if (!allocations)
		return false;
	return true;
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return is_given() ? __real_calloc(nr, size) : NULL;
}

void *__wrap_reallocarray(void *p, size_t nr, size_t size)
{
	return is_given() ? __real_reallocarray(p, nr, size) : NULL;
}

/* Entries with their hashes, searched linearly. */
struct plain {
	uint64_t hash[MAX_ENTRIES];
	uint32_t nr;
};

/* The lookup finds each entry with this hash once, and no other. */
static void check_hash(const struct index *ix, const struct plain *p, uint64_t hash)
{
	uint32_t want = 0, got = 0, i;

	for (i = 0; i < p->nr; i++)
		want += (uint32_t)p->hash[i] == (uint32_t)hash;
	index__for_each(ix, hash, i) {
		assert_true(i < p->nr);
		assert_int_equal((uint32_t)p->hash[i], (uint32_t)hash);
		got++;
	}
	assert_int_equal(i, INDEX_NONE);
	assert_int_equal(got, want);
}

static void check_all(const struct index *ix, const struct plain *p)
{
	uint32_t k, i;

	assert_int_equal(ix->nr, p->nr);
	assert_true(p->nr <= index__room(ix) || !p->nr);
	for (k = 0; k < p->nr; k++) {
		index__for_each(ix, p->hash[k], i)
			if (i == k)
				break;
		assert_int_equal(i, k);
	}
}

/* The last entry takes the place of the removed one, as in callers that keep their array dense. */
static void drop(struct index *ix, struct plain *p, uint32_t i)
{
	uint32_t last = p->nr - 1;

	index__remove(ix, p->hash[i], i);
	if (i != last)
		index__move(ix, p->hash[last], last, i);
	p->hash[i] = p->hash[last];
	p->nr--;
}

/* Hashes of few to many bits: from all equal to all different. */
static void random_operations(unsigned int bits, unsigned int seed)
{
	_cleanup_(index__free) struct index ix = { 0 };
	struct plain p = { .nr = 0 };
	uint64_t hash;
	int n;

	srandom(seed);
	for (n = 0; n < 20000; n++) {
		hash = (uint64_t)random() << 32 | random();
		hash = bits ? (hash & ((1ull << bits) - 1)) * 0x9e3779b97f4a7c15ull : 0;
		check_hash(&ix, &p, hash);
		/* it usually grows, and is emptied now and then */
		if (p.nr == (bits < 4 ? 64 : MAX_ENTRIES) || (p.nr && random() % 5 < 2)) {
			drop(&ix, &p, random() % p.nr);
		} else {
			assert_int_equal(index__add(&ix, hash, p.nr), 0);
			p.hash[p.nr++] = hash;
		}
		if (n % 1000 == 0)
			check_all(&ix, &p);
		if (n % 7001 == 7000) {
			index__clear(&ix);
			p.nr = 0;
		}
	}
	check_all(&ix, &p);
	while (p.nr)
		drop(&ix, &p, 0);
	check_all(&ix, &p);
}

static void test_random(void **state)
{
	static const unsigned int bits[] = { 0, 1, 4, 8, 12, 31 };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bits); i++)
		random_operations(bits[i], i + 1);
}

static void test_empty(void **state)
{
	struct index ix = { 0 };
	uint32_t i;

	(void)state;
	index__for_each(&ix, 0, i)
		fail();
	assert_int_equal(i, INDEX_NONE);
	assert_int_equal(index__memory(&ix), 0);
	assert_int_equal(index__room(&ix), 0);
	index__clear(&ix);
	index__free(&ix);
}

/* Entries with the same hash are found in order of addition if space was reserved for all. */
static void test_order(void **state)
{
	_cleanup_(index__free) struct index ix = { 0 };
	uint32_t i, want = 0;

	(void)state;
	assert_int_equal(index__reserve(&ix, 100), 0);
	for (i = 0; i < 100; i++)
		assert_int_equal(index__add(&ix, UINT64_MAX, i), 0);
	index__for_each(&ix, UINT64_MAX, i)
		assert_int_equal(i, want++);
	assert_int_equal(want, 100);
}

static void test_room(void **state)
{
	_cleanup_(index__free) struct index ix = { 0 };
	uint64_t memory;
	uint32_t i;

	(void)state;
	assert_int_equal(index__reserve(&ix, 1000), 0);
	memory = index__memory(&ix);
	assert_int_equal(memory, 2048 * sizeof(struct index_slot));
	allocations = 0; /* reserved space needs no allocation */
	for (i = 0; i < index__room(&ix); i++)
		assert_int_equal(index__add(&ix, i, i), 0);
	assert_int_equal(index__add(&ix, i, i), -ENOMEM);
	assert_int_equal(index__memory(&ix), memory);
	assert_int_equal(ix.nr, index__room(&ix));
	allocations = -1;
	assert_int_equal(index__reserve(&ix, UINT32_MAX), -ENOMEM);
	assert_int_equal(index__add(&ix, i, i), 0);
	for (i = 0; i < ix.nr; i++) {
		uint32_t found;

		index__for_each(&ix, i, found)
			if (found == i)
				break;
		assert_int_equal(found, i);
	}
}

/* After any failed allocation nothing has changed, and the next attempt continues. */
static void test_no_memory(void **state)
{
	struct string_table t = { 0 };
	struct idmap m = { 0 };
	uint32_t i, number = 0;
	char name[16];

	(void)state;
	for (i = 0; i < 2000; i++) {
		allocations = 0;
		snprintf(name, sizeof(name), "%u", i);
		while (string_table__number(&t, name, strlen(name), INDEX_NONE, &number) < 0)
			allocations = i % 3 + 1;
		assert_int_equal(number, i);
		allocations = 0;
		if (!idmap__get(&m, i))
			allocations = 2;
		*idmap__get(&m, i) = i;
	}
	allocations = -1;
	assert_int_equal(t.nr, 2000);
	assert_int_equal(m.nr, 2000);
	for (i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "%u", i);
		assert_string_equal(string_table__get(&t, i), name);
		assert_int_equal(string_table__number(&t, name, strlen(name), 0, &number), 0);
		assert_int_equal(number, i);
		assert_int_equal(*idmap__get(&m, i), i);
	}
	assert_int_equal(string_table__number(&t, "no", 2, 2000, &number), -E2BIG);
	assert_true(string_table__memory(&t) > 2000 * sizeof(*t.v));
	string_table__clear(&t);
	idmap__clear(&m);
	assert_int_equal(string_table__memory(&t), 0);
}

static void test_strings(void **state)
{
	struct string_table t = { 0 };
	uint32_t a, b;

	(void)state;
	assert_int_equal(string_table__number(&t, "a\0b", 3, INDEX_NONE, &a), 1);
	assert_int_equal(string_table__number(&t, "a\0c", 3, INDEX_NONE, &b), 1);
	assert_int_not_equal(a, b);
	assert_int_equal(string_table__number(&t, "a\0b", 3, INDEX_NONE, &b), 0);
	assert_int_equal(a, b);
	assert_ptr_equal(string_table__keep(&t, "x"), string_table__keep(&t, "x"));
	assert_string_equal(string_table__keep(&t, ""), "");
	string_table__clear(&t);
}

static void test_arrays(void **state)
{
	uint16_t *v = NULL, *w = NULL, cap = 0;
	unsigned int nr = 0, nr_w = 0, i;

	(void)state;
	assert_int_equal(array__reserve(&v, 65535, &cap), 0);
	assert_int_equal(array__reserve(&v, 65536, &cap), -ENOMEM); /* more than cap can hold */
	assert_int_equal(cap, 65535);
	free(v);
	v = NULL;
	assert_int_equal(array__reach(&v, 0, &nr), 0);
	assert_int_equal(array__reach(&v, 5000, &nr), 0);
	for (i = 0; i < nr; i++)
		assert_int_equal(v[i], 0);
	allocations = 0;
	assert_int_equal(array__reach(&v, 4999, &nr), 0);
	assert_int_equal(array__reach(&v, 2 * nr, &nr), -ENOMEM);
	for (i = 0; i < 1000; i++) {
		while (array__append(&w, &nr_w, i * 2))
			allocations = 1;
		assert_int_equal(nr_w, i + 1);
	}
	allocations = -1;
	for (i = 0; i < 1000; i++)
		assert_int_equal(w[i], 2 * i);
	free(v);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),	  cmocka_unit_test(test_empty),
		cmocka_unit_test(test_order),	  cmocka_unit_test(test_room),
		cmocka_unit_test(test_no_memory), cmocka_unit_test(test_strings),
		cmocka_unit_test(test_arrays),
	};

	return cmocka_run_group_tests_name("base-index", tests, NULL, NULL);
}
