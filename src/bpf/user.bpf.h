/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user stack of the current task: unwound with the tables of the files its code comes from,
 * frame by frame, and stored once in the stack map.
 *
 * Most stacks of a thread end as the one before: once a frame agrees with one of the last stack in
 * all that the rest of the walk depends on, only the words that were read from there on are
 * compared, not looked up and stepped.  This is sound because unwinding is a function of the
 * registers, the tables, the mappings and these words.
 */
#ifndef USER_BPF_H
#define USER_BPF_H

#include <bpf/bpf_tracing.h>

#include "user_file.bpf.h"

/* ---- reading the stack -------------------------------------------------------------------------- */

/* The window moves to addr; 0: a word there can be read. */
__noinline int user_refill(struct user_walk *u, u64 addr)
{
	u64 len;

	if (!u || addr & 7)
		return 1;
	len = u->stack_hi - addr;
	if (len > USER_WINDOW * 8) /* not in the stack, or there is more */
		len = USER_WINDOW * 8;
	if (u->hi != addr && u->extent && len > u->extent)
		len = u->extent;
	if (len < 8)
		return 1;
	asm volatile("" : "+r"(len));
	if (len > USER_WINDOW * 8)
		return 1;
	if (bpf_probe_read_user(u->window, len, (void *)addr)) {
		/* what is on this page, at least */
		len = 4096 - (addr & 4095);
		asm volatile("" : "+r"(len));
		if (len > USER_WINDOW * 8 || bpf_probe_read_user(u->window, len, (void *)addr))
			return 1;
	}
	u->lo = addr;
	u->hi = addr + len;
	return 0;
}

static __always_inline int user_read(struct user_walk *u, u64 addr, u64 *ret)
{
	u64 at = addr - u->lo;

	if (at >= USER_WINDOW * 8 || at & 7 || addr + 8 > u->hi) {
		if (user_refill(u, addr))
			return bpf_probe_read_user(ret, 8, (void *)addr);
		at = 0;
	}
	at >>= 3;
	asm volatile("" : "+r"(at));
	*ret = u->window[at & (USER_WINDOW - 1)];
	if (addr > u->top)
		u->top = addr;
	return 0;
}

static __always_inline int unw_read(struct unw_walk *w, u64 addr, u64 *ret)
{
	return user_read((struct user_walk *)w, addr, ret);
}

static __always_inline int unw_read_regs(struct unw_walk *w, u64 addr)
{
	return bpf_probe_read_user(w->tmp, sizeof(w->tmp), (void *)addr);
}

#include "unwind/step.h"

/* ---- mappings ----------------------------------------------------------------------------------- */

static __always_inline struct user_vma *thread_vma(struct user_thread *t, u32 i)
{
	asm volatile("" : "+r"(i));
	return &t->vma[i & (USER_VMAS - 1)];
}

/* The table of a file, as it is now. */
static __always_inline void vma_table(struct user_vma *v, u32 generation)
{
	u32 id = v->id;
	struct wire_file *f = bpf_map_lookup_elem(&files, &id);

	v->generation = generation;
	v->state = WIRE_FILE_NO_CFI;
	if (!id || !f)
		return;
	if (f->key.kind != WIRE_KEY_JIT)
		v->state = *(volatile u32 *)&f->state;
	barrier(); /* state comes last where a table is published */
	v->table = f->table;
	v->first_page = f->first_page;
	v->nr_pages = f->nr_pages;
	v->rules = f->rules;
	f->used = user_ctl.epoch;
}

/*
 * A mapping that the thread remembers, looked at anew: still the same?  If it is another one now,
 * what is remembered of the stack is void.
 */
