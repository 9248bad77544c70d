/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the workloads: integer arguments, pinning to a CPU, the clock, and CPU time. */
#ifndef STACKONCE_TEST_PROG_H
#define STACKONCE_TEST_PROG_H

#include <err.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* argv[i] as an integer up to max, or def if there is no such argument. */
static inline unsigned long arg_number(int argc, char **argv, int i, unsigned long def,
				       unsigned long max)
{
	unsigned long value;
	char *end;

	if (i >= argc)
		return def;
	errno = 0;
	value = strtoul(argv[i], &end, 10);
	if (errno || end == argv[i] || *end || value > max)
		errx(2, "'%s' is not a number up to %lu", argv[i], max);
	return value;
}

/* tid 0: the caller. */
static inline void pin_task(pid_t tid, unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(tid, sizeof(set), &set))
		err(1, "pin task %d to cpu %u", tid, cpu);
}

static inline void pin_to_cpu(unsigned int cpu)
{
	pin_task(0, cpu);
}

/* The clock of recordings. */
static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static inline uint64_t rusage_ns(int who)
{
	struct rusage ru;

	if (getrusage(who, &ru))
		err(1, "getrusage");
	return (uint64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000u;
}

#endif /* STACKONCE_TEST_PROG_H */
