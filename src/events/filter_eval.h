/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Runs a compiled filter on one event: the same source in BPF and on the host.
 *
 * BPF: include after vmlinux.h (or linux/bpf.h) and bpf/bpf_helpers.h, in one file per object.
 * filter_eval() and the functions that it calls are global, so each is verified once however many
 * programs call it.  Both arguments must point to memory of the whole struct's size, such as map
 * values.  Host: call filter__match() of filter.h; only filter.c and tests include this.
 *
 * The string rules are those of the kernel's trace_events_filter.c, even the odd ones: "full"
 * compares like strncmp over the field, "front" like strncmp over the pattern, "middle" searches
 * the whole field past a NUL, "end" takes the field's last byte for the NUL, and a glob is
 * glob_match() of lib/glob.c with its pattern compiled to tokens.
 */
#ifndef FILTER_EVAL_H
#define FILTER_EVAL_H

#include "filter_prog.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "partial words are compared in little-endian order"
#endif

#ifdef __bpf__
#define FILTER_GLOBAL __attribute__((noinline))
#define FILTER_INLINE static inline __attribute__((always_inline))
#define FILTER_LOOP(nr, fn, ctx) bpf_loop((nr), (fn), (ctx), 0)
#define FILTER_READ_STR(dst, addr, user)                                                 \
	((user) ? bpf_probe_read_user_str((dst), FILTER_STR_MAX, (const void *)(addr)) : \
		  bpf_probe_read_kernel_str((dst), FILTER_STR_MAX, (const void *)(addr)))
#else
#include <string.h>
#define FILTER_GLOBAL static __attribute__((unused))
#define FILTER_INLINE static inline
#define FILTER_LOOP(nr, fn, ctx)                                        \
	do {                                                            \
		for (__u32 _i = 0; _i < (nr) && !(fn)(_i, (ctx)); _i++) \
			;                                               \
	} while (0)
/* Tests may define their own reader: returns bytes with the NUL, at most FILTER_STR_MAX, or < 0. */
#ifndef FILTER_READ_STR
#define FILTER_READ_STR(dst, addr, user) ((void)(dst), (void)(addr), (void)(user), -1L)
#endif
#endif

#define FILTER_GLOB_CHUNK 4 /* tokens per bpf_loop() iteration */
#define FILTER_MASKS_DIFFER 1
#define FILTER_MASKS_MEET 2

/* Keeps a checked index in the register that was checked. */
#define FILTER_KEEP(var) __asm__ volatile("" : "+r"(var))

FILTER_INLINE __u64 filter_word(const void *p)
{
#ifdef __bpf__
	return *(const __u64 *)p;
#else
	__u64 v;

	memcpy(&v, p, sizeof(v));
	return v;
#endif
}

FILTER_INLINE __u64 filter_input_word(const struct filter_input *in, __u32 off)
{
	return off <= FILTER_INPUT_END ? filter_word((const __u8 *)in + off) : 0;
}

FILTER_INLINE __u64 filter_pool_word(const struct filter_prog *p, __u32 off)
{
	return off <= FILTER_POOL_SIZE ? filter_word(p->pool + off) : 0;
}

/* Whether len (at most FILTER_MAX_PATTERN) bytes of the input equal those of the pool. */
FILTER_INLINE int filter_bytes_equal(const struct filter_prog *p, struct filter_input *in,
				     __u32 off, __u32 pat_off, __u32 len)
{
	const __u8 *a, *b;
	__u32 k;

	if (off > FILTER_INPUT_END || pat_off > FILTER_POOL_SIZE)
		return 0;
	a = (const __u8 *)in + off;
	b = p->pool + pat_off;
	for (k = 0; k < FILTER_MAX_PATTERN + 1; k += 8) {
		__u64 diff = filter_word(a + k) ^ filter_word(b + k);
		__u32 left = len - k;

		if (left < 8)
			return !(diff & ((1ULL << (left * 8)) - 1));
		if (diff)
			return 0;
	}
	return 1;
}

/*
 * The context of a bpf_loop() callback.  State that changes between iterations is in the input's
 * work area: the verifier tracks values on the stack across iterations, but not values in memory.
 */
struct filter_loop {
	const struct filter_prog *p;
	struct filter_input *in;
};

