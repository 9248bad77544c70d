/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Scratch memory for BPF programs that nest: each CPU has a few slots, which programs claim one by
 * one.
 *
 * A nest counter would be wrong: programs that can be preempted (uprobes, fentry, anything under
 * PREEMPT_RT) do not leave in the reverse order of entry.  So each slot has its own busy word,
 * which a program takes by an atomic exchange.  BPF programs do not migrate while they run, so a
 * slot is only ever contended on its own CPU, and a plain store releases it.
 *
 *	SCRATCH_DEFINE(work, struct work, 2);		// 1 << 2 slots per CPU
 *
 *	struct work_ref r = work_claim();
 *	if (!r.data)
 *		return 0;				// all busy: count it
 *	... r.data is a struct work *, not cleared ...
 *	work_release(&r);
 *
 * Not covered: since Linux 6.13 (a76ab5731e32 "bpf: Find eligible subprogs for private stack
 * support") functions with 64 bytes of BPF stack or more have one stack per CPU, although a uprobe
 * program can be preempted by another run of itself.  From 6.15 on, wrap the work of such a program
 * in bpf_preempt_disable() and _enable(); before, a program that calls global functions may not.
 *
 * All slots of a CPU together must stay below the per-CPU allocator's limit of 32 KiB.
 */
#ifndef SCRATCH_BPF_H
#define SCRATCH_BPF_H

#include <bpf/bpf_helpers.h>

#define SCRATCH_DEFINE(name, type_, log2_slots)                                             \
	_Static_assert((log2_slots) >= 0 && (log2_slots) <= 2, "1, 2 or 4 slots");          \
	struct name##_scratch {                                                             \
		__u32 busy[4];                                                              \
		__u64 pad[6];                                                               \
		type_ data[1 << (log2_slots)];                                              \
	};                                                                                  \
	_Static_assert(sizeof(struct name##_scratch) <= 32768, "per-CPU allocation limit"); \
	struct name##_ref {                                                                 \
		type_ *data;                                                                \
		__u32 *busy;                                                                \
	};                                                                                  \
	struct {                                                                            \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);                                    \
		__uint(max_entries, 1);                                                     \
		__type(key, __u32);                                                         \
		__type(value, struct name##_scratch);                                       \
	} name##_scratch SEC(".maps");                                                      \
	static __always_inline struct name##_ref name##_claim(void)                         \
	{                                                                                   \
		struct name##_ref r = {};                                                   \
		__u32 zero = 0, i;                                                          \
		struct name##_scratch *s = bpf_map_lookup_elem(&name##_scratch, &zero);     \
                                                                                            \
		if (!s)                                                                     \
			return r;                                                           \
		i = scratch_claim(s->busy, log2_slots);                                     \
		if (i >> (log2_slots))                                                      \
			return r;                                                           \
		r.data = &s->data[i];                                                       \
		/* or the parts of the address are kept on the stack */                     \
		__asm__ __volatile__("" : "+r"(r.data));                                    \
		r.busy = &s->busy[i];                                                       \
		return r;                                                                   \
	}                                                                                   \
	static __always_inline void name##_release(struct name##_ref *r)                    \
	{                                                                                   \
		__asm__ __volatile__("" ::: "memory");                                      \
		*(volatile __u32 *)r->busy = 0;                                             \
	}

/*
 * Claims a free slot and returns its index, or 4.  The index is computed from what was read, not
 * counted: the verifier then sees one unknown index instead of a path for each slot.
 */
static __always_inline __u32 scratch_claim(__u32 *busy, __u32 log2_slots)
{
	volatile __u32 *b = busy;
	__u32 used, free, i, tries;

	/* An interrupt may take a slot between the read and the exchange: look again. */
#pragma clang loop unroll(disable)
	for (tries = 0; tries < 8; tries++) {
		used = b[0] | b[1] << 1 | b[2] << 2 | b[3] << 3;
		free = ~used & (used + 1); /* lowest clear bit: 1, 2, 4, 8 or 16 */
		i = (free >> 1) - (free >> 3) - (free >> 3 & 2);
		if (i >> log2_slots)
			return 4;
		i &= (1u << log2_slots) - 1;
		if (!__sync_lock_test_and_set(&busy[i], 1))
			return i;
	}
	return 4;
}

#endif /* SCRATCH_BPF_H */
