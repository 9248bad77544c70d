// SPDX-License-Identifier: GPL-2.0-only
/* Programs of the stack map's live tests: look up stacks that the test crafts, at getppid(). */
#include <linux/bpf.h>
#include <asm/ptrace.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "stackmap/stackid.bpf.h"
#include "stackmap_live.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, LIVE_RING);
} live_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__uint(value_size, STACKMAP_DEPTH * sizeof(__u64));
} live_stackid SEC(".maps");

const volatile int live_nr; /* number of the system call to trace */
__u32 live_pid;
__u64 live_ring_full;
__u64 live_busy;
__u64 live_stackid_failed;
__u32 live_inside[LIVE_CPUS]; /* live_get() is running on that CPU */
__u64 live_nested; /* timer samples that interrupted it */

static __noinline int emit(__u32 stack, __s64 id)
{
	struct live_event *e = bpf_ringbuf_reserve(&live_ring, sizeof(*e), 0);

	if (!e) {
		__sync_fetch_and_add(&live_ring_full, 1);
		return 0;
	}
	e->tid = (__u32)bpf_get_current_pid_tgid();
	e->stack = stack;
	e->id = id;
	e->cpu = bpf_get_smp_processor_id();
	e->pad = 0;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

/* The number of the crafted stack, first argument of the call; -1: a call of another process. */
static __always_inline long wanted(struct bpf_raw_tracepoint_args *ctx)
{
	struct pt_regs *regs = (void *)ctx->args[0];
	unsigned long arg = 0;

	if (!live_pid || bpf_get_current_pid_tgid() >> 32 != live_pid || ctx->args[1] != live_nr)
		return -1;
	if (bpf_probe_read_kernel(&arg, sizeof(arg), &PT_REGS_PARM1_SYSCALL(regs)))
		return -1;
	return (__u32)arg;
}

SCRATCH_DEFINE(live_work, struct stackmap_buf, 2)

SEC("raw_tp/sys_enter")
int live_get(struct bpf_raw_tracepoint_args *ctx)
{
	struct live_work_ref r;
	__u32 cpu = bpf_get_smp_processor_id() & (LIVE_CPUS - 1);
	long stack = wanted(ctx), len, id = -LIVE_NO_STACK;

	if (stack < 0)
		return 0;
	*(volatile __u32 *)&live_inside[cpu] = 1;
	r = live_work_claim();
	if (!r.data) {
		__sync_fetch_and_add(&live_busy, 1);
		return 0;
	}
	len = bpf_get_stack(ctx, r.data->w, STACKMAP_DEPTH * sizeof(__u64), BPF_F_USER_STACK);
	if (len > 0)
		id = stackmap_get(r.data, (__u32)len / sizeof(__u64), 0);
	live_work_release(&r);
	*(volatile __u32 *)&live_inside[cpu] = 0;
	emit(stack, id);
	return 0;
}

/*
 * Timer interrupts that look up the interrupted stack: often they interrupt live_get() itself, in
 * the middle of storing the very same user stack.
 */
SEC("perf_event")
int live_tick(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id() & (LIVE_CPUS - 1);
	struct live_work_ref r;
	long len, id = -LIVE_NO_STACK;

	if (!live_pid || bpf_get_current_pid_tgid() >> 32 != live_pid)
		return 0;
	if (bpf_ringbuf_query(&live_ring, BPF_RB_AVAIL_DATA) > LIVE_RING / 2)
		return 0; /* the rest is for live_get(): a thread that waits long has many ticks */
	r = live_work_claim();
	if (!r.data) {
		__sync_fetch_and_add(&live_busy, 1);
		return 0;
	}
	if (live_inside[cpu])
		__sync_fetch_and_add(&live_nested, 1);
	len = bpf_get_stack(ctx, r.data->w, STACKMAP_DEPTH * sizeof(__u64), BPF_F_USER_STACK);
	if (len > 0)
		id = stackmap_get(r.data, (__u32)len / sizeof(__u64), 0);
	live_work_release(&r);
	emit(LIVE_TICK, id);
	return 0;
}

SEC("raw_tp/sys_enter")
int live_dropin(struct bpf_raw_tracepoint_args *ctx)
{
	long stack = wanted(ctx);

	if (stack >= 0)
		emit(stack, stackmap_get_stackid(ctx, BPF_F_USER_STACK));
	return 0;
}

/* Counts what the kernel's own map loses of the same stacks. */
SEC("raw_tp/sys_enter")
int live_theirs(struct bpf_raw_tracepoint_args *ctx)
{
	long stack = wanted(ctx);

	if (stack < 0)
		return 0;
	if (bpf_get_stackid(ctx, &live_stackid, BPF_F_USER_STACK) < 0)
		__sync_fetch_and_add(&live_stackid_failed, 1);
	return 0;
}

/*
 * A program that sleeps with its scratch memory claimed, until user space wakes it: the second half
 * of the words is on a page that userfaultfd holds back.  Programs of one CPU therefore leave in
 * any order.  LIVE_NEST_COUNTER selects what must fail: slots by a nest counter.
 *
 * Linux 6.13 to date (a76ab5731e32 "bpf: Find eligible subprogs for private stack support") gives
 * functions with 64 bytes of BPF stack or more one stack per CPU, although uprobe programs can be
 * preempted: they overwrite what the other has spilled.  This program therefore stays below 64
 * bytes, and lookup and event are calls.
 */
#ifdef LIVE_NEST_COUNTER
struct nest {
	__u32 level;
	struct stackmap_buf buf[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nest);
} live_nest SEC(".maps");
#endif

SEC("uprobe.s")
int live_sleep(struct pt_regs *ctx)
{
	__u32 stack = PT_REGS_PARM1(ctx);
	const void *first = (const void *)PT_REGS_PARM2(ctx);
	const void *second = (const void *)PT_REGS_PARM3(ctx);
	struct stackmap_buf *b;
	long id = -LIVE_NO_STACK;
#ifdef LIVE_NEST_COUNTER
	__u32 zero = 0;
	struct nest *nest = bpf_map_lookup_elem(&live_nest, &zero);

	if (!nest)
		return 0;
	b = &nest->buf[__sync_fetch_and_add(&nest->level, 1) & 3];
#else
	struct live_work_ref r = live_work_claim();

	if (!r.data) {
		__sync_fetch_and_add(&live_busy, 1);
		return 0;
	}
	b = r.data;
#endif
	if (!bpf_copy_from_user(b->w, LIVE_HALF * sizeof(__u64), first) &&
	    !bpf_copy_from_user(b->w + LIVE_HALF, LIVE_HALF * sizeof(__u64), second))
		id = stackmap_get_call(b, 2 * LIVE_HALF, 0);
#ifdef LIVE_NEST_COUNTER
	__sync_fetch_and_add(&nest->level, -1);
#else
	live_work_release(&r);
#endif
	emit(stack, id);
	return 0;
}
