// SPDX-License-Identifier: GPL-2.0-only
/* The differences between the counters of the two programs, and the reasons that they are given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "record/bpf/balance.h"
#include "stackonce-counters.h"

#define NR_CPUS 2

static uint64_t sum[STK_NR_COUNTERS];

/* Counters of one CPU; recorded stands for every accounted outcome of an event. */
static void cpu(struct balance *b, uint64_t happened, uint64_t recorded)
{
	uint64_t c[STK_NR_COUNTERS] = { [STK_C_HAPPENED] = happened, [STK_C_RECORDED] = recorded };

	balance__add_cpu(b, c);
	sum[STK_C_HAPPENED] += happened;
	sum[STK_C_RECORDED] += recorded;
}

static struct balance begin(bool armed, uint64_t misses)
{
	memset(sum, 0, sizeof(sum));
	return (struct balance){ .nr_cpus = NR_CPUS, .armed = armed, .misses = misses };
}

static bool adds_up(void)
{
	return sum[STK_C_HAPPENED] == balance__accounted(sum);
}

static void test_even(void **state)
{
	for (int armed = 0; armed < 2; armed++) {
		struct balance b = begin(armed, 0);

		cpu(&b, 10, 10);
		cpu(&b, 7, 7);
		assert_int_equal(balance__complete(&b, sum), 0);
		assert_int_equal(sum[STK_C_HAPPENED], 17);
		assert_true(adds_up());
	}
}

/* One on each CPU, when programs are armed or disarmed. */
static void test_edge(void **state)
{
	struct balance b = begin(false, 0);

	cpu(&b, 11, 10);
	cpu(&b, 8, 7);
	assert_int_equal(balance__complete(&b, sum), 0);
	assert_int_equal(sum[STK_C_LOST_EDGE], 2);
	assert_int_equal(sum[STK_C_LOST_UNKNOWN], 0);
	assert_true(adds_up());
	b = begin(false, 0);
	cpu(&b, 9, 10);
	cpu(&b, 8, 7);
	assert_int_equal(balance__complete(&b, sum), 0);
	assert_int_equal(sum[STK_C_LOST_EDGE], 1);
	assert_int_equal(sum[STK_C_HAPPENED], 18);
	assert_true(adds_up());
}

/* Two on one CPU are not an edge, even if two CPUs could have as many. */
static void test_more_than_an_edge(void **state)
{
	struct balance b = begin(false, 0);

	cpu(&b, 12, 10);
	cpu(&b, 7, 7);
	assert_int_equal(balance__complete(&b, sum), 1);
	assert_int_equal(sum[STK_C_LOST_EDGE], 1);
	assert_int_equal(sum[STK_C_LOST_UNKNOWN], 1);
	assert_true(adds_up());
}

/* More recorded than happened: the number of events that happened is not corrected. */
static void test_too_many(void **state)
{
	struct balance b = begin(false, 0);

	cpu(&b, 10, 13);
	cpu(&b, 7, 7);
	balance__complete(&b, sum);
	assert_int_equal(sum[STK_C_LOST_UNKNOWN], 2);
	assert_false(adds_up());
}

static void test_misses(void **state)
{
	struct balance b = begin(false, 3);

	/* one of three misses of the counter program was recorded */
	cpu(&b, 10, 11);
	cpu(&b, 7, 7);
	assert_int_equal(balance__complete(&b, sum), 2);
	assert_int_equal(sum[STK_C_HAPPENED], 20);
	assert_int_equal(sum[STK_C_LOST_NESTED], 2);
	assert_int_equal(sum[STK_C_LOST_EDGE], 0);
	assert_true(adds_up());
}

/* Tasks that move to another CPU between the two programs: only the sum is meaningful. */
static void test_moved(void **state)
{
	struct balance b = begin(false, 0);

	cpu(&b, 110, 100);
	cpu(&b, 60, 70);
	assert_int_equal(balance__complete(&b, sum), 0);
	assert_int_equal(sum[STK_C_LOST_UNKNOWN], 0);
	assert_in_range(sum[STK_C_LOST_EDGE], 0, 1);
	assert_true(adds_up());
	b = begin(false, 0);
	cpu(&b, 115, 100);
	cpu(&b, 60, 70);
	assert_int_equal(balance__complete(&b, sum), 5);
	assert_int_equal(sum[STK_C_LOST_UNKNOWN], 5);
	assert_true(adds_up());
}

/*
 * Where one program counts and records, the kernel's misses are all that it does not see itself,
 * and any other difference is a bug, also one on each CPU or in both directions.
 */
