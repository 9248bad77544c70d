// SPDX-License-Identifier: GPL-2.0-only
/* Allocates memory for unwind tables in slabs that are shared with the BPF programs. */
#include "table_slabs.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "array.h"
#include "cleanup.h"
#include "record/kernel/map_in_map.h"
#include "unwind/table.h"
#include "wire.h"

#define UNIT_WORDS 256
#define CHUNK_UNITS (UNW_CHUNK_WORDS / UNIT_WORDS)
#define CHUNK_BYTES (UNW_CHUNK_WORDS * 4)
#define SLAB_BYTES ((size_t)WIRE_SLAB_CHUNKS * CHUNK_BYTES)

static_assert(CHUNK_UNITS == 32, "the units of a chunk are the bits of a u32");

struct table_slabs {
	int slabs_fd;
	char *base;
	unsigned int nr_slabs, max_slabs;
	uint32_t *used; /* a word per chunk, a bit per unit */
	uint64_t units; /* in use */
	bool held; /* new slabs wait for table_slabs__publish() */
	int *waiting; /* their descriptors */
	uint32_t nr_waiting, cap_waiting;
};

static uint32_t low_bits(unsigned int n)
{
	return n < 32 ? (1u << n) - 1 : UINT32_MAX;
}

static uint32_t units_of(uint32_t nr_words)
{
	return nr_words / UNIT_WORDS + (nr_words % UNIT_WORDS != 0);
}

int table_slabs__new(int slabs_fd, uint64_t budget, struct table_slabs **ret_tables)
{
	struct table_slabs *t = calloc(1, sizeof(*t));
	uint64_t slabs = budget / SLAB_BYTES + (budget % SLAB_BYTES != 0);

	if (!t)
		return -ENOMEM;
	t->slabs_fd = slabs_fd;
	t->max_slabs = MAX(MIN(slabs, (uint64_t)WIRE_TABLE_SLABS), (uint64_t)1);
	t->used = calloc((size_t)t->max_slabs * WIRE_SLAB_CHUNKS, sizeof(*t->used));
	t->base = mmap(NULL, t->max_slabs * SLAB_BYTES, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!t->used || t->base == MAP_FAILED) {
		if (t->base == MAP_FAILED)
			t->base = NULL;
		table_slabs__free(t);
		return -ENOMEM;
	}
	t->used[0] = 1; /* address 0 means no table */
	*ret_tables = t;
	return 0;
}

static void forget_waiting(struct table_slabs *t)
{
	while (t->nr_waiting)
		close(t->waiting[--t->nr_waiting]);
}

void table_slabs__free(struct table_slabs *t)
{
	if (!t)
		return;
	forget_waiting(t);
	if (t->base)
		munmap(t->base, t->max_slabs * SLAB_BYTES);
	free(t->waiting);
	free(t->used);
	free(t);
}

/* The map `slabs` holds a reference to the array, so its descriptor can be closed. */
static int publish(struct table_slabs *t, int *fd)
{
	uint32_t index = t->nr_slabs;

	if (!t->held)
		return map_in_map__set(t->slabs_fd, &index, fd, 1);
	if (array__grow(&t->waiting, t->nr_waiting, &t->cap_waiting))
		return -ENOMEM;
	t->waiting[t->nr_waiting++] = take_fd(*fd);
	return 0;
}

static int add_slab(struct table_slabs *t)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int flags = MAP_SHARED | MAP_FIXED | (t->slabs_fd < 0 ? MAP_ANONYMOUS : 0);
	_cleanup_close_ int fd = -1;
	char *at;
	int err;

	if (t->nr_slabs == t->max_slabs)
		return -ENOSPC;
	if (t->slabs_fd >= 0) {
		fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "stk_slab", 4, CHUNK_BYTES,
				    WIRE_SLAB_CHUNKS, &opts);
		if (fd < 0)
			return -errno;
	}
	at = t->base + t->nr_slabs * SLAB_BYTES;
	if (mmap(at, SLAB_BYTES, PROT_READ | PROT_WRITE, flags, fd, 0) == MAP_FAILED)
		return -errno;
	err = fd >= 0 ? publish(t, &fd) : 0;
	if (err)
		return err;
	t->nr_slabs++;
	return 0;
}

