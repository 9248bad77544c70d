/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The walk up a stack by ORC rules or frame pointers, and the memo of walks.  One source serves BPF
 * (kwalk.bpf.h) and hosts, where threads, signal handlers and sanitizers can attack the very code
 * that runs in the kernel.  The including file must define before:
 *
 *	KWALK_INLINE, KWALK_GLOBAL, KWALK_LOOP	before functions; global ones are verified once
 *	kwalk_settings, kwalk_state
 *	kwalk_get_block(i), kwalk_get_row(i), kwalk_get_cached(i), kwalk_get_modules(),
 *	kwalk_get_memo(i)			pointers, per-CPU data of this CPU; 0: absent
 *	kwalk_load(addr)			a word of memory; 0: unreadable
 *	kwalk_guarded(addr)			the same if kwalk_settings.reader is KWALK_BY_LOAD
 *	kwalk_copy_from(to, bytes, addr)	the same for many bytes; not 0: failed
 *	kwalk_get64(p), kwalk_get32(p), kwalk_set64(p, v), kwalk_set32(p, v), kwalk_cas32(p, o, n)
 */
#ifndef KWALK_WALK_H
#define KWALK_WALK_H

#include "kwalk_rules.h"

/* Offsets in struct pt_regs of x86-64, whose layout is that of ptrace(2). */
enum {
	KWALK_REGS_BP_AT = 32,
	KWALK_REGS_IP_AT = 128,
	KWALK_REGS_CS_AT = 136,
	KWALK_REGS_FLAGS_AT = 144,
	KWALK_REGS_SP_AT = 152,
	KWALK_REGS_SIZE = 168,
};
#define KWALK_USER_MODE 3 /* privilege bits of cs */
#define KWALK_FLAGS_FIXED 2 /* always set in the flags of a real interrupt */

/* ---- the walk -------------------------------------------------------------------------------- */

KWALK_INLINE bool kwalk_is_text(__u64 addr)
{
	return addr - kwalk_settings.text < kwalk_settings.text_size;
}

/* The upper half of every address in the text of the kernel and of modules is all ones. */
KWALK_INLINE bool kwalk_is_kernel(__u64 addr)
{
	return addr >> 32 == 0xffffffff;
}

/*
 * The task's stack is always the outermost: a walk that has reached it stays on it.  Other stacks
 * (of interrupts, exceptions, NMIs) have no bounds here.  The walk goes up on them, and leaves them
 * only as a rule says.
 */
KWALK_INLINE void kwalk_enter_stack(struct kwalk_stack *s)
{
	s->low = 0;
	s->size = 0;
	if (s->sp - s->task <= kwalk_settings.stack_size) {
		s->low = s->task;
		s->size = kwalk_settings.stack_size;
	}
}

/* Whether the n bytes at addr lie in the stack, if its bounds are known. */
KWALK_INLINE bool kwalk_within(const struct kwalk_stack *s, __u64 addr, __u64 n)
{
	return !s->size || (addr - s->low <= s->size && s->size - (addr - s->low) >= n);
}

KWALK_INLINE void kwalk_note(struct kwalk_stack *s, enum kwalk_step step, __u64 addr, __u64 upper)
{
	__u64 at = addr - s->base + KWALK_BIAS;

	if (!s->tag)
		return;
	s->odd |= (at & 7) | at >> 32 | (upper + (1ull << 31)) >> 32;
	s->steps[s->nr_steps & (KWALK_STEPS - 1)] = upper << 32 | (__u32)at | step;
	s->nr_steps++;
}

/* rbp is the base from now on. */
KWALK_INLINE void kwalk_note_frame(struct kwalk_stack *s, enum kwalk_step step, __u64 addr,
				   __u64 above)
{
	kwalk_note(s, step, addr, above - s->base);
	s->base = s->bp;
	s->in_base = 1;
}

/* From one stack to another, or further up: the word at addr plus the offset is sp. */
KWALK_INLINE void kwalk_switch(struct kwalk_stack *s, __u64 addr, __u64 sp, __u64 offset)
{
	s->sp = sp;
	kwalk_enter_stack(s);
	kwalk_note(s, s->size ? KWALK_TO_TASK : KWALK_TO_OTHER, addr, offset);
	s->base = sp;
	s->odd |= s->in_base;
}

