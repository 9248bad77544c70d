/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User stacks: the step from a frame to its caller.
 *
 * Most stacks of a thread share their outer frames with the previous stack.  Once a frame agrees
 * with one of the previous stack in everything that the rest of the walk depends on, the rest is
 * not unwound: only the words that the previous walk read from there on are compared.  This is
 * sound because unwinding is a function of the registers, the tables, the mappings and these words.
 */
#ifndef USER_STEP_BPF_H
#define USER_STEP_BPF_H

#include "user_thread.bpf.h"

/* A frame of this walk. */
static __always_inline struct user_frame *walk_frame(const struct user_walk *u,
						     struct user_thread *t, u32 i)
{
	return frame_at(t, u->base + i);
}

/* A frame of the remembered stack. */
static __always_inline struct user_frame *old_frame(const struct user_walk *u,
						    struct user_thread *t, u32 i)
{
	return frame_at(t, u->old + i);
}

static __always_inline u64 ip_with_flags(const struct unw_walk *w)
{
	return w->ip | (w->flags & UNW_EXACT ? USER_IP_EXACT : 0) |
	       (w->flags & UNW_GUESSED ? USER_IP_GUESSED : 0) |
	       (w->flags & UNW_FP_LOST ? USER_IP_FP_LOST : 0);
}

static __always_inline void word_add(struct user_walk *u, u64 word)
{
	u32 n = u->nr_words;

	u->nr_words = n + 1;
	asm volatile("" : "+r"(n));
	u->words.w[n & (STACKMAP_WORDS - 1)] = word;
}

/* Appends the words of frame i; 0: no room.  A function to limit the verifier's work. */
__noinline int word_frame(struct user_walk *u, const struct user_frame *f, u32 i)
{
	bool guess, exact;

	if (!u || !f)
		return 0;
	guess = f->ip & USER_IP_GUESSED && !u->guess_marked;
	exact = f->ip & USER_IP_EXACT && (i || u->interrupted);
	u->nr_before = u->nr_words;
	if (u->nr_words + guess + exact + 1 > STACKMAP_WORDS - 1) /* one is for FRAME_END */
		return 0;
	if (guess) {
		u->guess_marked = 1;
		word_add(u, FRAME_MARKER(FRAME_GUESS, 0));
	}
	if (exact)
		word_add(u, FRAME_MARKER(FRAME_EXACT, 0));
	word_add(u, f->word);
	return 1;
}

/* Appends the current frame; returns UNW_GO and the index of its mapping, or a stop. */
static __always_inline int step_note(struct user_walk *u, struct user_thread *t, u32 *ret_vma)
{
	u32 n = u->nr, i = u->last;
	struct user_frame *f = walk_frame(u, t, n);
	struct user_vma *v;
	u64 pc;

	if (n >= user_max_depth || n >= USER_FRAMES)
		return UNW_DEPTH;
	u->w.ip = USER_IP(u->w.ip); /* user addresses do not use the bits of the flags */
	pc = unw_pc(&u->w);
	f->ip = ip_with_flags(&u->w);
	f->sp = u->w.sp;
	f->fp = u->w.fp;
	f->fp_at = u->w.fp_at;
	f->fp_read = 0;
	f->x_at = 0;
	v = thread_vma(t, i);
	if (!(u->vmas >> (i & 31) & 1) || pc - v->start >= v->end - v->start) {
		i = vma_get(u, t, pc);
		if (i >= USER_VMAS) {
			if (n) /* the supposed return address does not point to code */
				return UNW_NO_RULE;
			f->word = FRAME_USER(0, u->w.ip);
			word_frame(u, f, 0);
			return UNW_NO_RULE;
		}
		u->last = i;
		u->vmas |= 1u << i;
		v = thread_vma(t, i);
	}
	f->word = FRAME_USER(v->id, u->w.ip - v->delta);
	if (!word_frame(u, f, n))
		return UNW_DEPTH;
	u->nr = n + 1;
	*ret_vma = i;
	return UNW_GO;
}

/*
 * The return address is the trampoline of uretprobes: continue at the original address, which the
 * kernel keeps in a struct return_instance.
 */
