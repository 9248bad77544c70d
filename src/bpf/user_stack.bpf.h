/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user stack of an event: walked and stored once, or deferred.  If the unwind table of a file
 * is not loaded yet, the stack memory is copied for the recorder to unwind it.
 */
#ifndef USER_STACK_BPF_H
#define USER_STACK_BPF_H

#include "user_known.bpf.h"
#include "user_walk.bpf.h"

#define COPY_PAGES (WIRE_COPY_BYTES / 4096)
#define COPY_STEP 64
#define COPY_LOOKUPS 256 /* mappings looked up for one copy */

/* ---- copies ---------------------------------------------------------------------------------- */

static __always_inline void copy_vma(struct wire_copy *c, u64 start, u64 end, u64 delta, u32 id)
{
	u32 n = c->nr_vmas;
	struct wire_vma *v;

	if (n >= WIRE_VMAS)
		return;
	c->nr_vmas = n + 1;
	asm volatile("" : "+r"(n));
	v = &c->vmas[n & (WIRE_VMAS - 1)];
	v->start = start;
	v->end = end;
	v->delta = delta;
	v->file = id;
	v->pad = 0;
}

/* Copies the mappings that the thread remembers. */
__noinline int copy_vmas(struct copy_slot *cc, struct user_walk *u, struct user_thread *t)
{
	u32 i;

	if (!cc || !u || !t)
		return 0;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_VMAS; i++) {
		struct user_vma *v = thread_vma(t, i);

		if (v->end && !vma_check(u, t, i))
			copy_vma(&cc->copy, v->start, v->end, v->delta, v->id);
	}
	return 0;
}

static __always_inline bool copy_knows(struct copy_slot *cc, u64 word)
{
	u32 i;

#pragma clang loop unroll(disable)
	for (i = 0; i < WIRE_VMAS; i++) {
		if (i >= cc->copy.nr_vmas)
			break;
		if (word - cc->copy.vmas[i].start < cc->copy.vmas[i].end - cc->copy.vmas[i].start)
			return true;
	}
#pragma clang loop unroll(disable)
	for (i = 0; i < COPY_NOT; i++) {
		if (i >= cc->nr_not)
			break;
		if (word - cc->not_code[i][0] < cc->not_code[i][1])
			return true;
	}
	return false;
}

/* Adds the mapping of a word of the copied stack if the word may be a return address. */
__noinline int copy_word(struct copy_slot *cc, struct user_walk *u, u32 i)
{
	u64 word, start, len = 4096;
	u32 n;

	if (!cc || !u)
		return 0;
	asm volatile("" : "+r"(i));
	word = ((u64 *)cc->copy.stack)[i & (WIRE_COPY_BYTES / 8 - 1)];
	if (word < 65536 || word >> 47 || copy_knows(cc, word))
		return 0;
	if (cc->lookups >= COPY_LOOKUPS || cc->copy.nr_vmas >= WIRE_VMAS)
		return 0;
	cc->lookups++;
	start = word & ~4095ull;
	if (!area_find(u, word)) {
		if (u->area.flags & VM_EXEC) {
			u32 id = file_id(u, word);

			if (u->area.key.kind == WIRE_KEY_JIT)
				area_window(&u->area, word);
			copy_vma(&cc->copy, u->area.start, u->area.end, area_delta(&u->area, id),
				 id);
			return 0;
		}
		start = u->area.start;
		len = u->area.end - start;
	}
	n = cc->nr_not;
	cc->nr_not = n + 1;
	asm volatile("" : "+r"(n));
	cc->not_code[n & (COPY_NOT - 1)][0] = start;
	cc->not_code[n & (COPY_NOT - 1)][1] = len;
	return 0;
}

/* A function for a part of the words, which bounds the loops that the verifier follows. */
__noinline int copy_words(struct copy_slot *cc, struct user_walk *u, u32 from, u32 nr)
{
	u32 i;

	if (!cc || !u)
		return 0;
#pragma clang loop unroll(disable)
	for (i = 0; i < COPY_STEP; i++) {
		if (from + i >= nr)
			break;
		copy_word(cc, u, from + i);
	}
	return 0;
}