/* The caller is the interrupted context, whose registers are at `at`. */
KWALK_INLINE __u32 kwalk_interrupted(struct kwalk_stack *s, __u32 kind, __u64 at)
{
	__u64 sp, sp_at;

	if (kind == KWALK_IRET_SP) /* the five words are the last of a struct pt_regs */
		at -= KWALK_REGS_IP_AT;
	if (!kwalk_within(s, at + KWALK_REGS_IP_AT, 8))
		return KWALK_STOP_STACK;
	s->ip = kwalk_read(s, at + KWALK_REGS_IP_AT);
	if (!kwalk_is_kernel(s->ip)) { /* most often in user space; no other word matters */
		kwalk_note(s, KWALK_MODE, at + KWALK_REGS_IP_AT, KWALK_NO_TEXT);
		return KWALK_DONE;
	}
	if (!kwalk_within(s, at + KWALK_REGS_IP_AT, 40))
		return KWALK_STOP_STACK;
	/*
	 * For bpf_get_stack(), an address in the kernel's text is a frame even where a program
	 * jumped there.  And a PVM guest returns to its own kernel with a cs of user mode.
	 */
	if (kwalk_read(s, at + KWALK_REGS_CS_AT) & KWALK_USER_MODE)
		return KWALK_STOP_RULE;
	kwalk_note(s, KWALK_MODE, at + KWALK_REGS_CS_AT, KWALK_LOW_CLEAR);
	kwalk_note(s, KWALK_IS, at + KWALK_REGS_IP_AT, s->ip);
	if (!s->bp_at && kind != KWALK_IRET_SP)
		s->bp_at = at + KWALK_REGS_BP_AT;
	/* Read bp now: the bounds will be those of the interrupted stack. */
	if (s->bp_at) {
		s->odd |= !kwalk_within(s, s->bp_at, 8);
		s->bp = kwalk_within(s, s->bp_at, 8) ? kwalk_read(s, s->bp_at) : 0;
		kwalk_note(s, KWALK_HOLD, s->bp_at, 0);
		s->in_base = 0;
		s->bp_at = 0;
	}
	sp_at = at + KWALK_REGS_SP_AT;
	sp = kwalk_read(s, sp_at);
	/* An interrupt on the same stack: the interrupted frame lies above its registers. */
	if (s->size && (sp <= at || !kwalk_within(s, sp, 0)))
		return KWALK_STOP_STACK;
	kwalk_switch(s, sp_at, sp, 0);
	return KWALK_STOPS;
}

/*
 * Handles frames that are not plain calls.  KWALK_DONE at the end of the frames; KWALK_STOPS: s is
 * the caller's frame.
 */
KWALK_GLOBAL __u32 kwalk_special(struct kwalk_stack *s, __u32 rule)
{
	__u32 kind = KWALK_RULE_KIND(rule);
	__u64 at, found_at, was_bp;
	bool by_bp, indirect;

	if (!s || kind == KWALK_UNKNOWN)
		return KWALK_STOP_RULE;
	if (kind == KWALK_END)
		return KWALK_DONE;
	by_bp = kind == KWALK_CALL_BP_IND || kind == KWALK_REGS_BP || kind == KWALK_REGS_BP_IND;
	indirect = kind == KWALK_CALL_SP_IND || kind == KWALK_CALL_BP_IND ||
		   kind == KWALK_REGS_SP_IND || kind == KWALK_REGS_BP_IND;
	was_bp = s->bp;
	at = s->sp;
	/* *(rbp + offset), but *rsp + offset */
	if (by_bp) {
		if (!s->in_base)
			kwalk_note_frame(s, KWALK_HELD, s->base, s->sp - 8);
		at = s->bp + KWALK_RULE_OFFSET(rule);
	}
	found_at = at;
	if (indirect) {
		if (!kwalk_within(s, at, 8))
			return KWALK_STOP_STACK;
		at = kwalk_read(s, at);
	}
	if (!by_bp)
		at += KWALK_RULE_OFFSET(rule);

	s->signal = !!(rule & KWALK_RULE_SIGNAL);
	if (rule & KWALK_RULE_BP_REL) {
		if (!kwalk_within(s, was_bp + KWALK_RULE_BP_AT(rule), 8))
			return KWALK_STOP_STACK;
		s->bp = kwalk_read(s, was_bp + KWALK_RULE_BP_AT(rule));
		kwalk_note(s, KWALK_HOLD, was_bp + KWALK_RULE_BP_AT(rule), 0);
		s->in_base = 0;
	} else if (KWALK_RULE_SLOT(rule)) {
		s->bp_at = at + KWALK_RULE_BP_AT(rule);
		s->in_base = 0;
	} else if (kind == KWALK_REGS_SP) {
		s->bp_at = 0; /* these registers include rbp */
	}
	if (kind == KWALK_CALL_SP_IND || kind == KWALK_CALL_BP_IND) {
		if (!kwalk_within(s, at - 8, 8) || at == s->sp || (s->size && at < s->sp))
			return KWALK_STOP_STACK;
		kwalk_switch(s, found_at, at, by_bp ? 0 : KWALK_RULE_OFFSET(rule));
		s->ip = kwalk_read(s, at - 8);
		kwalk_note(s, KWALK_IS, at - 8, s->ip);
		return KWALK_STOPS;
	}
	s->odd |= indirect;
	return kwalk_interrupted(s, kind, at);
}