__noinline int vma_check(struct user_walk *u, struct user_thread *t, u32 i)
{
	struct user_vma *v;

	if (!u || !t)
		return 1;
	v = thread_vma(t, i);
	if (v->generation != u->generation) {
		vma_table(v, u->generation);
		t->nr_frames = 0;
	}
	/* once a second also the file: it may have been overwritten in place */
	if (u->stable && v->seq == u->seq && v->epoch == u->epoch)
		return 0;
	if (area_find(u, v->start) || u->area.start != v->start || u->area.end != v->end ||
	    !(u->area.flags & VM_EXEC) || u->area.file != v->file ||
	    (v->file && (!key_equal(&u->area.key, &v->key) ||
			 u->area.start - (u->area.pgoff << UNW_PAGE_SHIFT) != v->delta))) {
		v->end = 0; /* holds no address */
		t->nr_frames = 0;
		return 1;
	}
	v->seq = u->seq;
	v->epoch = u->epoch;
	return 0;
}

/* The mapping of code at pc: index, or USER_VMAS if there is none. */
__noinline u32 vma_get(struct user_walk *u, struct user_thread *t, u64 pc)
{
	struct user_vma *v;
	u32 i;

	if (!u || !t)
		return USER_VMAS;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_VMAS; i++) {
		v = thread_vma(t, i);
		if (pc - v->start < v->end - v->start && v->end && !vma_check(u, t, i))
			return i;
	}
	if (area_find(u, pc) || !(u->area.flags & VM_EXEC))
		return USER_VMAS;
	i = t->nr_vmas;
	t->nr_vmas = i + 1;
	i &= USER_VMAS - 1;
	if (t->vmas >> i & 1)
		t->nr_frames = 0;
	if (u->vmas >> i & 1) /* more mappings than can be remembered */
		u->forget = 1;
	v = thread_vma(t, i);
	v->end = 0;
	v->id = file_id(u, pc);
	v->start = u->area.start;
	v->file = u->area.file;
	v->key = u->area.key;
	v->delta = area_delta(&u->area, v->id);
	v->seq = u->seq;
	v->epoch = u->epoch;
	vma_table(v, u->generation);
	v->end = u->area.end;
	return i;
}

/* The stack's mapping, for not reading beyond it. */
static __always_inline void stack_area(struct user_walk *u, struct user_thread *t)
{
	u64 sp = u->w.sp;

	if (t->stack_lo <= sp && sp < t->stack_hi && u->stable && t->stack_seq == u->seq) {
		u->stack_hi = t->stack_hi;
		return;
	}
	u->stack_hi = 0;
	t->stack_hi = 0;
	if (area_find(u, sp))
		return;
	t->stack_lo = u->area.start;
	t->stack_hi = u->area.end;
	t->stack_seq = u->seq;
	u->stack_hi = u->area.end;
}

/* ---- tables ------------------------------------------------------------------------------------- */

static __always_inline u32 *table_chunk(u32 address)
{
	u32 chunk = address / UNW_CHUNK_WORDS, i = chunk / WIRE_SLAB_CHUNKS;
	void *slab = bpf_map_lookup_elem(&slabs, &i);
	struct slab_chunk *c;

	if (!slab)
		return NULL;
	i = chunk & (WIRE_SLAB_CHUNKS - 1);
	c = bpf_map_lookup_elem(slab, &i);
	return c ? c->word : NULL;
}

static __always_inline u32 chunk_word(const u32 *chunk, u32 i)
{
	asm volatile("" : "+r"(i));
	return chunk[i & (UNW_CHUNK_WORDS - 1)];
}

static __always_inline u64 table_u64(u32 address)
{
	u32 *chunk = table_chunk(address), at = address & (UNW_CHUNK_WORDS - 1);

	if (!chunk)
		return 0;
	return chunk_word(chunk, at) | (u64)chunk_word(chunk, at | 1) << 32;
}

/*
 * lo += 1 << bit if the row there is still one of the page's and not above the offset.  Computed, not
 * branched upon: the verifier would follow both ways at every bit.
 */
#define ROW_HALVE(bit)                                                      \
	do {                                                                \
		u64 mid = lo + (1u << (bit)), row = chunk_word(chunk, mid); \
		lo += ((mid - end) & (row - above)) >> 63 << (bit);         \
	} while (0)

