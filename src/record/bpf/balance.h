/* SPDX-License-Identifier: GPL-2.0-only */
/* What became of the events that happened, where the programs' counters leave something open. */
#ifndef RECORD_BALANCE_H
#define RECORD_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

/* An event was counted as happened and what became of it by different programs: sums of the CPUs. */
struct balance {
	uint64_t more, less; /* happened more often than accounted for, and less often */
	unsigned int cpus_more, cpus_less; /* CPUs where that is so */
	uint64_t misses; /* of the counter: it ran already, and the kernel did not call it again */
	unsigned int nr_cpus;
	bool armed; /* the numbers were read while events happen */
	bool returns; /* the kernel follows only so many calls until they return */
};

/* Of counters by enum stk_counter: all events that something became of. */
uint64_t balance__accounted(const uint64_t *counters);
/* Notes one CPU's counters. */
void balance__add_cpu(struct balance *b, const uint64_t *counters);
/*
 * Completes the sums of all CPUs, so that happened = recorded + filtered + lost.  While armed, what is
 * being recorded at the moment has not happened yet.  Afterwards a CPU may have one event that only one
 * of the programs saw, as they look at the arming flag a moment apart: the edge.  What is left is lost for
 * an unknown reason, a fault of ours; if less happened than was recorded, the sum stays wrong to show it.
 * Returns how many events were lost without a program that noticed.
 */
uint64_t balance__complete(const struct balance *b, uint64_t *counters);

/*
 * Samples of a hardware counter that no program was called for, because one ran already: what the counter
 * counted (cycles) less the periods of those that were seen, in periods of the last one.  An estimate, as
 * the kernel adapts the period; less than two periods may be under way.
 */
uint64_t balance__swallowed(uint64_t counted, uint64_t seen, uint64_t period);

#endif /* RECORD_BALANCE_H */
