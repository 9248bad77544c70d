/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Settings, maps and counters of the BPF programs.
 */
#ifndef STATE_BPF_H
#define STATE_BPF_H

#include "compat.bpf.h"

#include "frame.h"
#include "loss.bpf.h"
#include "ring.bpf.h"
#include "stackonce-counters.h"
#include "wire.h"

#include "events/filter_eval.h"
#include "kwalk/kwalk.bpf.h"
#include "stackmap/scratch.bpf.h"
#include "stackmap/stackmap.bpf.h"
#include "user_types.bpf.h"

#define LOG2_SCRATCHES 2
_Static_assert(WIRE_SLOTS == 1 << LOG2_SCRATCHES, "as many slots as busy words");
#define MAX_HANDOVERS 8

/* Set before load. */
const volatile u32 nr_cpus = 1;
const volatile u32 self_tgid = 0; /* of the recorder; 0: record its events, too */
const volatile bool kernel_stacks = true;
const volatile bool keep_idle = false;
const volatile u32 max_depth = WIRE_MAX_FRAMES;
const volatile u32 walk_limit = WIRE_MAX_FRAMES; /* min(WIRE_MAX_FRAMES, perf_event_max_stack) */
const volatile u32 clock = 0; /* enum rec_clock */
const volatile u64 clock_offset = 0; /* of TAI to the clock of the time since boot, in ns */
const volatile u64 entry_start = 0; /* of the kernel's entry text */
const volatile u32 entry_len = 0;
const volatile u64 entry_holes[WIRE_ENTRY_HOLES][2] = {}; /* start, length: not interrupt entries */
const volatile u32 sample_event = 0;

struct wire_ctl ctl = {};

/* Wakes the recorder; what is in it means nothing.  See ring_wake(). */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} wakeups SEC(".maps");

/*
 * Working memory for one event.  What every event writes comes first: its lines are in one page,
 * or two, and are few.  The record follows the header of the ring record, at the offset
 * where the filter's input has it: the filter is evaluated first, then the header overwrites len,
 * cpu and comm.
 */
#define EVENT_BYTES (WIRE_MAX_RECORD - 8 + 2 * STACKMAP_WORDS * 8 + 8)

struct scratch {
	u64 ts;
	u64 task[4]; /* struct wire_task, of the event's task */
	u32 tid, tgid;
	u32 event;
	u32 marks; /* STK_MARK_... */
	u32 kstack; /* stack map id or WIRE_STACK_... */
	u32 ustack; /* the same for the user stack */
	u32 size; /* of the record, struct trace_entry included */
	u32 excluded; /* see event_wanted() */
	u32 user_tried; /* user_known_call() has been called for this event */
	u64 stack; /* of the event's task: its lowest address */
	u64 ctx; /* the program's context, as a number */
	union {
		struct filter_input filter;
		struct {
			struct wire_event ev;
			u8 fields[EVENT_BYTES +
				  2048]; /* the verifier knows sizes of copies to a power of 2 */
		};
	};
	union {
		struct kwalk_stack walk;
		struct
		{ /* walk.before, walk.words and a buffer more: a part may start at any word */
			u8 walk_state[offsetof(struct kwalk_stack, before)];
			u64 words[STACKMAP_WORDS + sizeof(struct stackmap_buf) / 8];
		};
	};
	u32 walked; /* the program walked the stack and has not compared it with the kernel's */
	u32 differed; /* id of the stack that it walked, if that is not the kernel's, or 0 */
	u64 tracer_start; /* text of the tracer, whose frames are removed */
	u32 tracer_len;
	u32 start, nr_frames; /* of the walk, in words */
	u32 left;
	u32 marker; /* 1: the first word is a marker */
	u32 nr_cuts;
	u32 cut[WIRE_MAX_CUTS]; /* word after each interrupt entry, outermost last */
	u32 stack_counter; /* enum stk_counter */
	u64 tag; /* of the copy of a deferred stack */
	u64 args[3]; /* of a probed function */
	struct user_walk user;
};
_Static_assert(offsetof(struct scratch, ev.common_type) == offsetof(struct scratch, filter.rec),
	       "filter and ring share the record");
_Static_assert(FILTER_REC_MAX == WIRE_MAX_RECORD, "filter and ring share the whole record");

/* If max_entries is 1 here, the recorder sets it before load. */
#define ARRAY_WITH(flags, name, nr, value_type)   \
	struct {                                  \
		__uint(type, BPF_MAP_TYPE_ARRAY); \
		__uint(max_entries, nr);          \
		__uint(map_flags, flags);         \
		__type(key, u32);                 \
		__type(value, value_type);        \
	} name SEC(".maps")
#define ARRAY(...) ARRAY_WITH(0, __VA_ARGS__)
#define ARRAY_MMAPABLE(...) ARRAY_WITH(BPF_F_MMAPABLE, __VA_ARGS__)

ARRAY_MMAPABLE(counts, 1, struct event_counts);

ARRAY_MMAPABLE(descs, 1, struct event_desc);

ARRAY_MMAPABLE(filters, 1, struct filter_prog);

