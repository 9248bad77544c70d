/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User stacks: a stack that the thread has had before, without a walk.
 *
 * Unwinding is a function of the registers, the tables, the mappings and the words of memory that
 * it reads.  A stack that is met again is noted as these words and where they were.  If registers
 * and words are the same once more, and neither tables nor mappings have changed, so is the stack.
 * This takes a comparison for each word; no frame is looked at.  Whatever is different is left to
 * the walk, which finds the same.
 */
#ifndef USER_KNOWN_BPF_H
#define USER_KNOWN_BPF_H

#include "user_page.bpf.h"
#include "user_thread.bpf.h"

static __always_inline bool kept_is_valid(u64 kept)
{
	return kept && kept >> 32 == stackmap_generation();
}

/* What known stacks are searched by; user_known() compares all that makes one. */
static __always_inline u64 known_key(u64 ip, u64 sp)
{
	return ip * 0x9e3779b97f4a7c15ull ^ sp;
}

static __always_inline struct user_known *known_at(struct user_thread *t, u64 i)
{
	asm volatile("" : "+r"(i));
	return &t->known[i & (USER_KNOWN - 1)];
}

/* The stack that starts with these registers, or another one. */
static __always_inline struct user_known *known_find(struct user_thread *t, u64 ip, u64 sp)
{
	return known_at(t, four_find(t->key, known_key(ip, sp)));
}

/* ---- noting ---------------------------------------------------------------------------------- */

/* Notes a word of memory; 0: it is not where the copy of the stack will have it. */
static __always_inline int known_word(struct user_known *k, u64 addr, u64 word)
{
	u64 at = addr - k->sp;
	u32 n = k->nr;

	if (at >= USER_WINDOW * 8 || addr & 7 || n >= USER_KNOWN_WORDS)
		return 0;
	k->nr = n + 1;
	asm volatile("" : "+r"(n));
	n &= USER_KNOWN_WORDS - 1;
	k->at[n] = at + (k->sp & 4095);
	k->word[n] = word;
	if (k->bytes < at + 8)
		k->bytes = at + 8;
	return 1;
}

/* Notes what the step from a frame has read, as join_compare() compares it; 0: it does not fit. */
__noinline int known_frame(struct user_thread *t, struct user_known *k, u32 i)
{
	const struct user_frame *f;

	if (!t || !k)
		return 0;
	f = frame_at(t, t->base + i);
	if (f->fp_read && !known_word(k, f->fp_read, f->fp))
		return 0;
	if (f->x_at && !known_word(k, f->x_at, f->x))
		return 0;
	/* the last frame has no return address, or a 0 that x_at has */
	if (i + 1 >= t->nr_frames)
		return 1;
	f = frame_at(t, t->base + i + 1);
	return known_word(k, f->sp - 8, USER_IP(f->ip));
}

/* The same for some frames: a function, as the verifier follows each of them; 0: stop. */
__noinline int known_frames(struct user_thread *t, struct user_known *k, u32 from)
{
	u32 i;

	if (!t || !k)
		return 0;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_AT_ONCE; i++) {
		if (from + i >= t->nr_frames)
			return 1;
		if (!known_frame(t, k, from + i))
			return 0;
	}
	return 1;
}

/* Repeats the first word, up to a number of words that are compared at once. */
static __always_inline void known_pad(struct user_known *k)
{
	u32 i;

#pragma clang loop unroll(disable)
	for (i = 1; i < USER_KNOWN_AT_ONCE && k->nr % USER_KNOWN_AT_ONCE; i++)
		known_word(k, (k->sp & ~4095ull) + k->at[0], k->word[0]);
}

