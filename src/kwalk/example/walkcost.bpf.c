// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A tracepoint's kernel stack in four ways: not at all, by the kernel, by the walk, and by the walk
 * with a value remembered for the stack.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "kwalk/kwalk.bpf.h"

/* Any GPL-compatible string: the kernel reserves bpf_get_stack() for such programs. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Tracepoint programs do not nest on a CPU: the kernel drops the inner one. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kwalk_stack);
} stacks SEC(".maps");

__u64 frames, runs, forgotten; /* not atomic: only a mean is computed from them */

static __always_inline struct kwalk_stack *stack_of_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&stacks, &zero);
}

SEC("tracepoint")
int none(void *ctx)
{
	return !!stack_of_cpu();
}

SEC("tracepoint")
int kernel(void *ctx)
{
	struct kwalk_stack *s = stack_of_cpu();

	if (s)
		bpf_get_stack(ctx, s->words, KWALK_MAX_FRAMES * sizeof(*s->words), 0);
	return 1;
}

SEC("tracepoint")
int walk(void *ctx)
{
	struct kwalk_stack *s = stack_of_cpu();

	if (s && kwalk_tracepoint(ctx, s) > 0) {
		frames += s->nr;
		runs++;
	}
	return 1;
}

/* The value that a program computes for a stack, here its frames.  0: the walk gave up. */
static __always_inline __u64 value_of_stack(void *ctx, struct kwalk_stack *s)
{
	__u64 value;

	s->task = kwalk_task_stack();
	if (!kwalk_begin_tracepoint(ctx, s))
		return 0;
	value = kwalk_recall(s, 1);
	if (!value && kwalk_walk(s) == KWALK_DONE) {
		forgotten++;
		value = s->nr;
		kwalk_remember(s, value);
	}
	return value;
}

SEC("tracepoint")
int remembered(void *ctx)
{
	struct kwalk_stack *s = stack_of_cpu();
	__u64 value = s ? value_of_stack(ctx, s) : 0;

	if (value) {
		frames += value;
		runs++;
	} else if (s) {
		kwalk_by_kernel(ctx, s, KWALK_TRACEPOINT);
	}
	return 1;
}
