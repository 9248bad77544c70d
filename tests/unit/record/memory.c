// SPDX-License-Identifier: GPL-2.0-only
/* The budget of kernel memory, on machines of many sizes. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cleanup.h"
#include "record/memory.h"
#include "record/opts.h"
#include "wire.h"

#define KIB ((uint64_t)1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

static struct memory_plan plan(uint64_t bytes, unsigned int cpus, uint64_t fixed,
			       struct recorder_opts opts)
{
	struct memory_machine machine = { bytes, cpus, fixed, WIRE_RING_SLACK };
	struct memory_plan p;

	memory_plan__make(&opts, &machine, &p);
	return p;
}

/* What a recording of a few event types with user stacks needs in any case. */
static uint64_t usual_fixed(unsigned int cpus)
{
	return 18 * MIB + MAX(cpus, 8u) * 650 * KIB + cpus * 453 * KIB;
}

static void known_machines(void **state)
{
	static const struct {
		uint64_t bytes;
		unsigned int cpus;
		uint64_t ring;
		uint32_t bits;
		uint64_t tables;
	} machines[] = {
		{ 512 * MIB, 1, 2 * MIB, 12, 32 * MIB },
		{ 512 * MIB, 2, MIB, 12, 32 * MIB },
		{ 512 * MIB, 512, 256 * KIB, 12, 32 * MIB },
		{ 1 * GIB, 1, 4 * MIB, 13, 32 * MIB },
		{ 4 * GIB, 1, 8 * MIB, 16, 32 * MIB },
		{ 4 * GIB, 2, 8 * MIB, 16, 32 * MIB },
		{ 8 * GIB, 2, 8 * MIB, 16, 0 },
		{ 8 * GIB, 8, 4 * MIB, 16, 0 },
		{ 64 * GIB, 8, 8 * MIB, 16, 256 * MIB },
		{ 64 * GIB, 64, 4 * MIB, 16, 256 * MIB },
		{ 256 * GIB, 512, 2 * MIB, 16, 256 * MIB },
		{ 2048 * GIB, 64, 8 * MIB, 16, 256 * MIB },
		{ 2048 * GIB, 512, 8 * MIB, 16, 256 * MIB },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(machines); i++) {
		struct memory_plan p =
			plan(machines[i].bytes, machines[i].cpus, usual_fixed(machines[i].cpus),
			     (struct recorder_opts){ 0 });

		print_message("%" PRIu64 " MiB, %u CPUs: rings of %" PRIu64 " KiB, 2^%u stacks, "
			      "tables %" PRIu64 " MiB\n",
			      machines[i].bytes / MIB, machines[i].cpus, p.ring / KIB,
			      p.stack_map_bits, p.tables / MIB);
		assert_int_equal(p.budget, machines[i].bytes / 64);
		assert_int_equal(p.ring, machines[i].ring);
		assert_int_equal(p.stack_map_bits, machines[i].bits);
		if (machines[i].tables)
			assert_int_equal(p.tables, machines[i].tables);
	}
}

/* The sum is within the budget unless a part is as small as it may be. */
static void every_machine(void **state)
{
	static const unsigned int cpus[] = { 1, 2, 8, 64, 512 };
	uint64_t bytes, sum, fixed;
	size_t i;

	for (bytes = 512 * MIB; bytes <= 2048 * GIB; bytes *= 2) {
		for (i = 0; i < ARRAY_SIZE(cpus); i++) {
			struct memory_plan p;

			fixed = usual_fixed(cpus[i]);
			p = plan(bytes, cpus[i], fixed, (struct recorder_opts){ 0 });
			assert_int_equal(p.rings, cpus[i]);
			assert_in_range(p.ring_memory, p.ring + WIRE_RING_SLACK,
					p.ring + p.ring / 7);
			assert_int_equal(p.ring & (p.ring - 1), 0);
			assert_in_range(p.ring, MEMORY_RING_MIN, 8 * MIB);
			assert_in_range(p.stack_map_bits, MEMORY_BITS_MIN, 16);
			assert_in_range(p.tables, MEMORY_TABLES_MIN, 256 * MIB);
			assert_int_equal(p.moved, MIN(bytes / 64, 256 * MIB));
			assert_int_equal(p.stack_map, 176ull << p.stack_map_bits);
			sum = fixed + p.rings * p.ring_memory + p.stack_map + p.tables;
			if (fixed <= p.budget / 2 && p.ring > MEMORY_RING_MIN &&
			    p.tables > MEMORY_TABLES_MIN)
				assert_in_range(sum, 1, p.budget);
			/* no part is smaller than it has to be */
			if (p.ring < 8 * MIB && fixed <= p.budget / 2)
				assert_true(2 * p.ring * cpus[i] > (p.budget - fixed) / 2);
		}
	}
}

/* Each part that is given is used as it is. */
static void given_parts(void **state)
{
	struct recorder_opts o = { .buffer_size = 64 * MIB };
	struct memory_plan p = plan(4 * GIB, 2, usual_fixed(2), o);

	assert_int_equal(p.ring, 64 * MIB);
	assert_int_equal(p.ring_memory, 64 * MIB + 32 * WIRE_RING_SLACK);
	assert_int_equal(p.stack_map_bits, 16);
	assert_int_equal(p.tables, MEMORY_TABLES_MIN);
	p = plan(4 * GIB, 2, usual_fixed(2), (struct recorder_opts){ .stack_map_bits = 22 });
	assert_int_equal(p.stack_map_bits, 22);
	assert_int_equal(p.stack_pool, 160ull << 22);
	assert_int_equal(p.ring, 8 * MIB);
	p = plan(4 * GIB, 2, usual_fixed(2), (struct recorder_opts){ .stack_map_bits = 10 });
	assert_int_equal(p.stack_pool, 4 * MIB);
	p = plan(4 * GIB, 2, usual_fixed(2), (struct recorder_opts){ .stack_pool = 64 * KIB });
	assert_int_equal(p.stack_pool, 64 * KIB);
	p = plan(4 * GIB, 2, usual_fixed(2), (struct recorder_opts){ .table_budget = MIB });
	assert_int_equal(p.tables, MIB);
}

/* What is asked for with --memory is used, also beyond the usual sizes. */
static void given_budget(void **state)
{
	struct memory_plan p =
		plan(8 * GIB, 2, usual_fixed(2), (struct recorder_opts){ .memory = 2 * GIB });

	assert_int_equal(p.budget, 2 * GIB);
	assert_int_equal(p.moved, 256 * MIB);
	assert_int_equal(p.ring, 256 * MIB);
	assert_int_equal(p.stack_map_bits, 21);
	assert_in_range(p.tables, 512 * MIB, GIB);
	assert_true(2 * p.ring + p.stack_map + p.tables + p.fixed <= 2 * GIB + 512 * MIB);
	p = plan(8 * GIB, 512, usual_fixed(512), (struct recorder_opts){ .memory = MIB });
	assert_int_equal(p.ring, MEMORY_RING_MIN);
	assert_int_equal(p.stack_map_bits, MEMORY_BITS_MIN);
	assert_int_equal(p.tables, MEMORY_TABLES_MIN);
}

static void this_machine(void **state)
{
	struct memory_machine m;

	memory_machine__read(&m);
	assert_true(m.bytes > 64 * MIB);
	assert_in_range(m.cpus, 1, 65536);
	assert_int_equal(m.fixed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_machines), cmocka_unit_test(every_machine),
		cmocka_unit_test(given_parts),	  cmocka_unit_test(given_budget),
		cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
