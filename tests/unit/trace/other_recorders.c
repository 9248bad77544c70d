// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Recordings of other recorders: files without a kind, with fewer counters than ours, or more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "file_hash.h"
#include "trace/stk.h"
#include "trace/bytes.h"
#include "written.h"

static void put_block(struct bytes_buf *out, uint16_t type, const struct bytes_buf *payload)
{
	struct stk_block_header h = { .magic = STK_BLOCK_MAGIC,
				      .type = type,
				      .stored_len = payload->len,
				      .raw_len = payload->len,
				      .payload_crc = crc32c(0, payload->p, payload->len) };

	h.header_crc = crc32c(0, &h, offsetof(struct stk_block_header, header_crc));
	bytes_put(out, &h, sizeof(h));
	bytes_put(out, payload->p, payload->len);
}

/* Entries that our writer does not write. */
static void test_odd_entries(void **state)
{
	static const uint8_t no_kind[] = { 1, 0, 0, 1, 'a', 0,	 0, 0, 0,
					   0, 0, 0, 2, 'i', 'd', 0, 0, 0 };
	static const uint8_t no_id[] = { 2, 0, 0, 1, 'b', 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0 };
	struct bytes_buf payload = { 0 }, all = { 0 };
	const struct stk_event *e;
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = begin(&f);

	stk_writer__free(w);
	gen_load(&f);
	bytes_put(&all, f.p, f.len);
	bytes_put(&payload, no_kind, sizeof(no_kind));
	bytes_put(&payload, no_id, sizeof(no_id));
	put_block(&all, STK_BLOCK_FILES, &payload);
	assert_int_equal(stk_reader__open_mem(all.p, all.len, NULL, &r), 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	assert_int_equal(stk_reader__nr_files(r), 2);
	for (uint32_t i = 1; i <= 2; i++) {
		assert_int_equal(get_file(r, i).id_kind, STK_ID_NONE);
		assert_int_equal(get_file(r, i).id_len, 0);
		assert_int_equal(get_file(r, i).hash, file_hash(NULL, 0, i == 1 ? "a" : "b", 0, 0));
	}
	bytes_buf__free(&payload);
	bytes_buf__free(&all);
	done(r, &f);
}

/* A recorder with fewer counters than this reader, or more. */
static void test_counters(void **state)
{
	for (unsigned int nr = 1; nr <= STK_NR_COUNTERS + 3; nr++) {
		struct bytes_buf payload = { 0 }, all = { 0 };
		const struct stk_event *e;
		struct stk_totals totals;
		struct stk_reader *r;
		struct gen_file f;
		struct stk_writer *w = begin(&f);

		assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", ""), 0);
		assert_int_equal(stk_writer__end_round(w, 1, 0), 0);
		stk_writer__free(w);
		gen_load(&f);
		bytes_put(&all, f.p, f.len);
		bytes_put_varint(&payload, nr);
		bytes_put_varint(&payload, 0);
		for (unsigned int c = 0; c < nr; c++)
			bytes_put_varint(&payload, 1000 + c);
		put_block(&all, STK_BLOCK_ACCOUNTING, &payload);
		assert_int_equal(stk_reader__open_mem(all.p, all.len, NULL, &r), 0);
		assert_int_equal(stk_reader__next(r, &e), 0);
		stk_reader__totals(r, &totals);
		assert_int_equal(totals.bad_blocks, 0);
		for (unsigned int c = 0; c < STK_NR_COUNTERS + 2; c++)
			assert_int_equal(stk_reader__counter(r, stk_reader__type(r, 0), c),
					 c < nr && c < STK_NR_COUNTERS ? 1000 + c : 0);
		bytes_buf__free(&payload);
		bytes_buf__free(&all);
		done(r, &f);
	}
}

static void test_counter_names(void **state)
{
	assert_string_equal(stk_counter_name(STK_C_USTACK_HIT), "ustack_hit");
	assert_string_equal(stk_counter_name(STK_C_USTACK_FAILED), "ustack_failed");
	assert_string_equal(stk_counter_name(STK_NR_COUNTERS), "unknown");
	for (int c = 0; c < STK_NR_COUNTERS; c++) {
		assert_non_null(stk_counter_name(c));
		for (int k = 0; k < c; k++)
			assert_string_not_equal(stk_counter_name(c), stk_counter_name(k));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_odd_entries),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_counter_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
