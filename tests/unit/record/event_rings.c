// SPDX-License-Identifier: GPL-2.0-only
/* Rings are emptied while the recorder is busy, and no record is lost, repeated or reordered. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../trace/gen.h"
#include "record/bpf/event_rings.h"

#define SIZE 16384
#define PLENTY (1u << 20)

static const struct wire_rings layout = { .bytes = SIZE, .nr_parts = 1, .mask = SIZE - 8 };

/* A ring that the test writes, see src/bpf/ring.bpf.h. */
static struct {
	int fd;
	char *memory;
	struct wire_ring_pos pos;
	int wakeup_fd;
	uint64_t wakeups; /* how often the thread was to be woken */
	uint64_t nr; /* records written: each has its number in all words but the first */
} ring;

static struct event_rings *rings;

static int setup(void **state)
{
	size_t len = SIZE + WIRE_RING_SLACK;

	memset(&ring, 0, sizeof(ring));
	ring.wakeup_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ring.fd = memfd_create("ring", MFD_CLOEXEC);
	if (ftruncate(ring.fd, len))
		return -1;
	ring.memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, 0);
	return ring.memory == MAP_FAILED ? -1 : 0;
}

static int teardown(void **state)
{
	event_rings__free(rings);
	rings = NULL;
	munmap(ring.memory, SIZE + WIRE_RING_SLACK);
	close(ring.fd);
	close(ring.wakeup_fd);
	return 0;
}

static int take_wakeups(void *ctx)
{
	eventfd_t nr;

	return eventfd_read(ring.wakeup_fd, &nr) ? 0 : nr;
}

static void new_rings(const struct wire_rings *l, uint64_t max_moved)
{
	const struct event_wakeups wakeups = { ring.wakeup_fd, take_wakeups, NULL };

	assert_int_equal(event_rings__new(2, l, max_moved, &wakeups, &rings), 0);
}

static void open_rings(uint64_t max_moved)
{
	new_rings(&layout, max_moved);
	assert_false(event_rings__has(rings, 1));
	assert_int_equal(event_rings__add(rings, 1, &ring.pos, &ring.fd), 0);
	assert_true(event_rings__has(rings, 1));
}

static uint64_t tail(void)
{
	return __atomic_load_n(&ring.pos.tail, __ATOMIC_ACQUIRE);
}

