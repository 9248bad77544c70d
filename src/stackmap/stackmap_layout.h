/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The stack map in memory, as its BPF side (stackmap.bpf.h) writes it and its readers read it. */
#ifndef STACKMAP_LAYOUT_H
#define STACKMAP_LAYOUT_H

#ifdef __bpf__
#ifndef __VMLINUX_H__
#include <linux/bpf.h>
#endif
#include <bpf/bpf_helpers.h>
#else
#include <linux/types.h>
#endif

#define STACKMAP_WORDS 128 /* most words of one stack */
#define STACKMAP_LINE 8 /* slots of one line */
#define STACKMAP_PROBES 8 /* lines searched at most */
#define STACKMAP_PAGE_SHIFT 13
#define STACKMAP_PAGE_WORDS (1u << STACKMAP_PAGE_SHIFT)
#define STACKMAP_PAGE_SLACK 136 /* words after a page: at least one whole record */
#define STACKMAP_FIRST 8 /* offset of the first record; 0 is never an id */
#define STACKMAP_SPARES 16 /* pieces of unused room remembered per CPU */
#define STACKMAP_BITS_MIN 10
#define STACKMAP_BITS_MAX 22
#define STACKMAP_BITS_DEFAULT 14 /* log2 of the capacity; there are twice as many slots */
#define STACKMAP_PAGES_DEFAULT 64
#define STACKMAP_CPUS_DEFAULT 64 /* a power of two; CPUs beyond share cells, which is safe */

/* Log words of a record of n words: header, words, zeros up to a multiple of 4. */
#define STACKMAP_ROOM(n) (((n) + 4) & ~3u)

/* stackmap_get() returns the id (> 0), plus STACKMAP_NEW if it was stored, or minus one of: */
#define STACKMAP_NEW (1LL << 32)
#define STACKMAP_EPOOL 1 /* no room in the pool */
#define STACKMAP_EPROBE 2 /* no empty slot within the probe limit */
#define STACKMAP_EARG 3 /* n is 0 or above STACKMAP_WORDS, or no map */
#define STACKMAP_ERESET 4 /* the map is being reset */

/* Flags. */
#define STACKMAP_NOREF 1 /* do not count a reference */

enum stackmap_counter {
	STACKMAP_C_NEW, /* stacks stored */
	STACKMAP_C_RACE, /* records written in vain, because another inserter was first */
	STACKMAP_C_EPOOL,
	STACKMAP_C_EPROBE,
	STACKMAP_C_EARG,
	STACKMAP_C_ERESET,
	STACKMAP_C_WASTED, /* pool words given up: more pieces than STACKMAP_SPARES */
	STACKMAP_C_SLOW, /* lookups that left the inlined path */
	STACKMAP_C_NR
};

/*
 * Read-only settings, written before load.  The BPF variable has no struct tag, so that a skeleton
 * declares its fields itself and does not need this header.
 */
#define STACKMAP_CFG                                                \
	{                                                           \
		__u32 line_mask; /* lines - 1 */                    \
		__u32 pool_words; /* pages * STACKMAP_PAGE_WORDS */ \
		__u32 cell_mask; /* per-CPU cells - 1 */            \
		__u32 pad;                                          \
		__u64 seed; /* of the hash */                       \
	}
struct stackmap_cfg STACKMAP_CFG;

/*
 * The caller's buffer, in map memory (scratch.bpf.h).  It must be zero before its first use and
 * must not be used for anything else.  The caller fills only w.
 */
struct stackmap_buf {
	__u64 w[STACKMAP_WORDS + 4];
	__u32 n;
	__u32 pad;
	__u64 hint; /* generation << 32 | id of the last stack; the next is often the same */
};

struct stackmap_line {
	__u64 slot[STACKMAP_LINE];
};

struct stackmap_page {
	__u64 word[STACKMAP_PAGE_WORDS + STACKMAP_PAGE_SLACK];
};

struct stackmap_record {
	__u32 refs;
	__u32 n;
	__u64 word[];
};

#define STACKMAP_RESETTING 0x80000000u

struct stackmap_head {
	__u32 resets; /* generation - 1 */
	__u32 users; /* holds, which prevent a reset; STACKMAP_RESETTING during one */
	__u64 pad0[7];
	__u32 next; /* log position, counted from STACKMAP_FIRST */
	__u32 pad1;
	__u64 seed; /* of the hash, for readers that have only the map */
	__u64 pad2[6];
};

struct stackmap_cpu {
	__u64 count[STACKMAP_C_NR];
	__u64 spare[STACKMAP_SPARES]; /* words << 32 | offset, 0: none */
};

union stackmap_cell {
	struct stackmap_head head;
	struct stackmap_cpu cpu;
};

_Static_assert(sizeof(struct stackmap_line) == 64, "a line of slots is a cache line");
_Static_assert(sizeof(union stackmap_cell) == 192, "cells are three cache lines");
_Static_assert(sizeof(struct stackmap_record) == 8, "a record's header is one word");
_Static_assert(STACKMAP_PAGE_SLACK >= STACKMAP_ROOM(STACKMAP_WORDS), "a record fits the slack");

#define STACKMAP_INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define STACKMAP_LOOP _Pragma("clang loop unroll(disable)")
#else
#define STACKMAP_LOOP
#endif

#define stackmap_opaque(v) __asm__ volatile("" : "+r"(v))

#define STACKMAP_K0 0x9e3779b97f4a7c15ULL
#define STACKMAP_K1 0xd6e8feb86659fd93ULL

/* Four independent multiply lanes hide the latency.  w is zero padded to a multiple of 4. */
STACKMAP_INLINE __u64 stackmap_hash(const __u64 *w, __u32 n, __u64 seed)
{
	__u64 h0 = seed ^ n, h1 = seed + STACKMAP_K1, h2 = ~seed, h3 = seed ^ STACKMAP_K1;
	__u32 i;

	STACKMAP_LOOP
	for (i = 0; i < STACKMAP_WORDS; i += 4) {
		if (i >= n)
			break;
		h0 = (h0 ^ w[i]) * STACKMAP_K0;
		h1 = (h1 ^ w[i + 1]) * STACKMAP_K0;
		h2 = (h2 ^ w[i + 2]) * STACKMAP_K0;
		h3 = (h3 ^ w[i + 3]) * STACKMAP_K0;
	}
	h0 ^= (h1 >> 29) | (h1 << 35);
	h2 ^= (h3 >> 31) | (h3 << 33);
	h0 = (h0 ^ (h0 >> 32)) * STACKMAP_K1;
	h0 ^= (h2 >> 17) | (h2 << 47);
	h0 = (h0 ^ (h0 >> 32)) * STACKMAP_K1;
	h0 ^= h0 >> 29;
#ifdef STACKMAP_HASH_MASK
	h0 &= STACKMAP_HASH_MASK; /* tests force collisions of tag and line */
#endif
	return h0;
}

/* The three parts of a hash: tag (never 0 together with an offset), line, first slot in a line. */
#define STACKMAP_TAG(h) ((__u32)((h) >> 32))
#define STACKMAP_LINE0(h) ((__u32)(h))
#define STACKMAP_SLOT0(h) ((__u32)((h) >> 29) & (STACKMAP_LINE - 1))

#endif /* STACKMAP_LAYOUT_H */