/* Copies the stack from the stack pointer on, as far as it is readable, at most `pages` pages. */
__noinline int copy_stack(struct copy_slot *cc, u64 sp, u64 stack_hi, u32 pages)
{
	u32 i;

	if (!cc)
		return 0;
	cc->copy.stack_len = 0;
	cc->copy.partial = 0;
#pragma clang loop unroll(full)
	for (i = 0; i < COPY_PAGES; i++) {
		u64 at = sp + i * 4096, len = stack_hi - at;

		if (at >= stack_hi)
			return 0;
		if (i >= pages)
			break;
		if (len > 4096)
			len = 4096;
		asm volatile("" : "+r"(len));
		if (len > 4096)
			return 0;
		if (bpf_probe_read_user(cc->copy.stack + i * 4096, len, (void *)at)) {
			len = 4096 - (at & 4095);
			asm volatile("" : "+r"(len));
			if (len <= 4096 &&
			    !bpf_probe_read_user(cc->copy.stack + i * 4096, len, (void *)at))
				cc->copy.stack_len += len;
			return 0;
		}
		cc->copy.stack_len += len;
	}
	cc->copy.partial = 1;
	return 0;
}

/* Restores the return address of one probed call.  The next call, or 0 after the last one. */
__noinline u64 copy_return(struct copy_slot *cc, struct user_walk *u, u64 at)
{
	struct return_instance *r = (void *)at;
	u64 stack = 0, ip = 0, next = 0, *word;

	if (!cc || !u || bpf_core_read(&stack, sizeof(stack), &r->stack) ||
	    bpf_core_read(&ip, sizeof(ip), &r->orig_ret_vaddr) ||
	    bpf_core_read(&next, sizeof(next), &r->next))
		return 0;
	stack -= cc->copy.sp;
	word = &((u64 *)cc->copy.stack)[stack / 8 & (WIRE_COPY_BYTES / 8 - 1)];
	/* after a longjmp(3) the word may have another meaning */
	if (stack < cc->copy.stack_len && !(stack & 7) && *word == u->trampoline)
		*word = ip;
	return next;
}

/* Replaces the trampoline of uretprobes in the copy by the original return addresses. */
__noinline int copy_returns(struct copy_slot *cc, struct user_walk *u)
{
	u64 at;
	u32 i;

	if (!cc || !u)
		return 0;
	at = u->returns;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_RETURNS && at; i++)
		at = copy_return(cc, u, at);
	return 0;
}

/* Stores the state of the walk in the copy. */
__noinline int copy_state(struct copy_slot *cc, struct user_walk *u)
{
	struct wire_copy *c;
	u32 i;

	if (!cc || !u)
		return 0;
	c = &cc->copy;
	/* memory below the stack pointer is not copied */
	if (u->w.fp_at && bpf_probe_read_user(&u->w.fp, 8, (void *)u->w.fp_at))
		u->w.flags |= UNW_FP_LOST;
	if (u->w.bx_at && bpf_probe_read_user(&u->w.bx, 8, (void *)u->w.bx_at))
		u->w.flags |= UNW_BX_LOST;
	for (i = 0; i < UNW_NR_REGS; i++)
		c->regs.r[i] = u->w.regs[i];
	c->regs.r[UNW_REG_FP] = u->w.fp;
	c->regs.r[UNW_REG_BX] = u->w.bx;
	c->regs.r[UNW_REG_SP] = u->w.sp;
	c->regs.ip = u->w.ip;
	c->flags = u->w.flags;
	c->event = WIRE_COPY;
	c->tgid = bpf_get_current_pid_tgid() >> 32;
	c->tid = (u32)bpf_get_current_pid_tgid();
	c->sp = u->w.sp;
	c->ts = bpf_ktime_get_ns();
	c->max_frames = user_max_depth;
	c->interrupted = u->interrupted;
	c->nr_frames = u->nr_words;
	bpf_probe_read_kernel(c->frames, sizeof(c->frames), u->words.w);
	c->nr_vmas = 0;
	cc->nr_not = 0;
	cc->lookups = 0;
	return 0;
}

/* Fills the copy and writes it into the ring; false: the ring has no room. */
static __always_inline bool copy_send(struct copy_slot *cc, struct user_walk *u,
				      struct user_thread *t, const u32 *cpu, u32 pages)
{
	u64 size;
	u32 i, n;

