/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds the record of a tracepoint from its arguments as the kernel would format it, for programs
 * that get the arguments only.
 */
#ifndef NESTED_FIELDS_BPF_H
#define NESTED_FIELDS_BPF_H

#include "compat.bpf.h"

#define FILL_STRING 16 /* TASK_COMM_LEN */

struct fill_run {
	u64 args[WIRE_FILL_ARGS];
	u32 size; /* of the record so far: strings are appended */
	u32 pad;
	u8 rec[WIRE_MAX_FILLED + 4 * FILL_STRING];
};

#define FILL_STATE_REPORT 0x7f /* include/linux/sched.h, TASK_REPORT */
#define FILL_STATE_IDLE 0x402 /* TASK_IDLE */
#define FILL_REPORT_IDLE 0x80 /* TASK_REPORT_IDLE */
#define FILL_REPORT_PREEMPTED 0x100 /* TASK_REPORT_MAX */
#define FILL_STATE_VARIES 0x9000 /* TASK_RTLOCK_WAIT, TASK_FROZEN: reported by release */

/* The result of __trace_sched_switch_state(); false: it depends on more than is known here. */
static __always_inline bool fill_state(const u64 *args, u64 *ret_state)
{
	const struct task_struct *prev = (void *)args[1];
	u32 state = args[3], exit_state, all;

	if ((u8)args[0]) {
		*ret_state = FILL_REPORT_PREEMPTED;
		return true;
	}
	if (state & FILL_STATE_VARIES ||
	    bpf_core_read(&exit_state, sizeof(exit_state), &prev->exit_state))
		return false;
	all = (state & FILL_STATE_IDLE) == FILL_STATE_IDLE ?
		      FILL_REPORT_IDLE :
		      (state | exit_state) & FILL_STATE_REPORT;
	/* the highest bit */
	all |= all >> 1;
	all |= all >> 2;
	all |= all >> 4;
	*ret_state = all ^ all >> 1;
	return true;
}

static __always_inline bool fill_string(struct fill_run *r, u32 off, const char *comm)
{
	u32 at = r->size;
	long len;

	if (at > WIRE_MAX_FILLED + FILL_STRING)
		return false;
	len = bpf_probe_read_kernel_str(r->rec + at, FILL_STRING, comm);
	if (len < 1 || len > FILL_STRING)
		return false;
	*(u32 *)(r->rec + off) = at | (u32)len << 16;
	r->size = at + (u32)len;
	return true;
}

/* Fills one field; fill is a struct wire_fill.  0: the value is unavailable. */
__noinline int fill_field(struct fill_run *r, u32 fill)
{
	u32 arg = fill >> 8 & 0xff, off = fill >> 16 & (WIRE_MAX_FILLED - 1);
	const struct task_struct *task;
	const struct pid *pid;
	u8 *to;

	if (!r)
		return 0;
	to = r->rec + off;
	task = arg ? (void *)r->args[(arg - 1) & (WIRE_FILL_ARGS - 1)] :
		     (void *)bpf_get_current_task();
	switch (fill & 0xff) {
	case WIRE_FILL_COMM:
		return !bpf_core_read(to, FILL_STRING, &task->comm);
	case WIRE_FILL_COMM_LOC:
		return fill_string(r, off & ~3u,
				   __builtin_preserve_access_index((const char *)&task->comm));
	case WIRE_FILL_PID:
		return !bpf_core_read(to, 4, &task->pid);
	case WIRE_FILL_PRIO:
		return !bpf_core_read(to, 4, &task->prio);
	case WIRE_FILL_CPU:
		return !bpf_core_read(to, 4, &task->thread_info.cpu);
	case WIRE_FILL_PID_NR:
		pid = (void *)task;
		if (!pid) {
			__builtin_memset(to, 0, 4);
			return 1;
		}
		return !bpf_core_read(to, 4, &pid->numbers[0].nr);
	case WIRE_FILL_BYTE:
		*to = (u64)task;
		return 1;
	case WIRE_FILL_STATE:
		return fill_state(r->args, (u64 *)(r->rec + (off & ~7u)));
	}
	return 0;
}

/*
 * The verifier accepts reads of a context at constant offsets only; without the asm, the compiler
 * would merge several reads into one at a variable offset.
 */
#define FILL_ARG(ctx, n)                                                                    \
	({                                                                                  \
		u64 arg_;                                                                   \
		asm volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(arg_) : "r"(ctx), "i"((n)*8)); \
		arg_;                                                                       \
	})

/*
 * Builds the record; false: a field is unavailable.  Reads only as many arguments as the tracepoint
 * has: its context ends there.
 */
static __always_inline bool fill_record(struct bpf_raw_tracepoint_args *ctx,
					const struct event_desc *d, struct fill_run *r)
{
	u32 i, fill;

	if (!(d->flags & DESC_FILLED))
		return false;
	if (d->nr_fill_args > 0)
		r->args[0] = FILL_ARG(ctx, 0);
	if (d->nr_fill_args > 1)
		r->args[1] = FILL_ARG(ctx, 1);
	if (d->nr_fill_args > 2)
		r->args[2] = FILL_ARG(ctx, 2);
	if (d->nr_fill_args > 3)
		r->args[3] = FILL_ARG(ctx, 3);
	__builtin_memset(r->rec, 0, sizeof(r->rec)); /* padding between fields */
	r->size = d->fixed_size;
	for (i = 0; i < WIRE_MAX_FILLS; i++) {
		if (i >= d->nr_fills)
			break;
		fill = *(const u32 *)&d->fill[i];
		if (!fill_field(r, fill))
			return false;
	}
	return true;
}

#endif /* NESTED_FIELDS_BPF_H */