void table_slabs__hold(struct table_slabs *t)
{
	t->held = true;
}

int table_slabs__publish(struct table_slabs *t)
{
	uint32_t first = t->nr_slabs - t->nr_waiting, i;
	_cleanup_free_ uint32_t *keys = malloc(MAX(t->nr_waiting, 1u) * sizeof(*keys));
	int err;

	if (!keys)
		return -ENOMEM;
	for (i = 0; i < t->nr_waiting; i++)
		keys[i] = first + i;
	err = map_in_map__set(t->slabs_fd, keys, t->waiting, t->nr_waiting);
	t->held = false;
	forget_waiting(t);
	return err;
}

/* Finds so many adjacent free units within a chunk; *ret_unit: the first, over all chunks. */
static bool find_small(const struct table_slabs *t, unsigned int units, uint32_t *ret_unit)
{
	uint32_t nr = t->nr_slabs * WIRE_SLAB_CHUNKS, chunk;
	unsigned int at;

	for (chunk = 0; chunk < nr; chunk++) {
		if (t->used[chunk] == UINT32_MAX)
			continue;
		for (at = 0; at + units <= CHUNK_UNITS; at++) {
			if (t->used[chunk] >> at & low_bits(units))
				continue;
			*ret_unit = chunk * CHUNK_UNITS + at;
			return true;
		}
	}
	return false;
}

/* Finds empty chunks followed by one whose beginning is free. */
static bool find_large(const struct table_slabs *t, uint32_t units, uint32_t *ret_unit)
{
	uint32_t nr = t->nr_slabs * WIRE_SLAB_CHUNKS, full = units / CHUNK_UNITS, run = 0, chunk;
	uint32_t rest = low_bits(units % CHUNK_UNITS);

	for (chunk = 0; chunk <= nr; chunk++) {
		if (run == full && (!rest || (chunk < nr && !(t->used[chunk] & rest)))) {
			*ret_unit = (chunk - full) * CHUNK_UNITS;
			return true;
		}
		if (chunk == nr || t->used[chunk])
			run = 0;
		else if (run < full)
			run++;
	}
	return false;
}

/* Inverts the bits of the units [unit, unit + nr). */
static void flip(struct table_slabs *t, uint32_t unit, uint32_t nr)
{
	uint32_t n;

	for (; nr; unit += n, nr -= n) {
		n = MIN(nr, CHUNK_UNITS - unit % CHUNK_UNITS);
		t->used[unit / CHUNK_UNITS] ^= low_bits(n) << unit % CHUNK_UNITS;
	}
}

int table_slabs__alloc(struct table_slabs *t, uint32_t nr_words, uint32_t *ret_addr)
{
	uint32_t units = MAX(units_of(nr_words), 1u), unit;
	bool small = nr_words <= UNW_CHUNK_WORDS;
	int err;

	/* chunk 0 is never empty, because address 0 is reserved */
	if (!small && table_slabs__size(nr_words) > table_slabs__max_bytes(t) - CHUNK_BYTES)
		return -E2BIG;
	while (!(small ? find_small(t, units, &unit) : find_large(t, units, &unit))) {
		err = add_slab(t);
		if (err)
			return err;
	}
	flip(t, unit, units);
	t->units += units;
	*ret_addr = unit * UNIT_WORDS;
	return 0;
}

void table_slabs__release(struct table_slabs *t, uint32_t addr, uint32_t nr_words)
{
	uint32_t units = MAX(units_of(nr_words), 1u);

	flip(t, addr / UNIT_WORDS, units);
	t->units -= units;
}

uint32_t *table_slabs__words(const struct table_slabs *t, uint32_t addr)
{
	return (uint32_t *)t->base + addr;
}

uint64_t table_slabs__size(uint32_t nr_words)
{
	return (uint64_t)MAX(units_of(nr_words), 1u) * UNIT_WORDS * 4;
}

uint64_t table_slabs__bytes(const struct table_slabs *t)
{
	return t->units * UNIT_WORDS * 4;
}

uint64_t table_slabs__max_bytes(const struct table_slabs *t)
{
	return t->max_slabs * SLAB_BYTES;
}
