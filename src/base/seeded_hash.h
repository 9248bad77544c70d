/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Hashes for tables whose keys come from a recording: each process picks a new seed, so no
 * recording can be made whose keys all collide.  Hashes are never stored, and no output may depend
 * on their order.
 *
 * Each step folds a 128-bit product of two values that both depend on the seed, as wyhash does
 * (https://github.com/wangyi-fudan/wyhash).
 */
#ifndef SEEDED_HASH_H
#define SEEDED_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define SEEDED_HASH_A 0xa0761d6478bd642fULL
#define SEEDED_HASH_B 0xe7037ed1a0b428dbULL

static inline uint64_t seeded_hash__fold(uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* A seed for one table; never 0. */
static inline uint64_t seeded_hash__seed(void)
{
	uint64_t seed;

	/* early at boot the kernel has no randomness yet: use the time */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = seeded_hash__fold((uintptr_t)&seed,
					 (uint64_t)clock() ^ (uint64_t)time(NULL));
	return seed | 1;
}

/* Extends the hash h by v; h is initially the seed. */
static inline uint64_t seeded_hash__u64(uint64_t seed, uint64_t h, uint64_t v)
{
	return seeded_hash__fold(h ^ v ^ SEEDED_HASH_A, seed ^ SEEDED_HASH_B ^ (v << 32 | v >> 32));
}

static inline uint64_t seeded_hash__bytes(uint64_t seed, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	uint64_t h = seed ^ n, v[2];

	for (; n >= sizeof(v); n -= sizeof(v), p += sizeof(v)) {
		memcpy(v, p, sizeof(v));
		h = seeded_hash__fold(h ^ v[0] ^ SEEDED_HASH_A, seed ^ v[1] ^ SEEDED_HASH_B);
	}
	v[0] = v[1] = 0;
	if (n >= sizeof(*v)) {
		memcpy(v, p, sizeof(*v));
		p += sizeof(*v);
		n -= sizeof(*v);
	}
	for (; n; n--)
		v[1] = v[1] << 8 | p[n - 1];
	return seeded_hash__fold(h ^ v[0] ^ SEEDED_HASH_A, seed ^ v[1] ^ SEEDED_HASH_B);
}

#endif /* SEEDED_HASH_H */
