/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel stack of an event: walks it, removes the tracers' frames, splits off interrupted
 * contexts and stores each part once.
 */
#ifndef STACK_BPF_H
#define STACK_BPF_H

#include "state.bpf.h"

_Static_assert(STK_C_WALK_AGREED + KWALK_VERDICTS - 1 == STK_C_WALK_UNCHECKED,
	       "the counters of the verdicts are in their order");
_Static_assert(STK_C_WALK_NO_RULE + KWALK_STOPS - 1 - KWALK_STOP_RULE == STK_C_WALK_LEFT_STACK,
	       "the counters of the stops are in their order");

/* The words from n on, as a buffer for the stack map. */
static __always_inline struct stackmap_buf *stack_part(struct scratch *s, u32 n)
{
	return (struct stackmap_buf *)&s->words[n & (STACKMAP_WORDS - 1)];
}

/*
 * Whether an address in the entry text belongs to the entry of an interrupt or exception, not of a
 * system call.
 */
__noinline int interrupt_entry(u64 ip)
{
	int i;

#pragma clang loop unroll(disable)
	for (i = 0; i < WIRE_ENTRY_HOLES; i++)
		if (ip - entry_holes[i][0] < entry_holes[i][1])
			return 0;
	return 1;
}

#define CUT_WORDS 16

/*
 * Notes the interrupt entries among CUT_WORDS words, from this one of the stack on; 0: the next
 * words are to be searched, too.  A function of its own, so that the verifier follows so few words
 * and not all that a stack may have.
 */
__noinline int stack_find_cuts(struct scratch *s, u32 from)
{
	u32 start, i;

	if (!s)
		return 1;
	start = s->start;
#pragma clang loop unroll(disable)
	for (i = 0; i < CUT_WORDS; i++, from++) {
		u64 ip;
		u32 nr;

		if (from + 1 >= *(volatile u32 *)&s->left)
			return 1;
		ip = s->words[(start + from) & (STACKMAP_WORDS - 1)];
		if (ip - entry_start >= entry_len || !interrupt_entry(ip))
			continue;
		nr = s->nr_cuts;
		if (nr >= WIRE_MAX_CUTS)
			return 1;
		s->cut[nr & (WIRE_MAX_CUTS - 1)] = start + from + 1;
		s->nr_cuts = nr + 1;
	}
	return 0;
}

/* Finds the end of the tracers' frames and the start of each interrupted context. */
__noinline int stack_cut(struct scratch *s)
{
	u32 i, n, start;
	u64 tracer_start;
	u32 tracer_len;

	if (!s)
		return 0;
	tracer_start = s->tracer_start;
	tracer_len = s->tracer_len;
	n = s->nr_frames;
#pragma clang loop unroll(disable)
	for (i = 1; i <= 12 && i < n; i++) { /* further words are those of an earlier stack */
		if (s->words[i] - tracer_start < tracer_len) {
			/* the first match: an interrupt may have hit the same tracer further out */
			s->start = i + 1;
			break;
		}
	}
	/* Read from memory again: the verifier would follow each value separately. */
	start = *(volatile u32 *)&s->start;
	if (n > start && n - start > max_depth + s->marker) {
		s->nr_frames = start + max_depth + s->marker;
		s->stack_counter = STK_C_STACK_TRUNCATED;
	}
	s->nr_cuts = 0;
	s->left = *(volatile u32 *)&s->nr_frames - start;
#pragma clang loop unroll(disable)
	for (i = 0; i < STACKMAP_WORDS; i += CUT_WORDS)
		if (stack_find_cuts(s, i))
			break;
	return 0;
}

/*
 * Stores the walked stack: the interrupted contexts first, from the outermost, each as a record of
 * its own to which the next inner one links.  Sets s->kstack, to WIRE_STACK_FULL if all words must
 * be sent with the event.  Returns 2: the stack is new, 1: it is known, 0: it is empty, or a
 * negative error of the stack map.  Nobody reads the references of these stacks, so they are not
 * counted: a counter would be a cache line that all CPUs write.
 */