#define FILTER_ONES 0x0101010101010101ULL

/* Sets the high bit of the lowest zero byte, and no bit below it. */
FILTER_INLINE __u64 filter_zero_byte(__u64 word)
{
	return (word - FILTER_ONES) & ~word & (FILTER_ONES << 7);
}

/* Number of the lowest byte with a bit set; word is not 0. */
FILTER_INLINE __u32 filter_low_byte(__u64 word)
{
	__u32 n = 0;

	if (!(word & 0xffffffff)) {
		word >>= 32;
		n = 4;
	}
	if (!(word & 0xffff)) {
		word >>= 16;
		n += 2;
	}
	return n + !(word & 0xff);
}

/* Advances to the next byte of eight that equals the pattern's first byte, and compares there. */
static long filter_scan_step(__u32 i, void *arg)
{
	struct filter_loop *l = arg;
	struct filter_work *w = &l->in->work;
	__u32 pos = w->pos, skip = 8;
	__u64 word, fits;

	(void)i;
	if (pos > w->end)
		return 1;
	word = filter_input_word(l->in, pos);
	fits = filter_zero_byte(word ^ w->first);
	if (fits)
		skip = filter_low_byte(fits);
	if (w->stop_at_nul) {
		__u64 nul = filter_zero_byte(word);

		if (nul && filter_low_byte(nul) < skip)
			return 1;
	}
	pos += skip;
	if (!fits) {
		w->pos = pos;
		return 0;
	}
	w->pos = pos + 1;
	if (pos > w->end)
		return 1;
	if (!filter_bytes_equal(l->p, l->in, pos, w->pat, w->pat_len))
		return 0;
	w->result = 1;
	return 1;
}

/* Whether the pattern occurs in the string. */
FILTER_INLINE int filter_scan(const struct filter_prog *p, struct filter_input *in,
			      const struct filter_pred_str *str)
{
	struct filter_loop l = { p, in };
	struct filter_work *w = &in->work;

	if (!str->pat_len)
		return 1;
	if (str->pat_len > w->avail)
		return 0;
	w->pos = w->off;
	w->end = w->off + w->avail - str->pat_len;
	w->pat = str->pat_off;
	w->pat_len = str->pat_len;
	w->stop_at_nul = !w->len;
	w->result = 0;
	w->first = (filter_pool_word(p, str->pat_off) & 0xff) * FILTER_ONES;
	FILTER_LOOP(w->avail, filter_scan_step, &l);
	return w->result;
}

FILTER_INLINE int filter_class_has(const struct filter_prog *p, __u32 off, __u32 c)
{
	return filter_pool_word(p, off + c / 8) >> (c % 8) & 1;
}

/* Matches one token against one character; 1: the glob is decided. */
FILTER_INLINE int filter_glob_token(const struct filter_loop *l)
{
	struct filter_work *w = &l->in->work;
	__u32 tok = filter_pool_word(l->p, w->pat) & 0xffff;
	__u32 pos = w->pos;
	__u32 c = pos < w->end ? filter_input_word(l->in, pos) & 0xff : 0;
	int ok;

	if (tok == FILTER_GLOB_STAR) {
		w->pat += 2;
		w->back_pat = w->pat;
		w->back_pos = pos;
		if ((filter_pool_word(l->p, w->pat) & 0xffff) != FILTER_GLOB_END)
			return 0;
		w->result = 1;
		return 1;
	}
	if (tok & FILTER_GLOB_CLASS)
		ok = c && filter_class_has(l->p, tok & ~FILTER_GLOB_CLASS, c);
	else
		ok = tok == FILTER_GLOB_ANY ? c != 0 : c == tok;
	if (ok) {
		w->pat += 2;
		w->pos = pos + 1;
		if (tok != FILTER_GLOB_END)
			return 0;
		w->result = 1;
		return 1;
	}
	if (!c || !w->back_pat)
		return 1;
	w->pat = w->back_pat;
	w->pos = ++w->back_pos;
	return 0;
}

static long filter_glob_step(__u32 i, void *arg)
{
	__u32 k;

	(void)i;
	for (k = 0; k < FILTER_GLOB_CHUNK; k++) {
		if (filter_glob_token(arg))
			return 1;
	}
	return 0;
}

