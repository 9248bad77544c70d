/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User stacks: many steps at once.  A call of a BPF function costs as much as a step that needs
 * nothing but a simple rule that is remembered, a word or two of the stack that have been read, and
 * the mapping of the frame before.  Such steps are made here in a loop; whatever else a frame needs
 * is left to user_next(), which would do the same in these cases.
 */
#ifndef USER_RUN_BPF_H
#define USER_RUN_BPF_H

#include "user_step.bpf.h"

/* Flags with which a frame is left to user_next(); a step made here sets none of them. */
#define RUN_FLAGS (UNW_GUESSED | UNW_FP_LOST)

/* Registers, and copies of what is needed in each step. */
struct user_run {
	u64 ip, sp, fp, fp_at, bx_at;
	u64 exact; /* 1: ip is, as that of a system call */
	u64 start, len; /* of the mapping, for return addresses */
	u64 word; /* of its frames: this plus their ip */
	u64 lo, size; /* of the window */
	u64 trampoline; /* of uprobes; 0: none */
	u32 nr, nr_words, join;
	u32 saved; /* slots in which rbx was saved */
};

static __always_inline void run_load(struct user_run *r, const struct user_walk *u,
				     const struct user_vma *v)
{
	r->ip = u->w.ip;
	r->sp = u->w.sp;
	r->fp = u->w.fp;
	r->fp_at = u->w.fp_at;
	r->bx_at = 0;
	r->exact = u->w.flags & UNW_EXACT;
	r->start = v->start + 1;
	r->len = v->end - v->start;
	r->word = FRAME_USER(v->id, 0) - v->delta;
	r->lo = u->lo;
	r->size = u->hi - u->lo;
	r->trampoline = u->returns ? u->trampoline : 0;
	r->nr = u->nr;
	r->nr_words = u->nr_words;
	r->join = u->join;
	r->saved = 0;
}

static __always_inline void run_store(const struct user_run *r, struct user_walk *u)
{
	if (r->sp - 8 > u->top) /* the last word that was read */
		u->top = r->sp - 8;
	if (r->saved) {
		u->w.bx_at = r->bx_at;
		u->w.flags &= ~UNW_BX_LOST;
	}
	if (!r->exact)
		u->w.flags &= ~UNW_EXACT;
	u->w.ip = r->ip;
	u->w.sp = r->sp;
	u->w.fp = r->fp;
	u->w.fp_at = r->fp_at;
	u->nr = r->nr;
	u->nr_words = r->nr_words;
	u->join = r->join;
}

/* A word of the window at a multiple of 8; false: it is not there. */
static __always_inline bool run_read(const struct user_walk *u, const struct user_run *r, u64 addr,
				     u64 *ret)
{
	u64 at = addr - r->lo;

	if (at >= r->size)
		return false;
	at >>= 3;
	asm volatile("" : "+r"(at));
	*ret = u->window[at & (USER_WINDOW - 1)];
	return true;
}

/* Catches up with the remembered stack; true: user_next() may join it here. */
static __always_inline bool run_meets(const struct user_walk *u, struct user_thread *t,
				      struct user_run *r)
{
	const struct user_frame *f;
	u32 m = r->join;

	/* without branches, each of which the verifier would follow in each step */
	m += (old_frame(u, t, m)->sp - r->sp) >> 63;
	m += (old_frame(u, t, m)->sp - r->sp) >> 63;
	r->join = m;
	f = old_frame(u, t, m);
	return !((f->sp ^ r->sp) | (f->ip ^ r->ip ^ r->exact << 63) | (f->fp_at ^ r->fp_at)) &&
	       m >= t->first && m < t->nr_frames;
}

/* The remembered simple rule of this frame; UNW_ESCAPE: none is remembered. */
static __always_inline u32 run_rule(struct user_walk *u, const struct user_run *r)
{
	u64 behind = r->ip + r->exact, place = r->word + behind;
	const struct user_rule *k = rule_slot(u, place);

	if (behind - r->start >= r->len || k->place != place || k->generation != u->generation)
		return UNW_ESCAPE;
	return k->rule;
}