/* One frame: stores its word and sets s to its caller.  KWALK_STOPS: go on. */
KWALK_INLINE __u32 kwalk_frame(struct kwalk_stack *s)
{
	__u64 ip = s->ip, at = s->signal ? ip : ip - 1, cfa;
	__u32 rule, kind;

	rule = kwalk_is_text(ip) ? kwalk_rule(at) : kwalk_module_rule(s, at);
	kind = KWALK_RULE_KIND(rule);
	if (kind == KWALK_UNKNOWN)
		return kwalk_is_text(ip) ? KWALK_STOP_RULE : KWALK_STOP_TEXT;
	s->words[s->nr & KWALK_MAX_FRAMES] = ip;
	s->nr++;
	if (kind != KWALK_CALL_SP) {
		__u64 bp_at = s->bp_at, above = s->sp - KWALK_RULE_OFFSET(rule);

		if (kind == KWALK_END || kind == KWALK_REGS_SP || kind == KWALK_IRET_SP)
			return kwalk_special(s, rule); /* rbp is read only if it is needed */
		if (bp_at) {
			if (!kwalk_within(s, bp_at, 8))
				return KWALK_STOP_STACK;
			s->bp = kwalk_read(s, bp_at);
			s->bp_at = 0;
		}
		if (kind > KWALK_CALL_BP) {
			if (bp_at)
				kwalk_note(s, KWALK_HOLD, bp_at, 0);
			return kwalk_special(s, rule);
		}
		if (bp_at)
			kwalk_note_frame(s, KWALK_FRAME, bp_at, above);
		else if (!s->in_base)
			kwalk_note_frame(s, KWALK_HELD, s->base, above);
	}
	cfa = (kind == KWALK_CALL_SP ? s->sp : s->bp) + KWALK_RULE_OFFSET(rule);
	if (cfa - s->sp - 1 >= kwalk_settings.stack_size || !kwalk_within(s, cfa - 8, 8))
		return KWALK_STOP_STACK;
	s->sp = cfa;
	if (KWALK_RULE_SLOT(rule)) {
		s->bp_at = cfa + KWALK_RULE_BP_AT(rule);
		s->in_base = 0;
	}
	s->signal = 0;
	s->ip = kwalk_read(s, cfa - 8);
	kwalk_note(s, KWALK_IS, cfa - 8, s->ip);
	return KWALK_STOPS;
}

/* ---- the walk along frame pointers ----------------------------------------------------------- */

/*
 * As arch/x86/kernel/unwind_frame.c: a frame starts with the pointer to the next one and its return
 * address.  Where bit 0 of a pointer is set, it leads to the struct pt_regs of the interrupted
 * context.  The kernel ends the stack wherever it cannot go on; the walk accepts only three ends:
 * no pointer, no return address, registers of user space.  The kernel also ends the stack at the
 * frame below the registers at the end of every task's stack.  That frame belongs to a function
 * called by entry code, which has put one of the three ends above it.
 */

/* Whether the kernel accepts ip as text; it ends the stack at any other address. */
KWALK_INLINE bool kwalk_is_code(struct kwalk_stack *s, __u64 ip)
{
	if (!kwalk_is_text(ip))
		return kwalk_module_rule(s, ip) != KWALK_RULE_NONE;
	return ip - kwalk_settings.text - kwalk_settings.gap >= kwalk_settings.gap_size;
}

