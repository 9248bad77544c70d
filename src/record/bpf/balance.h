/* SPDX-License-Identifier: GPL-2.0-only */
/* Accounts for events for which the counters of the programs disagree. */
#ifndef RECORD_BALANCE_H
#define RECORD_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Sums over CPUs for one event.  One program counts that an event happened, another one that it was
 * recorded, filtered or lost.
 */
struct balance {
	uint64_t more, less; /* events that happened beyond those accounted for, and vice versa */
	unsigned int cpus_more, cpus_less; /* number of CPUs with such a difference */
	uint64_t misses; /* calls that the kernel skipped because the counter was running already */
	bool any_call; /* one program counts several events: a miss may be of any of them */
	unsigned int nr_cpus;
	bool armed; /* the counters were read while events happen */
	/* by the second instance of the program that counts, if it has one */
	uint64_t taken; /* those of `misses` that it was called for */
	uint64_t second_misses; /* calls of it that the kernel skipped */
	bool two_instances;
	bool late_cpu; /* one came online; until it was noticed, its second instance took nothing */
	bool one_program; /* the same one counts and records: it is never ahead of itself */
	bool returns; /* the kernel follows a limited number of pending returns */
};

/* Events that were recorded, filtered or lost; counters by enum stk_counter. */
uint64_t balance__accounted(const uint64_t *counters);
/* Adds the counters of one CPU. */
void balance__add_cpu(struct balance *b, const uint64_t *counters);
/*
 * Completes the sums over all CPUs to happened = recorded + filtered + lost.  While armed, events
 * in progress do not count as happened yet.  Afterwards, each CPU may have one event that only one
 * of the programs saw, because they read the arming flag at different times: the edge.  Any
 * remaining difference is lost for an unknown reason, which is a bug; if fewer events happened than
 * were recorded, the sum stays wrong to show it.  A miss that may be of any of several events is
 * lost of each, for an unknown reason.  Returns the number of events that were lost without any
 * program noticing it.
 */
uint64_t balance__complete(const struct balance *b, uint64_t *counters);

/* A perf event: its value, how long it was enabled, and how long it counted, in ns. */
struct sample_reading {
	uint64_t counted, enabled, running;
};

/* The readings of all CPUs. */
struct sample_sums {
	struct sample_reading reading;
	uint64_t swallowed; /* see below */
};

/*
 * Computes the counters of timer samples that no program counts.  c: sums over all CPUs, with those
 * of the programs and STK_C_SAMPLE_THROTTLED.  For an hz above 0; by_cycles: of a hardware counter,
 * which other perf events may occupy (multiplexing), and which counts nothing on an idle CPU.
 */
void balance__samples(const struct sample_sums *s, unsigned int hz, bool by_cycles, uint64_t *c);

/*
 * Estimates the samples of a hardware counter for which the kernel called no program, because one
 * was running already: the value of the counter (cycles) minus the periods of the samples seen, in
 * units of the last period.  It is an estimate because the kernel adapts the period; a difference
 * of less than two periods may be samples in progress.
 */
uint64_t balance__swallowed(uint64_t counted, uint64_t seen, uint64_t period);

#endif /* RECORD_BALANCE_H */