/* The rule at an offset in a page of the table, given the page's entry. */
static __always_inline u32 row_find(u32 table, u64 page, u64 off)
{
	u32 *chunk = table_chunk(table + (u32)page), nr = page >> 32 & 0xffff;
	u64 above = (off + 1) << 20, lo, end;

	if (!chunk || !nr)
		return UNW_ESCAPE | UNW_NONE;
	lo = (table + (u32)page) & (UNW_CHUNK_WORDS - 1);
	end = lo + nr;
	if (nr > 256) {
		ROW_HALVE(11);
		ROW_HALVE(10);
		ROW_HALVE(9);
		ROW_HALVE(8);
	}
	ROW_HALVE(7);
	ROW_HALVE(6);
	ROW_HALVE(5);
	ROW_HALVE(4);
	ROW_HALVE(3);
	ROW_HALVE(2);
	ROW_HALVE(1);
	ROW_HALVE(0);
	return UNW_ROW_RULE(chunk_word(chunk, lo));
}

static __always_inline u32 rule_find(struct user_vma *v, u64 off)
{
	u64 page = (off >> UNW_PAGE_SHIFT) - v->first_page;

	if (page >= v->nr_pages)
		return UNW_ESCAPE | UNW_NONE;
	return row_find(v->table, table_u64(v->table + 2 * (u32)page),
			off & ((1 << UNW_PAGE_SHIFT) - 1));
}

/* ---- steps -------------------------------------------------------------------------------------- */

static __always_inline struct user_frame *walk_frame(struct user_walk *u, u32 i)
{
	asm volatile("" : "+r"(i));
	return &u->frame[i & (USER_FRAMES - 1)];
}

static __always_inline struct user_frame *thread_frame(struct user_thread *t, u32 i)
{
	asm volatile("" : "+r"(i));
	return &t->frame[i & (USER_FRAMES - 1)];
}

static __always_inline u64 ip_with_flags(const struct unw_walk *w)
{
	return w->ip | (w->flags & UNW_EXACT ? USER_IP_EXACT : 0) |
	       (w->flags & UNW_GUESSED ? USER_IP_GUESSED : 0) |
	       (w->flags & UNW_FP_LOST ? USER_IP_FP_LOST : 0);
}

/* One frame is noted; its mapping's index, or a stop. */
static __always_inline int step_note(struct user_walk *u, struct user_thread *t, u32 *ret_vma)
{
	u32 n = u->nr, i = u->last;
	struct user_frame *f = walk_frame(u, n);
	struct user_vma *v;
	u64 pc;

	if (n >= user_max_depth || n >= USER_FRAMES)
		return UNW_DEPTH;
	u->w.ip = USER_IP(u->w.ip); /* no address of a program is that high */
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
			if (n) /* what was taken for a return address is none */
				return UNW_NO_RULE;
			f->word = FRAME_USER(0, u->w.ip);
			u->nr = 1;
			return UNW_NO_RULE;
		}
		u->last = i;
		u->vmas |= 1u << i;
		v = thread_vma(t, i);
	}
	f->word = FRAME_USER(v->id, u->w.ip - v->delta);
	u->nr = n + 1;
	*ret_vma = i;
	return UNW_GO;
}

/* The caller is behind the trampoline of uretprobes: what the kernel put there it keeps elsewhere. */
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

		/* from the innermost on; one that has just been used up may still be named first */
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