/*
 * Whether the target of s->bp can be next: above on the same stack, or on the task's.  The kernel
 * drops all words but the first of a sample whose frame is on another stack than its sp.
 */
KWALK_INLINE bool kwalk_follow(struct kwalk_stack *s, __u64 frame, __u64 size)
{
	bool regs = frame != s->bp,
	     to_task = !s->size && frame - s->task < kwalk_settings.stack_size;
	/* Registers above sp get a base above bp_at, which is what the replay checks. */
	__u64 upper = regs ? s->bp_at + 7 - s->sp : 0;

	if (to_task) {
		if (!regs && !s->bp_at)
			return false;
		s->low = s->task;
		s->size = kwalk_settings.stack_size;
	} else if (frame - s->sp >= kwalk_settings.stack_size) {
		return false;
	}
	if (!kwalk_within(s, frame, size))
		return false;
	if (regs || to_task) {
		s->odd |= !s->bp_at || !s->size;
		if (regs)
			kwalk_note(s, KWALK_MODE, s->bp_at, KWALK_LOW_SET);
		kwalk_note(s, KWALK_TO_TASK, s->bp_at, upper);
		s->base = s->bp + upper;
	} else {
		kwalk_note_frame(s, s->bp_at ? KWALK_FRAME : KWALK_HELD, s->bp_at ?: s->base,
				 s->sp - 1);
	}
	return true;
}

/* No frame reaches into the task's own registers, whose instruction pointer is not a frame. */
KWALK_INLINE __u32 kwalk_return_to(struct kwalk_stack *s, __u64 ip_at, bool regs)
{
	s->signal = 0;
	s->ip = kwalk_read(s, ip_at);
	kwalk_note(s, KWALK_IS, ip_at, s->ip);
	s->odd |= !s->ip && !regs; /* a step that expects 0 would match too many stacks */
	if (!s->ip)
		return KWALK_DONE;
	return kwalk_within(s, s->sp, KWALK_REGS_SIZE) ? KWALK_STOPS : KWALK_STOP_STACK;
}

/* The interrupted context. */
KWALK_INLINE __u32 kwalk_linked_regs(struct kwalk_stack *s, __u64 at)
{
	__u64 cs = kwalk_read(s, at + KWALK_REGS_CS_AT), sp;

	kwalk_note(s, KWALK_MODE, at + KWALK_REGS_CS_AT,
		   cs & KWALK_USER_MODE ? KWALK_LOW_SET : KWALK_LOW_CLEAR);
	if (cs & KWALK_USER_MODE)
		return KWALK_DONE;
	/* Where a sample starts with registers, the kernel omits their instruction. */
	if (!s->bp_at)
		return KWALK_STOP_STACK;
	/* The kernel switches from one stack to another by the interrupted sp. */
	sp = kwalk_read(s, at + KWALK_REGS_SP_AT);
	if (!s->size && sp - at >= kwalk_settings.stack_size &&
	    sp - s->task >= kwalk_settings.stack_size)
		return KWALK_STOP_STACK;
	s->sp = at + KWALK_REGS_SIZE;
	s->bp_at = at + KWALK_REGS_BP_AT;
	return kwalk_return_to(s, at + KWALK_REGS_IP_AT, true);
}

/* The same as kwalk_frame(). */
KWALK_INLINE __u32 kwalk_linked_frame(struct kwalk_stack *s)
{
	__u64 at = s->bp_at, frame;

	if (!kwalk_is_code(s, s->ip))
		return KWALK_STOP_TEXT;
	if (kwalk_is_hidden(s->ip - 1))
		return KWALK_STOP_RULE;
	s->words[s->nr & KWALK_MAX_FRAMES] = s->ip;
	s->nr++;
	if (at && !kwalk_within(s, at, 8))
		return KWALK_STOP_STACK;
	if (at)
		s->bp = kwalk_read(s, at);
	if (!s->bp) {
		s->odd |= !at;
		kwalk_note(s, KWALK_IS, at, 0);
		return KWALK_DONE;
	}
	frame = s->bp & ~1ull;
	if (!kwalk_follow(s, frame, s->bp & 1 ? KWALK_REGS_SIZE : 16))
		return KWALK_STOP_STACK;
	if (s->bp & 1)
		return kwalk_linked_regs(s, frame);
	s->sp = frame + 16;
	s->bp_at = frame;
	return kwalk_return_to(s, frame + 8, false);
}

