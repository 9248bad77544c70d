/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counter program of an event, and the program that records the event where the kernel drops
 * the recorder program.
 */
#ifndef NESTED_BPF_H
#define NESTED_BPF_H

#include "event.bpf.h"
#include "select.bpf.h"
#include "stack.bpf.h"

/* Whether the kernel drops the recorder program for the current event. */
static __always_inline bool recorder_dropped(void)
{
	return compat_percpu_u32(percpu_prog_active) || compat_perf_busy();
}

static __always_inline void hand_over(void *ctx, u32 event, struct event_counts *c)
{
	u32 cpu = bpf_get_smp_processor_id(), i;
	struct handover *h = bpf_map_lookup_elem(&handovers, &cpu);

	if (!h)
		return;
	for (i = 0; i < MAX_HANDOVERS; i++) {
		if (__sync_val_compare_and_swap(&h[i].ctx, 0, (u64)ctx))
			continue;
		h[i].event = event;
		bpf_tail_call(ctx, &tails, WIRE_TAIL_NESTED);
		h[i].ctx = 0;
		break;
	}
	bump(c, STK_C_LOST_NESTED);
	note_loss(c, now());
}

static __always_inline int count_event(void *ctx, u32 event)
{
	struct event_counts *c = event_counts(event);

	if (!c)
		return 0;
	bump(c, STK_C_HAPPENED);
	if (recorder_dropped())
		hand_over(ctx, event, c);
	return 0;
}

SEC("raw_tp")
int count(struct bpf_raw_tracepoint_args *ctx)
{
	u32 event;

	asm volatile("%0 = %1" : "=r"(event) : "i"(WIRE_COUNT_EVENT));
	return armed() ? count_event(ctx, event) : 0;
}

/* Whether the event names a selected task, according to the tracepoint's arguments. */
static __always_inline bool args_selected(struct bpf_raw_tracepoint_args *ctx, struct event_desc *d)
{
	u32 i, tid;

	for (i = 0; i < 2; i++) {
		struct task_struct *task = NULL;
		u32 arg = d->pid_arg[i];

		if (arg == 1)
			task = (void *)FILL_ARG(ctx, 0);
		else if (arg == 2)
			task = (void *)FILL_ARG(ctx, 1);
		else if (arg == 3)
			task = (void *)FILL_ARG(ctx, 2);
		tid = 0;
		if (task && !bpf_core_read(&tid, sizeof(tid), &task->pid) && tid_selected(tid))
			return true;
	}
	return false;
}

/* Not inline: in 6.1 the deepest call chain has no stack left for it. */
static __noinline int nested_stack(void *ctx, struct scratch *s, struct event_counts *c,
				   struct event_desc *d)
{
	kernel_stack(ctx, s, c, d->tracer_start, d->tracer_len, 0, KWALK_RAW);
	return 0;
}

/*
 * An event may interrupt this program on behalf of another event: the recursion guards belong to
 * the counter programs that call it, one for each event.  So the program must not use the private
 * stack per CPU that the kernel gives to programs of this type since 6.13 (7d1cd70d4b16).  The
 * kernel does not do so for a program that contains a tail call; the one below is never made,
 * because `handovers` has an entry for each CPU.
 */
SEC("raw_tp")
int nested(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	u32 cpu = bpf_get_smp_processor_id(), i, event = ~0u;
	struct handover *h = bpf_map_lookup_elem(&handovers, &cpu);
	struct event_counts *c;
	struct event_desc *d;
	struct scratch *s;
	u32 *busy;
	u32 excluded;
	u64 ts = now();

	if (!h) {
		bpf_tail_call(ctx, &tails, WIRE_TAIL_NESTED);
		return 0;
	}
	for (i = 0; i < MAX_HANDOVERS; i++) {
		if (*(volatile u64 *)&h[i].ctx != (u64)ctx)
			continue;
		event = h[i].event;
		barrier();
		*(volatile u64 *)&h[i].ctx = 0;
		break;
	}
	c = event_wanted(event, task, &d, &excluded);
	if (!c)
		return 0;
	if (excluded && !args_selected(ctx, d)) {
		bump(c, excluded);
		return 0;
	}
	if (d->flags & DESC_FILTER) { /* the filter needs fields, which are unavailable here */
		event_lost(c, STK_C_LOST_NESTED, ts);
		return 0;
	}
	s = scratch_get(&busy);
	if (!s) {
		event_lost(c, STK_C_LOST_SCRATCH, ts);
		return 0;
	}
	event_start(s, task, event, ts);
	if (fill_record(ctx, d, &s->fill)) {
		__builtin_memcpy((u8 *)&s->ev.common_type, s->fill.rec, sizeof(s->fill.rec));
		s->size = s->fill.size;
	} else {
		s->size = 8;
		s->marks = STK_MARK_NO_FIELDS;
	}
	if (excluded)
		s->marks |= STK_MARK_NOT_SELECTED;
	s->ev.common_type = d->common_type;
	common_fields(s, task);
	nested_stack(ctx, s, c, d);
	user_stack(s, c, !excluded);
	if (event_write(s, c) && s->marks & STK_MARK_NO_FIELDS)
		bump(c, STK_C_NO_FIELDS);
	scratch_put(busy);
	return 0;
}

#endif /* NESTED_BPF_H */
