/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A CPU's ring of events: its writer, compiled for BPF and for a test that attacks it.
 *
 * Programs of the CPU write the ring.  They may interrupt each other anywhere, in an NMI too, and
 * those of probes can be preempted, so that others go on in the middle.  None of them waits:
 *
 *	reserve	moves the head by one compare-and-swap.  A program that is interrupted by one that
 *		reserves, too, tries again.
 *	fill	stores all but the first word.
 *	commit	stores the first word, a struct wire_head, which is never 0.
 *
 * The recorder (src/record/bpf/event_ring.h) reads until it finds a first word that is 0: a program
 * has reserved that record and has not completed it.  It clears what it has read, and then moves
 * the tail, so a program always reserves zeroes.  Therefore nothing has to be stored before the
 * head moves, and what a record contains is never taken for a first word.
 *
 * A ring consists of one or several parts.  A record begins at its position, without the upper
 * bits, and is in one piece: behind each part is slack for the longest one.  What the record covers
 * of the next part by its position stays unused.  Records that are not read yet do not overlap in
 * the slack either, because the tail, once it is beyond the end of a part, is also beyond the end
 * of the record that crosses it.
 */
#ifndef RING_BPF_H
#define RING_BPF_H

#include "arch_bpf.h"
#include "wire.h"

#ifndef RING_TRIES
#define RING_TRIES 8 /* each failed one was interrupted by a program that reserved */
#endif
#define RING_FEW_BYTES 160 /* so many are copied by word: as dear as a call of a helper */

#define RING_INLINE static inline __attribute__((always_inline))

/* A word of a record, whatever it contains. */
typedef __wire_u64 __attribute__((may_alias)) ring_word;

#ifdef __bpf__
/* Set before load, as are the sizes of the maps. */
const volatile struct wire_rings ring_layout = {};

struct ring_part {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(__wire_u32));
	__uint(value_size, WIRE_RING_PART + WIRE_RING_SLACK);
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __wire_u32);
	__array(values, struct ring_part);
} ring_parts SEC(".maps");

RING_INLINE char *ring_part(__wire_u32 part)
{
	void *map = bpf_map_lookup_elem(&ring_parts, &part);
	__wire_u32 first = 0;

	return map ? bpf_map_lookup_elem(map, &first) : NULL;
}

#define RING_LOAD(at) (*(volatile const __wire_u64 *)(at))
#define RING_PUBLISH(at, word) ARCH_STORE_RELEASE(at, word)
#define RING_COPY(to, from, len) bpf_probe_read_kernel(to, len, from)
#else
/* The test defines ring_layout and ring_part() before it includes this. */
#define RING_LOAD(at) __atomic_load_n(at, __ATOMIC_ACQUIRE)
#define RING_PUBLISH(at, word) __atomic_store_n(at, word, __ATOMIC_RELEASE)
#define RING_COPY(to, from, len) memcpy(to, from, len)
#endif

/* A hook for tests: lets other programs and the recorder run in the middle. */
#ifndef RING_PAUSE
#define RING_PAUSE()
#endif

/* The bytes of a ring that have been reserved and not read yet. */
RING_INLINE __wire_u64 ring_used(const struct wire_ring_pos *p)
{
	__wire_u64 tail;

	if (!p)
		return 0;
	/* A tail that was read first is never beyond the head. */
	tail = RING_LOAD(&p->tail);
	RING_PAUSE();
	return RING_LOAD(&p->head) - tail;
}

/*
 * Reserves len bytes, at most WIRE_RING_SLACK, in the ring of this CPU, which must be committed.
 * NULL: there is no room, or no ring.
 */
RING_INLINE ring_word *ring_reserve(struct wire_ring_pos *p, __wire_u32 cpu, __wire_u32 len)
{
	__wire_u32 i;

	if (!p)
		return NULL;
	len = (len + 7) & ~7u;
#ifdef __bpf__
#pragma clang loop unroll(disable)
#endif
	for (i = 0; i < RING_TRIES; i++) {
		__wire_u64 head = RING_LOAD(&p->head);
		__wire_u32 n = head / WIRE_RING_PART & (ring_layout.nr_parts - 1);
		char *part = ring_part(cpu * ring_layout.nr_parts + n);

		RING_PAUSE();
		/*
		 * A program that is preempted here may see a tail beyond its head, so the
		 * difference is signed.  The exchange fails then.
		 */
		if (!part ||
		    (__wire_s64)(head + len - RING_LOAD(&p->tail)) > (__wire_s64)ring_layout.bytes)
			return NULL;
		RING_PAUSE();
		if (__sync_val_compare_and_swap(&p->head, head, head + len) == head)
			return (ring_word *)(part + (head & ring_layout.mask));
	}
	return NULL;
}

/* Completes a record, whose other words have been stored. */
RING_INLINE void ring_commit(ring_word *record, __wire_u64 first)
{
	RING_PAUSE();
	RING_PUBLISH(record, first);
}

/*
 * Copies the words from `first` on of a record of len bytes, at most RING_FEW_BYTES, four at a
 * time.  Without a loop the code would fill lines of the instruction cache, which costs more than
 * the loop.
 */
RING_INLINE void ring_copy_words(ring_word *to, const ring_word *from, __wire_u32 first,
				 __wire_u32 len)
{
	__wire_u32 i;
	__wire_s64 left = (__wire_s64)len - first * sizeof(*to);

#ifdef __bpf__
#pragma clang loop unroll(disable)
#endif
	for (i = first; i < RING_FEW_BYTES / sizeof(*to) && left > 0; i += 4) {
		to[i] = from[i];
		if (left <= 8)
			break;
		to[i + 1] = from[i + 1];
		if (left <= 16)
			break;
		to[i + 2] = from[i + 2];
		if (left <= 24)
			break;
		to[i + 3] = from[i + 3];
		left -= 32;
	}
}

/* The same for longer ones.  The verifier of 6.1 has lost the limit of len by now. */
RING_INLINE void ring_copy_many(ring_word *to, const ring_word *from, __wire_u32 first,
				__wire_u32 len)
{
	const __wire_u32 most = WIRE_RING_SLACK - first * sizeof(*to);

	len -= first * sizeof(*to);
	__asm__ __volatile__("" : "+r"(len));
	if (len > most)
		len = most;
	RING_COPY(to + first, from + first, len);
}

/* Copies the words from `first` on of a record of len bytes. */
RING_INLINE void ring_copy(ring_word *to, const ring_word *from, __wire_u32 first, __wire_u32 len)
{
	if (len <= RING_FEW_BYTES)
		ring_copy_words(to, from, first, len);
	else
		ring_copy_many(to, from, first, len);
}

/*
 * Writes a record into the ring of this CPU, its length included, which `record` need not contain;
 * false: there is no room.  The bytes of `record` behind len are read up to a multiple of 8.
 */
RING_INLINE _Bool ring_output(struct wire_ring_pos *p, __wire_u32 cpu, struct wire_head *record,
			      __wire_u32 len)
{
	ring_word *from = (ring_word *)record, *to = ring_reserve(p, cpu, len), first;

	if (!to)
		return 0;
	/* Not by a store to record->len, which a load of the whole word would have to wait for. */
	first = *from >> 32 << 32 | len;
	ring_copy(to, from, 1, len);
	ring_commit(to, first);
	return 1;
}

#endif /* RING_BPF_H */
