/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counter program of an event whose record the kernel fills.  Where the kernel drops the
 * recorder program, the counter hands the event over to `nested` in native.bpf.h.
 */
#ifndef NESTED_BPF_H
#define NESTED_BPF_H

#include "event.bpf.h"

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

/* Takes what was handed over; ~0: nothing was. */
static __always_inline u32 take_over(void *ctx)
{
	u32 cpu = bpf_get_smp_processor_id(), i, event = ~0u;
	struct handover *h = bpf_map_lookup_elem(&handovers, &cpu);

	if (!h)
		return ~0u;
	for (i = 0; i < MAX_HANDOVERS; i++) {
		if (*(volatile u64 *)&h[i].ctx != (u64)ctx)
			continue;
		event = h[i].event;
		barrier();
		*(volatile u64 *)&h[i].ctx = 0;
		break;
	}
	return event;
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

#endif /* NESTED_BPF_H */
