/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwinds the user stack of the current task frame by frame with the unwind tables of the mapped
 * files, and turns it into words for the stack map.
 */
#ifndef USER_WALK_BPF_H
#define USER_WALK_BPF_H

#include "user_step.bpf.h"

/* ---- threads --------------------------------------------------------------------------------- */

static __always_inline bool thread_is(const struct user_thread *t, const struct task_struct *task,
				      u64 mm)
{
	return t->tid == (u32)task->pid && t->mm == mm && t->started == task->start_boottime &&
	       t->exec_id == task->self_exec_id;
}

/*
 * Claims the slot of the current thread for this program; a thread without a slot replaces another
 * one.  NULL: programs nest too deep, or too many threads use this set at the same time.
 */
static __always_inline struct user_thread *thread_claim(const struct task_struct *task, u64 mm)
{
	u32 tid = task->pid, set = (tid ^ tid >> 10) & user_thread_mask, i, way;
	struct user_threads *ts = bpf_map_lookup_elem(&threads, &set);
	struct user_thread *t;

	if (!ts)
		return NULL;
	way = bpf_ktime_get_ns() >> 6; /* a random one */
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

/* ---- the walk -------------------------------------------------------------------------------- */

/*
 * Whether execve(2) has installed the new mm but not the new registers: the old ip does not follow
 * a system call instruction in the new mm.
 */
static __always_inline bool regs_are_old(const struct task_struct *task, u64 ip)
{
	u16 insn = 0;

	if (!bpf_core_field_exists(task->in_execve) || !BPF_CORE_READ_BITFIELD(task, in_execve))
		return false;
	return bpf_probe_read_user(&insn, sizeof(insn), (void *)(ip - 2)) || insn != ARCH_CALL_INSN;
}

/* Sets u->returns to the running task's calls whose returns are probed. */
static __always_inline void user_returns(struct user_walk *u, const struct task_struct *task)
{
	u->returns = 0;
	task = task_plain(task);
	if (!bpf_core_field_exists(task->utask) || !task->utask || !task->utask->return_instances ||
	    !task->mm->uprobes_state.xol_area)
		return;
	u->returns = (u64)task->utask->return_instances;
	u->trampoline = task->mm->uprobes_state.xol_area->vaddr;
}

/* Loads the user registers; false: there are none (kernel thread or new task), or they are old. */
static __always_inline bool user_regs(struct user_walk *u, const struct task_struct *task)
{
	const struct pt_regs *r = (void *)bpf_task_pt_regs((void *)task);
	struct unw_walk *w = &u->w;

	u->mm = (u64)task_plain(task)->mm;
	if (!u->mm || !ARCH_REGS_OF_USER(r) ||
	    !(r->ARCH_REG_IP | r->ARCH_REG_SP)) /* io_uring workers */
		return false;
	UNW_FROM_PT_REGS(w->regs, r);
	w->ip = r->ARCH_REG_IP;
	w->sp = w->regs[UNW_REG_SP];
	w->fp = w->regs[UNW_REG_FP];
	w->bx = w->regs[UNW_REG_BX];
	w->fp_at = 0;
	w->bx_at = 0;
	w->fp_read = 0;
	w->x_at = 0;
	w->flags = UNW_EXACT;
	u->interrupted = (s64)r->ARCH_REG_CALL < 0;
	u->stop = UNW_GO;
	user_returns(u, task);
	if (!ARCH_REGS_64(r))
		u->stop = UNW_FAILED;
	return !regs_are_old(task, w->ip);
}

/* Remembers the stack for the next walk of the thread. */
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

#define APPEND_FRAMES 8

/* Copies up to APPEND_FRAMES of nr frames, see join_frames(). */
__noinline int walk_copy(struct user_walk *u, struct user_thread *t, u32 to, u32 from, u32 nr)
{
	u32 i;

	if (!u || !t)
		return 0;
#pragma clang loop unroll(disable)
	for (i = 0; i < APPEND_FRAMES; i++) {
		if (i >= nr)
			break;
		*walk_frame(u, to + i) = *thread_frame(t, from + i);
	}
	return 0;
}

/* Appends the frames of the remembered stack from the one where the walk joined it. */
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
	for (i = 0; i < USER_FRAMES; i += APPEND_FRAMES) {
		if (i >= left)
			break;
		walk_copy(u, t, n + i, m + i, left - i);
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
 * Walks the stack.  1: it is the whole remembered stack, which walk_append() copies if needed; 0:
 * it is in u->frame, u->nr and u->stop.
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

/* ---- the stack's words ----------------------------------------------------------------------- */

static __always_inline void word_add(struct user_walk *u, u64 word)
{
	u32 n = u->nr_words;

	u->nr_words = n + 1;
	asm volatile("" : "+r"(n));
	u->words.w[n & (STACKMAP_WORDS - 1)] = word;
}

/* Appends a frame with its markers; 0: no room.  A function to limit the verifier's work. */
__noinline int word_frame(struct user_walk *u, u32 i)
{
	bool guess, exact;
	struct user_frame *f;

	if (!u)
		return 0;
	f = walk_frame(u, i);
	guess = f->ip & USER_IP_GUESSED && !u->guess_marked;
	exact = f->ip & USER_IP_EXACT && (i || u->interrupted);
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

/* Converts the frames to words with markers, see frame.h. */
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
	end = unw_stack_end(u->stop, u->w.flags);
	if (end)
		word_add(u, FRAME_MARKER(FRAME_END, end));
	u->end = end;
	return 0;
}

#endif /* USER_WALK_BPF_H */
