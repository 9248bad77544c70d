// SPDX-License-Identifier: GPL-2.0-only
/* Kernel stacks by the walk of src/kwalk, in the program of somebody else. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "kwalk/kwalk.bpf.h"
#include "walk_dropin.h"

char LICENSE[] SEC("license") = "GPL";

/* A sample may interrupt a tracepoint program. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct kwalk_stack);
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct place);
	__type(value, __u64);
} places SEC(".maps");

/* Walked stacks by tracepoint, by the line that names it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WALK_EVENTS);
	__type(key, __u32);
	__type(value, __u64);
} walked_at SEC(".maps");

SCRATCH_DEFINE(kernels, struct kwalk_stack, 2);

struct difference first;
__u64 through_modules; /* walked stacks */
__u64 empty; /* events in the kernel without a stack */

static __always_inline struct kwalk_stack *stack_of_cpu(__u32 which)
{
	return bpf_map_lookup_elem(&stacks, &which);
}

/* Where walks gave up. */
static __always_inline void note_place(struct kwalk_stack *s, __u64 ip)
{
	struct place p = { .ip = ip };
	__u64 one = 1, *n = bpf_map_lookup_elem(&places, &p);

	if (n)
		__sync_fetch_and_add(n, 1);
	else
		bpf_map_update_elem(&places, &p, &one, BPF_NOEXIST);
}

static __always_inline void note(struct kwalk_stack *s)
{
	if (s->stop != KWALK_DONE && s->stop != KWALK_STOP_OFF)
		note_place(s, s->ip);
	else if (s->modules)
		__sync_fetch_and_add(&through_modules, 1);
}

static __always_inline void note_event(__u32 line)
{
	__u64 *n = bpf_map_lookup_elem(&walked_at, &line);

	if (n)
		__sync_fetch_and_add(n, 1);
}

/* The walk was switched off meanwhile: s has bpf_get_stack()'s words, and is where the walk began. */
static __always_inline void note_difference(struct kwalk_stack *s)
{
	struct kernels_ref kernel = kernels_claim();

	if (!kernel.data)
		return;
	bpf_probe_read_kernel(kernel.data, sizeof(*s), s);
	kwalk_state.off = 0;
	kwalk_walk(s);
	kwalk_state.off = 1;
	/* Equal: it was another CPU's. */
	if (!first.by_kernel[0] && kwalk_compare(s, kernel.data)) {
		bpf_probe_read_kernel(first.by_walk, s->nr % WALK_FRAMES * 8, s->words);
		bpf_probe_read_kernel(first.by_kernel, kernel.data->nr % WALK_FRAMES * 8,
				      kernel.data->words);
	}
	kernels_release(&kernel);
}

SEC("tracepoint")
int at_event(void *ctx)
{
	struct kwalk_stack *s = stack_of_cpu(0);
	__u32 off = kwalk_state.off;

	if (!s)
		return 1;
	s->modules = 0;
	if (kwalk_tracepoint(ctx, s) <= 0)
		__sync_fetch_and_add(&empty, 1);
	note(s);
	if (s->stop == KWALK_DONE)
		note_event(bpf_get_attach_cookie(ctx));
	if (off != kwalk_state.off && kwalk_begin_tracepoint(ctx, s))
		note_difference(s);
	return 1;
}

SEC("perf_event")
int at_sample(struct bpf_perf_event_data *ctx)
{
	struct kwalk_stack *s = stack_of_cpu(1);
	__u32 off = kwalk_state.off;

	if (!s)
		return 0;
	s->modules = 0;
	kwalk_sample(ctx, s);
	note(s);
	if (off != kwalk_state.off && kwalk_begin_sample(ctx, s))
		note_difference(s);
	return 0;
}