/* ---- the whole walk -------------------------------------------------------------------------- */

/* Walks a few frames.  KWALK_STOPS: go on.  Verifying all at once takes many times as long. */
KWALK_GLOBAL __u32 kwalk_round(struct kwalk_stack *s)
{
	__u32 stop = KWALK_STOPS, i;

	if (!s)
		return KWALK_STOP_OFF;
	KWALK_LOOP
	for (i = 0; i < KWALK_ROUND && stop == KWALK_STOPS; i++)
		stop = s->nr >= s->most				       ? KWALK_DONE :
		       kwalk_settings.unwinder == KWALK_FRAME_POINTERS ? kwalk_linked_frame(s) :
									 kwalk_frame(s);
	return stop;
}

/* Called before the first word is read. */
KWALK_INLINE void kwalk_enter(struct kwalk_stack *s)
{
	kwalk_enter_stack(s);
	kwalk_copy(s);
	s->entered = 1;
}

/* Walks from the frame whose ip, sp, bp or bp_at and signal are set, as kwalk_begin_...() does. */
KWALK_GLOBAL __u32 kwalk_walk(struct kwalk_stack *s)
{
	__u32 stop = KWALK_STOPS, i;

	if (!s)
		return KWALK_STOP_OFF;
	s->nr = 0;
	s->modules = 0;
	if (!kwalk_settings.text_size || kwalk_state.off)
		return KWALK_STOP_OFF;
	if (!s->entered)
		kwalk_enter(s);
	KWALK_LOOP
	for (i = 0; i <= KWALK_MAX_FRAMES / KWALK_ROUND && stop == KWALK_STOPS; i++)
		stop = kwalk_round(s);
	if (stop == KWALK_STOPS)
		stop = KWALK_DONE;
	/* The walk ended on another stack: between two tasks in __switch_to(), in entry code. */
	if (stop == KWALK_DONE && !s->size)
		return KWALK_STOP_STACK;
	return stop == KWALK_DONE && s->modules && !kwalk_modules_hold(s) ? KWALK_STOP_TEXT : stop;
}

/* Whether some frames from `from` on are the same.  The verifier follows these once, not all. */
KWALK_GLOBAL int kwalk_same_frames(const struct kwalk_stack *a, const struct kwalk_stack *b,
				   __u32 from)
{
	__u64 differ = 0;
	__u32 i;

	if (!a || !b)
		return 0;
	KWALK_LOOP
	for (i = 0; i < KWALK_ROUND; i++) {
		if (from + i >= b->nr)
			break;
		differ |= a->words[(from + i) & KWALK_MAX_FRAMES] ^
			  b->words[(from + i) & KWALK_MAX_FRAMES];
	}
	return !differ;
}

/* 0: the walked frames equal the kernel's, as far as those go. */
KWALK_GLOBAL int kwalk_compare(const struct kwalk_stack *walked, const struct kwalk_stack *kernel)
{
	__u32 i;

	if (!walked || !kernel)
		return 1;
	if (walked->nr != kernel->nr && !(kernel->at_limit && kernel->nr < walked->nr))
		return 1;
	KWALK_LOOP
	for (i = 0; i < KWALK_MAX_FRAMES; i += KWALK_ROUND)
		if (!kwalk_same_frames(walked, kernel, i))
			return 1;
	return 0;
}

/* ---- remembered walks ------------------------------------------------------------------------ */

/* Whether a word may be the base of the frame above, after this one, on a stack of that size. */
KWALK_INLINE bool kwalk_is_up(__u64 base, __s64 above, __u64 word, __u64 size)
{
	return word - (base + KWALK_BIAS + above) - 1 < size;
}

/*
 * 0: the word is as an enum kwalk_mode says; 1: it is not.  Without a branch, which the verifier
 * would follow in each step.
 */
KWALK_INLINE __u64 kwalk_mode_differs(__u64 word, __u64 mode)
{
	__u64 low = ((word & 3) + 3) >> 2, kernel = ((word >> 32) + 1) >> 32, text = mode >> 1;

	return ((low & ~text) ^ (mode & 1)) | (kernel & text);
}

