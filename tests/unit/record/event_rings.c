// SPDX-License-Identifier: GPL-2.0-only
/* Rings are emptied while the recorder is busy, and no record is lost, repeated or reordered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <linux/bpf.h>

#include <cmocka.h>

#include "../trace/gen.h"
#include "record/bpf/event_rings.h"

#define PAGE 4096
#define SIZE 16384
#define PLENTY (1u << 20)

/* The memory of a BPF ring buffer, which the test writes as the kernel does. */
static struct ring {
	int fd;
	char *memory; /* the consumer's page, the producer's page, the data twice */
	uint64_t nr; /* records written: each has its number in all words */
} ring;

static struct event_rings *rings;

static uint64_t *consumer(void)
{
	return (uint64_t *)ring.memory;
}

static uint64_t *producer(void)
{
	return (uint64_t *)(ring.memory + PAGE);
}

static int setup(void **state)
{
	size_t len = 2 * PAGE + 2 * SIZE;

	ring = (struct ring){ .fd = memfd_create("ring", MFD_CLOEXEC) };
	if (ftruncate(ring.fd, len))
		return -1;
	ring.memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, 0);
	return ring.memory == MAP_FAILED ? -1 : 0;
}

static int teardown(void **state)
{
	event_rings__free(rings);
	rings = NULL;
	munmap(ring.memory, 2 * PAGE + 2 * SIZE);
	close(ring.fd);
	return 0;
}

static void open_rings(uint64_t max_moved)
{
	assert_int_equal(event_rings__new(2, SIZE, max_moved, &rings), 0);
	assert_false(event_rings__has(rings, 1));
	assert_int_equal(event_rings__add(rings, 1, ring.fd), 0);
	assert_true(event_rings__has(rings, 1));
}

/* The kernel maps the data twice; here each word is written twice. */
static void put_word(uint64_t at, uint64_t word)
{
	char *data = ring.memory + 2 * PAGE;

	__atomic_store_n((uint64_t *)(data + at % SIZE), word, __ATOMIC_RELEASE);
	__atomic_store_n((uint64_t *)(data + at % SIZE + SIZE), word, __ATOMIC_RELEASE);
}

/* Writes a record of so many words; false: the ring is full. */
static bool put(unsigned int words, uint32_t flags)
{
	uint64_t at = *producer(), taken = __atomic_load_n(consumer(), __ATOMIC_ACQUIRE);
	unsigned int i;

	if (at + 8 * (words + 1) - taken > SIZE)
		return false;
	put_word(at, 8 * words | BPF_RINGBUF_BUSY_BIT);
	__atomic_store_n(producer(), at + 8 * (words + 1), __ATOMIC_RELEASE);
	for (i = 0; i < words; i++)
		put_word(at + 8 * (i + 1), ring.nr);
	put_word(at, 8 * words | flags);
	ring.nr += flags == 0;
	return true;
}

/* Takes all batches, whose records must begin with number `first`; returns their number. */
static uint64_t take_all(uint64_t first)
{
	struct event_batch b;
	const uint64_t *words;
	uint64_t nr = 0;
	size_t len, i;
	int more;

	while ((more = event_rings__next(rings, 1, &b)) == 1) {
		while ((words = event_batch__next(&b, &len))) {
			for (i = 0; i < len / 8; i++)
				assert_int_equal(words[i], first + nr);
			nr++;
		}
	}
	assert_int_equal(more, 0);
	assert_int_equal(event_rings__next(rings, 0, &b), 0);
	return nr;
}

static bool is_empty(void)
{
	return __atomic_load_n(consumer(), __ATOMIC_ACQUIRE) == *producer();
}

/* Whether the thread empties the ring within ten seconds. */
static bool is_emptied(void)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	unsigned int i;

	for (i = 0; i < 10000 && !is_empty(); i++)
		nanosleep(&nap, NULL);
	return is_empty();
}