static void test_one_program(void **state)
{
	struct balance b = begin(false, 3);

	b.one_program = true;
	cpu(&b, 10, 10);
	cpu(&b, 7, 7);
	assert_int_equal(balance__complete(&b, sum), 3);
	assert_int_equal(sum[STK_C_HAPPENED], 20);
	assert_int_equal(sum[STK_C_LOST_NESTED], 3);
	assert_int_equal(sum[STK_C_LOST_UNKNOWN], 0);
	assert_true(adds_up());

	b = begin(false, 0);
	b.one_program = true;
	cpu(&b, 11, 10);
	cpu(&b, 8, 7);
	assert_int_equal(balance__complete(&b, sum), 2);
	assert_int_equal(sum[STK_C_LOST_EDGE], 0);
	assert_int_equal(sum[STK_C_LOST_UNKNOWN], 2);
	assert_true(adds_up());

	/* the second instance: has counted 6 of 8 that the first missed */
	b = begin(false, 8);
	b.one_program = b.two_instances = true;
	b.taken = 6;
	b.second_misses = 2;
	cpu(&b, 16, 16);
	cpu(&b, 7, 7);
	assert_int_equal(balance__complete(&b, sum), 2);
	assert_int_equal(sum[STK_C_HAPPENED], 25);
	assert_int_equal(sum[STK_C_LOST_NESTED], 2);
	assert_int_equal(sum[STK_C_LOST_UNKNOWN], 0);
	assert_true(adds_up());

	/* but it was skipped only twice, so it cannot have missed 8, not even at the edges */
	b = begin(false, 8);
	b.one_program = b.two_instances = true;
	b.second_misses = 2;
	cpu(&b, 16, 16);
	cpu(&b, 7, 7);
	assert_int_equal(balance__complete(&b, sum), 8);
	assert_int_equal(sum[STK_C_LOST_NESTED], 2);
	assert_int_equal(sum[STK_C_LOST_EDGE], 2);
	assert_int_equal(sum[STK_C_LOST_UNKNOWN], 4);
	assert_true(adds_up());

	/* unless a CPU was not known to the second yet */
	b = begin(false, 8);
	b.one_program = b.two_instances = b.late_cpu = true;
	b.second_misses = 2;
	cpu(&b, 16, 16);
	cpu(&b, 7, 7);
	assert_int_equal(balance__complete(&b, sum), 8);
	assert_int_equal(sum[STK_C_LOST_NESTED], 8);
	assert_true(adds_up());

	/* nor can it take what the first did not miss: it has recorded the same events again */
	b = begin(false, 8);
	b.one_program = b.two_instances = true;
	b.taken = 11;
	cpu(&b, 16, 16);
	cpu(&b, 7, 7);
	balance__complete(&b, sum);
	assert_int_equal(sum[STK_C_LOST_UNKNOWN], 3);
	assert_false(adds_up());

	b = begin(false, 2);
	b.one_program = true;
	cpu(&b, 12, 10);
	cpu(&b, 7, 9);
	balance__complete(&b, sum);
	assert_int_equal(sum[STK_C_LOST_NESTED], 2);
	assert_int_equal(sum[STK_C_LOST_UNKNOWN], 4);
	assert_false(adds_up());
}

/*
 * An event that has taken the old way: its two fronts went on as counters.  The second one has
 * counted 6 of 8 that the first missed; perf's program may record what both missed.
 */
static void test_old_way(void **state)
{
	struct balance b = begin(false, 8);

	b.two_instances = true;
	b.taken = 6;
	b.second_misses = 2;
	cpu(&b, 16, 16);
	cpu(&b, 7, 7);
	assert_int_equal(balance__complete(&b, sum), 2);
	assert_int_equal(sum[STK_C_HAPPENED], 25);
	assert_int_equal(sum[STK_C_LOST_NESTED], 2);
	assert_int_equal(sum[STK_C_LOST_UNKNOWN], 0);
	assert_true(adds_up());

	b = begin(false, 8);
	b.two_instances = true;
	b.taken = 6;
	b.second_misses = 2;
	cpu(&b, 16, 18);
	cpu(&b, 7, 7);
	assert_int_equal(balance__complete(&b, sum), 0);
	assert_int_equal(sum[STK_C_HAPPENED], 25);
	assert_int_equal(sum[STK_C_LOST_NESTED], 0);
	assert_int_equal(sum[STK_C_LOST_UNKNOWN], 0);
	assert_true(adds_up());
}

/* One program counts all system calls, so it is unknown of which event a miss is. */
static void test_any_call(void **state)
{
	struct balance b;
	unsigned int one_program, armed;

	for (one_program = 0; one_program < 2; one_program++)
		for (armed = 0; armed < 2; armed++) {
			b = begin(armed, 1);
			b.any_call = true;
			b.one_program = one_program;
			cpu(&b, 10, 10);
			cpu(&b, 7, 7);
			assert_int_equal(balance__complete(&b, sum), 1);
			assert_int_equal(sum[STK_C_HAPPENED], 18);
			assert_int_equal(sum[STK_C_LOST_UNKNOWN], 1);
			assert_int_equal(sum[STK_C_LOST_NESTED], 0);
			assert_true(adds_up());
		}

	/* perf's program has recorded it */
	b = begin(false, 1);
	b.any_call = true;
	cpu(&b, 10, 11);
	cpu(&b, 7, 7);
	assert_int_equal(balance__complete(&b, sum), 0);
	assert_int_equal(sum[STK_C_HAPPENED], 18);
	assert_int_equal(sum[STK_C_LOST_UNKNOWN], 0);
	assert_true(adds_up());
}