/* As ring_wake() of the programs. */
static void wake(void)
{
	uint32_t none = WIRE_WAKEUP_NONE;

	if (ring.pos.head - tail() < SIZE / WIRE_RING_FULL_PART ||
	    !__atomic_compare_exchange_n(&ring.pos.wakeup, &none, WIRE_WAKEUP_BEGUN, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return;
	ring.wakeups++;
	eventfd_write(ring.wakeup_fd, 1);
	__atomic_store_n(&ring.pos.wakeup, WIRE_WAKEUP_SENT, __ATOMIC_RELEASE);
}

/* Reserves a record of so many words; NULL: the ring is full. */
static uint64_t *reserve(unsigned int words)
{
	uint64_t head = ring.pos.head, *record = (uint64_t *)(ring.memory + (head & layout.mask));

	if (head + 8 * words - tail() > SIZE)
		return NULL;
	__atomic_store_n(&ring.pos.head, head + 8 * words, __ATOMIC_RELEASE);
	return record;
}

static void commit(uint64_t *record, unsigned int words)
{
	unsigned int i;

	for (i = 1; i < words; i++)
		record[i] = ring.nr;
	__atomic_store_n(record, 8 * words, __ATOMIC_RELEASE);
	ring.nr++;
}

/* Writes a record of so many words; false: the ring is full. */
static bool put(unsigned int words)
{
	uint64_t *record = reserve(words);

	if (record)
		commit(record, words);
	wake();
	return record;
}

/* Takes all batches, whose records must begin with number `first`; returns their number. */
static uint64_t take_all(uint64_t first)
{
	const struct wire_head *record;
	struct event_batch b;
	uint64_t nr = 0;
	size_t i;
	int more;

	while ((more = event_rings__next(rings, 1, &b)) == 1) {
		while ((record = event_batch__next(&b))) {
			for (i = 1; i < record->len / 8; i++)
				assert_int_equal(((const uint64_t *)record)[i], first + nr);
			nr++;
		}
	}
	assert_int_equal(more, 0);
	assert_int_equal(event_rings__next(rings, 0, &b), 0);
	return nr;
}

static bool is_empty(void)
{
	return tail() == ring.pos.head;
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
		assert_true(put(SIZE / 8));
		assert_true(is_emptied());
	}
	assert_int_equal(take_all(0), 10);
	assert_true(put(2));
	assert_int_equal(take_all(10), 1);
}

/* The recorder naps while little happens: nothing is moved that it will read from the ring. */
static void rings_with_room_are_left_alone(void **state)
{
	const struct timespec nap = { .tv_nsec = 50000000 };

	open_rings(PLENTY);
	assert_true(put(SIZE / 8 / 5));
	nanosleep(&nap, NULL);
	assert_int_equal(tail(), 0);
	assert_int_equal(take_all(0), 1);
	assert_true(is_empty());
}

/* The thread is woken again and again: by the next quarter, whoever has emptied the ring before. */
static void wakeups_are_repeated(void **state)
{
	unsigned int i;
	uint64_t taken = 0;

	open_rings(PLENTY);
	for (i = 1; i <= 20; i++) {
		assert_true(put(SIZE / 8 / 2));
		assert_int_equal(ring.wakeups, i);
		if (i % 2)
			assert_true(is_emptied());
		taken += take_all(taken);
		assert_true(put(2));
		assert_int_equal(ring.wakeups, i);
	}
	take_all(taken);
}

/* A program that is interrupted while it wakes the thread says so too late for those after it. */
static void late_wakeups(void **state)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	unsigned int i;

	open_rings(PLENTY);
	ring.pos.wakeup = WIRE_WAKEUP_BEGUN;
	eventfd_write(ring.wakeup_fd, 1);
	assert_true(put(SIZE / 8 / 2));
	assert_int_equal(ring.wakeups, 0);
	assert_true(is_emptied());
	__atomic_store_n(&ring.pos.wakeup, WIRE_WAKEUP_SENT, __ATOMIC_RELEASE);
	for (i = 0; i < 10000 && __atomic_load_n(&ring.pos.wakeup, __ATOMIC_ACQUIRE); i++)
		nanosleep(&nap, NULL);
	assert_true(put(SIZE / 8 / 2));
	assert_int_equal(ring.wakeups, 1);
	assert_true(is_emptied());
	assert_int_equal(take_all(0), 2);
}

/* A batch is short even if the thread has moved much, so that the recorder can end rounds. */
static void long_memory_comes_in_batches(void **state)
{
	uint64_t first = 0, nr = 0;
	const struct wire_head *record;
	struct event_batch b;
	unsigned int i;

	open_rings(PLENTY);
	for (i = 0; i < 20; i++) {
		for (unsigned int k = 0; k < SIZE / 8 / 11; k++)
			assert_true(put(11));
		assert_true(is_emptied());
	}
	while (event_rings__next(rings, 1, &b) == 1) {
		assert_true(b.end - b.at <= SIZE);
		while ((record = event_batch__next(&b)))
			assert_int_equal(((const uint64_t *)record)[1], nr++);
		event_rings__read(rings, 1);
		if (!first)
			first = nr;
	}
	assert_int_equal(nr, ring.nr);
	assert_true(first < nr / 10);
}

/* What does not fit into the memory stays in the ring, and comes later. */
static void memory_is_limited(void **state)
{
	const struct timespec nap = { .tv_nsec = 50000000 };
	uint64_t before;

	open_rings(SIZE);
	assert_true(put(SIZE / 8));
	assert_true(is_emptied());
	assert_true(put(SIZE / 8));
	before = tail();
	nanosleep(&nap, NULL);
	assert_int_equal(tail(), before);
	assert_false(put(2));
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
	assert_true(put(SIZE / 8));
	assert_true(is_emptied());
	assert_int_equal(event_rings__next(rings, 1, &b), 1);
	assert_int_equal(b.end - b.at, SIZE);
	assert_true(put(SIZE / 8));
	before = tail();
	nanosleep(&nap, NULL);
	assert_int_equal(tail(), before);
	event_rings__read(rings, 1);
	assert_true(is_emptied());
	assert_int_equal(take_all(1), 1);
}

/* What is behind a record that is not complete waits for it. */
static void unfinished_records(void **state)
{
	uint64_t *record;

	open_rings(PLENTY);
	assert_true(put(3));
	assert_true(put(2));
	record = reserve(4);
	assert_non_null(record);
	ring.nr++;
	assert_true(put(5));
	assert_int_equal(take_all(0), 2);
	assert_false(is_empty());
	ring.nr = 2;
	commit(record, 4);
	assert_int_equal(take_all(2), 2);
	assert_true(is_empty());
}

