// SPDX-License-Identifier: GPL-2.0-only
/*
 * A native event in a loop, for `./run bench loop`: the front of raw_syscalls:sys_enter and the
 * ends, run by BPF_PROG_TEST_RUN without any event.  The source of the recorder is included.
 *
 * A program that is run this way is not called by bpf_trace_runN(), so the start of its stack is
 * replaced: it is the frame of this program, which has a tail call so that its frame is on the
 * kernel's stack.  What bpf_get_stack() says begins elsewhere, so nothing is compared with it.
 */
#include "bpf/state.bpf.h"

/* By CPU, a cache line each: what stands for the context, whose place on the stack is known. */
u64 loop_ctx[WIRE_MAX_CPUS][8];

static __always_inline void *loop_own(void)
{
	return (void *)loop_ctx[bpf_get_smp_processor_id() & (WIRE_MAX_CPUS - 1)][0];
}

/* The saved rbp lies there. */
static __always_inline bool loop_begin(struct kwalk_stack *s, u32 first)
{
	kwalk_begin_noted(loop_own(), s, first);
	s->bp_at = (u64)loop_own();
	return true;
}

#define kwalk_begin_noted(ctx, s, first) kwalk_begin_noted(loop_own(), s, first)
#define kwalk_recall_noted(ctx, ...) kwalk_recall_noted((u64)loop_own(), __VA_ARGS__)
#define kwalk_begin_raw_noting(ctx, s, first) loop_begin(s, *(first))
#define kwalk_check(ctx, s, start) KWALK_AGREED
#define kwalk_by_kernel(ctx, s, start) 0

#include "bpf/record.bpf.c"
#include "loop.h"

static __noinline int loop_nothing(struct bpf_raw_tracepoint_args *ctx)
{
	barrier();
	return ctx->args[1];
}

static __noinline int loop_event(struct bpf_raw_tracepoint_args *ctx)
{
	return native_begin(ctx, 0, NATIVE_IRQS_ON, NATIVE_ENTER);
}

/* Returns the ns of LOOP_EVENTS events. */
SEC("raw_tp")
int loop(struct bpf_raw_tracepoint_args *ctx)
{
	u64 *own = loop_ctx[bpf_get_smp_processor_id() & (WIRE_MAX_CPUS - 1)], frame, start, none;
	struct event_counts *c = event_counts(0);
	u32 i;

	if (!c) {
		bpf_tail_call_static(ctx, &tails, WIRE_TAIL_END);
		return 0;
	}
	asm volatile("%0 = r10" : "=r"(frame));
	*(volatile u64 *)own = frame;
	c->first = 8; /* the return address */
	start = bpf_ktime_get_ns();
	for (i = 0; i < LOOP_EVENTS; i++)
		loop_nothing(ctx);
	none = bpf_ktime_get_ns() - start;
	start = bpf_ktime_get_ns();
	for (i = 0; i < LOOP_EVENTS; i++)
		loop_event(ctx);
	return bpf_ktime_get_ns() - start - none;
}
