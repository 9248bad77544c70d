// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of one event with no stack, a stack alone, bpf_get_stackid() and the stack map.  One
 * program does one of them, as bench_mode says, so that switching between them has no side effects.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "stackmap/stackid.bpf.h"
#include "stackmap_bench.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__uint(value_size, STACKMAP_DEPTH * sizeof(__u64));
} bench_stackid SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stackmap_buf);
} bench_buf SEC(".maps");

__u32 bench_pid;
__u32 bench_mode;
__u64 bench_flags;
__u64 bench_failed;
long bench_frames;

static __always_inline int ours(void)
{
	return bpf_get_current_pid_tgid() >> 32 == bench_pid;
}

static __always_inline struct stackmap_buf *buffer(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&bench_buf, &zero);
}

static __always_inline int judge(long result)
{
	if (result < 0)
		__sync_fetch_and_add(&bench_failed, 1);
	return 0;
}

static __noinline int do_stack(void *ctx)
{
	struct stackmap_buf *b;
	long len;

	b = buffer();
	if (!b)
		return 0;
	len = bpf_get_stack(ctx, b->w, STACKMAP_DEPTH * sizeof(__u64), bench_flags);
	if (len > 0 && len >> 3 > bench_frames)
		bench_frames = len >> 3;
	return judge(len);
}

/* The same with room for 32 frames: the cost of clearing the rest of the buffer. */
static __noinline int do_stack32(void *ctx)
{
	struct stackmap_buf *b;

	b = buffer();
	if (!b)
		return 0;
	return judge(bpf_get_stack(ctx, b->w, 32 * sizeof(__u64), bench_flags));
}

static __noinline int do_map(void *ctx)
{
	struct stackmap_buf *b;
	long len;

	b = buffer();
	if (!b)
		return 0;
	len = bpf_get_stack(ctx, b->w, STACKMAP_DEPTH * sizeof(__u64), bench_flags);
	if (len <= 0)
		return judge(-1);
	return judge(stackmap_get(b, (__u32)len / sizeof(__u64), 0));
}

static __noinline int do_dropin(void *ctx)
{
	return judge(stackmap_get_stackid(ctx, bench_flags));
}

static __noinline int do_stackid(void *ctx)
{
	return judge(bpf_get_stackid(ctx, &bench_stackid, bench_flags));
}

SEC("raw_tp")
int bench_event(void *ctx)
{
	if (!ours())
		return 0;
	switch (bench_mode) {
	case BENCH_STACK:
		return do_stack(ctx);
	case BENCH_STACK32:
		return do_stack32(ctx);
	case BENCH_MAP:
		return do_map(ctx);
	case BENCH_DROPIN:
		return do_dropin(ctx);
	case BENCH_STACKID:
		return do_stackid(ctx);
	default:
		return 0;
	}
}

/* The parts alone, warm, in a long loop: run by BPF_PROG_TEST_RUN. */
__u32 bench_words;
__u32 bench_loops;

SCRATCH_DEFINE(bench_work, struct stackmap_buf, 2)

static long loop_nothing(__u32 i, void *ctx)
{
	return buffer() ? 0 : 1;
}

static long loop_hash(__u32 i, void *ctx)
{
	struct stackmap_buf *b = buffer();
	__u32 n = bench_words;

	if (!b)
		return 1;
	b->w[0] ^= stackmap_hash(b->w, n, 1) & 1;
	return 0;
}

static long loop_hit(__u32 i, void *ctx)
{
	struct stackmap_buf *b = buffer();

	return !b || stackmap_get(b, bench_words, 0) <= 0;
}

static long loop_hit_call(__u32 i, void *ctx)
{
	struct stackmap_buf *b = buffer();

	return !b || stackmap_get_call(b, bench_words, 0) <= 0;
}

static long loop_claim(__u32 i, void *ctx)
{
	struct bench_work_ref r = bench_work_claim();

	if (!r.data)
		return 1;
	bench_work_release(&r);
	return 0;
}

static __always_inline int loop(void *callback)
{
	struct stackmap_buf *b = buffer();
	__u32 i;

	if (!b)
		return 0;
	for (i = 0; i < STACKMAP_WORDS; i++)
		b->w[i] = 0xffffffff81000000ULL + i * 0x1234;
	return bpf_loop(bench_loops, callback, NULL, 0);
}

#define LOOP(name)                                \
	SEC("raw_tp") int bench_##name(void *ctx) \
	{                                         \
		return loop(name);                \
	}
LOOP(loop_nothing)
LOOP(loop_hash)
LOOP(loop_hit)
LOOP(loop_hit_call)
LOOP(loop_claim)