/* Without the thread, the second record is lost: the ring is full. */
static void rings_of_a_busy_recorder_are_emptied(void **state)
{
	unsigned int i;

	open_rings(PLENTY);
	for (i = 0; i < 10; i++) {
		assert_true(put(SIZE / 8 - 1, 0));
		assert_true(is_emptied());
	}
	assert_int_equal(take_all(0), 10);
	assert_true(put(1, 0));
	assert_int_equal(take_all(10), 1);
}

/* The recorder naps while little happens: nothing is moved that it will read from the ring. */
static void rings_with_room_are_left_alone(void **state)
{
	const struct timespec nap = { .tv_nsec = 50000000 };

	open_rings(PLENTY);
	assert_true(put(SIZE / 8 / 5, 0));
	nanosleep(&nap, NULL);
	assert_int_equal(*consumer(), 0);
	assert_int_equal(take_all(0), 1);
	assert_true(is_empty());
}

/* What does not fit into the memory stays in the ring, and comes later. */
static void memory_is_limited(void **state)
{
	const struct timespec nap = { .tv_nsec = 50000000 };
	uint64_t before;

	open_rings(SIZE);
	assert_true(put(SIZE / 8 - 1, 0));
	assert_true(is_emptied());
	assert_true(put(SIZE / 8 - 1, 0));
	before = *consumer();
	nanosleep(&nap, NULL);
	assert_int_equal(*consumer(), before);
	assert_false(put(1, 0));
	assert_int_equal(take_all(0), 2);
	assert_true(is_empty());
}

/* What the recorder reads is in the memory, too, until it has been read. */
static void memory_is_limited_while_a_batch_is_read(void **state)
{
	const struct timespec nap = { .tv_nsec = 50000000 };
	struct event_batch b;
	uint64_t before;

	open_rings(SIZE);
	assert_true(put(SIZE / 8 - 1, 0));
	assert_true(is_emptied());
	assert_int_equal(event_rings__next(rings, 1, &b), 1);
	assert_int_equal(b.end - b.at, SIZE);
	assert_true(put(SIZE / 8 - 1, 0));
	before = *consumer();
	nanosleep(&nap, NULL);
	assert_int_equal(*consumer(), before);
	event_rings__read(rings, 1);
	assert_true(is_emptied());
	assert_int_equal(take_all(1), 1);
}

static void unfinished_and_discarded_records(void **state)
{
	open_rings(PLENTY);
	assert_true(put(3, 0));
	assert_true(put(5, BPF_RINGBUF_DISCARD_BIT));
	assert_true(put(2, 0));
	put_word(*producer(), 8 | BPF_RINGBUF_BUSY_BIT);
	*producer() += 16;
	assert_int_equal(take_all(0), 2);
	assert_false(is_empty());
	put_word(*producer() - 8, 2);
	put_word(*producer() - 16, 8);
	assert_int_equal(take_all(2), 1);
	assert_true(is_empty());
}

/* Records of random size are taken at random times, by the thread or by the test. */
static void records_keep_their_order(void **state)
{
	uint64_t seed = 7, taken = 0;
	unsigned int i;

	open_rings(PLENTY);
	for (i = 0; i < 200000; i++) {
		unsigned int words = gen_random(&seed) % (gen_random(&seed) % 16 ? 16 : SIZE / 16);
		uint32_t flags = gen_random(&seed) % 16 ? 0 : BPF_RINGBUF_DISCARD_BIT;

		if (!put(words, flags)) {
			if (gen_random(&seed) % 64)
				taken += take_all(taken);
			else
				assert_true(is_emptied());
		}
	}
	taken += take_all(taken);
	assert_int_equal(taken, ring.nr);
	assert_true(ring.nr > 100000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rings_of_a_busy_recorder_are_emptied, setup,
						teardown),
		cmocka_unit_test_setup_teardown(rings_with_room_are_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_is_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_is_limited_while_a_batch_is_read, setup,
						teardown),
		cmocka_unit_test_setup_teardown(unfinished_and_discarded_records, setup, teardown),
		cmocka_unit_test_setup_teardown(records_keep_their_order, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
