/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel stack of an event: walked, cut to what is the event's own, stored once.
 */
#ifndef STACK_BPF_H
#define STACK_BPF_H

#include "state.bpf.h"

_Static_assert(STK_C_WALK_AGREED + KWALK_VERDICTS - 1 == STK_C_WALK_UNCHECKED,
	       "a verdict's counter is so many behind the first one's");
_Static_assert(STK_C_WALK_NO_RULE + KWALK_STOPS - 1 - KWALK_STOP_RULE == STK_C_WALK_LEFT_STACK,
	       "and a stop's as well");

/* The words from n on, as the stack map takes them. */
static __always_inline struct stackmap_buf *part(struct scratch *s, u32 n)
{
	return (struct stackmap_buf *)&s->words[n & (STACKMAP_WORDS - 1)];
}

/* Of an address in the entry text: an interrupt's or exception's entry, not a system call's. */
__noinline int interrupt_entry(u64 ip)
{
	int i;

#pragma clang loop unroll(disable)
	for (i = 0; i < WIRE_ENTRY_HOLES; i++)
		if (ip - entry_holes[i][0] < entry_holes[i][1])
			return 0;
	return 1;
}

/* Finds where the tracers' frames end and where interrupted contexts begin. */
__noinline int stack_cut(struct scratch *s)
{
	u32 i, n, start;
	u64 tracer_start;
	u32 tracer_len;

	if (!s)
		return 0;
	tracer_start = s->tracer_start;
	tracer_len = s->tracer_len;
#pragma clang loop unroll(disable)
	for (i = 1; i <= 12; i++) {
		if (s->words[i] - tracer_start < tracer_len) {
			/* the innermost: an interrupt may have hit the same tracer below */
			s->start = i + 1;
			break;
		}
	}
	/* Kept in memory and read anew: the verifier would tell all values apart. */
	start = *(volatile u32 *)&s->start;
	n = s->nr_frames;
	if (n > start && n - start > max_depth + s->marker) {
		s->nr_frames = start + max_depth + s->marker;
		s->stack_counter = STK_C_STACK_TRUNCATED;
	}
	s->nr_cuts = 0;
	s->left = *(volatile u32 *)&s->nr_frames - start;
#pragma clang loop unroll(disable)
	for (i = 0; i < WIRE_MAX_FRAMES; i++) {
		u64 ip;
		u32 nr;

		if (i + 1 >= *(volatile u32 *)&s->left)
			break;
		ip = s->words[(start + i) & (STACKMAP_WORDS - 1)];
		if (ip - entry_start >= entry_len || !interrupt_entry(ip))
			continue;
		nr = s->nr_cuts;
		if (nr >= WIRE_MAX_CUTS)
			break;
		s->cut[nr & (WIRE_MAX_CUTS - 1)] = start + i + 1;
		s->nr_cuts = nr + 1;
	}
	return 0;
}

/*
 * Stores the walked stack: the interrupted contexts first, from the outermost, each as a record
 * of its own that the next inner one links to.  Sets ev.kstack, or says that all words must
 * travel with the event.  flags: STACKMAP_NOREF or 0.
 */
__noinline int stack_store(struct scratch *s, u64 flags)
{
	u32 n, start, i, end = 0;
	s64 id;

	if (!s)
		return 0;
	n = s->nr_frames;
	start = s->start;
	if (n > WIRE_MAX_FRAMES + 1)
		n = WIRE_MAX_FRAMES + 1;
	if (s->stack_counter == STK_C_STACK_TRUNCATED)
		end = STK_END_TRUNCATED;
	else if (s->stack_counter == STK_C_STACK_AT_LIMIT)
		end = STK_END_AT_LIMIT;
	if (end) {
		s->words[n & 0xff] = FRAME_MARKER(FRAME_END, end);
		n++;
	}
	s->nr_frames = n;
#pragma clang loop unroll(disable)
	for (i = 0; i < WIRE_MAX_CUTS; i++) {
		u32 nr = s->nr_cuts, at;

		if (!nr || nr > WIRE_MAX_CUTS)
			break;
		at = s->cut[(nr - 1) & (WIRE_MAX_CUTS - 1)];
		n = s->nr_frames;
		if (at >= n || n - at > STACKMAP_WORDS)
			break;
		id = stackmap_get_call(part(s, at), n - at, STACKMAP_NOREF);
		if (id <= 0) {
			s->nr_cuts = 0;
			s->kstack = WIRE_STACK_FULL;
			return id;
		}
		s->words[at & (STACKMAP_WORDS - 1)] = FRAME_MARKER(FRAME_LINK, (u32)id);
		s->nr_frames = at + 1;
		s->nr_cuts = nr - 1;
	}
	n = s->nr_frames;
	start = s->start;
	if (n <= start || n - start > STACKMAP_WORDS)
		return 0;
	id = stackmap_get(part(s, start), n - start, flags & STACKMAP_NOREF);
	if (id <= 0) {
		s->kstack = WIRE_STACK_FULL;
		return id;
	}
	s->kstack = (u32)id;
	return id & STACKMAP_NEW ? 2 : 1;
}

static __always_inline void stack_checked(struct scratch *s, struct event_counts *c,
					  enum kwalk_verdict verdict)
{
	bump(c, STK_C_WALK_AGREED + verdict);
	if (verdict == KWALK_AGREED) {
		c->agreed = c->c[STK_C_WALKED] + c->c[STK_C_WALK_REMEMBERED];
		c->agreed_ts = s->ts;
	} else if (verdict == KWALK_DIFFERED) {
		walk_ended = now();
	}
	s->walked = 0; /* once is enough */
}

