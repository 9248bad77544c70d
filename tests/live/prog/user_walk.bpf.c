// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk of user stacks alone.  The programs are never attached: user_walk.c runs them by
 * BPF_PROG_TEST_RUN, whose system call is what the stack ends in.
 */
#include "state.bpf.h"
#include "user_stack.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* The last walk: its time, how it ended, its id in the stack map, and whether it was no walk. */
u64 last_ns = 0;
u32 last_result = 0, last_end = 0, last_stack = 0, last_known = 0;

static __always_inline struct scratch *work(void)
{
	u32 zero = 0;
	struct cpu_scratch *c = bpf_map_lookup_elem(&scratches, &zero);

	return c ? &c->slot[0] : NULL;
}

/* Walks the stack of the caller. */
SEC("raw_tp")
int walk(void *ctx)
{
	struct scratch *s = work();
	u64 start;

	if (!s)
		return 0;
	start = bpf_ktime_get_ns();
	if (!user_known_call(s))
		user_stack_walk(s);
	last_ns = bpf_ktime_get_ns() - start;
	last_end = s->user.end;
	last_stack = s->ustack;
	last_known = s->user.known;
	return 0;
}

/* For user_pages__find(). */
SEC("raw_tp")
int locate_pages(void *ctx)
{
	page_search_on((void *)bpf_get_current_task_btf());
	return 0;
}

/* Two readings of the clock, as `walk` has them. */
SEC("raw_tp")
int nothing(void *ctx)
{
	u64 start = bpf_ktime_get_ns();

	last_ns = bpf_ktime_get_ns() - start;
	return 0;
}

/* The id of the file that the caller maps at an address. */
SEC("raw_tp")
int intern(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct scratch *s = work();

	last_result = 0;
	if (!s || !task->mm)
		return 0;
	s->user.mm = (u64)task->mm;
	s->user.file_events_left = 0;
	s->user.event = FULL_NO_EVENT;
	if (!area_find(&s->user, ctx->args[0]))
		last_result = file_id(&s->user, ctx->args[0]);
	return 0;
}