	user_all_regs(u);
	copy_state(cc, u);
	copy_stack(cc, u->w.sp, u->stack_hi, pages);
	if (u->returns)
		copy_returns(cc, u);
	copy_vmas(cc, u, t);
	u->file_events_left = WIRE_VMAS; /* the recorder needs all of the files at once */
	n = cc->copy.stack_len / 8;
	if (n > WIRE_COPY_BYTES / 8)
		n = WIRE_COPY_BYTES / 8;
#pragma clang loop unroll(disable)
	for (i = 0; i < WIRE_COPY_BYTES / 8; i += COPY_STEP)
		copy_words(cc, u, i, n);
	size = n * 8;
	cc->copy.stack_len = size;
	asm volatile("" : "+r"(size));
	return size <= WIRE_COPY_BYTES &&
	       ring_output(ring_pos(cpu), *cpu, (struct wire_head *)&cc->copy,
			   offsetof(struct wire_copy, stack) + size);
}

/* Copies the stack for the recorder; returns the copy's tag, or 0: no room. */
__noinline u64 user_copy(struct user_walk *u, struct user_thread *t)
{
	u32 cpu = bpf_get_smp_processor_id(), pages = COPY_PAGES, i;
	struct cpu_copies *c = bpf_map_lookup_elem(&copies, &cpu);
	struct copy_slot *cc;
	u64 tag, size;

	if (!u || !t || !c)
		return 0;
	/* events have priority: the fuller the ring, the less is copied */
	size = ring_used(ring_pos(&cpu));
	ring_wake();
	if (size > copy_limit + copy_limit / 2)
		return 0;
	if (size > copy_limit)
		pages = 1;
	i = scratch_claim(c->busy, LOG2_SCRATCHES);
	if (i >> LOG2_SCRATCHES)
		return 0;
	cc = &c->slot[i];
	tag = __sync_fetch_and_add(&c->tag, 1) + 1;
	cc->copy.tag = tag;
	if (!copy_send(cc, u, t, &cpu, pages))
		tag = 0;
	barrier();
	*(volatile u32 *)&c->busy[i] = 0;
	return tag;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* Stores u->words in the stack map, or marks them for sending with the event. */
static __always_inline void user_store(struct scratch *s, struct user_thread *t)
{
	struct user_walk *u = &s->user;
	s64 id;

	if (!u->nr_words || u->nr_words > STACKMAP_WORDS) {
		s->ustack = WIRE_STACK_NONE;
		u->result = STK_C_USTACK_NONE;
		return;
	}
	id = stackmap_get_call(&u->words, u->nr_words, STACKMAP_NOREF);
	if (id <= 0) {
		s->ustack = WIRE_STACK_FULL;
		u->result = STK_C_USTACK_FULL;
		return;
	}
	s->ustack = (u32)id;
	u->result = id & STACKMAP_NEW ? STK_C_USTACK_NEW : STK_C_USTACK_HIT;
	if (t && t->nr_frames) {
		t->kept = u->words.hint;
		t->kept_end = u->end;
		known_met(t);
	}
}

static __always_inline void walk_begin(struct user_walk *u, struct user_thread *t,
				       const struct task_struct *task, u32 event)
{
	bool stable;

	u->seq = area_seq(task, &stable);
	u->stable = stable;
	u->root = 0;
	if (!stable)
		bpf_probe_read_kernel(&u->root, 8, (void *)AREA_ROOT(u->mm));
	u->generation = *(volatile u32 *)&user_ctl.generation;
	u->epoch = *(volatile u32 *)&user_ctl.epoch;
	if (!u->filled) {
		u->lo = 0;
		u->hi = 0;
	}
	u->top = 0;
	u->old = t->base;
	u->base = t->base + t->nr_frames;
	u->nr = 0;
	u->guess_marked = 0;
	u->last = 0;
	u->vmas = 0;
	u->join = 0;
	u->first = 0;
	u->raw = 0;
	u->forget = 0;
	u->file_events_left = USER_FILE_EVENTS;
	u->event = event;
	u->extent = t->extent;
}

/* The walk stopped at a frame whose table is not loaded; true: the recorder continues there. */
static __always_inline bool walk_defer(struct scratch *s, struct user_thread *t)
{
	struct user_walk *u = &s->user;
	u32 nr = u->nr_words;

	u->nr_words = u->nr_before;
	s->tag = user_copy(u, t);
	if (s->tag) {
		s->ustack = WIRE_STACK_DEFERRED;
		u->result = STK_C_USTACK_DEFERRED;
		return true;
	}
	note_full(s->event, STK_C_FULL_COPIES);
	u->nr_words = nr;
	return false;
}

static __always_inline int user_walk_stack(struct scratch *s, struct user_thread *t,
					   const struct task_struct *task)
{
	struct user_walk *u = &s->user;

	walk_begin(u, t, task, s->event);
	if (u->known && known_again(u, t)) {
		known_set(s, known_find(t, u->w.ip, u->w.sp));
		return 0;
	}
	stack_area(u, t);
	if (user_unwind(u, t)) {
		if (kept_is_valid(t->kept)) {
			s->ustack = (u32)t->kept;
			u->end = t->kept_end;
			u->result = STK_C_USTACK_HIT;
			known_met(t);
			return 0;
		}
		walk_append(u, t);
	}
	if (u->stop == UNW_NEED_TABLE && walk_defer(s, t))
		return 0;
	walk_end(u);
	user_store(s, t);
	return 0;
}

/* Walks the stack after user_known(); sets s->ustack, s->user.result and .end. */
__noinline int user_stack_walk(struct scratch *s)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct user_thread *t = NULL;

	if (!s)
		return 0;
	s->ustack = WIRE_STACK_NONE;
	s->user.result = STK_C_USTACK_NONE;
	s->user.end = STK_END_COMPLETE;
	s->user.nr_words = 0;
	if (!user_regs(&s->user, task))
		return 0;
	if (!s->user.stop) {
		t = thread_claim(task, s->user.mm);
		if (!t)
			note_full(s->event, STK_C_FULL_THREADS);
	}
	if (!t) {
		s->user.stop = UNW_FAILED;
		walk_end(&s->user);
		user_store(s, NULL);
		return 0;
	}
	user_walk_stack(s, t, task);
	thread_unlock(t);
	return 0;
}