/* `value` if `slot` is not 0, else `other`; without a branch, which would be mispredicted. */
static __always_inline u64 run_choose(u32 slot, u64 value, u64 other)
{
	u64 none = ((u64)slot - 1) >> 63; /* 1 or 0 */

	asm volatile("" : "+r"(none)); /* else the compiler makes a branch of it */
	return value ^ ((value ^ other) & -none);
}

/* Steps to the caller; false: nothing is changed. */
static __always_inline bool run_step(struct user_walk *u, struct user_thread *t, struct user_run *r)
{
	u32 rule = run_rule(u, r);
	u64 cfa = r->sp, fp = r->fp, fp_read = 0, fp_at = r->fp_at, ip;
	struct user_frame *f;
	u32 i = r->nr_words;

	if (rule & UNW_ESCAPE)
		return false;
	if (rule & 1u << 18) {
		if (!fp_at || fp_at & 7 || !run_read(u, r, fp_at, &fp) || fp & 7)
			return false;
		cfa = fp;
		fp_read = fp_at;
		fp_at = 0;
	}
	cfa += (rule >> 8 & 0x3ff) * 8;
	if (cfa - r->sp - 1 >= UNW_MAX_FRAME || !run_read(u, r, cfa - 8, &ip) || !ip ||
	    ip == r->trampoline)
		return false;
	f = walk_frame(u, t, r->nr);
	f->ip = r->ip | r->exact << 63;
	f->sp = r->sp;
	f->word = r->word + r->ip;
	f->fp = fp;
	f->fp_at = r->fp_at;
	f->fp_read = fp_read;
	f->x_at = 0;
	asm volatile("" : "+r"(i));
	u->words.w[i & (STACKMAP_WORDS - 1)] = r->word + r->ip;
	r->nr++;
	r->nr_words++;
	r->exact = 0;
	r->ip = ip;
	r->sp = cfa;
	r->fp = fp;
	r->fp_at = run_choose(rule >> 4 & 15, cfa - 8 * (rule >> 4 & 15), fp_at);
	r->bx_at = run_choose(rule & 15, cfa - 8 * (rule & 15), r->bx_at);
	r->saved |= rule & 15;
	return true;
}

/* Makes u->last the mapping of an address, if that is among those known to be unchanged. */
static __always_inline void run_mapping(struct user_walk *u, struct user_thread *t, u64 pc)
{
	u32 known = u->vmas | u->valid, i;

#pragma clang loop unroll(disable)
	for (i = 0; i < USER_VMAS; i++) {
		const struct user_vma *v = thread_vma(t, i);

		if (pc >= v->start && pc < v->end && known >> i & 1) {
			*(volatile u32 *)&u->last = i;
			break;
		}
	}
}

/* Whether nothing is special at this frame. */
static __always_inline bool run_may(const struct user_walk *u)
{
	return !(u->w.flags & RUN_FLAGS) && !(u->w.sp & 7) &&
	       (!(u->w.flags & UNW_EXACT) || !(u->nr || u->interrupted));
}

static __always_inline bool run_within(const struct user_run *r)
{
	return r->ip + r->exact - r->start < r->len;
}

/* Steps as far as that is possible here; 1: further steps may be, too. */
__noinline int user_run(struct user_walk *u, struct user_thread *t)
{
	const struct user_vma *v;
	struct user_run r;
	u32 i, at;

	if (!u || !t || !run_may(u))
		return 0;
	run_mapping(u, t, unw_pc(&u->w));
	at = *(volatile u32 *)&u->last; /* to the verifier, one unknown index */
	v = thread_vma(t, at);
	run_load(&r, u, v);
	if (!v->end || !run_within(&r) || !((u->vmas | u->valid) >> (at & 31) & 1) ||
	    (v->end - v->delta) >> FRAME_OFFSET_BITS)
		return 0;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_AT_ONCE; i++) {
		if (r.nr >= user_max_depth || r.nr >= USER_FRAMES ||
		    r.nr_words >= STACKMAP_WORDS - 1)
			break;
		if (run_meets(u, t, &r) || !run_step(u, t, &r))
			break;
	}
	if (!i)
		return 0;
	u->vmas |= 1u << (at & 31);
	run_store(&r, u);
	return i >= USER_AT_ONCE || !run_within(&r);
}

#endif /* USER_RUN_BPF_H */