FILTER_INLINE int filter_glob(const struct filter_prog *p, struct filter_input *in,
			      const struct filter_pred_str *str)
{
	struct filter_loop l = { p, in };
	struct filter_work *w = &in->work;
	__u32 len = w->len ? w->avail : 0;

	w->pos = w->off;
	w->end = w->off + len;
	w->pat = str->pat_off;
	w->back_pat = 0;
	w->result = 0;
	/* Each start position after a star is tried once, over at most the whole pattern. */
	FILTER_LOOP((len + 1) * (FILTER_MAX_PATTERN + 1) / FILTER_GLOB_CHUNK + 1, filter_glob_step,
		    &l);
	return w->result;
}

/*
 * Stores the string's place in the work area.  A length of 0 means up to a NUL.  -1: the string is
 * behind a pointer that cannot be read.
 */
FILTER_INLINE int filter_locate(struct filter_input *in, const struct filter_pred *pr)
{
	__u32 end = FILTER_INPUT_REC + in->len, source = pr->str.source;
	struct filter_work *w = &in->work;
	__u64 word;
	long n;

	if (source == FILTER_STR_FIXED) {
		w->off = pr->offset;
		w->len = w->avail = pr->str.field_len;
		return 0;
	}
	word = filter_input_word(in, pr->offset);
	if (source <= FILTER_STR_REL_LOC) {
		__u32 off = word & 0xffff, len = (__u32)word >> 16, avail;

		off += source == FILTER_STR_DATA_LOC ? FILTER_INPUT_REC : pr->offset + 4;
		avail = off < end ? end - off : 0;
		w->off = off;
		w->len = len;
		w->avail = len && len < avail ? len : avail;
		return 0;
	}
	n = FILTER_READ_STR(in->str, word, source == FILTER_STR_USER_PTR);
	if (n <= 0 || n > FILTER_STR_MAX)
		return -1;
	w->off = FILTER_INPUT_STR;
	w->len = w->avail = n;
	return 0;
}

/* Whether the string starts with the pattern and, if whole is set, ends after it. */
FILTER_INLINE int filter_starts(const struct filter_prog *p, struct filter_input *in,
				const struct filter_pred_str *str, int whole)
{
	__u32 off = in->work.off, avail = in->work.avail, n = str->pat_len;

	if (n > avail || !filter_bytes_equal(p, in, off, str->pat_off, n))
		return 0;
	return !whole || n == avail || !(filter_input_word(in, off + n) & 0xff);
}

FILTER_INLINE int filter_ends(const struct filter_prog *p, struct filter_input *in,
			      const struct filter_pred_str *str)
{
	__u32 len = in->work.len, n = str->pat_len;

	return len == in->work.avail && len > n &&
	       filter_bytes_equal(p, in, in->work.off + len - 1 - n, str->pat_off, n);
}

FILTER_INLINE int filter_string(const struct filter_prog *p, struct filter_input *in,
				const struct filter_pred *pr)
{
	const struct filter_pred_str *str = &pr->str;
	int ok;

	if (filter_locate(in, pr))
		return 0;
	switch (str->match) {
	case FILTER_MATCH_MIDDLE:
		ok = filter_scan(p, in, str);
		break;
	case FILTER_MATCH_END:
		ok = filter_ends(p, in, str);
		break;
	case FILTER_MATCH_GLOB:
		ok = filter_glob(p, in, str);
		break;
	default:
		ok = filter_starts(p, in, str, str->match == FILTER_MATCH_FULL);
	}
	return ok != str->negate;
}

static long filter_mask_step(__u32 i, void *arg)
{
	struct filter_loop *l = arg;
	struct filter_work *w = &l->in->work;
	__u64 word = w->pos + 8 <= w->end ? filter_input_word(l->in, w->pos) : 0;
	__u64 mask = filter_pool_word(l->p, w->pat);

	(void)i;
	if (w->pat_len < 64)
		word &= (1ULL << (w->pat_len & 63)) - 1;
	if (word != mask)
		w->result |= FILTER_MASKS_DIFFER;
	if (word & mask)
		w->result |= FILTER_MASKS_MEET;
	if (w->pat_len <= 64)
		return 1;
	w->pat_len -= 64;
	w->pat += 8;
	w->pos += 8;
	return 0;
}