/* Event of each system call at entry and (second half) at exit; 0xffffffff: not recorded. */
ARRAY_MMAPABLE(syscall_events, 2 * WIRE_MAX_SYSCALLS, u32);

/* As the memory of an mmapable map begins at a page, each begins at one. */
struct cpu_scratch {
	struct wire_cpu cpu;
	struct scratch slot[WIRE_SLOTS];
} __attribute__((aligned(4096)));
ARRAY_MMAPABLE(scratches, 1, struct cpu_scratch);

static __always_inline struct wire_ring_pos *ring_pos(const u32 *cpu)
{
	struct cpu_scratch *c = bpf_map_lookup_elem(&scratches, cpu);

	return c ? &c->cpu.ring : NULL;
}

/*
 * Wakes the recorder if so much of this CPU's ring is in use that it must not wait any longer.  As
 * with file events (file_ring.bpf.h), a program that interrupts another one here must not touch the
 * ring buffer, whose lock that one may hold.  While that one is preempted, the recorder wakes from
 * its naps only.
 */
static __always_inline void ring_wake(void)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct wire_ring_pos *p = ring_pos(&cpu);

	if (!p || ring_used(p) < ring_layout.bytes / WIRE_RING_FULL_PART ||
	    *(volatile u32 *)&p->wakeup != WIRE_WAKEUP_NONE ||
	    __sync_val_compare_and_swap(&p->wakeup, WIRE_WAKEUP_NONE, WIRE_WAKEUP_BEGUN))
		return;
	bpf_ringbuf_output(&wakeups, &p->wakeup, sizeof(p->wakeup), BPF_RB_FORCE_WAKEUP);
	*(volatile u32 *)&p->wakeup = WIRE_WAKEUP_SENT;
}

/*
 * `count` passes the event to `nested` here; `nested` finds it by the address of the context.  The
 * memory of an mmapable map begins at a page, so CPUs share no cache line.
 */
struct handover {
	u64 ctx;
	u64 event;
};
ARRAY_MMAPABLE(handovers, 1, struct handover[MAX_HANDOVERS]);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, WIRE_NR_TAILS);
	__type(key, u32);
	__type(value, u32);
} tails SEC(".maps");

static __always_inline u64 now(void)
{
	if (clock == REC_CLOCK_BOOT)
		return bpf_ktime_get_boot_ns();
	if (clock == REC_CLOCK_TAI)
		return bpf_ktime_get_boot_ns() + clock_offset; /* see src/record/rec_clock.h */
	return bpf_ktime_get_ns();
}

/* The kernel's preempt_count; 0: unknown.  A load where possible: the helper costs 25 ns. */
static __always_inline u32 preempt_count(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	if (kwalk_settings.reader != KWALK_BY_LOAD)
		return compat_percpu_u32(percpu_preempt_count);
	if (cpu >= WIRE_MAX_CPUS || !percpu_preempt_count)
		return 0;
	return kwalk_load(percpu_base[cpu] + percpu_preempt_count);
}

/* The same, whose address is kept with the CPU. */
static __always_inline u32 cpu_preempt_count(struct wire_cpu *c)
{
	u32 cpu;

	if (kwalk_settings.reader != KWALK_BY_LOAD)
		return compat_percpu_u32(percpu_preempt_count);
	if (!c->preempt_count_at) {
		cpu = bpf_get_smp_processor_id();
		if (cpu >= WIRE_MAX_CPUS || !percpu_preempt_count || !percpu_base[cpu])
			return 0;
		c->preempt_count_at = percpu_base[cpu] + percpu_preempt_count;
	}
	return kwalk_load(c->preempt_count_at);
}

static __always_inline struct event_counts *event_counts(u32 event)
{
	u32 key = event * nr_cpus + bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&counts, &key);
}

static __always_inline void bump(struct event_counts *c, u32 counter)
{
	__sync_fetch_and_add(&c->c[counter], 1);
}

#define FULL_NO_EVENT (~0u)

/* Counts for an event that a table was full. */
static __always_inline void note_full(u32 event, u32 counter)
{
	struct event_counts *c = event_counts(event);

	if (c)
		bump(c, counter);
}

/* By CPU: periods of the timer samples.  The rest of the perf counter's value was swallowed. */
struct wire_periods sample_periods[WIRE_MAX_CPUS] = {};

/* By CPU: 1 if it has a struct wire_loss to be taken. */
u32 loss_pending[WIRE_MAX_CPUS] = {};

static __always_inline void note_loss(struct event_counts *c, u64 ts)
{
	u32 cpu = bpf_get_smp_processor_id();

	loss_note(&c->loss, ts);
	*(volatile u32 *)&loss_pending[cpu & (WIRE_MAX_CPUS - 1)] = 1;
}

/*
 * Counts a lost event of this type and notes its time.  A ring may be full before an event has
 * looked at how full it is: only one in 64 does so.
 */
__noinline int event_lost(struct event_counts *c, u32 counter, u64 ts)
{
	if (!c || counter >= STK_NR_COUNTERS)
		return 0;
	bump(c, counter);
	note_loss(c, ts);
	ring_wake();
	return 0;
}

#endif /* STATE_BPF_H */
