/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Timer samples: a perf event on each CPU runs the sample program.
 *
 * The kernel removes a CPU's events when the CPU goes offline, and does not bring them back with
 * it: their descriptors stay valid, but count nothing any more.  samples__refresh() finds such
 * events and opens new ones.
 */
#ifndef RECORD_SAMPLES_H
#define RECORD_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "balance.h"

struct bpf_program;
struct samples;

struct samples_opts {
	unsigned int nr_cpus; /* possible CPUs */
	unsigned int hz;
	bool cycles; /* sample by hardware cycles, not by the clock */
	const uint64_t *cpus; /* borrowed: a bit for each CPU that has samples; NULL: all have */
	const struct bpf_program *program; /* borrowed */
};

/* Opens no events yet, see samples__refresh(). */
int samples__new(const struct samples_opts *opts, struct samples **ret_samples);
void samples__free(struct samples *s);

/*
 * Opens the missing events of these CPUs; to be called before samples__start(), and then from time
 * to time until samples__stop().  A CPU that goes offline meanwhile has no samples until a later
 * call finds it online.
 */
int samples__refresh(struct samples *s, const bool *online);

void samples__start(struct samples *s);
void samples__stop(struct samples *s);

/* What the events of a CPU counted between start and stop. */
struct samples_count {
	/* Of events that ended with their CPU, times are whole periods. */
	struct sample_reading reading;
	unsigned int ended; /* events that ended with their CPU, each in the middle of a period */
};
void samples__count(struct samples *s, unsigned int cpu, struct samples_count *ret_count);
/* How often the kernel throttled the samples of a CPU, so far. */
uint64_t samples__throttled(struct samples *s);

/* Adds the descriptors that keep the events, at most two by CPU; returns how many. */
unsigned int samples__fds(const struct samples *s, int *fds);

#endif /* RECORD_SAMPLES_H */
