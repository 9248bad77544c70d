/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A clock of clock_gettime(2) in ns. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

#define SECOND_NS 1000000000ull

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * SECOND_NS + ts.tv_nsec;
}

#endif /* CLOCK_H */