/* Compares a dynamic cpumask with the pool's; bits from nr_cpus on are ignored. */
FILTER_INLINE int filter_cpumask(const struct filter_prog *p, struct filter_input *in,
				 const struct filter_pred *pr)
{
	struct filter_loop l = { p, in };
	struct filter_work *w;

	w = &in->work;
	w->pos = FILTER_INPUT_REC + (filter_input_word(in, pr->offset) & 0xffff);
	w->end = FILTER_INPUT_REC + in->len;
	w->pat = pr->cpus.off;
	w->pat_len = pr->cpus.nr_cpus;
	w->result = 0;
	FILTER_LOOP(FILTER_MAX_CPUS / 64, filter_mask_step, &l);
	if (pr->kind == FILTER_KIND_CPUMASK_EQ)
		return !(w->result & FILTER_MASKS_DIFFER);
	return (w->result & FILTER_MASKS_MEET) != 0;
}

/* Tests a CPU number against the pool's mask. */
FILTER_INLINE int filter_cpu_bit(const struct filter_prog *p, struct filter_input *in,
				 const struct filter_pred *pr)
{
	__u32 cpu = filter_input_word(in, pr->offset) & pr->cpus.value_mask;

	return cpu < pr->cpus.nr_cpus &&
	       (filter_pool_word(p, pr->cpus.off + cpu / 64 * 8) >> (cpu % 64) & 1);
}

/* The predicates that do not compare two numbers. */
FILTER_GLOBAL int filter_other(const struct filter_prog *p, struct filter_input *in, __u32 idx)
{
	const struct filter_pred *pr;

	if (!p || !in || idx >= FILTER_MAX_PREDS || in->len > FILTER_REC_MAX)
		return 0;
	FILTER_KEEP(idx);
	pr = &p->preds[idx];
	switch (pr->kind) {
	case FILTER_KIND_STRING:
		return filter_string(p, in, pr);
	case FILTER_KIND_CPU_BIT:
		return filter_cpu_bit(p, in, pr);
	case FILTER_KIND_CPUMASK_EQ:
	case FILTER_KIND_CPUMASK_AND:
		return filter_cpumask(p, in, pr);
	default:
		return 0;
	}
}

#define FILTER_BATCH 8 /* predicates run per call, so that few are verified in a row */

/* Runs at most FILTER_BATCH predicates from i on; returns the next one, or the verdict. */
FILTER_INLINE __u32 filter_batch(const struct filter_prog *p, struct filter_input *in, __u32 i)
{
	__u32 n;

	for (n = 0; n < FILTER_BATCH; n++) {
		const struct filter_pred *pr;
		__u64 value;
		__u32 off;
		int ok;

		if (i >= FILTER_MAX_PREDS)
			break;
		FILTER_KEEP(i);
		pr = &p->preds[i];
		off = pr->offset;
		if (off > FILTER_INPUT_END)
			return FILTER_REJECT;
		value = filter_word((const __u8 *)in + off);
		if (pr->kind == FILTER_KIND_RANGE)
			ok = ((value - pr->num.lo) & pr->num.mask) <= pr->num.span;
		else if (pr->kind == FILTER_KIND_BITS)
			ok = (value & pr->num.lo) != 0;
		else
			ok = filter_other(p, in, i);
		i = ok ? pr->on_true : pr->on_false;
	}
	return i;
}

FILTER_GLOBAL int filter_run(const struct filter_prog *p, struct filter_input *in, __u32 i)
{
	return p && in ? filter_batch(p, in, i) : FILTER_REJECT;
}

/* 1: the event is selected, 0: it is not. */
FILTER_GLOBAL int filter_eval(const struct filter_prog *p, struct filter_input *in)
{
	__u32 i = 0, n;

	if (!p || !in)
		return 0;
	if (!p->nr_preds)
		return 1;
	if (in->len > FILTER_REC_MAX || in->len < p->min_len)
		return 0;
	/* Most filters are short: the first batch needs no call. */
	i = filter_batch(p, in, 0);
	for (n = 1; n < FILTER_MAX_PREDS / FILTER_BATCH; n++) {
		if (i >= FILTER_MAX_PREDS)
			break;
		i = filter_run(p, in, i);
	}
	return i == FILTER_ACCEPT;
}

#endif /* FILTER_EVAL_H */
