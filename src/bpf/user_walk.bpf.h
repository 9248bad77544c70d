/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwinds the user stack of the current task frame by frame with the unwind tables of the mapped
 * files, and turns it into words for the stack map.
 */
#ifndef USER_WALK_BPF_H
#define USER_WALK_BPF_H

#include "user_run.bpf.h"

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
	u32 at = (u64)r - (u64)task->stack;

	if (user_regs_at != at)
		user_regs_at = at;
	u->mm = (u64)task_plain(task)->mm;
	if (!u->mm || !ARCH_REGS_OF_USER(r) ||
	    !(r->ARCH_REG_IP | r->ARCH_REG_SP)) /* io_uring workers */
		return false;
	u->has_regs = 0;
	w->ip = r->ARCH_REG_IP;
	w->sp = r->ARCH_REG_SP;
	w->fp = r->ARCH_REG_FP;
	w->bx = r->ARCH_REG_BX;
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
	t->base = u->base;
	t->first = u->first;
	t->raw = u->raw;
	t->vmas = u->vmas;
	t->interrupted = u->interrupted;
	t->guessed = u->w.flags & UNW_GUESSED;
	t->seq = u->seq;
	t->generation = u->generation;
	t->epoch = u->epoch;
	t->top = u->top;
	t->kept = 0;
	t->nr_frames = n;
	extent = u->top + 8 - walk_frame(u, t, 0)->sp;
	t->extent = extent < USER_WINDOW * 8 ? (extent + 127) & ~63u : 0;
}

/* Appends the words of frames of the remembered stack; false: that was all. */
__noinline int append_words(struct user_walk *u, struct user_thread *t, u32 from, u32 to)
{
	u32 i;

	if (!u || !t)
		return 0;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_AT_ONCE; i++) {
		const struct user_frame *f = old_frame(u, t, from + i);

		if (from + i >= to)
			return 0;
		if (!(f->ip >> USER_IP_BITS) && u->nr_words < STACKMAP_WORDS - 1) {
			word_add(u, f->word);
		} else if (!word_frame(u, f, from + i + u->nr - u->join)) {
			u->stop = UNW_DEPTH;
			return 0;
		}
	}
	return 1;
}

/* Copies frames within the ring. */
__noinline int copy_frames(struct user_thread *t, u32 to, u32 from, u32 nr)
{
	u32 i;

	if (!t)
		return 0;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_AT_ONCE; i++) {
		if (i >= nr)
			break;
		*frame_at(t, to + i) = *frame_at(t, from + i);
	}
	return 0;
}

/*
 * Makes one stack of the walk's frames and of those of the remembered stack from m on.  The fewer
 * are copied to the others, in front of the latter if the ring has room there.
 */
static __always_inline void append_frames(struct user_walk *u, struct user_thread *t, u32 m,
					  u32 left)
{
	u32 n = u->nr, i, nr = left, from = u->old + m, to = u->base + n;

	if (n < left && 2 * n + left <= 2 * USER_FRAMES) {
		nr = n;
		to = from - n;
		from = u->base;
		u->base = to;
	}
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_FRAMES; i += USER_AT_ONCE) {
		if (i >= nr)
			break;
		copy_frames(t, to + i, from + i, nr - i);
	}
	u->nr = n + left;
}

/* Appends the frames of the remembered stack from the one where the walk joined it. */
__noinline int walk_append(struct user_walk *u, struct user_thread *t)
{
	u32 n, m, left, i;

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
	for (i = 0; i < USER_FRAMES; i += USER_AT_ONCE)
		if (!append_words(u, t, m + i, m + left))
			break;
	append_frames(u, t, m, left);
	u->vmas |= t->vmas;
	if (u->top < t->top)
		u->top = t->top;
	if (t->first > m)
		u->first = n + t->first - m;
	if (t->raw > m)
		u->raw = n + t->raw - m;
	u->w.flags |= t->guessed;
	return 0;
}

/* Steps to callers, until something stops that; UNW_GO: there may be more. */
__noinline int user_steps(struct user_walk *u, struct user_thread *t)
{
	int stop;
	u32 i;

	if (!u || !t)
		return UNW_NO_RULE;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_AT_ONCE; i++) {
		if (user_run(u, t))
			continue;
		stop = user_next(u, t);
		if (stop)
			return stop;
	}
	return UNW_GO;
}

/*
 * Walks the stack.  1: it is the whole remembered stack, which walk_append() copies if needed; 0:
 * it is in u->words and u->stop.
 */
static __always_inline int user_unwind(struct user_walk *u, struct user_thread *t)
{
	int stop = UNW_GO;
	u32 i;

	if (t->nr_frames && (!u->stable || t->seq != u->seq || t->generation != u->generation ||
			     t->epoch != u->epoch)) {
		if (!user_check_vmas(u, t))
			t->nr_frames = 0;
		t->seq = u->seq;
		t->generation = u->generation;
		t->epoch = u->epoch;
	}
	u->valid = t->nr_frames ? t->vmas : 0;
	if (!u->filled)
		user_refill(u, u->w.sp); /* what comes first reads only the window */
	if (user_meets(u, t))
		stop = UNW_SPLICED;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_FRAMES && !stop; i += USER_AT_ONCE)
		stop = user_steps(u, t);
	u->stop = stop ?: UNW_DEPTH;
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

/* Sets u->end and appends its marker. */
static __always_inline void walk_end(struct user_walk *u)
{
	u32 end = unw_stack_end(u->stop, u->w.flags);

	if (end)
		word_add(u, FRAME_MARKER(FRAME_END, end));
	u->end = end;
}

#endif /* USER_WALK_BPF_H */
