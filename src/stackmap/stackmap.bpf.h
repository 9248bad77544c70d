/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A map of call stacks: stores every distinct array of 1..128 u64 words once, exactly, and names it
 * by a small number.  One source serves BPF (clang -O2 -target bpf -mcpu=v3) and the host, where
 * threads, signal handlers and sanitizers can attack the very code that runs in the kernel.
 *
 *   slots  lines of 8 u64 (64 bytes): 0 is empty, else tag << 32 | offset.  Filled, never emptied.
 *   pool   an append log of records {u32 refs, u32 n, u64 words[n], zeros up to a multiple of 32
 *          bytes}; the id of a stack is its record's word offset.  The log is divided into pages
 *          with slack after each, so that a record near the end of a page may extend beyond it.
 *   ctl    cell 0: generation, users, log position; cells 1..: counters and spare room per CPU.
 *
 * A record is complete before one compare-and-swap on the first empty slot of the probe sequence
 * publishes it.  Every inserter of the same words follows the same sequence, slots are never
 * emptied, and a loser compares its words with the winner's.  Therefore two records never hold the
 * same words, and no inserter waits.  The caller's buffer is the only state of an invocation, so
 * interrupts and NMIs may nest and preempted programs may finish in any order.  The room of a
 * race's loser becomes a spare.
 *
 * Host builds define STACKMAP_HOST and STACKMAP_HOST_CPU() before including this and fill
 * stackmap_mem.  Readers need only stackmap_layout.h.
 */
#ifndef STACKMAP_BPF_H
#define STACKMAP_BPF_H

#include "stackmap_layout.h"

#if !defined(__bpf__) && !defined(STACKMAP_HOST)
#error "the algorithm is for BPF, and for hosts that define STACKMAP_HOST"
#endif

#ifdef __bpf__
#define STACKMAP_GLOBAL __weak __attribute__((noinline))

const volatile struct STACKMAP_CFG stackmap_settings __weak SEC(".rodata.stackmap") = {
	.line_mask = 2 * (1u << STACKMAP_BITS_DEFAULT) / STACKMAP_LINE - 1,
	.pool_words = STACKMAP_PAGES_DEFAULT * STACKMAP_PAGE_WORDS,
	.cell_mask = STACKMAP_CPUS_DEFAULT - 1,
	.seed = 0x5bd1e995a7c3d84fULL,
};

#define STACKMAP_MAP(name, nr, value_type)         \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);  \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, nr);           \
		__type(key, __u32);                \
		__type(value, value_type);         \
	} name __weak SEC(".maps")

STACKMAP_MAP(stackmap_slots, 2 * (1u << STACKMAP_BITS_DEFAULT) / STACKMAP_LINE,
	     struct stackmap_line);
STACKMAP_MAP(stackmap_pool, STACKMAP_PAGES_DEFAULT, struct stackmap_page);
STACKMAP_MAP(stackmap_ctl, 1 + STACKMAP_CPUS_DEFAULT, union stackmap_cell);

STACKMAP_INLINE __u64 *stackmap_line(__u32 i)
{
	struct stackmap_line *l = bpf_map_lookup_elem(&stackmap_slots, &i);

	return l ? l->slot : 0;
}

STACKMAP_INLINE __u64 *stackmap_page(__u32 i)
{
	struct stackmap_page *p = bpf_map_lookup_elem(&stackmap_pool, &i);

	return p ? p->word : 0;
}

STACKMAP_INLINE union stackmap_cell *stackmap_cell(__u32 i)
{
	return bpf_map_lookup_elem(&stackmap_ctl, &i);
}

#define stackmap_cpu_id() bpf_get_smp_processor_id()
/* Readers rely on the address dependency from slot to record; BPF's cmpxchg is fully ordered. */
#define stackmap_ld64(p) (*(const volatile __u64 *)(p))
#define stackmap_ld32(p) (*(const volatile __u32 *)(p))
#define stackmap_st64(p, v) (*(volatile __u64 *)(p) = (v))
#define stackmap_cas64(p, o, n) __sync_val_compare_and_swap(p, o, n)
#define stackmap_cas32(p, o, n) __sync_val_compare_and_swap(p, o, n)
#define stackmap_fetch_add32(p, v) __sync_fetch_and_add(p, v)
#define stackmap_add32(p, v) ((void)__sync_fetch_and_add(p, v))
#define stackmap_add64(p, v) ((void)__sync_fetch_and_add(p, v))