/* What a remembered stack's id depends on besides its frames: where the tracer's end, how deep it goes. */
static __always_inline u32 stack_salt(const struct scratch *s, enum kwalk_start start)
{
	return (s->event << 1 | (start == KWALK_RAW)) + 1;
}

/* Whether the stack is one whose id is remembered: then it is in s->kstack. */
static __always_inline bool stack_recall(struct scratch *s, enum kwalk_start start)
{
	u64 id = kwalk_recall(&s->walk, stack_salt(s, start));

	if (!id || id >> 32 != stackmap_generation())
		return false;
	s->kstack = id;
	return true;
}

/* Whether the frames are in s->walk.words; else the kernel is to tell them. */
static __always_inline bool stack_walk(void *ctx, struct scratch *s, struct event_counts *c,
				       enum kwalk_start start)
{
	enum kwalk_verdict verdict;
	u32 stop = kwalk_walk(&s->walk), why;

	why = stop - KWALK_STOP_RULE;
	asm volatile("" : "+r"(why)); /* the verifier is to see that this is what is bounded */
	if (why < KWALK_STOPS - KWALK_STOP_RULE)
		bump(c, STK_C_WALK_NO_RULE + why);
	if (stop != KWALK_DONE)
		return false;
	s->walked = 1;
	if (!kwalk_due(__sync_fetch_and_add(&c->c[STK_C_WALKED], 1)))
		return true;
	verdict = kwalk_check(ctx, &s->walk, start);
	stack_checked(s, c, verdict);
	return verdict != KWALK_DIFFERED;
}

/* Stores the n frames in s->walk.words, as stack_store() does. */
static __always_inline int stack_keep(struct scratch *s, u32 n, u32 marker, enum kwalk_start start,
				      u64 flags)
{
	u32 most = WIRE_MAX_FRAMES - marker, limit = walk_limit;

	if (start == KWALK_RAW)
		limit = kwalk_without(limit, KWALK_RAW_OWN);
	if (n > most)
		n = most;
	s->start = 1 - marker;
	s->nr_frames = n + 1;
	s->marker = marker;
	s->stack_counter = n >= limit || n == most ? STK_C_STACK_AT_LIMIT : 0;
	stack_cut(s);
	return stack_store(s, flags);
}

/*
 * The kernel's stack, stored after the walked one, must be the same one; r is what storing that has
 * returned.  Asked when a stack is new in the map, so that what a wrong rule has made up is noticed at
 * once, and now and then of one that is remembered.
 */
static __always_inline int stack_again(void *ctx, struct scratch *s, struct event_counts *c,
				       u32 marker, enum kwalk_start start, int r)
{
	u32 id = s->kstack;
	long n = kwalk_by_kernel(ctx, &s->walk, start);
	int again;

	if (n <= 0) {
		stack_checked(s, c, KWALK_UNCHECKED);
		return r;
	}
	again = stack_keep(s, n / 8, marker, start, STACKMAP_NOREF);
	if (s->kstack == id) {
		stack_checked(s, c, KWALK_AGREED);
		return r;
	}
	kwalk_stop();
	stack_checked(s, c, KWALK_DIFFERED);
	return again;
}

/*
 * Walks the kernel stack and stores it; marker: 1 if s->words[0] is one.  Inline, because only the
 * program itself may hand its context to bpf_get_stack().
 */
static __always_inline void kernel_stack(void *ctx, struct scratch *s, struct event_counts *c,
					 u64 tracer_start, u32 tracer_len, u32 marker,
					 enum kwalk_start start)
{
	bool begun;
	u64 generation;
	long n;
	int r;

	s->kstack = WIRE_STACK_NONE;
	if (!kernel_stacks)
		return;
	s->tracer_start = tracer_start;
	s->tracer_len = tracer_len;
	s->walked = 0;
	begun = kwalk_begin(ctx, &s->walk, start);
	if (begun && stack_recall(s, start)) {
		/* One counter: user space adds it to those of walks and of hits. */
		bump(c, STK_C_WALK_REMEMBERED);
		stackmap_again(s->kstack);
		if (kwalk_due(c->c[STK_C_WALK_REMEMBERED] - 1))
			stack_again(ctx, s, c, marker, start, 1);
		return;
	}
	n = begun && stack_walk(ctx, s, c, start) ? s->walk.nr * 8 :
						    kwalk_by_kernel(ctx, &s->walk, start);
	if (n < 0) {
		s->kstack = WIRE_STACK_FAILED;
		bump(c, STK_C_STACK_FAILED);
		return;
	}
	n = n / 8;
	if (!n) {
		bump(c, STK_C_STACK_EMPTY);
		return;
	}
	generation = stackmap_generation(); /* of before the id was found */
	r = stack_keep(s, n, marker, start, 0);
	if (r == 2 && s->walked)
		r = stack_again(ctx, s, c, marker, start, r);
	else if (r == 1 && s->walked && !s->stack_counter)
		kwalk_remember(&s->walk, generation << 32 | s->kstack);
	if (s->stack_counter == STK_C_STACK_TRUNCATED)
		bump(c, STK_C_STACK_TRUNCATED);
	else if (s->stack_counter)
		bump(c, STK_C_STACK_AT_LIMIT);
	if (r == 1)
		bump(c, STK_C_STACK_HIT);
	else if (r == 2)
		bump(c, STK_C_STACK_NEW);
	else if (r == -STACKMAP_EPOOL)
		bump(c, STK_C_STACK_FELL_POOL);
	else if (r < 0)
		bump(c, STK_C_STACK_FELL_PROBE);
	else
		bump(c, STK_C_STACK_EMPTY);
}

#endif /* STACK_BPF_H */
