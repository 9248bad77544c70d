// SPDX-License-Identifier: GPL-2.0-only
/* Balances the events that one program counted with what the others recorded of them. */
#include "balance.h"

#include "cleanup.h"
#include "losses.h"

#define CONTEXTS 4 /* task, softirq, hardirq, NMI: events that a CPU may be recording at once */

uint64_t balance__accounted(const uint64_t *c)
{
	return c[STK_C_RECORDED] + counters_sum(STK_COUNTERS_FILTERED, c) + losses__sum(c);
}

void balance__add_cpu(struct balance *b, const uint64_t *c)
{
	uint64_t happened = c[STK_C_HAPPENED], seen = balance__accounted(c);

	if (happened > seen) {
		b->more += happened - seen;
		b->cpus_more++;
	} else if (happened < seen) {
		b->less += seen - happened;
		b->cpus_less++;
	}
}

/* Calls that the kernel skipped and no other program counted. */
static uint64_t missed(const struct balance *b)
{
	return b->misses - MIN(b->misses, b->taken);
}

static enum stk_counter missed_counter(const struct balance *b)
{
	return b->any_call ? STK_C_LOST_UNKNOWN : STK_C_LOST_NESTED;
}

/*
 * Balances counters that were read while events happen.  A difference that may be events in
 * progress is left to the next call.
 */
static uint64_t complete_armed(const struct balance *b, uint64_t *c)
{
	uint64_t seen = balance__accounted(c), unseen, rest;

	rest = b->more + missed(b);
	rest -= MIN(rest, b->less);
	unseen = MIN(missed(b), rest);
	rest -= unseen;
	c[missed_counter(b)] += unseen;
	if (b->returns && rest > CONTEXTS * b->nr_cpus) {
		rest -= CONTEXTS * b->nr_cpus;
		c[STK_C_LOST_RETURN] += rest;
		unseen += rest;
	}
	c[STK_C_HAPPENED] = seen + unseen;
	return unseen;
}

/*
 * Two instances of the program have two witnesses: the second cannot take more than the kernel
 * skipped the first for, and both cannot miss more than it skipped the second for, but at the edges
 * of the recording.
 */
static uint64_t complete_one_program(const struct balance *b, uint64_t *c)
{
	uint64_t lost = missed(b), known = lost, edge = 0;

	if (b->two_instances) {
		known = b->late_cpu ? lost : MIN(lost, b->second_misses);
		edge = MIN(lost - known, (uint64_t)b->nr_cpus);
		if (b->taken > b->misses + b->nr_cpus)
			c[STK_C_LOST_UNKNOWN] += b->taken - b->misses;
	}
	c[STK_C_HAPPENED] += lost;
	c[missed_counter(b)] += known;
	c[STK_C_LOST_EDGE] += edge;
	c[STK_C_LOST_UNKNOWN] += lost - known - edge + b->more + b->less;
	return lost + b->more;
}

static uint64_t complete_final(const struct balance *b, uint64_t *c)
{
	uint64_t more = b->more, less = b->less, misses = missed(b), moved, edge;

	c[STK_C_HAPPENED] += misses;
	/* when the kernel skips the counter it usually drops the recorder, too, but not always */
	edge = MIN(less, misses);
	less -= edge;
	misses -= edge;
	c[missed_counter(b)] += misses;
	/* a task preempted between the two programs may run the second one on another CPU */
	moved = MIN(more - MIN(more, b->cpus_more), less - MIN(less, b->cpus_less));
	more -= moved;
	less -= moved;
	edge = MIN(less, b->cpus_less);
	c[STK_C_HAPPENED] += edge;
	c[STK_C_LOST_UNKNOWN] += less - edge;
	edge = MIN(more, b->cpus_more);
	c[STK_C_LOST_EDGE] += edge;
	c[b->returns ? STK_C_LOST_RETURN : STK_C_LOST_UNKNOWN] += more - edge;
	return misses + more - edge;
}

uint64_t balance__complete(const struct balance *b, uint64_t *counters)
{
	if (b->armed)
		return complete_armed(b, counters);
	return b->one_program ? complete_one_program(b, counters) : complete_final(b, counters);
}

uint64_t balance__swallowed(uint64_t counted, uint64_t seen, uint64_t period)
{
	uint64_t missing = counted - MIN(counted, seen);

	return period && missing / period >= 2 ? missing / period - 1 : 0;
}

void balance__samples(const struct sample_sums *s, unsigned int hz, bool by_cycles, uint64_t *c)
{
	const struct sample_reading *r = &s->reading;
	uint64_t period = 1000000000ull / hz, expected = r->enabled / period;
	uint64_t waited = r->enabled - MIN(r->enabled, r->running);
	uint64_t known = c[STK_C_HAPPENED] + c[STK_C_SAMPLE_IDLE] + c[STK_C_SAMPLE_THROTTLED];

	c[STK_C_SAMPLE_EXPECTED] = expected;
	c[STK_C_SAMPLE_MULTIPLEXED] = waited / period;
	known += c[STK_C_SAMPLE_MULTIPLEXED];
	/*
	 * An idle CPU makes no cycles, so with cycles the expected number is only an upper bound.
	 * But no machine is idle everywhere: then the counter does not count.
	 */
	if (by_cycles && r->counted)
		c[STK_C_SAMPLE_SKIPPED] = s->swallowed;
	else
		c[STK_C_SAMPLE_SKIPPED] = expected - MIN(expected, known);
}
