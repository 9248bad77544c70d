// SPDX-License-Identifier: GPL-2.0-only
/*
 * How unwind tables' memory is shown to the BPF programs: each call of bpf(2) that changes an array
 * of maps waits for a grace period, so these calls are counted.  The functions of libbpf are
 * replaced here.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "record/files/table_slabs.h"
#include "unwind/table.h"
#include "wire.h"

#define OUTER 1000
#define SLAB_WORDS (WIRE_SLAB_CHUNKS * UNW_CHUNK_WORDS)

static struct {
	unsigned int batches, singles; /* calls */
	int refuse; /* batches: this errno */
	int fail; /* of single updates: this errno */
	uint64_t shown; /* a bit per index */
} fake;

int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key_size, __u32 value_size,
		   __u32 max_entries, const struct bpf_map_create_opts *opts)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)value_size * max_entries), 0);
	return fd;
}

static void show(uint32_t key, int fd)
{
	assert_true(key < 64);
	assert_true(lseek(fd, 0, SEEK_CUR) == 0); /* it is open */
	fake.shown |= 1ull << key;
}

int bpf_map_update_batch(int fd, const void *keys, const void *values, __u32 *count,
			 const struct bpf_map_batch_opts *opts)
{
	const uint32_t *k = keys;
	const int *v = values;
	__u32 i;

	assert_int_equal(fd, OUTER);
	fake.batches++;
	if (fake.refuse) {
		*count = 0;
		errno = fake.refuse;
		return -fake.refuse;
	}
	for (i = 0; i < *count; i++)
		show(k[i], v[i]);
	return 0;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	assert_int_equal(fd, OUTER);
	fake.singles++;
	if (fake.fail) {
		errno = fake.fail;
		return -fake.fail;
	}
	show(*(const uint32_t *)key, *(const int *)value);
	return 0;
}

static struct table_slabs *with_slabs(unsigned int nr)
{
	struct table_slabs *t;
	uint32_t addr;

	memset(&fake, 0, sizeof(fake));
	assert_int_equal(table_slabs__new(OUTER, 16 * SLAB_WORDS * 4ull, &t), 0);
	table_slabs__hold(t);
	while (nr--) { /* as much as a slab has, but for its first chunk */
		uint32_t words = SLAB_WORDS - UNW_CHUNK_WORDS + (nr ? 1 : 0);

		assert_int_equal(table_slabs__alloc(t, words, &addr), 0);
	}
	assert_int_equal(fake.batches + fake.singles, 0);
	return t;
}

static void test_one_call(void **state)
{
	struct table_slabs *t = with_slabs(5);
	unsigned int i;
	uint32_t addr;

	assert_int_equal(table_slabs__publish(t), 0);
	assert_int_equal(fake.batches, 1);
	assert_int_equal(fake.singles, 0);
	assert_int_equal(fake.shown, 0x1f);
	/* from now on each at once, before its first table is */
	assert_int_equal(table_slabs__alloc(t, SLAB_WORDS, &addr), 0);
	for (i = 5; i <= addr / SLAB_WORDS; i++)
		assert_true(fake.shown & 1ull << i);
	assert_int_equal(fake.batches, 1);
	table_slabs__free(t);
}

/* A kernel without batches for arrays of maps. */
static void test_refused(void **state)
{
	struct table_slabs *t = with_slabs(3);

	fake.refuse = EOPNOTSUPP;
	assert_int_equal(table_slabs__publish(t), 0);
	assert_int_equal(fake.singles, 3);
	assert_int_equal(fake.shown, 7);
	table_slabs__free(t);
}

static void test_failure(void **state)
{
	struct table_slabs *t = with_slabs(3);

	fake.refuse = fake.fail = ENOMEM;
	assert_int_equal(table_slabs__publish(t), -ENOMEM);
	table_slabs__free(t);
}

static void test_nothing(void **state)
{
	struct table_slabs *t = with_slabs(0);

	assert_int_equal(table_slabs__publish(t), 0);
	assert_int_equal(fake.batches + fake.singles, 0);
	table_slabs__free(t);
	t = with_slabs(2); /* never shown */
	table_slabs__free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_call),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