static size_t nr_set(void)
{
	size_t nr = 0, i;

	for (i = 0; i < SIZE + WIRE_RING_SLACK; i++)
		nr += ring.memory[i] != 0;
	return nr;
}

/* A record that crosses the end is in one piece; what was read is cleared, the slack too. */
static void records_are_in_one_piece(void **state)
{
	open_rings(PLENTY);
	assert_true(put(SIZE / 8 - 3));
	assert_int_equal(take_all(0), 1);
	assert_true(put(100));
	assert_int_not_equal(nr_set(), 0);
	assert_int_equal(*(uint64_t *)ring.memory, 0);
	assert_int_equal(take_all(1), 1);
	assert_int_equal(nr_set(), 0);
	assert_true(put(7));
	assert_int_equal(take_all(2), 1);
}

/* Long rings have several parts, which are filled in turn. */
static void rings_of_parts(void **state)
{
	const struct wire_rings long_layout = { 2 * WIRE_RING_PART, 2, WIRE_RING_PART - 8 };
	const size_t part_bytes = WIRE_RING_PART + WIRE_RING_SLACK;
	int fds[] = { memfd_create("0", MFD_CLOEXEC), memfd_create("1", MFD_CLOEXEC) };
	unsigned int i, words = WIRE_RING_SLACK / 8 - 1;

	new_rings(&long_layout, PLENTY);
	for (i = 0; i < 2; i++)
		assert_int_equal(ftruncate(fds[i], part_bytes), 0);
	assert_int_equal(event_rings__add(rings, 1, &ring.pos, fds), 0);
	for (i = 0; i < 300; i++) {
		uint64_t head = ring.pos.head;
		char *part = mmap(NULL, part_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
				  fds[head / WIRE_RING_PART % 2], 0);

		ring.pos.head += 8 * words;
		commit((uint64_t *)(part + head % WIRE_RING_PART), words);
		munmap(part, part_bytes);
		if (i % 3 == 2)
			assert_int_equal(take_all(i - 2), 3);
	}
	assert_true(is_empty());
	close(fds[0]);
	close(fds[1]);
}

/* The recorder believes no length: not what no record has, nor what has not been reserved. */
static void damaged_rings(void **state)
{
	static const uint32_t lengths[] = {
		1, 7, 24, WIRE_RING_SLACK, WIRE_RING_SLACK + 1, UINT32_MAX - 7, UINT32_MAX
	};
	struct event_batch b;
	uint64_t *record;
	size_t i;

	open_rings(PLENTY);
	record = reserve(2);
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		*record = lengths[i];
		assert_int_equal(event_rings__next(rings, 1, &b), -EPROTO);
	}
	*record = 1ull << 32; /* no length, but complete */
	assert_int_equal(event_rings__next(rings, 1, &b), -EPROTO);
	ring.pos.head = SIZE + 8;
	assert_int_equal(event_rings__next(rings, 1, &b), -EPROTO);
	ring.pos.head = -8ull;
	assert_int_equal(event_rings__next(rings, 1, &b), -EPROTO);
	assert_int_equal(tail(), 0);
}

/* Records of random size are taken at random times, by the thread or by the test. */
static void records_keep_their_order(void **state)
{
	uint64_t seed = 7, taken = 0;
	unsigned int i;

	open_rings(PLENTY);
	for (i = 0; i < 200000; i++) {
		unsigned int words = gen_random(&seed) % (gen_random(&seed) % 16 ? 16 : SIZE / 16);

		if (!put(words + 1)) {
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
		cmocka_unit_test_setup_teardown(wakeups_are_repeated, setup, teardown),
		cmocka_unit_test_setup_teardown(late_wakeups, setup, teardown),
		cmocka_unit_test_setup_teardown(long_memory_comes_in_batches, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_is_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_is_limited_while_a_batch_is_read, setup,
						teardown),
		cmocka_unit_test_setup_teardown(unfinished_records, setup, teardown),
		cmocka_unit_test_setup_teardown(records_are_in_one_piece, setup, teardown),
		cmocka_unit_test_setup_teardown(rings_of_parts, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_rings, setup, teardown),
		cmocka_unit_test_setup_teardown(records_keep_their_order, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