__noinline int user_step(struct user_walk *u, struct user_thread *t)
{
	struct user_frame *f;
	struct user_vma *v;
	u32 rule, i = 0, n;
	int stop;

	if (!u || !t)
		return UNW_NO_RULE;
	n = u->nr;
	stop = step_note(u, t, &i);
	if (stop)
		return stop;
	v = thread_vma(t, i);
	if (v->state == WIRE_FILE_NEW && !user_fp_only) {
		u->nr = n; /* the recorder goes on with this one */
		return UNW_NEED_TABLE;
	}
	rule = UNW_ESCAPE | UNW_NONE;
	if (v->state == WIRE_FILE_LOADED && !user_fp_only)
		rule = rule_find(v, unw_pc(&u->w) - v->delta);
	u->w.fp_read = 0;
	u->w.x_at = 0;
	u->w.flags &= ~(UNW_FP_RAW | UNW_BARRIER);
	if (!(rule & UNW_ESCAPE)) {
		stop = unw_simple(&u->w, rule);
	} else {
		rule &= ~UNW_ESCAPE;
		if (rule >= UNW_ESCAPE_RULES)
			stop = unw_wide(&u->w, table_u64(v->rules + 2 * (rule - UNW_ESCAPE_RULES)));
		else if (rule == UNW_END)
			stop = UNW_COMPLETE;
		else if (rule == UNW_SIGNAL)
			stop = unw_signal(&u->w);
		else
			stop = unw_guess(&u->w);
	}
	f = walk_frame(u, n);
	f->fp_read = u->w.fp_read;
	if (u->w.fp_read)
		f->fp = u->w.fp;
	f->x_at = u->w.x_at;
	f->x = u->w.x;
	if (stop == UNW_COMPLETE && !u->w.ip) { /* the return address was 0, and must be again */
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

/*
 * The walk stands where the remembered stack's frame m did: is all that was read from there on
 * still the same?
 */
__noinline int user_join(struct user_walk *u, struct user_thread *t)
{
	u32 m, n, i;

	if (!u || !t)
		return 0;
	m = u->join;
	n = t->nr_frames;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_FRAMES; i++) {
		struct user_frame *a = thread_frame(t, m), *b = thread_frame(t, m + 1);
		u64 v;

		if (m >= n)
			return 1;
		if (a->fp_read && (user_read(u, a->fp_read, &v) || v != a->fp))
			break;
		if (a->x_at && (user_read(u, a->x_at, &v) || v != a->x))
			break;
		/* the return address; the last frame has none, or it is the word that is 0 */
		if (m + 1 < n && (user_read(u, b->sp - 8, &v) || v != USER_IP(b->ip)))
			break;
		m++;
	}
	u->join = m + 1; /* not before what has changed is passed */
	return 0;
}

/* All mappings that the remembered stack needs are as they were. */
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

/* A frame: joined to the remembered stack, or stepped over. */
__noinline int user_next(struct user_walk *u, struct user_thread *t)
{
	struct user_frame *f;
	u32 m, n;
	int stop;
	u64 sp;

	if (!u || !t)
		return UNW_NO_RULE;
	m = u->join;
	n = t->nr_frames;
	sp = u->w.sp;
	if (m < n) {
		/* both stacks grow towards the same end: catch up */
		m += thread_frame(t, m)->sp < sp;
		m += m < n && thread_frame(t, m)->sp < sp;
		m += m < n && thread_frame(t, m)->sp < sp;
		u->join = m;
		f = thread_frame(t, m);
		if (m < n && m >= t->first && f->sp == sp && f->ip == ip_with_flags(&u->w) &&
		    f->fp_at == u->w.fp_at && (f->fp_at || m >= t->raw || f->fp == u->w.fp)) {
			if (user_join(u, t))
				return UNW_SPLICED;
		}
	}
	stop = user_step(u, t);
	if (u->returns && stop == UNW_GO && u->w.ip == u->trampoline)
		user_returned(u);
	return stop;
}

/* ---- threads ------------------------------------------------------------------------------------ */

static __always_inline bool thread_is(const struct user_thread *t, const struct task_struct *task,
				      u64 mm)
{
	return t->tid == (u32)task->pid && t->mm == mm && t->started == task->start_boottime &&
	       t->exec_id == task->self_exec_id;
}

/*
 * What is remembered of the current thread, for this program alone; a thread that is not there
 * takes the place of another one.  NULL: programs nest too deep, or too many threads meet here.
 */
static __always_inline struct user_thread *thread_claim(const struct task_struct *task, u64 mm)
{
	u32 tid = task->pid, set = (tid ^ tid >> 10) & user_thread_mask, i, way;
	struct user_threads *ts = bpf_map_lookup_elem(&threads, &set);
	struct user_thread *t;

	if (!ts)
		return NULL;
	way = bpf_ktime_get_ns() >> 6; /* any */
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_WAYS; i++)
		if (!ts->way[i].tid)
			way = i;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_WAYS; i++)
		if (thread_is(&ts->way[i], task, mm))
			way = i;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_WAYS; i++) {
		u32 at = way + i;

		asm volatile("" : "+r"(at));
		t = &ts->way[at & (USER_WAYS - 1)];
		if (__sync_lock_test_and_set(&t->busy, 1))
			continue;
		if (!thread_is(t, task, mm)) {
			t->tid = tid;
			t->mm = mm;
			t->started = task->start_boottime;
			t->exec_id = task->self_exec_id;
			t->nr_vmas = 0;
			t->nr_frames = 0;
			t->vmas = 0;
			t->stack_hi = 0;
			t->extent = 0;
#pragma clang loop unroll(disable)
			for (at = 0; at < USER_VMAS; at++)
				thread_vma(t, at)->end = 0;
		}
		return t;
	}
	return NULL;
}