static __always_inline void known_note(struct user_thread *t, struct user_known *k)
{
	const struct user_frame *f = frame_at(t, t->base);
	u32 i, ok = 1;

	k->ip = USER_IP(f->ip);
	k->sp = f->sp;
	k->fp = f->fp;
	k->fp_mask = t->raw ? ~0ull : 0;
	k->kept = t->kept;
	k->kept_end = t->kept_end;
	k->interrupted = t->interrupted;
	k->seq = t->seq;
	k->generation = t->generation;
	k->epoch = t->epoch;
	k->vmas = t->vmas;
	k->nr = 0;
	k->bytes = 0;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_FRAMES && i < t->nr_frames && ok; i += USER_AT_ONCE)
		ok = known_frames(t, k, i);
	if (ok)
		known_pad(k);
	else
		k->nr = 0;
}

/*
 * The remembered stack is that of this event, and is t->kept.  One that was met before, not long
 * ago, is noted: stacks that never recur must not pay for that.
 */
__noinline int known_met(struct user_thread *t)
{
	const struct user_frame *f;
	u64 key, i, met;

	if (!t || !t->nr_frames || !t->vmas || t->first)
		return 0;
	met = (u32)t->kept * 0x9e3779b97f4a7c15ull >> 62;
	asm volatile("" : "+r"(met));
	met &= USER_KNOWN - 1;
	if (t->met[met] != t->kept) {
		t->met[met] = t->kept;
		return 0;
	}
	t->met[met] = 0; /* of two that alternate with the same registers, one stays for a while */
	f = frame_at(t, t->base);
	key = known_key(USER_IP(f->ip), f->sp);
	i = four_find(t->key, key);
	if (i == USER_KNOWN)
		i = t->next++;
	asm volatile("" : "+r"(i));
	i &= USER_KNOWN - 1;
	t->key[i] = key;
	known_note(t, &t->known[i]);
	return 0;
}

/* ---- finding --------------------------------------------------------------------------------- */

/* Registers that a stack starts with. */
struct known_regs {
	u64 ip, sp, fp, call, cs;
};

static __always_inline void known_regs(const struct pt_regs *r, struct known_regs *ret_regs)
{
	ret_regs->ip = r->ARCH_REG_IP;
	ret_regs->sp = r->ARCH_REG_SP;
	ret_regs->fp = r->ARCH_REG_FP;
	ret_regs->call = r->ARCH_REG_CALL;
	ret_regs->cs = r->cs;
}

/*
 * Whether a stack that starts with these registers is known, its mappings aside.  A comparison
 * whose result is a number would be a branch, and all that follows be verified for both results.
 */
static __always_inline bool known_starts(const struct user_known *k, const struct known_regs *r)
{
	u64 differ = (k->ip ^ r->ip) | (k->sp ^ r->sp) | ((k->fp ^ r->fp) & k->fp_mask) |
		     (k->interrupted ^ r->call >> 63) |
		     (k->generation ^ *(volatile u32 *)&user_ctl.generation);

	return !differ && k->nr && ARCH_REGS_64(r) && kept_is_valid(k->kept);
}

/* Copies the memory that has the words to the window, as user_refill() would. */
static __always_inline bool known_copy(struct user_walk *u, const struct user_known *k)
{
	u64 bytes = k->bytes, window = (u64)u->window - (k->sp & 4095);

	asm volatile("" : "+r"(bytes));
	if (bytes > USER_WINDOW * 8 || bpf_probe_read_user(u->window, bytes, (void *)k->sp))
		return false;
	u->lo = k->sp;
	u->hi = k->sp + bytes;
	u->filled = 1;
	u->page[0] = u->page[1] = u->page[2] = window;
	return true;
}

/* Finds the pages that have the words, or copies them; the addresses are less the page's offset. */
static __always_inline bool known_pages(struct user_walk *u, const struct user_known *k, u64 mm)
{
	u64 tables, bytes = (k->sp & 4095) + k->bytes, page;

	_Static_assert(4095 + USER_WINDOW * 8 <= 3 * 4096, "words lie in at most three pages");
	if (!bpf_rdonly_cast || !user_pages.base)
		return known_copy(u, k);
	tables = page_tables(mm);
	page = page_find(&user_pages, tables, k->sp);
	if (!page)
		return false;
	u->page[0] = page;
	if (bytes <= 4096)
		return true;
	page = page_find(&user_pages, tables, k->sp + 4096);
	if (!page)
		return false;
	u->page[1] = page - 4096;
	if (bytes <= 8192)
		return true;
	page = page_find(&user_pages, tables, k->sp + 8192);
	u->page[2] = page - 8192;
	return page;
}