KWALK_INLINE __u64 kwalk_word(bool by_load, const struct kwalk_stack *s, __u64 addr)
{
	return by_load ? kwalk_guarded(addr) : kwalk_read(s, addr);
}

/*
 * A step of a kind that few stacks have: where rbp is kept, and from one stack to another.  A
 * function of its own, because the verifier follows each iteration of the replay's loop.  False: it
 * is not as remembered.
 */
KWALK_GLOBAL int kwalk_replay_rare(struct kwalk_stack *s, __u64 step)
{
	__u32 kind = step & 7;
	__s64 upper = (__s64)step >> 32;
	__u64 at, word;

	if (!s)
		return 0;
	at = s->replay.base + (__u32)(step & ~7u);
	word = s->replay.held;
	if (kind != KWALK_HELD) {
		if (at - s->replay.low > s->replay.last)
			return 0;
		word = kwalk_read(s, at);
	}
	if (kind == KWALK_HOLD) {
		s->replay.held = word;
		return 1;
	}
	if (kind == KWALK_HELD) {
		if (!kwalk_is_up(s->replay.base, upper, word, kwalk_settings.stack_size))
			return 0;
		s->replay.base = word - KWALK_BIAS;
		return 1;
	}
	/* On the task's stack, only up on that stack. */
	if (s->replay.last != ~7ull && (kind != KWALK_TO_TASK || word + upper <= at))
		return 0;
	word += upper;
	if ((word - s->task <= kwalk_settings.stack_size) != (kind == KWALK_TO_TASK))
		return 0;
	s->replay.base = word - KWALK_BIAS;
	if (kind == KWALK_TO_TASK) {
		s->replay.low = s->task;
		s->replay.last = kwalk_settings.stack_size - 8;
	}
	return 1;
}

/* by_load is a constant, so a step does not ask the settings how memory is read. */
KWALK_INLINE __u64 kwalk_replay_by(bool by_load, struct kwalk_stack *s, const struct kwalk_memo *m,
				   __u32 seq)
{
	__u64 low, last, base, step, word, at;
	__u32 kind, i;
	__s64 upper;

	/* Loaded from memory, so that the verifier treats them as unknown scalars. */
	low = kwalk_get64(&s->low);
	last = kwalk_get64(&s->size) - 8;
	base = kwalk_get64(&s->sp) - KWALK_BIAS;
	s->replay.low = low;
	s->replay.last = last;
	s->replay.held = s->bp;
	KWALK_LOOP
	for (i = 0; i < KWALK_STEPS; i++) {
		step = kwalk_get64(&m->step[i]);
		upper = (__s64)step >> 32;
		kind = step & 7;
		if (kind == KWALK_IS) {
			at = base + (__u32)step;
			if (at - low > last || kwalk_word(by_load, s, at) != (__u64)upper)
				return 0;
			continue;
		}
		if (kind == KWALK_LAST)
			break;
		if (kind > KWALK_MODE) {
			s->replay.base = base;
			if (!kwalk_replay_rare(s, step))
				return 0;
			base = kwalk_get64(&s->replay.base);
			low = kwalk_get64(&s->replay.low);
			last = kwalk_get64(&s->replay.last);
			continue;
		}
		at = base + (__u32)(step & ~7u);
		if (at - low > last)
			return 0;
		word = kwalk_word(by_load, s, at);
		if (kind == KWALK_MODE) {
			if (kwalk_mode_differs(word, (__u64)upper))
				return 0;
			continue;
		}
		if (!kwalk_is_up(base, upper, word, kwalk_settings.stack_size))
			return 0;
		base = word - KWALK_BIAS;
	}
	s->modules = kwalk_get64(&m->modules);
	if (s->modules && !kwalk_modules_hold(s))
		return 0;
	word = kwalk_get64(&m->value);
	return kwalk_get32(&m->seq) == seq ? word : 0;
}

/*
 * Returns the memo's value if it describes this stack, else 0.  seq was read before the rest of the
 * memo.  Verified once, not for each of the two memos that a stack may have.
 */
KWALK_GLOBAL __u64 kwalk_replay(struct kwalk_stack *s, const struct kwalk_memo *m, __u32 seq)
{
	if (!s || !m)
		return 0;
	return kwalk_settings.reader == KWALK_BY_LOAD ? kwalk_replay_by(true, s, m, seq) :
							kwalk_replay_by(false, s, m, seq);
}