#else /* STACKMAP_HOST */
#define STACKMAP_GLOBAL static __attribute__((noinline))

static struct {
	struct stackmap_line *line;
	struct stackmap_page *page;
	union stackmap_cell *cell;
	struct stackmap_cfg cfg;
} stackmap_mem;
#define stackmap_settings stackmap_mem.cfg

STACKMAP_INLINE __u64 *stackmap_line(__u32 i)
{
	return i <= stackmap_settings.line_mask ? stackmap_mem.line[i].slot : 0;
}

STACKMAP_INLINE __u64 *stackmap_page(__u32 i)
{
	return i < stackmap_settings.pool_words / STACKMAP_PAGE_WORDS ? stackmap_mem.page[i].word :
									0;
}

STACKMAP_INLINE union stackmap_cell *stackmap_cell(__u32 i)
{
	return i <= stackmap_settings.cell_mask + 1 ? &stackmap_mem.cell[i] : 0;
}

STACKMAP_INLINE __u64 stackmap_cas64(__u64 *p, __u64 old, __u64 new_)
{
	__atomic_compare_exchange_n(p, &old, new_, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return old;
}

STACKMAP_INLINE __u32 stackmap_cas32(__u32 *p, __u32 old, __u32 new_)
{
	__atomic_compare_exchange_n(p, &old, new_, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return old;
}

#define stackmap_cpu_id() STACKMAP_HOST_CPU()
/* Acquire replaces the address dependency, which C cannot express. */
#define stackmap_ld64(p) __atomic_load_n((const __u64 *)(p), __ATOMIC_ACQUIRE)
#define stackmap_ld32(p) __atomic_load_n((const __u32 *)(p), __ATOMIC_RELAXED)
#define stackmap_st64(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define stackmap_fetch_add32(p, v) __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST)
#define stackmap_add32(p, v) ((void)__atomic_fetch_add(p, v, __ATOMIC_RELAXED))
#define stackmap_add64(p, v) ((void)__atomic_fetch_add(p, v, __ATOMIC_RELAXED))
#endif

/* A hook for tests: lets other inserters run between writing a record and publishing it. */
#ifndef STACKMAP_PAUSE
#define STACKMAP_PAUSE()
#endif

STACKMAP_INLINE struct stackmap_cpu *stackmap_this_cpu(void)
{
	union stackmap_cell *c =
		stackmap_cell(1 + (stackmap_cpu_id() & stackmap_settings.cell_mask));

	return c ? &c->cpu : 0;
}

STACKMAP_INLINE void stackmap_count(enum stackmap_counter what, __u32 by)
{
	struct stackmap_cpu *c = stackmap_this_cpu();

	if (c)
		stackmap_add64(&c->count[what], by);
}

/* Counts an error and returns it: one call keeps the callers' inlined code short. */
STACKMAP_GLOBAL int stackmap_fail(__u32 err)
{
	switch (err) {
	case STACKMAP_EPOOL:
		stackmap_count(STACKMAP_C_EPOOL, 1);
		return -STACKMAP_EPOOL;
	case STACKMAP_EPROBE:
		stackmap_count(STACKMAP_C_EPROBE, 1);
		return -STACKMAP_EPROBE;
	case STACKMAP_ERESET:
		stackmap_count(STACKMAP_C_ERESET, 1);
		return -STACKMAP_ERESET;
	default:
		stackmap_count(STACKMAP_C_EARG, 1);
		return -STACKMAP_EARG;
	}
}

/*
 * Compares the words of a record with the buffer's, both zero padded.  A record's first group of 4
 * contains its header, so the groups are {w0, w1, w2}, {w3..w6}, ...
 */
STACKMAP_INLINE int stackmap_same(const __u64 *rec, const __u64 *w, __u32 n)
{
	__u32 i;

	if ((rec[0] ^ w[0]) | (rec[1] ^ w[1]) | (rec[2] ^ w[2]))
		return 0;
	STACKMAP_LOOP
	for (i = 3; i < STACKMAP_WORDS; i += 4) {
		if (i >= n)
			break;
		if ((rec[i] ^ w[i]) | (rec[i + 1] ^ w[i + 1]) | (rec[i + 2] ^ w[i + 2]) |
		    (rec[i + 3] ^ w[i + 3]))
			return 0;
	}
	return 1;
}

/* The tag matched: compares every word and, if all are equal, counts the reference. */
STACKMAP_INLINE int stackmap_match(const struct stackmap_buf *b, __u32 n, __u32 off, __u32 flags)
{
	__u64 *p = stackmap_page(off >> STACKMAP_PAGE_SHIFT);

	if (!p)
		return 0;
	p += off & (STACKMAP_PAGE_WORDS - 1);
	if (((struct stackmap_record *)p)->n != n || !stackmap_same(p + 1, b->w, n))
		return 0;
	if (!(flags & STACKMAP_NOREF))
		stackmap_add32(&((struct stackmap_record *)p)->refs, 1);
	return 1;
}

STACKMAP_GLOBAL int stackmap_check(const struct stackmap_buf *b, __u32 n, __u32 off, __u32 flags)
{
	if (!b || n > STACKMAP_WORDS)
		return 0;
	return stackmap_match(b, n, off, flags);
}

/*
 * Returns the smallest spare of at least `least` words if there is one, else some other value.  It
 * returns the value, not its index: an index would give the verifier a path for each place.
 */
STACKMAP_INLINE __u64 stackmap_pick(struct stackmap_cpu *c, __u32 least)
{
	__u64 best = ~0ULL, v;
	__u32 i;

	STACKMAP_LOOP
	for (i = 0; i < STACKMAP_SPARES; i++) {
		v = stackmap_ld64(&c->spare[i]) - ((__u64)least << 32); /* wraps if too small */
		if (v < best)
			best = v;
	}
	return best + ((__u64)least << 32);
}

/* Replaces the spare `old`, if it is still there, with `new_`. */
STACKMAP_INLINE int stackmap_swap(struct stackmap_cpu *c, __u64 old, __u64 new_)
{
	__u32 i;

	STACKMAP_LOOP
	for (i = 0; i < STACKMAP_SPARES; i++) {
		if (stackmap_ld64(&c->spare[i]) == old &&
		    stackmap_cas64(&c->spare[i], old, new_) == old)
			return 1;
	}
	return 0;
}

/* Allocates `need` words from this CPU's spares, else from the log.  0: the pool is full. */
STACKMAP_GLOBAL __u32 stackmap_alloc(__u32 need)
{
	struct stackmap_cpu *c = stackmap_this_cpu();
	union stackmap_cell *head = stackmap_cell(0);
	__u64 v, rest;
	__u32 pos;

	if (!c || !head || need > STACKMAP_ROOM(STACKMAP_WORDS))
		return 0;
	v = stackmap_pick(c, need);
	if (v >> 32 >= need) {
		/* split: allocate the front, the rest stays a spare */
		rest = v >> 32 == need ? 0 : v - ((__u64)need << 32) + need;
		if (stackmap_swap(c, v, rest))
			return (__u32)v;
	}
	/* checked before the addition, so that a full pool's position stops growing */
	pos = stackmap_ld32(&head->head.next);
	if (pos + need > stackmap_settings.pool_words - STACKMAP_FIRST)
		return 0;
	pos = stackmap_fetch_add32(&head->head.next, need);
	if (pos + need > stackmap_settings.pool_words - STACKMAP_FIRST) {
		stackmap_cas32(&head->head.next, pos + need, pos);
		return 0;
	}
	return pos + STACKMAP_FIRST;
}

/* 1: the piece was joined to spare i, which is adjacent. */
STACKMAP_GLOBAL int stackmap_join(struct stackmap_cpu *c, __u32 i, __u32 off, __u32 words)
{
	__u64 *spare, v, grown;

	if (!c)
		return 0;
	spare = &c->spare[i & (STACKMAP_SPARES - 1)];
	v = stackmap_ld64(spare);
	if (!v)
		return 0;
	if ((__u32)v == off + words)
		grown = v + ((__u64)words << 32) - words;
	else if ((__u32)v + (__u32)(v >> 32) == off)
		grown = v + ((__u64)words << 32);
	else
		return 0;
	return stackmap_cas64(spare, v, grown) == v;
}

/* Joins the piece to an adjacent spare, or puts it into an empty place. */
STACKMAP_INLINE int stackmap_keep(struct stackmap_cpu *c, __u32 off, __u32 words)
{
	__u32 i;

	STACKMAP_LOOP
	for (i = 0; i < STACKMAP_SPARES; i++)
		if (stackmap_join(c, i, off, words))
			return 1;
	return stackmap_swap(c, 0, (__u64)words << 32 | off);
}

/* Takes back room that was never published.  Returns 0, because the verifier wants a scalar. */
STACKMAP_GLOBAL int stackmap_free(__u32 off, __u32 words)
{
	struct stackmap_cpu *c = stackmap_this_cpu();
	union stackmap_cell *head = stackmap_cell(0);
	__u32 pos = off - STACKMAP_FIRST;
	__u64 v;

	if (!c || !head)
		return 0;
	if (stackmap_cas32(&head->head.next, pos + words, pos) == pos + words)
		return 0; /* it was still the last of the log */
	if (stackmap_keep(c, off, words))
		return 0;
	v = stackmap_pick(c, 0); /* give up the smallest piece */
	if (v >> 32 < words && stackmap_swap(c, v, (__u64)words << 32 | off))
		words = v >> 32;
	stackmap_count(STACKMAP_C_WASTED, words);
	return 0;
}

/* Writes a complete record to allocated room.  0: done. */
STACKMAP_GLOBAL int stackmap_write(const struct stackmap_buf *b, __u32 n, __u32 off, __u32 flags)
{
	__u64 *p = stackmap_page(off >> STACKMAP_PAGE_SHIFT);
	__u32 i;

	if (!b || !p || n > STACKMAP_WORDS)
		return -STACKMAP_EARG;
	p += off & (STACKMAP_PAGE_WORDS - 1);
	((struct stackmap_record *)p)->refs = flags & STACKMAP_NOREF ? 0 : 1;
	((struct stackmap_record *)p)->n = n;
	p[1] = b->w[0];
	p[2] = b->w[1];
	p[3] = b->w[2];
	STACKMAP_LOOP
	for (i = 3; i < STACKMAP_WORDS; i += 4) {
		if (i >= n)
			break;
		p[1 + i] = b->w[i];
		p[2 + i] = b->w[i + 1];
		p[3 + i] = b->w[i + 2];
		p[4 + i] = b->w[i + 3];
	}
	return 0;
}

/*
 * Follows the probe sequence in its line l, as stackmap_probe(); STACKMAP_NEW: the next line is to
 * be searched, too.  The verifier follows a global function once, not once for each line.
 */
STACKMAP_GLOBAL long stackmap_probe_line(const struct stackmap_buf *b, __u64 h, __u32 l, __u32 off,
					 __u32 n_flags)
{
	__u32 n = n_flags >> 8, flags = n_flags & 0xff, k;
	__u64 *s = stackmap_line((STACKMAP_LINE0(h) + l) & stackmap_settings.line_mask), v;

	if (!b || !s)
		return -STACKMAP_EARG;
	STACKMAP_LOOP
	for (k = 0; k < STACKMAP_LINE; k++) {
		__u64 *at = s + ((STACKMAP_SLOT0(h) + k) & (STACKMAP_LINE - 1));

		v = stackmap_ld64(at);
		if (!v) {
			if (!off)
				return 0;
			v = stackmap_cas64(at, 0, (__u64)STACKMAP_TAG(h) << 32 | off);
			if (!v)
				return STACKMAP_NEW | off;
		}
		if ((__u32)(v >> 32) == STACKMAP_TAG(h) && stackmap_check(b, n, (__u32)v, flags))
			return (__u32)v;
	}
	return STACKMAP_NEW;
}

/*
 * Follows the probe sequence.  off == 0: only searches, 0 if absent.  Else publishes the record at
 * off in the first empty slot.  Returns the id (| STACKMAP_NEW) or a negative error, not counted.
 */
STACKMAP_GLOBAL long stackmap_probe(const struct stackmap_buf *b, __u32 n, __u64 h, __u32 off,
				    __u32 flags)
{
	__u32 l;
	long id;

	STACKMAP_LOOP
	for (l = 0; l < STACKMAP_PROBES; l++) {
		id = stackmap_probe_line(b, h, l, off, n << 8 | flags);
		if (id != (long)STACKMAP_NEW)
			return id;
	}
	return -STACKMAP_EPROBE;
}

/* All that is not inlined: the whole search, insertion, errors. */
STACKMAP_GLOBAL long stackmap_slow(const struct stackmap_buf *b, __u32 n, __u64 h, __u32 flags)
{
	union stackmap_cell *head = stackmap_cell(0);
	__u32 off;
	long id;

	if (!b || !head || n - 1 >= STACKMAP_WORDS)
		return stackmap_fail(STACKMAP_EARG);
	stackmap_count(STACKMAP_C_SLOW, 1);
	id = stackmap_probe(b, n, h, 0, flags);
	if (id > 0)
		return id;
	if (id < 0)
		return stackmap_fail(-id);
	if (stackmap_ld32(&head->head.users) & STACKMAP_RESETTING)
		return stackmap_fail(STACKMAP_ERESET);
	off = stackmap_alloc(STACKMAP_ROOM(n));
	if (!off)
		return stackmap_fail(STACKMAP_EPOOL);
	if (stackmap_write(b, n, off, flags))
		return stackmap_fail(STACKMAP_EARG);
	stackmap_st64(&head->head.seed, stackmap_settings.seed);
	STACKMAP_PAUSE();
	id = stackmap_probe(b, n, h, off, flags);
	if (id & STACKMAP_NEW && id > 0) {
		stackmap_count(STACKMAP_C_NEW, 1);
		return id;
	}
	stackmap_count(STACKMAP_C_RACE, 1);
	stackmap_free(off, STACKMAP_ROOM(n));
	return id < 0 ? stackmap_fail(-id) : id;
}

/* Ids are valid within one generation, counted from 1; a reset begins the next. */
STACKMAP_INLINE __u32 stackmap_generation(void)
{
	union stackmap_cell *head = stackmap_cell(0);

	return head ? stackmap_ld32(&head->head.resets) + 1 : 0;
}

/* Hides from the verifier by which loop exit n was reached: 32 states become one. */
#ifdef __bpf__
#define stackmap_forget(b, n_)                     \
	do {                                       \
		*(volatile __u32 *)&(b)->n = (n_); \
		(n_) = *(volatile __u32 *)&(b)->n; \
		if ((n_) > STACKMAP_WORDS)         \
			return -STACKMAP_EARG;     \
	} while (0)
#else
#define stackmap_forget(b, n_)
#endif

/* All but the hint: the first tag match in the first line, one comparison; else a call. */
STACKMAP_INLINE long stackmap_find(struct stackmap_buf *b, __u32 n, __u32 flags)
{
	__u32 k, off = 0;
	__u64 h, *s, v;

	h = stackmap_hash(b->w, n, stackmap_settings.seed);
	stackmap_forget(b, n);
	s = stackmap_line(STACKMAP_LINE0(h) & stackmap_settings.line_mask);
	if (!s)
		return stackmap_fail(STACKMAP_EARG);
	STACKMAP_LOOP
	for (k = 0; k < STACKMAP_LINE; k++) {
		v = stackmap_ld64(s + ((STACKMAP_SLOT0(h) + k) & (STACKMAP_LINE - 1)));
		if (!v)
			break;
		if ((__u32)(v >> 32) == STACKMAP_TAG(h)) {
			off = (__u32)v;
			break;
		}
	}
	if (off && stackmap_match(b, n, off, flags))
		return off;
	return stackmap_slow(b, n, h, flags);
}

/*
 * Returns the id of the n words in b->w.  The caller owns b for the duration of the call; the three
 * words after n are overwritten with zero.  After success b->hint is the id with its generation.
 */
STACKMAP_INLINE long stackmap_get(struct stackmap_buf *b, __u32 n, __u32 flags)
{
	__u64 hint = b->hint, generation;
	long id;

	if (!n)
		return stackmap_fail(STACKMAP_EARG);
	stackmap_opaque(n); /* otherwise clang merges the range checks, and verification fails */
	if (n > STACKMAP_WORDS)
		return stackmap_fail(STACKMAP_EARG);
	b->w[n] = 0;
	b->w[n + 1] = 0;
	b->w[n + 2] = 0;
	generation = stackmap_generation(); /* before the search: a stale id must look stale */
	if (hint >> 32 == generation && stackmap_match(b, n, (__u32)hint, flags))
		return (__u32)hint;
	stackmap_forget(b, n);
	id = stackmap_find(b, n, flags);
	if (id > 0)
		b->hint = generation << 32 | (__u32)id;
	return id;
}

/* The same as a function of its own, for second lookups where code size matters. */
STACKMAP_GLOBAL long stackmap_get_call(struct stackmap_buf *b, __u32 n, __u32 flags)
{
	if (!b)
		return -STACKMAP_EARG;
	return stackmap_get(b, n, flags);
}

#endif /* STACKMAP_BPF_H */
