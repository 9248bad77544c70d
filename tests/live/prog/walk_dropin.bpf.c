// SPDX-License-Identifier: GPL-2.0-only
/* Kernel stacks by the walk of src/kwalk, in the program of another project. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "kwalk/kwalk.bpf.h"
#include "walk_dropin.h"

char LICENSE[] SEC("license") = "GPL";

/* Samples and programs at raw tracepoints may interrupt other programs. */
SCRATCH_DEFINE(stacks, struct kwalk_stack, 2);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct place);
	__type(value, __u64);
} places SEC(".maps");

/* Keyed by a hash of the words of the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, struct seen);
} seen SEC(".maps");

/* Walked stacks of TRACEPOINT programs, by the line of the event. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WALK_LINES);
	__type(key, __u32);
	__type(value, __u64);
} lines SEC(".maps");

SCRATCH_DEFINE(kernels, struct kwalk_stack, 2);

struct difference first;
__u64 through_modules; /* walked stacks */
__u64 empty; /* events in the kernel without a stack */
__u64 failed; /* bpf_get_stack() failed: it interrupted another walk */
__u64 no_room; /* more than four at a time */
__u64 walked_at[KINDS];
__u64 not_begun[KINDS]; /* walks that were not started */

/* Counts the places where walks gave up. */
static __always_inline void note_place(struct kwalk_stack *s, __u64 ip)
{
	struct place p = { .ip = ip };
	__u64 one = 1, *n = bpf_map_lookup_elem(&places, &p);

	if (n)
		__sync_fetch_and_add(n, 1);
	else
		bpf_map_update_elem(&places, &p, &one, BPF_NOEXIST);
}

/* At an event with programs of both types, both must get the same stacks. */
__attribute__((noinline)) int note_stack(struct kwalk_stack *s, __u32 kind)
{
	struct seen none = { 0 }, *there;
	__u64 hash = 14695981039346656037ull;
	__u32 i;

	if (!s || kind > AT_RAW || !s->nr || s->nr >= KWALK_MAX_FRAMES - 8)
		return 0;
	KWALK_LOOP
	for (i = 0; i < KWALK_MAX_FRAMES; i++) {
		if (i >= s->nr)
			break;
		hash = (hash ^ s->words[i]) * 1099511628211ull;
	}
	bpf_map_update_elem(&seen, &hash, &none, BPF_NOEXIST);
	there = bpf_map_lookup_elem(&seen, &hash);
	if (there)
		__sync_fetch_and_add(&there->nr[kind & AT_RAW], 1);
	return 0;
}

static __always_inline void note(struct kwalk_stack *s, enum kind kind)
{
	if (s->stop == KWALK_DONE)
		__sync_fetch_and_add(&walked_at[kind], 1);
	else if (s->stop != KWALK_STOP_OFF)
		note_place(s, s->ip);
	else
		__sync_fetch_and_add(&not_begun[kind], 1);
	if (s->stop == KWALK_DONE && s->modules)
		__sync_fetch_and_add(&through_modules, 1);
}

static __always_inline void note_line(__u32 line)
{
	__u64 *n = bpf_map_lookup_elem(&lines, &line);

	if (n)
		__sync_fetch_and_add(n, 1);
}

/*
 * Called while the walk is switched off: s has bpf_get_stack()'s words and the start of the walk.
 */
static __always_inline void note_difference(struct kwalk_stack *s)
{
	struct kernels_ref kernel = kernels_claim();

	if (!kernel.data)
		return;
	bpf_probe_read_kernel(kernel.data, sizeof(*s), s);
	kwalk_state.off = 0;
	kwalk_walk(s);
	kwalk_state.off = 1;
	/* If they are equal, the difference was on another CPU. */
	if (!first.by_kernel[0] && kwalk_compare(s, kernel.data)) {
		bpf_probe_read_kernel(first.by_walk, s->nr % WALK_FRAMES * 8, s->words);
		bpf_probe_read_kernel(first.by_kernel, kernel.data->nr % WALK_FRAMES * 8,
				      kernel.data->words);
	}
	kernels_release(&kernel);
}

/* Inline, because only the program itself may pass its context to bpf_get_stack(). */
static __always_inline void look(void *ctx, enum kwalk_start start, enum kind kind)
{
	struct stacks_ref r = stacks_claim();
	__u32 off = kwalk_state.off, line = 0;
	long n;

	if (!r.data) {
		__sync_fetch_and_add(&no_room, 1);
		return;
	}
	r.data->modules = 0;
	n = kwalk_any(ctx, r.data, start);
	if (n < 0)
		__sync_fetch_and_add(&failed, 1);
	else if (!n && kind != AT_SAMPLE)
		__sync_fetch_and_add(&empty, 1);
	note(r.data, kind);
	if (kind == AT_EVENT)
		line = bpf_get_attach_cookie(ctx);
	if (!(line & WALK_NO_RAW))
		note_stack(r.data, kind);
	if (kind == AT_EVENT && r.data->stop == KWALK_DONE)
		note_line(line & (WALK_LINES - 1));
	if (off != kwalk_state.off && kwalk_begin(ctx, r.data, start))
		note_difference(r.data);
	stacks_release(&r);
}

SEC("tracepoint")
int at_event(void *ctx)
{
	look(ctx, KWALK_TRACEPOINT, AT_EVENT);
	return 1;
}

SEC("raw_tp")
int at_raw(void *ctx)
{
	look(ctx, KWALK_RAW, AT_RAW);
	return 0;
}

SEC("kprobe")
int at_function(struct pt_regs *ctx)
{
	look(ctx, KWALK_REGISTERS, AT_FUNCTION);
	return 0;
}

SEC("perf_event")
int at_sample(struct bpf_perf_event_data *ctx)
{
	look(ctx, KWALK_REGISTERS, AT_SAMPLE);
	return 0;
}