/*
 * Identifies the start of a stack: the address of its first frame, in the kernel, so its upper half
 * is all ones; whether it is an interrupted instruction; whether sp is on the task's stack; and the
 * salt.  Has KWALK_TAG_PLAIN.
 */
KWALK_INLINE __u64 kwalk_tag(__u32 salt, bool on_task, bool signal, __u64 ip)
{
	return ip ^ ((__u64)salt << 35 | (__u64)on_task << 33 | (__u64)signal << 32);
}

/* Read before the rest of the memo, and compared after it; never equal while that is written. */
KWALK_INLINE __u32 kwalk_memo_seq(const struct kwalk_memo *m)
{
	return kwalk_get32(&m->seq) & ~1u;
}

/*
 * The first of the two memos for a tag and for what else distinguishes stacks: the place of a
 * system call's number on the task's stack, where any other content serves as well.  A kernel
 * thread has cleared that place and the others up to the end, and 0 is the number of read(2), too.
 * But its stacks are not moved by random offsets, as those of system calls are, so it is the start
 * that distinguishes them.
 */
KWALK_INLINE __u32 kwalk_pair(bool by_load, __u64 tag, __u64 task, __u64 sp, __u64 size)
{
	__u64 end = task + size, what;

	what = by_load ? kwalk_guarded(end - 48) : kwalk_load(end - 48);
	if (!what && !(by_load ? kwalk_guarded(end - 32) : kwalk_load(end - 32)))
		what = (sp & (size - 1)) >> 3;
	return ((tag ^ what << 40) * 0x9e3779b97f4a7c15ull) >> 40 & (KWALK_MEMOS - 2);
}

/*
 * Returns the value that kwalk_remember() stored with this salt for the stack that starts at s.  0:
 * it is not remembered, and the caller must call kwalk_walk().  Call it before kwalk_walk().  The
 * salt, from 1 to KWALK_MAX_SALT, is whatever the value depends on besides the stack; each salt has
 * one s->most.
 */
KWALK_GLOBAL __u64 kwalk_recall(struct kwalk_stack *s, __u32 salt)
{
	struct kwalk_memo *m;
	__u64 value = 0;
	__u32 seq, i;

	if (!s || !kwalk_settings.text_size || kwalk_state.off || !kwalk_is_kernel(s->ip))
		return 0;
	kwalk_enter(s);
	s->base = s->sp;
	s->odd = 0;
	s->nr_steps = 0;
	s->in_base = 0;
	s->tag = kwalk_tag(salt, !!s->size, !!s->signal, s->ip);
	s->pair = kwalk_pair(false, s->tag, s->task, s->sp, kwalk_settings.stack_size);
	KWALK_LOOP
	for (i = 0; i < 2; i++) {
		m = kwalk_get_memo((kwalk_get32(&s->pair) + i) & (KWALK_MEMOS - 1));
		if (!m)
			return 0;
		seq = kwalk_memo_seq(m);
		if ((kwalk_get64(&m->tag) | KWALK_TAG_PLAIN) != kwalk_get64(&s->tag))
			continue;
		value = kwalk_replay(s, m, seq);
		if (value)
			return value;
	}
	return 0;
}

/* ---- the same in registers ------------------------------------------------------------------- */

/*
 * As kwalk_replay() for a plain memo of a stack that starts on the task's own: the base is a place
 * on that stack all along.  One load for all kinds of steps, as a guarded one takes 40 bytes of
 * code.
 */
KWALK_INLINE __u64 kwalk_replay_plain(const struct kwalk_memo *m, __u32 seq, __u64 task, __u64 sp,
				      __u64 size)
{
	__u64 base = sp - KWALK_BIAS, last = size - 8, step, at, found;
	__u32 kind, i;

	KWALK_LOOP
	for (i = 0; i < KWALK_STEPS; i++) {
		step = kwalk_get64(&m->step[i]);
		kind = step & 7;
		if (kind == KWALK_LAST)
			break;
		at = base + (__u32)step - kind;
		if (at - task > last)
			return 0;
		found = kwalk_guarded(at);
		if (kind == KWALK_IS) {
			if (found != (__u64)((__s64)step >> 32))
				return 0;
		} else if (kind == KWALK_FRAME) {
			if (!kwalk_is_up(base, (__s64)step >> 32, found, size))
				return 0;
			base = found - KWALK_BIAS;
		} else if (kwalk_mode_differs(found, step >> 32)) { /* KWALK_MODE */
			return 0;
		}
	}
	step = kwalk_get64(&m->modules);
	if (step && !kwalk_tables_hold(step))
		return 0;
	step = kwalk_get64(&m->value);
	return kwalk_get32(&m->seq) != seq ? 0 : step;
}