__noinline int user_returned(struct user_walk *u)
{
	u64 at, stack = 0, last = 0;
	u32 i;

	if (!u)
		return 0;
	at = u->returns;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_RETURNS; i++) {
		struct return_instance *r = (void *)at;

		/* innermost first; an instance that has just been used may still be the first */
		if (!at || bpf_core_read(&stack, sizeof(stack), &r->stack) || stack < last)
			break;
		last = stack;
		if (stack == u->w.sp - 8)
			return bpf_core_read(&u->w.ip, sizeof(u->w.ip), &r->orig_ret_vaddr);
		if (bpf_core_read(&at, sizeof(at), &r->next))
			break;
	}
	return 0;
}

/*
 * Whether this CPU's ring has room for a copy.  Where it has none, the frame pointer is followed in
 * generated code, because most of it has one; such a stack is not remembered.
 */
__noinline int step_may_copy(struct user_walk *u)
{
	u32 cpu = bpf_get_smp_processor_id();

	if (!u)
		return 0;
	if (ring_used(ring_pos(&cpu)) <= copy_limit + copy_limit / 2)
		return 1;
	u->forget = 1;
	return 0;
}

/* Reads all registers, of which few frames need more than ip, sp, fp and rbx. */
__noinline int user_all_regs(struct user_walk *u)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	const struct pt_regs *r = (void *)bpf_task_pt_regs((void *)task);

	if (!u || u->has_regs)
		return 0;
	UNW_FROM_PT_REGS(u->w.regs, r);
	u->has_regs = 1;
	return 0;
}

static __always_inline int user_step(struct user_walk *u, struct user_thread *t)
{
	struct user_frame *f;
	struct user_vma *v;
	u32 rule, i = 0, n;
	int stop;

	n = u->nr;
	stop = step_note(u, t, &i);
	if (stop)
		return stop;
	v = thread_vma(t, i);
	if (v->state == WIRE_FILE_NEW && !user_fp_only &&
	    (v->key.kind != WIRE_KEY_JIT || step_may_copy(u)))
		return UNW_NEED_TABLE;
	rule = UNW_ESCAPE | UNW_NONE;
	if (v->state == WIRE_FILE_LOADED && !user_fp_only)
		rule = rule_get(u, v, unw_pc(&u->w));
	u->w.fp_read = 0;
	u->w.x_at = 0;
	u->w.flags &= ~(UNW_FP_RAW | UNW_BARRIER);
	if (!(rule & UNW_ESCAPE)) {
		stop = unw_simple(&u->w, rule);
	} else {
		rule &= ~UNW_ESCAPE;
		if (rule >= UNW_ESCAPE_RULES) {
			user_all_regs(u);
			stop = unw_wide(&u->w, table_u64(v->rules + 2 * (rule - UNW_ESCAPE_RULES)));
		} else if (rule == UNW_END) {
			stop = UNW_COMPLETE;
		} else if (rule == UNW_SIGNAL) {
			stop = unw_signal(&u->w);
			u->has_regs = 1;
		} else if (rule == UNW_UNSEEN && step_may_copy(u)) {
			return UNW_NEED_TABLE;
		} else {
			stop = unw_guess(&u->w);
		}
	}
	f = walk_frame(u, t, n);
	f->fp_read = u->w.fp_read;
	if (u->w.fp_read)
		f->fp = u->w.fp;
	f->x_at = u->w.x_at;
	f->x = u->w.x;
	if (stop == UNW_COMPLETE && !u->w.ip) { /* remember that the return address must be 0 */
		if (f->x_at)
			u->w.flags |= UNW_BARRIER;
		f->x_at = u->w.sp - 8;
		f->x = 0;
	}
	if (u->w.flags & UNW_FP_RAW)
		u->raw = n + 1;
	if (u->w.flags & UNW_BARRIER)
		u->first = n + 1;
	return stop;
}

/* Whether a word of the stack that is not in the window is unchanged. */
__noinline int join_far(struct user_walk *u, u64 addr, u64 word)
{
	u64 v;

	return u && !user_read(u, addr, &v) && v == word;
}