static __always_inline int stack_store(struct scratch *s)
{
	u32 n, start, i, end = 0;
	s64 id;

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
		id = stackmap_get_call(stack_part(s, at), n - at, STACKMAP_NOREF);
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
	s->kstack = WIRE_STACK_NONE;
	if (n <= start || n - start > STACKMAP_WORDS)
		return 0;
	id = stackmap_get(stack_part(s, start), n - start, STACKMAP_NOREF);
	if (id <= 0) {
		s->kstack = WIRE_STACK_FULL;
		return id;
	}
	s->kstack = (u32)id;
	return id & STACKMAP_NEW ? 2 : 1;
}

/*
 * Cuts and stores the n frames in s->walk.words; returns as stack_store().  Not inline, as programs
 * need nearly all of the stack that the kernel allows.
 */
__noinline int stack_keep(struct scratch *s, u32 n, u32 marker, enum kwalk_start start)
{
	u32 most, limit = walk_limit;

	if (!s)
		return 0;
	most = WIRE_MAX_FRAMES - marker;
	if (start == KWALK_RAW)
		limit = kwalk_without(limit, KWALK_RAW_OWN);
	else if (start == KWALK_TRACEPOINT)
		limit = kwalk_without(limit, kwalk_state.doubled);
	if (n > most)
		n = most;
	s->start = 1 - marker;
	s->nr_frames = n + 1;
	s->marker = marker;
	s->stack_counter = n >= limit || n == most ? STK_C_STACK_AT_LIMIT : 0;
	stack_cut(s);
	return stack_store(s);
}

static __always_inline void stack_checked(struct scratch *s, struct event_counts *c,
					  enum kwalk_verdict verdict)
{
	bump(c, STK_C_WALK_AGREED + verdict);
	if (verdict == KWALK_AGREED) {
		c->agreed = c->c[STK_C_WALKED] + c->remembered;
		c->agreed_ts = s->ts;
	} else if (verdict == KWALK_DIFFERED) {
		ctl.walk_ended = now();
	}
	s->walked = 0; /* check a stack only once */
}

/*
 * The id of a remembered stack depends on its frames and on this: on the end of the tracer's frames
 * and on the depth limit.
 */
static __always_inline u32 stack_salt(const struct scratch *s, enum kwalk_start start)
{
	return (s->event << 1 | (start == KWALK_RAW)) + 1;
}

/*
 * Sets s->kstack to the remembered id of the stack where s->walk begins, or to WIRE_STACK_NONE;
 * true: it is remembered.  A recording never resets its stack map, so its ids hold.
 */
static __always_inline bool stack_recall(struct scratch *s, enum kwalk_start start)
{
	s->kstack = kwalk_recall(&s->walk, stack_salt(s, start));
	return s->kstack != WIRE_STACK_NONE;
}

/*
 * Counts a remembered stack; true: it is to be verified.  No other counter is incremented: the
 * recorder adds this one to STK_C_WALKED and STK_C_STACK_HIT.
 */
static __always_inline bool stack_is_due(struct event_counts *c)
{
	u64 before = *(volatile u64 *)&c->remembered;

	__sync_fetch_and_add(&c->remembered, 1);
	return before >= *(volatile u64 *)&c->due;
}

/* walked: the id of the walked stack that is not the kernel's. */
static __always_inline void stack_differed(const struct scratch *s, struct event_counts *c,
					   u32 walked)
{
	c->differed_walked = walked;
	c->differed_kernel = s->kstack;
}

