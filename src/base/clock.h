/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A clock of clock_gettime(2) in ns, and its times in us. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

#define SECOND_NS 1000000000ull

/* Rounded, as ftrace prints times. */
static inline uint64_t ns_to_us(uint64_t ns)
{
	return ns / 1000 + (ns % 1000 >= 500);
}

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * SECOND_NS + ts.tv_nsec;
}

#endif /* CLOCK_H */
