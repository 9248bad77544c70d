/* SPDX-License-Identifier: GPL-2.0-only */
/* What the stress tests share. */
#ifndef TEST_STRESS_H
#define TEST_STRESS_H

#include <stdint.h>

/* The finalizer of MurmurHash3: every bit of x changes half of the result's. */
static inline uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ (x >> 33);
}

/* Random numbers: the next one of this state. */
static inline uint64_t stress_roll(uint64_t *rng)
{
	return mix(*rng += 0x9e3779b97f4a7c15ULL);
}

#endif /* TEST_STRESS_H */