/* Walks the stack into s->walk.words; false: use bpf_get_stack(). */
static __always_inline bool stack_walk(void *ctx, struct scratch *s, struct event_counts *c,
				       u32 marker, enum kwalk_start start)
{
	enum kwalk_verdict verdict;
	u32 stop = kwalk_walk(&s->walk), why;

	why = stop - KWALK_STOP_RULE;
	asm volatile("" : "+r"(why)); /* makes the verifier apply the bound to this register */
	if (why < KWALK_STOPS - KWALK_STOP_RULE)
		bump(c, STK_C_WALK_NO_RULE + why);
	if (stop != KWALK_DONE)
		return false;
	s->walked = 1;
	if (!kwalk_due(__sync_fetch_and_add(&c->c[STK_C_WALKED], 1)))
		return true;
	verdict = kwalk_check(ctx, &s->walk, start);
	stack_checked(s, c, verdict);
	if (verdict != KWALK_DIFFERED)
		return true;
	stack_keep(s, s->walk.nr, marker, start); /* only to be shown */
	s->differed = s->kstack;
	return false;
}

/*
 * Verifies the stored stack: the kernel's stack, when it is stored now, must get the same id.  r is
 * the result of storing the walked stack.  This runs for each stack that is new in the map, so a
 * wrong rule is noticed with the first stack that it spoils, and from time to time for a remembered
 * one.
 */
static __always_inline int stack_verify(void *ctx, struct scratch *s, struct event_counts *c,
					u32 marker, enum kwalk_start start, int r)
{
	u32 id = s->kstack;
	long n = kwalk_of_event(ctx, &s->walk, start);
	int again;

	if (n <= 0) {
		stack_checked(s, c, KWALK_UNCHECKED);
		return r;
	}
	again = stack_keep(s, n / 8, marker, start);
	if (s->kstack == id) {
		stack_checked(s, c, KWALK_AGREED);
		return r;
	}
	kwalk_stop();
	stack_checked(s, c, KWALK_DIFFERED);
	stack_differed(s, c, id);
	return again;
}

static __always_inline void stack_set_tracer(struct scratch *s, u64 tracer_start, u32 tracer_len)
{
	s->tracer_start = tracer_start;
	s->tracer_len = tracer_len;
	s->walked = 0;
	s->differed = 0;
}

/* Verifies a remembered stack that is due; after stack_set_tracer(). */
static __always_inline void stack_verify_remembered(void *ctx, struct scratch *s,
						    struct event_counts *c, u32 marker,
						    enum kwalk_start start)
{
	*(volatile u64 *)&c->due = kwalk_next_due(c->remembered - 1);
	stack_verify(ctx, s, c, marker, start, 1);
}

/*
 * Walks a kernel stack that is not remembered, and stores it; after stack_set_tracer().  marker: 1
 * if s->words[0] is a marker; begun: the result of kwalk_begin().  Inline, because only the main
 * program may pass its context to bpf_get_stack().
 */
static __always_inline void stack_take(void *ctx, struct scratch *s, struct event_counts *c,
				       u32 marker, bool begun, enum kwalk_start start)
{
	long n = begun && stack_walk(ctx, s, c, marker, start) ?
			 s->walk.nr * 8 :
			 kwalk_of_event(ctx, &s->walk, start);
	int r;

	s->kstack = WIRE_STACK_NONE;
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
	r = stack_keep(s, n, marker, start);
	if (s->differed)
		stack_differed(s, c, s->differed);
	if (r == 2 && s->walked)
		r = stack_verify(ctx, s, c, marker, start, r);
	else if (r == 1 && s->walked && !s->stack_counter)
		kwalk_remember(&s->walk, s->kstack);
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

static __always_inline void kernel_stack(void *ctx, struct scratch *s, struct event_counts *c,
					 u64 tracer_start, u32 tracer_len, u32 marker,
					 enum kwalk_start start)
{
	bool begun;

	s->kstack = WIRE_STACK_NONE;
	if (!kernel_stacks)
		return;
	s->walk.task = s->stack;
	begun = kwalk_begin(ctx, &s->walk, start);
	stack_set_tracer(s, tracer_start, tracer_len);
	if (!begun || !stack_recall(s, start))
		stack_take(ctx, s, c, marker, begun, start);
	else if (stack_is_due(c))
		stack_verify_remembered(ctx, s, c, marker, start);
}

#endif /* STACK_BPF_H */
