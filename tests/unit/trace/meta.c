// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Metadata that are longer than a string may be, and metadata that are missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cleanup.h"
#include "trace/bytes.h"
#include "trace/stk.h"
#include "written.h"

/* Lines as in a task list; they do not compress to nothing. */
static char *lines(size_t len, uint64_t seed)
{
	char *s = malloc(len + 1);
	size_t i;

	assert_non_null(s);
	for (i = 0; i < len; i++)
		s[i] = i % 64 == 63 ? '\n' : '0' + gen_random(&seed) % 10;
	s[len] = '\0';
	return s;
}

static unsigned int count_blocks(const struct gen_file *f, uint16_t type)
{
	struct stk_block_header h;
	unsigned int n = 0;
	size_t pos;

	for (pos = STK_HEADER_SIZE; pos < f->len; pos += sizeof(h) + h.stored_len) {
		memcpy(&h, f->p + pos, sizeof(h));
		n += h.type == type;
	}
	return n;
}

static void values_of_any_length(void **state)
{
	static const size_t lens[] = { 0, 1, STK_MAX_STRING, STK_MAX_STRING + 1, 9u << 20 };
	char *values[ARRAY_SIZE(lens)], key[16];
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		snprintf(key, sizeof(key), "key.%zu", i);
		values[i] = lines(lens[i], i + 1);
		assert_int_equal(stk_writer__meta(w, key, values[i]), 0);
	}
	assert_int_equal(stk_writer__meta(w, "after", "all"), 0);
	r = read_back(w, &f);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		snprintf(key, sizeof(key), "key.%zu", i);
		assert_non_null(stk_reader__meta(r, key));
		assert_string_equal(stk_reader__meta(r, key), values[i]);
		free(values[i]);
	}
	assert_string_equal(stk_reader__meta(r, "after"), "all");
	assert_null(stk_reader__meta(r, "metadata.left_out"));
	assert_int_equal(count_blocks(&f, STK_BLOCK_META_PART), 1 + 3);
	done(r, &f);
}

/* As with short values, also if only one of the two is long. */
static void a_later_value_replaces_an_earlier_one(void **state)
{
	char *a = lines(2u << 20, 5), *b = lines(3u << 20, 6);
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);

	assert_int_equal(stk_writer__meta(w, "a", a), 0);
	assert_int_equal(stk_writer__meta(w, "b", "short"), 0);
	assert_int_equal(stk_writer__meta(w, "c", a), 0);
	assert_int_equal(stk_writer__meta(w, "a", "short"), 0);
	assert_int_equal(stk_writer__meta(w, "b", b), 0);
	assert_int_equal(stk_writer__meta(w, "c", b), 0);
	r = read_back(w, &f);
	assert_string_equal(stk_reader__meta(r, "a"), "short");
	assert_string_equal(stk_reader__meta(r, "b"), b);
	assert_string_equal(stk_reader__meta(r, "c"), b);
	free(a);
	free(b);
	done(r, &f);
}

/* The value is unknown if any of its parts is damaged; everything else is read. */
static void damaged_parts(void **state)
{
	char *value = lines(9u << 20, 7);
	struct stk_block_header h;
	const struct stk_event *e;
	struct stk_totals totals;
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);
	unsigned int damaged = 0;
	size_t pos;

	assert_int_equal(stk_writer__meta(w, "long", value), 0);
	assert_int_equal(stk_writer__meta(w, "other", value + (8u << 20)), 0);
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(&f);
	for (pos = STK_HEADER_SIZE; pos < f.len; pos += sizeof(h) + h.stored_len) {
		memcpy(&h, f.p + pos, sizeof(h));
		if (h.type != STK_BLOCK_META_PART)
			continue;
		f.p[pos + sizeof(h) + 20] ^= 1;
		assert_int_equal(stk_reader__open_mem(f.p, f.len, NULL, &r), 0);
		assert_int_equal(stk_reader__next(r, &e), 0);
		assert_null(stk_reader__meta(r, "long"));
		assert_string_equal(stk_reader__meta(r, "other"), value + (8u << 20));
		stk_reader__totals(r, &totals);
		assert_true(totals.bad_blocks >= 1);
		stk_reader__free(r);
		f.p[pos + sizeof(h) + 20] ^= 1;
		damaged++;
	}
	assert_int_equal(damaged, 3);
	free(value);
	gen_close(&f);
}

static void left_out(void **state)
{
	char *value = malloc(STK_MAX_META + 2ul);
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);

	assert_non_null(value);
	memset(value, 'x', STK_MAX_META + 1ul);
	value[STK_MAX_META + 1ul] = '\0';
	assert_int_equal(stk_writer__meta(w, "huge", value), 0);
	assert_int_equal(stk_writer__meta_left_out(w, "tasks.end", "Permission denied"), 0);
	assert_int_equal(stk_writer__meta(w, "clock", "mono"), 0);
	r = read_back(w, &f);
	assert_null(stk_reader__meta(r, "huge"));
	assert_string_equal(stk_reader__meta(r, "metadata.left_out"),
			    "huge (longer than 256 MiB), tasks.end (Permission denied)");
	assert_string_equal(stk_reader__meta(r, "clock"), "mono");
	free(value);
	done(r, &f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_any_length),
		cmocka_unit_test(a_later_value_replaces_an_earlier_one),
		cmocka_unit_test(damaged_parts),
		cmocka_unit_test(left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