/*
 * What kwalk_recall() returns for the stack at sp whose first frame is at ip, not an interrupted
 * instruction, or 0: then only kwalk_recall() knows.  It looks at plain memos of stacks that start
 * on the task's own, and stores nothing.  By ORC rules nearly all are of that kind.  Only if
 * kwalk_settings.plain, and while no walk has differed: the caller knows kwalk_state.off.
 */
KWALK_INLINE __u64 kwalk_recall_plain(__u64 task, __u64 sp, __u64 ip, __u32 salt)
{
	__u64 tag = kwalk_tag(salt, true, false, ip), size = kwalk_settings.stack_size, value;
	struct kwalk_memo *m;
	__u32 pair, seq, i;

	if (sp - task > size)
		return 0;
	pair = kwalk_pair(true, tag, task, sp, size);
	KWALK_LOOP
	for (i = 0; i < 2; i++) {
		m = kwalk_get_memo((pair + i) & (KWALK_MEMOS - 1));
		if (!m)
			return 0;
		seq = kwalk_memo_seq(m);
		if (kwalk_get64(&m->tag) != tag)
			continue;
		value = kwalk_replay_plain(m, seq, task, sp, size);
		if (value)
			return value;
	}
	return 0;
}

/* Call after kwalk_recall() and a kwalk_walk() that returned KWALK_DONE.  The value is not 0. */
KWALK_GLOBAL int kwalk_remember(struct kwalk_stack *s, __u64 value)
{
	struct kwalk_memo *m, *other;
	__u64 tag;
	__u32 seq, i;

	if (!s || !s->tag || s->odd || s->nr_steps >= KWALK_STEPS)
		return 0;
	m = kwalk_get_memo(s->pair & (KWALK_MEMOS - 1));
	other = kwalk_get_memo((s->pair + 1) & (KWALK_MEMOS - 1));
	if (!m || !other)
		return 0;
	/* Alternate between the two memos of the pair. */
	if (kwalk_get32(&m->seq) != kwalk_get32(&other->seq))
		m = other;
	seq = kwalk_get32(&m->seq);
	if (seq & 1 || kwalk_cas32(&m->seq, seq, seq + 1) != seq)
		return 0;
	kwalk_set64(&m->value, value);
	kwalk_set64(&m->modules, s->modules);
	tag = s->tag; /* has KWALK_TAG_PLAIN */
	KWALK_LOOP
	for (i = 0; i < KWALK_STEPS; i++) {
		if (i >= s->nr_steps)
			break;
		kwalk_set64(&m->step[i], s->steps[i]);
		if ((s->steps[i] & 7) > KWALK_MODE)
			tag &= ~KWALK_TAG_PLAIN;
	}
	kwalk_set64(&m->step[s->nr_steps & (KWALK_STEPS - 1)], KWALK_LAST);
	kwalk_set64(&m->tag, tag);
	kwalk_set32(&m->seq, seq + 2);
	return 0;
}

/* ---- which stacks are compared with bpf_get_stack() ------------------------------------------ */

/* walked: how many were taken before this one. */
KWALK_INLINE bool kwalk_due(__u64 walked)
{
	/* The phase of the sample shifts, because events often alternate. */
	__u64 n = walked + 1 + (walked >> kwalk_settings.check_shift);

	return walked < kwalk_settings.check_first ||
	       !(n & ((1ull << kwalk_settings.check_shift) - 1));
}

/* The next number after `walked` for which kwalk_due() is true. */
KWALK_INLINE __u64 kwalk_next_due(__u64 walked)
{
	__u32 shift = kwalk_settings.check_shift;
	__u64 mask = (1ull << shift) - 1, block = walked >> shift, next;

	if (walked + 1 < kwalk_settings.check_first)
		return walked + 1;
	next = (block << shift) + (~block & mask);
	if (next > walked)
		return next;
	block++;
	return (block << shift) + (~block & mask);
}

#endif /* KWALK_WALK_H */
