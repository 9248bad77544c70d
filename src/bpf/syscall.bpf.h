/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls.  The syscalls: events are not tracepoints; two pairs of programs on the
 * raw_syscalls tracepoints serve all of them.
 */
#ifndef SYSCALL_BPF_H
#define SYSCALL_BPF_H

#include <bpf/bpf_tracing.h>

#include "event.bpf.h"
#include "nested.bpf.h"
#include "stack.bpf.h"

static __always_inline u32 syscall_event(s64 nr, u32 exit)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	u32 key = exit * WIRE_MAX_SYSCALLS + nr, *event;

	if (nr < 0 || nr >= WIRE_MAX_SYSCALLS || compat_syscall_is_32bit(task))
		return ~0u;
	event = bpf_map_lookup_elem(&syscall_events, &key);
	return event ? *event : ~0u;
}

/* The address of an offset in the record; the mask is for the verifier, callers stay below it. */
static __always_inline u8 *record_at(struct scratch *s, u32 off)
{
	return s->filter.rec + (off & (WIRE_MAX_RECORD - 1));
}

/* Appends a string argument to the record; 0: appended or unreadable, 1: no more strings fit. */
__noinline int copy_string(struct scratch *s, u64 arg)
{
	u32 size;
	u8 more = 0;
	long n;

	if (!s)
		return 1;
	size = s->size;
	if (size > WIRE_MAX_RECORD / 2)
		return 1;
	n = bpf_probe_read_user_str(record_at(s, size), WIRE_STRING_LEN, (void *)arg);
	if (n < 0 || n > WIRE_STRING_LEN)
		return 0;
	/* the buffer is full: check whether the terminating NUL replaced a byte of the string */
	if (n == WIRE_STRING_LEN &&
	    (bpf_probe_read_user(&more, 1, (void *)(arg + WIRE_STRING_LEN - 1)) || more))
		s->marks |= STK_MARK_CUT;
	s->size = size + n;
	return 0;
}

__noinline int copy_argv(struct scratch *s, u64 arg)
{
	u32 start, size, i;
	u64 str;

	if (!s)
		return 1;
	if (!arg)
		return 0;
	start = s->size;
#pragma clang loop unroll(disable)
	for (i = 0; i < WIRE_ARGV_MAX + 1; i++) {
		if (bpf_probe_read_user(&str, sizeof(str), (void *)(arg + i * 8)))
			break;
		if (!str)
			return 0;
		size = *(volatile u32 *)&s->size;
		if (size - start >= WIRE_ARGV_LEN || i == WIRE_ARGV_MAX)
			break;
		if (copy_string(s, str))
			break;
		if (*(volatile u32 *)&s->size == size) {
			/* it is unreadable: the others keep their places */
			*record_at(s, size) = 0;
			s->size = size + 1;
			s->marks |= STK_MARK_CUT;
		}
	}
	s->marks |= STK_MARK_CUT;
	return 0;
}

/* Appends the strings that the arguments point to, as __data_loc fields of the record. */
__noinline int event_strings(struct scratch *s, struct event_desc *d)
{
	u32 i, nr, size;

	if (!s || !d)
		return 0;
	nr = d->nr_strings;
#pragma clang loop unroll(disable)
	for (i = 0; i < WIRE_MAX_STRINGS; i++) {
		u32 arg, loc;
		u64 ptr;

		if (i >= nr)
			break;
		arg = d->string_arg[i];
		loc = d->string_loc[i];
		ptr = *(u64 *)record_at(s, 16 + (arg & 7) * 8);
		size = *(volatile u32 *)&s->size;
		if (arg & 0x80)
			copy_argv(s, ptr);
		else if (copy_string(s, ptr))
			s->marks |= STK_MARK_CUT;
		*(u32 *)record_at(s, loc & 0xffc) = (*(volatile u32 *)&s->size - size) << 16 | size;
	}
	return 0;
}

/* The syscalls: event for the raw_syscalls: record in ctx, whose first field is the number. */
static __always_inline u32 record_event_of(void *ctx, u32 exit)
{
	s64 nr = -1;

	bpf_probe_read_kernel(&nr, sizeof(nr), ctx + 8);
	return syscall_event(nr, exit);
}

/*
 * raw_syscalls:sys_enter has {id, args[6]} after the common fields, and a syscalls: event has the
 * number and its arguments, which are the same bytes.  sys_exit has {id, ret}.
 */
static __always_inline int record_syscall(void *ctx, u32 exit, bool filtered)
{
	struct event_run e;
	u64 ts = now();
	u32 event;

	if (!armed())
		return 1;
	event = record_event_of(ctx, exit);
	if (event == ~0u || !event_begin(&e, event, ts))
		return 1;
	bpf_probe_read_kernel(&e.s->ev.common_type, exit ? 24 : 64, ctx);
	e.s->ev.common_type = e.d->common_type;
	e.s->size = exit ? 24 : e.d->fixed_size;
	common_fields(e.s, e.task);
	if (!exit && e.d->nr_strings)
		event_strings(e.s, e.d);
	event_end(ctx, &e, filtered);
	return 1;
}

RECORDER(record_sys_enter, record_syscall(ctx, 0, filtered))
RECORDER(record_sys_exit, record_syscall(ctx, 1, filtered))

static __always_inline int count_syscall(struct bpf_raw_tracepoint_args *ctx, s64 nr, u32 exit)
{
	u32 event;

	if (!armed())
		return 0;
	event = syscall_event(nr, exit);
	return event == ~0u ? 0 : count_event(ctx, event);
}

SEC("raw_tp")
int count_sys_enter(struct bpf_raw_tracepoint_args *ctx)
{
	return count_syscall(ctx, ctx->args[1], 0);
}

/* sys_exit(regs, ret): the number is in the registers. */
SEC("raw_tp")
int count_sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct pt_regs *regs = (struct pt_regs *)ctx->args[0];
	u64 nr = -1;

	bpf_probe_read_kernel(&nr, sizeof(nr), &regs->ARCH_REG_CALL);
	return count_syscall(ctx, (s64)nr, 1);
}

#endif /* SYSCALL_BPF_H */
