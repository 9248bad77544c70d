// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* A tracepoint's kernel stack, in three ways: not at all, by the kernel, and by the walk. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "kwalk/kwalk.bpf.h"

/* Any GPL-compatible string: bpf_get_stack() is for such programs only. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Tracepoint programs do not nest on a CPU: the kernel drops the inner one. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kwalk_stack);
} stacks SEC(".maps");

__u64 frames, runs;

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
		frames += s->nr; /* for a mean: a few may get lost */
		runs++;
	}
	return 1;
}
