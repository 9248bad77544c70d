// SPDX-License-Identifier: GPL-2.0-only
/* The ring of a perf event, written here as the kernel writes it: no machine at hand throttles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/perf_event.h>
#include <cmocka.h>

#include "record/bpf/sample_ring.h"

#define PAGE 4096

static union {
	struct perf_event_mmap_page ring;
	char memory[2 * PAGE];
} m;

static void put_word(uint64_t word)
{
	memcpy(m.memory + PAGE + m.ring.data_head % PAGE, &word, sizeof(word));
	m.ring.data_head += sizeof(word);
}

static void put(uint32_t type, unsigned int nr_words, uint64_t second)
{
	struct perf_event_header h = { .type = type, .size = 8 * (nr_words + 1) };
	uint64_t word;
	unsigned int i;

	memcpy(&word, &h, sizeof(word));
	put_word(word);
	for (i = 0; i < nr_words; i++)
		put_word(i == 1 ? second : 0);
}

static void test_throttled(void **state)
{
	memset(&m, 0, sizeof(m));
	assert_int_equal(sample_ring__throttled(&m.ring, PAGE), 0);
	put(PERF_RECORD_THROTTLE, 3, 0);
	put(PERF_RECORD_UNTHROTTLE, 3, 0);
	put(PERF_RECORD_THROTTLE, 3, 0);
	assert_int_equal(sample_ring__throttled(&m.ring, PAGE), 2);
	assert_int_equal(m.ring.data_tail, m.ring.data_head);
	assert_int_equal(sample_ring__throttled(&m.ring, PAGE), 0);
}

/* A full ring: the kernel says how many records it left out, half of which are of throttling. */
static void test_lost(void **state)
{
	memset(&m, 0, sizeof(m));
	m.ring.data_head = m.ring.data_tail = PAGE - 16; /* the record goes on at the begin */
	put(PERF_RECORD_LOST, 2, 9);
	put(PERF_RECORD_THROTTLE, 3, 0);
	assert_int_equal(sample_ring__throttled(&m.ring, PAGE), 6);
}

static void test_no_size(void **state)
{
	memset(&m, 0, sizeof(m));
	put_word(0);
	put(PERF_RECORD_THROTTLE, 3, 0);
	assert_int_equal(sample_ring__throttled(&m.ring, PAGE), 0);
	assert_int_equal(m.ring.data_tail, m.ring.data_head);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_throttled),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_no_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
