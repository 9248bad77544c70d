/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code of tagged files: tag_a() calls tag_b() calls tag_c(), which makes the futex call.
 * TAG_SHAPE selects their order and the size of their frames, so that the unwind table of another
 * shape is always wrong.  It is self-contained, so that it can be mapped anywhere.
 */
#ifndef STACKONCE_TEST_TAG_CODE_H
#define STACKONCE_TEST_TAG_CODE_H

#include "tag.h"

static const volatile struct tag_block tag_block = { TAG_MAGIC, 0 };

#define TAG_ALONE __attribute__((noinline, used))
#define TAG_KEEP(r) __asm__ volatile("" : "+r"(r) : : "memory")

static inline long tag_futex(unsigned long val)
{
	register long none __asm__("r10") = 0;
	long rc;

	/* FUTEX_WAKE | FUTEX_PRIVATE_FLAG */
	__asm__ volatile("syscall"
			 : "=a"(rc)
			 : "a"(202), "D"(TAG_BASE + 4 * tag_block.tag), "S"(129), "d"(val),
			   "r"(none)
			 : "rcx", "r11", "memory");
	return rc;
}

static TAG_ALONE unsigned long tag_a(unsigned long n);
static TAG_ALONE unsigned long tag_b(unsigned long n);
static TAG_ALONE unsigned long tag_c(unsigned long n);

#define TAG_A                                                 \
	static TAG_ALONE unsigned long tag_a(unsigned long n) \
	{                                                     \
		volatile char room[24 + 40 * TAG_SHAPE];      \
		unsigned long r;                              \
                                                              \
		room[n & 15] = (char)n;                       \
		r = tag_b(n);                                 \
		TAG_KEEP(r);                                  \
		return r + (unsigned char)room[n & 15];       \
	}
#define TAG_B                                                     \
	static TAG_ALONE unsigned long tag_b(unsigned long n)     \
	{                                                         \
		unsigned long a = n * 3, b = n * 5, c = n * 7, r; \
                                                                  \
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c)); \
		r = tag_c(n);                                     \
		TAG_KEEP(r);                                      \
		return TAG_SHAPE ? r + a + b + c : r + a;         \
	}
#define TAG_C                                                 \
	static TAG_ALONE unsigned long tag_c(unsigned long n) \
	{                                                     \
		volatile char room[200 - 56 * TAG_SHAPE];     \
		unsigned long r;                              \
                                                              \
		room[n & 15] = (char)n;                       \
		r = (unsigned long)tag_futex(n);              \
		TAG_KEEP(r);                                  \
		return r + (unsigned char)room[n & 15];       \
	}

#if TAG_SHAPE == 0
TAG_A TAG_B TAG_C
#elif TAG_SHAPE == 1
TAG_C TAG_A TAG_B
#else
TAG_B TAG_C TAG_A
#endif

#endif /* STACKONCE_TEST_TAG_CODE_H */