/* *lo, *size: a copy of where the window is. */
static __always_inline bool join_same(struct user_walk *u, u64 *lo, u64 *size, u64 addr, u64 word)
{
	u64 at = addr - *lo;

	if (at >= *size || at & 7) {
		if (!join_far(u, addr, word))
			return false;
		*lo = u->lo;
		*size = u->hi - *lo;
		return true;
	}
	at >>= 3;
	asm volatile("" : "+r"(at));
	return u->window[at & (USER_WINDOW - 1)] == word;
}

enum join { JOIN_DIFFERS, JOIN_GO, JOIN_SAME };

/*
 * Compares what the steps from frame u->compare of the remembered stack on have read.  A few steps
 * at once, because the verifier follows each of them.
 */
__noinline int join_compare(struct user_walk *u, struct user_thread *t)
{
	const struct user_frame *a;
	u64 lo, size;
	u32 m, n, i;

	if (!u || !t)
		return JOIN_DIFFERS;
	m = u->compare;
	n = t->nr_frames;
	if (m >= n)
		return JOIN_DIFFERS;
	lo = u->lo;
	size = u->hi - lo;
	a = old_frame(u, t, m);
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_AT_ONCE; i++) {
		if (a->fp_read && !join_same(u, &lo, &size, a->fp_read, a->fp))
			break;
		if (a->x_at && !join_same(u, &lo, &size, a->x_at, a->x))
			break;
		m++;
		/* the last frame has no return address, or a 0 that x_at compares */
		if (m >= n)
			return JOIN_SAME;
		a = old_frame(u, t, m);
		if (!join_same(u, &lo, &size, a->sp - 8, USER_IP(a->ip)))
			break;
	}
	u->compare = m;
	return i >= USER_AT_ONCE ? JOIN_GO : JOIN_DIFFERS;
}

/*
 * The walk has reached frame u->join of the remembered stack: 1 if all words that were read from
 * there on are unchanged.
 */
static __always_inline int user_join(struct user_walk *u, struct user_thread *t)
{
	int join;
	u32 i;

	u->compare = u->join;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_FRAMES / USER_AT_ONCE; i++) {
		join = join_compare(u, t);
		if (join != JOIN_GO)
			break;
	}
	if (join == JOIN_SAME)
		return 1;
	u->join = u->compare + 1; /* do not try again before the walk has passed the change */
	return 0;
}

/* Whether all mappings that the remembered stack needs are unchanged. */
__noinline int user_check_vmas(struct user_walk *u, struct user_thread *t)
{
	u32 i;

	if (!u || !t)
		return 0;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_VMAS; i++) {
		if (!(t->vmas >> i & 1))
			continue;
		if (vma_check(u, t, i) || !t->nr_frames)
			return 0;
	}
	return 1;
}

/* Whether this frame and what is outward of it are as remembered. */
static __always_inline bool user_meets(struct user_walk *u, struct user_thread *t)
{
	u32 m = u->join, n = t->nr_frames;
	const struct user_frame *f;
	u64 sp = u->w.sp;

	if (m >= n)
		return false;
	/* sp increases in both stacks: catch up with the walk */
	m += old_frame(u, t, m)->sp < sp;
	m += m < n && old_frame(u, t, m)->sp < sp;
	m += m < n && old_frame(u, t, m)->sp < sp;
	u->join = m;
	f = old_frame(u, t, m);
	return m < n && m >= t->first && f->sp == sp && f->ip == ip_with_flags(&u->w) &&
	       f->fp_at == u->w.fp_at && (f->fp_at || m >= t->raw || f->fp == u->w.fp) &&
	       user_join(u, t);
}

/* Joins the walk with the remembered stack at this frame, or steps to the caller. */
__noinline int user_next(struct user_walk *u, struct user_thread *t)
{
	int stop;

	if (!u || !t)
		return UNW_NO_RULE;
	if (user_meets(u, t))
		return UNW_SPLICED;
	stop = user_step(u, t);
	if (u->returns && stop == UNW_GO && u->w.ip == u->trampoline)
		user_returned(u);
	return stop;
}

#endif /* USER_STEP_BPF_H */