/* ---- the walk ----------------------------------------------------------------------------------- */

/* Between the new mm and the new registers execve(2) shows old registers: no system call there. */
static __always_inline bool regs_are_old(const struct task_struct *task, u64 ip)
{
	u16 insn = 0;

	if (!bpf_core_field_exists(task->in_execve) || !BPF_CORE_READ_BITFIELD(task, in_execve))
		return false;
	return bpf_probe_read_user(&insn, sizeof(insn), (void *)(ip - 2)) ||
	       insn != USER_SYSCALL_INSN;
}

/* Calls of the running task whose returns are probed. */
static __always_inline void user_returns(struct user_walk *u, const struct task_struct *task)
{
	u->returns = 0;
	if (!bpf_core_field_exists(task->utask) || !task->utask || !task->utask->return_instances ||
	    !task->mm->uprobes_state.xol_area)
		return;
	u->returns = (u64)task->utask->return_instances;
	u->trampoline = task->mm->uprobes_state.xol_area->vaddr;
}

/* The registers of the program; false: it has none, being of the kernel, or new. */
static __always_inline bool user_regs(struct user_walk *u, const struct task_struct *task)
{
	const struct pt_regs *r = (void *)bpf_task_pt_regs((void *)task);
	struct unw_walk *w = &u->w;

	u->mm = (u64)task->mm;
	if (!u->mm || ((u16)r->cs & 3) != 3 || !(r->rip | r->rsp)) /* as io_uring's workers */
		return false;
	UNW_FROM_PT_REGS(w->regs, r);
	w->ip = r->rip;
	w->sp = w->regs[UNW_REG_SP];
	w->fp = w->regs[UNW_REG_FP];
	w->bx = w->regs[UNW_REG_BX];
	w->fp_at = 0;
	w->bx_at = 0;
	w->fp_read = 0;
	w->x_at = 0;
	w->flags = UNW_EXACT;
	u->interrupted = (s64)r->orig_rax < 0;
	u->stop = UNW_GO;
	user_returns(u, task);
	if ((u16)r->cs != USER_CS_64)
		u->stop = UNW_FAILED;
	return !regs_are_old(task, w->ip);
}

/* Keeps the stack for the thread's next walk. */
static __always_inline void walk_remember(struct user_walk *u, struct user_thread *t)
{
	u32 n = u->nr, extent;

	t->nr_frames = 0;
	if (u->stop != UNW_COMPLETE || u->forget || n > USER_FRAMES)
		return;
	bpf_probe_read_kernel(t->frame, n * sizeof(struct user_frame), u->frame);
	t->first = u->first;
	t->raw = u->raw;
	t->vmas = u->vmas;
	t->interrupted = u->interrupted;
	t->guessed = u->w.flags & UNW_GUESSED;
	t->seq = u->seq;
	t->generation = u->generation;
	t->epoch = u->epoch;
	t->kept = 0;
	t->nr_frames = n;
	extent = u->top + 8 - u->frame[0].sp;
	t->extent = extent < 4096 ? (extent + 127) & ~63u : 0;
}

