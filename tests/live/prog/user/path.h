/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Futex addresses name call paths: word k of the arena belongs to path k, which has at each level
 * the function with the shape path_shape(k, level).
 */
#ifndef STACKONCE_TEST_PATH_H
#define STACKONCE_TEST_PATH_H

#include <stdint.h>

#define PATH_ARENA 0x200000000000ULL
#define PATH_COUNT (1u << 20) /* paths */
#define PATH_LEVELS 20
#define PATH_SHAPES 6

/* What a leaf does, given as the val of the futex call. */
enum path_mode {
	PATH_WAKE = 1,
	PATH_WAIT = 0, /* the value of the word, so that it sleeps */
	PATH_BURN = 2, /* computes between this and the next */
	PATH_BURNT = 3,
	PATH_WALK = 4, /* makes no call */
};

static inline unsigned int path_shape(uint32_t path, unsigned int level)
{
	uint64_t x = ((uint64_t)path << 8 | level) * 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9ULL;
	return (unsigned int)((x >> 40) % PATH_SHAPES);
}

#endif /* STACKONCE_TEST_PATH_H */