/* An event that is being recorded has not happened yet: no edge, no error. */
static void test_under_way(void **state)
{
	struct balance b = begin(true, 0);

	cpu(&b, 12, 10);
	cpu(&b, 8, 7);
	assert_int_equal(balance__complete(&b, sum), 0);
	assert_int_equal(sum[STK_C_HAPPENED], 17);
	assert_int_equal(sum[STK_C_LOST_EDGE], 0);
	assert_true(adds_up());
	b = begin(true, 5);
	cpu(&b, 10, 10);
	cpu(&b, 7, 7);
	assert_int_equal(balance__complete(&b, sum), 5);
	assert_int_equal(sum[STK_C_LOST_NESTED], 5);
	assert_true(adds_up());
}

/* Returns that the kernel did not trace are counted while recording, too. */
static void test_returns(void **state)
{
	struct balance b = begin(true, 0);

	b.returns = true;
	cpu(&b, 110, 10);
	cpu(&b, 7, 7);
	assert_int_equal(balance__complete(&b, sum), 92);
	assert_int_equal(sum[STK_C_LOST_RETURN], 92);
	assert_true(adds_up());
	b = begin(false, 0);
	b.returns = true;
	cpu(&b, 110, 10);
	cpu(&b, 7, 7);
	assert_int_equal(balance__complete(&b, sum), 99);
	assert_int_equal(sum[STK_C_LOST_RETURN], 99);
	assert_int_equal(sum[STK_C_LOST_EDGE], 1);
	assert_true(adds_up());
}

/* With values, as cycle counters are not available everywhere. */
static void test_swallowed(void **state)
{
	assert_int_equal(balance__swallowed(0, 0, 0), 0);
	assert_int_equal(balance__swallowed(10500, 10000, 1000), 0);
	assert_int_equal(balance__swallowed(11999, 10000, 1000), 0);
	assert_int_equal(balance__swallowed(15500, 10000, 1000), 4);
	/* the last period was longer than the counter's lead */
	assert_int_equal(balance__swallowed(10000, 10500, 1000), 0);
}

/* What these readings and counts of samples mean; counters of the programs are already in c. */
static void samples_mean(struct sample_reading reading, uint64_t swallowed, bool by_cycles)
{
	const struct sample_sums sums = { reading, swallowed };

	balance__samples(&sums, 100, by_cycles, sum);
}

/* Made up: a counter that others use for a quarter of the time, and one that counts nothing. */
static void test_samples(void **state)
{
	const uint64_t s = 1000000000;

	begin(true, 0);
	sum[STK_C_HAPPENED] = 290;
	sum[STK_C_SAMPLE_IDLE] = 5;
	samples_mean((struct sample_reading){ 9 * s, 4 * s, 3 * s }, 3, true);
	assert_int_equal(sum[STK_C_SAMPLE_EXPECTED], 400);
	assert_int_equal(sum[STK_C_SAMPLE_MULTIPLEXED], 100);
	assert_int_equal(sum[STK_C_SAMPLE_SKIPPED], 3);
	begin(true, 0);
	samples_mean((struct sample_reading){ 0, 4 * s, 4 * s }, 0, true);
	assert_int_equal(sum[STK_C_SAMPLE_SKIPPED], 400);
	assert_int_equal(sum[STK_C_SAMPLE_MULTIPLEXED], 0);
	begin(true, 0);
	sum[STK_C_HAPPENED] = 390;
	sum[STK_C_SAMPLE_THROTTLED] = 4;
	samples_mean((struct sample_reading){ 4 * s, 4 * s, 4 * s }, 0, false);
	assert_int_equal(sum[STK_C_SAMPLE_SKIPPED], 6);
	begin(true, 0);
	sum[STK_C_HAPPENED] = 401;
	samples_mean((struct sample_reading){ 4 * s, 4 * s, 5 * s }, 0, false);
	assert_int_equal(sum[STK_C_SAMPLE_SKIPPED], 0);
	assert_int_equal(sum[STK_C_SAMPLE_MULTIPLEXED], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_even),
		cmocka_unit_test(test_edge),
		cmocka_unit_test(test_more_than_an_edge),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_misses),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_one_program),
		cmocka_unit_test(test_old_way),
		cmocka_unit_test(test_any_call),
		cmocka_unit_test(test_under_way),
		cmocka_unit_test(test_returns),
		cmocka_unit_test(test_swallowed),
		cmocka_unit_test(test_samples),
	};

	return cmocka_run_group_tests_name("balance", tests, NULL, NULL);
}