/* The event names a selected task, but happens in another one. */
static __always_inline void user_stack_omit(struct scratch *s, struct event_counts *c)
{
	const struct task_struct *task = task_plain((void *)bpf_get_current_task_btf());

	if (!task->mm) {
		bump(c, STK_C_USTACK_NONE);
		return;
	}
	s->ustack = WIRE_STACK_NOT_RECORDED;
	bump(c, STK_C_USTACK_NOT_RECORDED);
}

/* For programs that have other things to verify. */
__noinline int user_known_call(struct scratch *s)
{
	return s && user_known(s);
}

/* Counts the stack by how it was found and how it ends. */
static __always_inline void user_stack_count(const struct scratch *s, struct event_counts *c)
{
	u32 result = s->user.result, end = s->user.end;

	if (result == STK_C_USTACK_NONE) {
		bump(c, STK_C_USTACK_NONE);
		return;
	}
	if (result == STK_C_USTACK_DEFERRED) { /* the recorder counts how it ends */
		bump(c, STK_C_USTACK_DEFERRED);
		return;
	}
	if (result == STK_C_USTACK_HIT)
		bump(c, STK_C_USTACK_HIT);
	else if (result == STK_C_USTACK_NEW)
		bump(c, STK_C_USTACK_NEW);
	else
		bump(c, STK_C_USTACK_FULL);
	if (end == STK_END_COMPLETE)
		bump(c, STK_C_USTACK_COMPLETE);
	else if (end == STK_END_TRUNCATED)
		bump(c, STK_C_USTACK_TRUNCATED);
	else if (end == STK_END_NO_TABLE)
		bump(c, STK_C_USTACK_NO_TABLE);
	else if (end == STK_END_UNREADABLE)
		bump(c, STK_C_USTACK_UNREADABLE);
	else if (end == STK_END_FALLBACK)
		bump(c, STK_C_USTACK_FALLBACK);
	else
		bump(c, STK_C_USTACK_FAILED);
}

/* tried: user_known() has been called, and the stack is not known. */
static __always_inline void user_stack(struct scratch *s, struct event_counts *c, bool selected,
				       bool tried)
{
	s->ustack = WIRE_STACK_NONE;
	if (!user_stacks)
		return;
	/* without selected tasks the verifier knows that this is false */
	if (!selected && !waker_stacks) {
		user_stack_omit(s, c);
		return;
	}
	/* not in one function, because the walk needs all levels that the kernel allows */
	if (tried || !user_known_call(s))
		user_stack_walk(s);
	user_stack_count(s, c);
}

#endif /* USER_STACK_BPF_H */
