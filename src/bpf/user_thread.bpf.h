/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User stacks: the slots in which threads are remembered.
 */
#ifndef USER_THREAD_BPF_H
#define USER_THREAD_BPF_H

#include "user_lookup.bpf.h"

static __always_inline struct user_frame *frame_at(struct user_thread *t, u32 i)
{
	asm volatile("" : "+r"(i));
	return &t->frame[i & (2 * USER_FRAMES - 1)];
}

static __always_inline bool thread_is(const struct user_thread *t, const struct task_struct *task,
				      u64 mm)
{
	return t->mm == mm && t->started == task->start_boottime &&
	       t->exec_id == task->self_exec_id;
}

static __always_inline struct user_threads *thread_set(u32 tid)
{
	u32 set = (tid ^ tid >> 10) & user_thread_mask;

	return bpf_map_lookup_elem(&threads, &set);
}

_Static_assert(USER_WAYS == 4 && USER_KNOWN == 4, "four_find() looks at four");

/*
 * The first of four words that is this one; 4: none is.  Without branches, each of which the
 * verifier would follow.
 */
static __always_inline u32 four_find(const u64 *words, u64 word)
{
	u64 other = 1, i = 0;
	u32 n;

#pragma clang loop unroll(full)
	for (n = 0; n < 4; n++) {
		u64 x = *(volatile u64 *)&words[n] ^ word;

		x |= -x;
		asm volatile("" : "+r"(x)); /* or clang makes branches of it */
		other &= x >> 63; /* 1: x was not 0 */
		i += other;
	}
	return i;
}

static __always_inline struct user_thread *thread_at(struct user_threads *ts, u32 way)
{
	asm volatile("" : "+r"(way));
	return &ts->way[way & (USER_WAYS - 1)];
}

static __always_inline bool thread_lock(struct user_thread *t)
{
	return !__sync_lock_test_and_set(&t->busy, 1);
}

static __always_inline void thread_unlock(struct user_thread *t)
{
	barrier();
	*(volatile u32 *)&t->busy = 0;
}

/*
 * Claims the slot of the current thread for this program; a thread without a slot replaces another
 * one.  NULL: programs nest too deep, or too many threads use this set at the same time.
 */
static __always_inline struct user_thread *thread_claim(const struct task_struct *task, u64 mm)
{
	u32 tid = task->pid, i, way;
	struct user_threads *ts = thread_set(tid);

	if (!ts)
		return NULL;
	way = four_find(ts->tid, tid);
	if (way == USER_WAYS)
		way = four_find(ts->tid, 0);
	if (way == USER_WAYS)
		way = bpf_ktime_get_ns() >> 6; /* a random one */
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_WAYS; i++) {
		u32 at = way + i;
		struct user_thread *t = thread_at(ts, at);

		if (!thread_lock(t))
			continue;
		asm volatile("" : "+r"(at));
		at &= USER_WAYS - 1;
		if (ts->tid[at] != tid || !thread_is(t, task, mm)) {
			ts->tid[at] = tid;
			t->mm = mm;
			t->started = task->start_boottime;
			t->exec_id = task->self_exec_id;
			t->nr_vmas = 0;
			t->nr_frames = 0;
			known_forget(t, ~0u);
			t->vmas = 0;
			t->stack_hi = 0;
			t->stack_link.vma = 0;
			t->extent = 0;
#pragma clang loop unroll(disable)
			for (at = 0; at < USER_VMAS; at++)
				thread_vma(t, at)->end = 0;
		}
		return t;
	}
	return NULL;
}

#endif /* USER_THREAD_BPF_H */