static __always_inline u64 known_value(const struct user_walk *u, const struct user_known *k,
				       u64 at)
{
	u64 i = at >> 12;

	if (bpf_rdonly_cast) {
		asm volatile("" : "+r"(i));
		return area_word((void *)(u->page[i & 3] + at));
	}
	at -= k->sp & 4095;
	asm volatile("" : "+r"(at));
	return *(u64 *)((char *)u->window + (at & (USER_WINDOW * 8 - 8)));
}

/* Whether the words are those that were noted. */
static __always_inline bool known_same(const struct user_walk *u, const struct user_known *k)
{
	u32 nr = *(volatile u32 *)&k->nr, i, j;

#pragma clang loop unroll(disable)
	for (i = 0; i < USER_KNOWN_WORDS && i < nr; i += USER_KNOWN_AT_ONCE) {
		u64 differ = 0;

#pragma clang loop unroll(full)
		for (j = 0; j < USER_KNOWN_AT_ONCE; j++)
			differ |= known_value(u, k, k->at[i + j]) ^ k->word[i + j];
		if (differ)
			return false;
	}
	return true;
}

static __always_inline void known_set(struct scratch *s, const struct user_known *k)
{
	s->ustack = (u32)k->kept;
	s->user.end = k->kept_end;
	s->user.result = STK_C_USTACK_HIT;
}

/* Whether nothing has changed in the process; the files are looked at once a second. */
static __always_inline bool known_holds(const struct user_known *k, const struct task_struct *task)
{
	bool stable;
	u32 seq = area_seq(task, &stable);

	return stable && k->seq == seq && k->epoch == *(volatile u32 *)&user_ctl.epoch;
}

/*
 * Whether the thread's stack is known: sets s->ustack, s->user.result and .end.  False: call
 * user_stack_walk().
 */
static __always_inline bool user_known(struct scratch *s)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	u32 tid = task->pid, way;
	struct user_threads *ts = thread_set(tid);
	struct known_regs r;
	struct user_thread *t;
	struct user_known *k;
	bool holds = false;
	u64 mm;

	s->user.filled = 0;
	s->user.known = 0;
	if (!ts)
		return false;
	way = four_find(ts->tid, tid);
	t = thread_at(ts, way);
	if (way == USER_WAYS || !thread_lock(t))
		return false;
	if (bpf_rdonly_cast && user_regs_at)
		known_regs(CAST(pt_regs, (u64)task->stack + user_regs_at), &r);
	else
		known_regs((void *)bpf_task_pt_regs((void *)task), &r);
	k = known_find(t, r.ip, r.sp);
	mm = (u64)task_plain(task)->mm;
	if (known_starts(k, &r) && thread_is(t, task, mm) && known_pages(&s->user, k, mm) &&
	    known_same(&s->user, k)) {
		holds = known_holds(k, task);
		s->user.known = 1;
		known_set(s, k);
	}
	thread_unlock(t);
	return holds;
}

/*
 * The same where the mappings may have changed, or the file of one.  Since user_known() has
 * compared them, the thread has neither run nor had other registers.
 */
__noinline int known_again(struct user_walk *u, struct user_thread *t)
{
	struct user_known *k;
	u32 i;

	if (!u || !t)
		return 0;
	k = known_find(t, u->w.ip, u->w.sp);
	if (!k->nr || k->ip != u->w.ip || k->sp != u->w.sp || k->generation != u->generation)
		return 0;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_VMAS; i++)
		if (k->vmas >> i & 1 && vma_check(u, t, i))
			return 0;
	k->seq = u->seq;
	k->epoch = u->epoch;
	return 1;
}

#endif /* USER_KNOWN_BPF_H */