/* The walk joined the remembered stack: what is remembered from there on is appended. */
__noinline int walk_append(struct user_walk *u, struct user_thread *t)
{
	u32 i, m, n, left;

	if (!u || !t)
		return 0;
	n = u->nr;
	m = u->join;
	left = t->nr_frames - m;
	u->stop = UNW_COMPLETE;
	if (n + left > user_max_depth) {
		u->stop = UNW_DEPTH;
		left = user_max_depth - n;
	}
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_FRAMES; i++) {
		if (i >= left)
			break;
		*walk_frame(u, n + i) = *thread_frame(t, m + i);
	}
	u->nr = n + left;
	u->vmas |= t->vmas;
	if (t->first > m)
		u->first = n + t->first - m;
	if (t->raw > m)
		u->raw = n + t->raw - m;
	u->w.flags |= t->guessed;
	return 0;
}

/*
 * Walks the stack.  1: it is the remembered one, all of it, which walk_append() gets; 0: u->frame,
 * u->nr and u->stop are what it is.
 */
static __always_inline int user_unwind(struct user_walk *u, struct user_thread *t)
{
	int stop = UNW_DEPTH;
	u32 i;

	if (t->nr_frames && (!u->stable || t->seq != u->seq || t->generation != u->generation ||
			     t->epoch != u->epoch)) {
		if (!user_check_vmas(u, t))
			t->nr_frames = 0;
		t->seq = u->seq;
		t->generation = u->generation;
		t->epoch = u->epoch;
	}
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_FRAMES; i++) {
		stop = user_next(u, t);
		if (stop)
			break;
	}
	u->stop = stop;
	if (stop == UNW_SPLICED) {
		if (!u->nr && !u->join && u->interrupted == t->interrupted) {
			u->stop = UNW_COMPLETE;
			u->w.flags |= t->guessed;
			return 1;
		}
		walk_append(u, t);
	}
	walk_remember(u, t);
	return 0;
}

/* ---- the stack's words -------------------------------------------------------------------------- */

static __always_inline void word_add(struct user_walk *u, u64 word)
{
	u32 n = u->nr_words;

	u->nr_words = n + 1;
	asm volatile("" : "+r"(n));
	u->words.w[n & (STACKMAP_WORDS - 1)] = word;
}

/* A frame with its marks; a function of its own for the verifier's sake.  0: there is no room. */
__noinline int word_frame(struct user_walk *u, u32 i)
{
	bool guess, exact;
	struct user_frame *f;

	if (!u)
		return 0;
	f = walk_frame(u, i);
	guess = f->ip & USER_IP_GUESSED && !u->guess_marked;
	exact = f->ip & USER_IP_EXACT && (i || u->interrupted);
	if (u->nr_words + guess + exact + 1 > STACKMAP_WORDS - 1) /* one is for how it ends */
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

static __always_inline enum frame_end walk_end(const struct user_walk *u)
{
	u32 stop = u->stop;

	if (stop == UNW_COMPLETE)
		return u->w.flags & UNW_GUESSED ? END_FALLBACK : END_COMPLETE;
	if (stop == UNW_DEPTH)
		return END_TRUNCATED;
	if (stop == UNW_UNREADABLE)
		return END_UNREADABLE;
	return stop == UNW_FAILED ? END_FAILED : END_NO_TABLE;
}

/* The frames with their marks, as frame.h has it. */
__noinline int user_words(struct user_walk *u)
{
	u32 i, n, end;

	if (!u)
		return 0;
	n = u->nr;
	u->nr_words = 0;
	u->guess_marked = 0;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_FRAMES; i++) {
		if (i >= n)
			break;
		if (!word_frame(u, i)) {
			u->stop = UNW_DEPTH;
			break;
		}
	}
	end = walk_end(u);
	if (end)
		word_add(u, FRAME_MARKER(FRAME_END, end));
	u->end = end;
	return 0;
}

#endif /* USER_BPF_H */
