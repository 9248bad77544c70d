// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recorder in the kernel.
 *
 * Each event has two programs.  `record` (type TRACEPOINT, one program for all events, told apart
 * by the attach cookie) sees the formatted fields and writes the event.  `count` (type raw_tp,
 * one copy per event) counts that the event happened, and, where the kernel is about to drop
 * `record` because another such program runs on this CPU, hands over to `nested`, which writes
 * the event without its fields.
 *
 * TRACEPOINT and perf_event programs return 1 on every path: 0 would hide the event from other
 * people's perf events on the same tracepoint.
 */
#include "compat.bpf.h"
#include <bpf/bpf_tracing.h>

#include "frame.h"
#include "wire.h"
#include "stackonce-counters.h"

#include "stackmap/stackmap.bpf.h"
#include "stackmap/scratch.bpf.h"
#include "events/filter_eval.h"

char LICENSE[] SEC("license") = "GPL";

#define LOG2_SCRATCHES 2	/* of a CPU: task, softirq, hardirq, NMI */
#define MAX_HANDOVERS 8

/* Set before load. */
const volatile u32 nr_cpus = 1;
const volatile u32 nr_events = 0;
const volatile u32 self_tgid = 0;		/* 0: keep our own events */
const volatile bool select_tasks = false;	/* only tasks in `pids` */
const volatile bool kernel_stacks = true;
const volatile bool keep_idle = false;
const volatile u32 max_depth = WIRE_MAX_FRAMES;
const volatile u32 walk_limit = WIRE_MAX_FRAMES;	/* min(ours, perf_event_max_stack) */
const volatile u32 clock = 0;			/* enum clock_kind */
const volatile u64 entry_start = 0;		/* the kernel's entry text */
const volatile u32 entry_len = 0;
const volatile u64 entry_holes[WIRE_ENTRY_HOLES][2] = {};	/* start, length: not interrupts */
const volatile u32 sample_event = 0;

enum clock_kind { CLOCK_MONO = 0, CLOCK_BOOT = 1, CLOCK_TAI = 2 };

struct wire_ctl ctl = {};
/* What preempt_count() and migration_disabled show in a program that runs in plain task context. */
u32 preempt_base = 0, migrate_base = 0;
/* thread_info.flags: reschedule now, reschedule lazily; 0: not known, or this kernel has none. */
u64 tif_resched = 0, tif_lazy = 0;

/*
 * What one event needs.  The record lies behind the ring's header, where the filter's input has
 * it as well: first the filter looks, then the header is written over len, cpu and comm.
 */
struct scratch {
	union {
		struct filter_input filter;
		struct {
			struct wire_event ev;
			u8 fields[WIRE_MAX_RECORD - 8 + STACKMAP_WORDS * 8];
		};
	};
	u64 words[STACKMAP_WORDS + sizeof(struct stackmap_buf) / 8]; /* a part may start anywhere */
	u64 ts;
	u64 task[4];			/* struct wire_task */
	u32 event;
	u32 ext;			/* enum wire_ext */
	u32 kstack;			/* stack map id or WIRE_STACK_... */
	u32 size;			/* of the record, struct trace_entry included */
	u32 start, nr_frames;		/* of the walk, in words */
	u32 left;
	u32 marker;			/* 1: the first word is one */
	u32 nr_cuts;
	u32 cut[4];			/* word after each interrupt entry, outermost last */
	u32 stack_counter;		/* enum stk_counter */
};
_Static_assert(offsetof(struct scratch, ev.common_type) == offsetof(struct scratch, filter.rec),
	       "the filter and the ring see one record");
_Static_assert(sizeof(struct filter_input) >= WIRE_MAX_RECORD + 24 + STACKMAP_WORDS * 8,
	       "stack words fit behind the longest record");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct event_counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct event_desc);
} descs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct filter_prog);
} filters SEC(".maps");

/* Event of each system call number, at entry and (second half) at exit; 0xffffffff: none. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2 * WIRE_MAX_SYSCALLS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, u32);
} syscall_events SEC(".maps");

/* One bit per thread id. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, u64);
} pids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_TASK_SLOTS);
	__type(key, u32);
	__type(value, struct task_slot);
} tasks SEC(".maps");

struct cpu_scratch {
	u32 busy[4];
	struct scratch slot[1 << LOG2_SCRATCHES];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cpu_scratch);
} scratches SEC(".maps");

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct ring);
} rings SEC(".maps");

/* From `count` to `nested`: which event; found again by the address of the context. */
struct handover {
	u64 ctx;
	u64 event;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct handover[MAX_HANDOVERS]);
} handovers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} tails SEC(".maps");

static __always_inline u64 now(void)
{
	if (clock == CLOCK_BOOT)
		return bpf_ktime_get_boot_ns();
	if (clock == CLOCK_TAI)
		return bpf_ktime_get_tai_ns();
	return bpf_ktime_get_ns();
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

static __always_inline bool pid_selected(u32 tid)
{
	u32 word = tid >> 6;
	u64 *bits = bpf_map_lookup_elem(&pids, &word);

	return bits && *(volatile u64 *)bits >> (tid & 63) & 1;
}

/* ---- the stack ------------------------------------------------------------------------------ */

/* The words from n on, as the stack map takes them. */
static __always_inline struct stackmap_buf *part(struct scratch *s, u32 n)
{
	return (struct stackmap_buf *)&s->words[n & (STACKMAP_WORDS - 1)];
}

/* Of an address in the entry text: an interrupt's or exception's entry, not a system call's. */
__noinline int interrupt_entry(u64 ip)
{
	int i;

#pragma clang loop unroll(disable)
	for (i = 0; i < WIRE_ENTRY_HOLES; i++)
		if (ip - entry_holes[i][0] < entry_holes[i][1])
			return 0;
	return 1;
}

/* Finds where the tracers' frames end and where interrupted contexts begin. */
__noinline int stack_cut(struct scratch *s, u64 tracer_start, u32 tracer_len)
{
	u32 i, n, start;

	if (!s)
		return 0;
#pragma clang loop unroll(disable)
	for (i = 0; i < 12; i++) {
		if (s->words[i] - tracer_start < tracer_len) {
			/* the innermost: an interrupt may have hit the same tracer below */
			s->start = i + 1;
			break;
		}
	}
	/* Kept in memory and read anew: the verifier would tell all values apart. */
	start = *(volatile u32 *)&s->start;
	n = s->nr_frames;
	if (n > start && n - start > max_depth + s->marker) {
		s->nr_frames = start + max_depth + s->marker;
		s->stack_counter = STK_C_STACK_TRUNCATED;
	}
	s->nr_cuts = 0;
	s->left = *(volatile u32 *)&s->nr_frames - start;
#pragma clang loop unroll(disable)
	for (i = 0; i < WIRE_MAX_FRAMES; i++) {
		u64 ip;
		u32 nr;

		if (i + 1 >= *(volatile u32 *)&s->left)
			break;
		ip = s->words[(start + i) & (STACKMAP_WORDS - 1)];
		if (ip - entry_start >= entry_len || !interrupt_entry(ip))
			continue;
		nr = s->nr_cuts;
		if (nr >= 4)
			break;
		s->cut[nr & 3] = start + i + 1;
		s->nr_cuts = nr + 1;
	}
	return 0;
}

/*
 * Stores the walked stack: the interrupted contexts first, from the outermost, each as a record
 * of its own that the next inner one links to.  Sets ev.kstack, or says that all words must
 * travel with the event.
 */
__noinline int stack_store(struct scratch *s)
{
	u32 n, start, i, end = 0;
	s64 id;

	if (!s)
		return 0;
	n = s->nr_frames;
	start = s->start;
	if (n > WIRE_MAX_FRAMES + 1)
		n = WIRE_MAX_FRAMES + 1;
	if (s->stack_counter == STK_C_STACK_TRUNCATED)
		end = 1;
	else if (s->stack_counter == STK_C_STACK_AT_LIMIT)
		end = 2;
	if (end) {
		s->words[n & 0xff] = FRAME_MARKER(FRAME_END, end);
		n++;
	}
	s->nr_frames = n;
#pragma clang loop unroll(disable)
	for (i = 0; i < 4; i++) {
		u32 nr = s->nr_cuts, at;

		if (!nr || nr > 4)
			break;
		at = s->cut[(nr - 1) & 3];
		n = s->nr_frames;
		if (at >= n || n - at > STACKMAP_WORDS)
			break;
		id = stackmap_get_call(part(s, at), n - at, STACKMAP_NOREF);
		if (id <= 0) {
			s->nr_cuts = 0;
			s->kstack = WIRE_STACK_FULL;
			return id;
		}
		s->words[at & (STACKMAP_WORDS - 1)] = FRAME_MARKER(FRAME_LINK, (u32)id);
		s->nr_frames = at + 1;
		s->nr_cuts = nr - 1;
	}
	n = s->nr_frames;
	start = s->start;
	if (n <= start || n - start > STACKMAP_WORDS)
		return 0;
	id = stackmap_get(part(s, start), n - start, 0);
	if (id <= 0) {
		s->kstack = WIRE_STACK_FULL;
		return id;
	}
	s->kstack = (u32)id;
	return id & STACKMAP_NEW ? 2 : 1;
}

/*
 * Walks the kernel stack and stores it.  at: where the frames go, 1 after a marker.  Inline,
 * because only the program itself may hand its context to bpf_get_stack().
 */
static __always_inline void kernel_stack(void *ctx, struct scratch *s, struct event_counts *c,
					 u64 tracer_start, u32 tracer_len, u32 at)
{
	long n;
	int r;

	s->kstack = WIRE_STACK_NONE;
	if (!kernel_stacks)
		return;
	n = bpf_get_stack(ctx, &s->words[at], (WIRE_MAX_FRAMES - at) * 8, 0);
	if (n < 0) {
		s->kstack = WIRE_STACK_FAILED;
		bump(c, STK_C_STACK_FAILED);
		return;
	}
	n = n / 8;
	if (!n) {
		bump(c, STK_C_STACK_EMPTY);
		return;
	}
	s->start = 0;
	s->nr_frames = n + at;
	s->marker = at;
	s->stack_counter = n >= walk_limit || n == WIRE_MAX_FRAMES - at ? STK_C_STACK_AT_LIMIT : 0;
	stack_cut(s, tracer_start, tracer_len);
	r = stack_store(s);
	if (s->stack_counter == STK_C_STACK_TRUNCATED)
		bump(c, STK_C_STACK_TRUNCATED);
	else if (s->stack_counter)
		bump(c, STK_C_STACK_AT_LIMIT);
	if (r == 1)
		bump(c, STK_C_STACK_HIT);
	else if (r == 2)
		bump(c, STK_C_STACK_NEW);
	else if (r == -STACKMAP_EPOOL)
		bump(c, STK_C_STACK_FELL_POOL);
	else if (r < 0)
		bump(c, STK_C_STACK_FELL_PROBE);
	else
		bump(c, STK_C_STACK_EMPTY);
}

/* ---- the event ------------------------------------------------------------------------------ */

/* As the kernel's tracing_gen_ctx() does, for struct trace_entry. */
static __always_inline void common_fields(struct scratch *s, u32 tid)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	u32 count = compat_percpu_u32(percpu_preempt_count), preempt = count & 0xff, migrate;
	int off = compat_irqs_off();
	u8 flags = 0;

	if (off > 0)
		flags |= 0x01;
	else if (off < 0)
		s->ext |= WIRE_EXT_NO_IRQFLAG;
	if (percpu_preempt_count && !(count & PREEMPT_NEED_RESCHED))
		flags |= tif_resched ? 0x20 : 0x20 | 0x04;
	if (task->thread_info.flags & tif_resched)
		flags |= 0x04;
	if (task->thread_info.flags & tif_lazy)
		flags |= 0x02;
	if (count & HARDIRQ_MASK)
		flags |= 0x08;
	if (count & SOFTIRQ_SERVING)
		flags |= 0x10;
	if (count & NMI_MASK)
		flags |= 0x40;
	if ((count & SOFTIRQ_MASK) > SOFTIRQ_SERVING)
		flags |= 0x80;
	preempt = preempt > preempt_base ? preempt - preempt_base : 0;
	migrate = task->migration_disabled;
	migrate = migrate > migrate_base ? migrate - migrate_base : 0;
	s->ev.common_flags = flags;
	s->ev.common_preempt_count = (preempt > 15 ? 15 : preempt) | (migrate > 15 ? 15 : migrate) << 4;
	s->ev.common_pid = tid;
}

/* The ring already knows this task's name, or gets it now; false: no room. */
static __always_inline bool announce_task(struct scratch *s, void *ring, u32 cpu, u32 tid, u32 tgid)
{
	u32 key = cpu * WIRE_TASK_SLOTS + ((tid ^ tid >> 8) & (WIRE_TASK_SLOTS - 1));
	struct task_slot *slot = bpf_map_lookup_elem(&tasks, &key);
	struct wire_task *t = (struct wire_task *)s->task;

	if (!slot)
		return false;
	bpf_get_current_comm(t->comm, sizeof(t->comm));
	if (slot->tid == tid && slot->tgid == tgid && slot->comm[0] == t->comm[0] &&
	    slot->comm[1] == t->comm[1])
		return true;
	t->tid = tid;
	t->tgid = tgid;
	t->event = WIRE_TASK;
	t->pad = 0;
	t->pad2 = 0;
	if (bpf_ringbuf_output(ring, t, sizeof(*t), BPF_RB_NO_WAKEUP))
		return false;
	/* Torn by an interrupt the slot names nobody: tid last, and none in between. */
	*(volatile u32 *)&slot->tid = ~0u;
	barrier();
	slot->tgid = tgid;
	slot->comm[0] = t->comm[0];
	slot->comm[1] = t->comm[1];
	barrier();
	*(volatile u32 *)&slot->tid = tid;
	return true;
}

/* Puts the event into this CPU's ring; 0: no room. */
__noinline int event_output(struct scratch *s)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	u32 cpu = bpf_get_smp_processor_id(), size, nr;
	void *ring;

	if (!s)
		return 0;
	ring = bpf_map_lookup_elem(&rings, &cpu);
	if (!ring)
		return 0;
	if (!announce_task(s, ring, cpu, (u32)pid_tgid, pid_tgid >> 32))
		return 0;
	s->ev.ts = s->ts;
	s->ev.kstack = s->kstack;
	s->ev.ustack = WIRE_STACK_NONE;
	s->ev.tgid = pid_tgid >> 32;
	s->ev.event = s->event;
	s->ev.ext = s->ext;
	s->ev.nr_words = 0;
	size = s->size;
	if (size < 8 || size > WIRE_MAX_RECORD)
		size = 8;
	size -= 8;		/* struct trace_entry is part of ev */
	if (s->kstack == WIRE_STACK_FULL) {
		u32 start = s->start;

		nr = s->nr_frames;
		if (start < nr && nr <= STACKMAP_WORDS) {
			nr -= start;
			size = (size + 7) & ~7u;
			if (size > WIRE_MAX_RECORD)
				return 0;
			bpf_probe_read_kernel(s->fields + size, (nr & 0xff) * 8, part(s, start));
			s->ev.nr_words = nr;
			size += nr * 8;
		}
	}
	if (size > WIRE_MAX_RECORD + STACKMAP_WORDS * 8 - 8)
		return 0;
	if (bpf_ringbuf_output(ring, &s->ev, sizeof(s->ev) + size, BPF_RB_NO_WAKEUP))
		return 0;
	return 1;
}

static __always_inline bool event_write(struct scratch *s, struct event_counts *c)
{
	if (event_output(s)) {
		bump(c, STK_C_RECORDED);
		return true;
	}
	bump(c, STK_C_LOST_RING);
	return false;
}

/*
 * Whether the event's filter, if it has one, lets it pass.  The evaluator is a program of its own
 * to verify, so the recorders come with and without it.
 */
static __always_inline bool event_passes(struct scratch *s, struct event_desc *d, bool filtered)
{
	struct filter_prog *prog;
	u32 key = d->filter;

	if (!filtered || !(d->flags & DESC_FILTER))
		return true;
	prog = bpf_map_lookup_elem(&filters, &key);
	if (!prog)
		return false;
	s->filter.len = s->size;
	s->filter.cpu = bpf_get_smp_processor_id();
	bpf_get_current_comm(s->filter.comm, sizeof(s->filter.comm));
	return filter_eval(prog, &s->filter);
}

/* Copies the record out of the tracepoint's buffer. */
static __always_inline void copy_record(void *ctx, struct scratch *s, struct event_desc *d)
{
	u8 *rec = (u8 *)&s->ev.common_type;
	u32 fixed = d->fixed_size, end, i;

	if (fixed > 4096)
		fixed = 4096;
	bpf_probe_read_kernel(rec, fixed, ctx);
	end = fixed;
	if (d->nr_dyn) {
		u32 nr = d->nr_dyn;
#pragma clang loop unroll(disable)
		for (i = 0; i < WIRE_MAX_DYN; i++) {
			u32 off, loc;

			if (i >= nr)
				break;
			off = d->dyn_off[i];
			loc = *(u32 *)(rec + (off & 0xffc));
			loc = (loc & 0xffff) + (loc >> 16) + (off & 0x8000 ? (off & 0xffc) + 4 : 0);
			if (loc > end)
				end = loc;
		}
		if (end > WIRE_MAX_RECORD) {
			end = WIRE_MAX_RECORD;
			s->ext |= WIRE_EXT_CUT;
		}
		if (end > fixed)
			bpf_probe_read_kernel(rec, end, ctx);
	}
	s->size = end;
	s->ev.common_type = d->common_type;
}

/* Whether a sched event names a selected task, as ftrace's set_event_pid asks. */
static __always_inline bool names_selected(struct scratch *s, struct event_desc *d)
{
	u8 *rec = (u8 *)&s->ev.common_type;
	u32 i;

	for (i = 0; i < 2; i++) {
		if (i >= d->nr_pids)
			break;
		if (pid_selected(*(u32 *)(rec + (d->pid_off[i] & 0xffc))))
			return true;
	}
	return false;
}

/* Armed, or not yet, or no more: asked once by every program, so that its counts agree. */
static __always_inline bool armed(void)
{
	return *(volatile u32 *)&ctl.armed;
}

/* Everything that comes before an event is looked at; NULL: it is not ours, and counted. */
static __always_inline struct event_counts *event_wanted(u32 event, struct event_desc **ret_desc,
							 bool *ret_selected)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct event_counts *c;

	c = event_counts(event);
	if (!c)
		return NULL;
	*ret_desc = bpf_map_lookup_elem(&descs, &event);
	if (!*ret_desc)
		return NULL;
	*ret_selected = true;
	/* a selected task may be named by an interrupt that hits the recorder */
	if (self_tgid && !select_tasks && pid_tgid >> 32 == self_tgid) {
		bump(c, STK_C_FILTERED_SELF);
		return NULL;
	}
	if (select_tasks && !pid_selected((u32)pid_tgid)) {
		*ret_selected = false;
		if (!(*ret_desc)->nr_pids) {
			bump(c, STK_C_FILTERED_PID);
			return NULL;
		}
	}
	return c;
}

static __always_inline void event_start(struct scratch *s, u32 event, u64 ts)
{
	s->ts = ts;
	s->event = event;
	s->ext = 0;
}

static __always_inline struct scratch *scratch_get(u32 **ret_busy)
{
	u32 cpu = bpf_get_smp_processor_id(), i;
	struct cpu_scratch *c = bpf_map_lookup_elem(&scratches, &cpu);

	if (!c)
		return NULL;
	i = scratch_claim(c->busy, LOG2_SCRATCHES);
	if (i >> LOG2_SCRATCHES)
		return NULL;
	*ret_busy = &c->busy[i];
	return &c->slot[i];
}

static __always_inline void scratch_put(u32 *busy)
{
	barrier();
	*(volatile u32 *)busy = 0;
}

static __always_inline int record_event(void *ctx, bool filtered)
{
	u32 event = bpf_get_attach_cookie(ctx), tid;
	struct event_counts *c;
	struct event_desc *d;
	struct scratch *s;
	u32 *busy;
	bool selected;
	u64 ts = now();

	if (!armed())
		return 1;
	c = event_wanted(event, &d, &selected);
	if (!c)
		return 1;
	s = scratch_get(&busy);
	if (!s) {
		bump(c, STK_C_LOST_SCRATCH);
		return 1;
	}
	tid = bpf_get_current_pid_tgid();
	event_start(s, event, ts);
	copy_record(ctx, s, d);
	common_fields(s, tid);
	if (!selected && !names_selected(s, d)) {
		bump(c, STK_C_FILTERED_PID);
	} else if (!event_passes(s, d, filtered)) {
		bump(c, STK_C_FILTERED_EXPR);
	} else {
		kernel_stack(ctx, s, c, d->tracer_start, d->tracer_len, 0);
		event_write(s, c);
	}
	scratch_put(busy);
	return 1;
}

SEC("tracepoint")
int record(void *ctx)
{
	return record_event(ctx, false);
}

SEC("tracepoint")
int record_filtered(void *ctx)
{
	return record_event(ctx, true);
}

/* ---- the second program --------------------------------------------------------------------- */

/* Replaced in each copy by the event's index. */
#define COUNT_EVENT_MAGIC 0x57ac0de

/* The recorder will not run (or did not) for the event this program was called for. */
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
		bpf_tail_call(ctx, &tails, 0);
		h[i].ctx = 0;
		break;
	}
	bump(c, STK_C_LOST_NESTED);
}

SEC("raw_tp")
int count(struct bpf_raw_tracepoint_args *ctx)
{
	struct event_counts *c;
	u32 event;

	asm volatile("%0 = %1" : "=r"(event) : "i"(COUNT_EVENT_MAGIC));
	if (!armed())
		return 0;
	c = event_counts(event);
	if (!c)
		return 0;
	bump(c, STK_C_HAPPENED);
	if (recorder_dropped())
		hand_over(ctx, event, c);
	return 0;
}

/* The tasks that a sched event names, from the tracepoint's own arguments. */
static __always_inline bool args_selected(struct bpf_raw_tracepoint_args *ctx,
					  struct event_desc *d)
{
	u32 i, tid;

	for (i = 0; i < 2; i++) {
		struct task_struct *task = NULL;
		u32 arg = d->pid_arg[i];

		/* a context is read at constant offsets only, which the compiler would join */
		if (arg == 1)
			asm volatile("%0 = *(u64 *)(%1 + 0)" : "=r"(task) : "r"(ctx));
		else if (arg == 2)
			asm volatile("%0 = *(u64 *)(%1 + 8)" : "=r"(task) : "r"(ctx));
		else if (arg == 3)
			asm volatile("%0 = *(u64 *)(%1 + 16)" : "=r"(task) : "r"(ctx));
		tid = 0;
		if (task && !bpf_core_read(&tid, sizeof(tid), &task->pid) && pid_selected(tid))
			return true;
	}
	return false;
}

SEC("raw_tp")
int nested(struct bpf_raw_tracepoint_args *ctx)
{
	u32 cpu = bpf_get_smp_processor_id(), i, event = ~0u;
	struct handover *h = bpf_map_lookup_elem(&handovers, &cpu);
	struct event_counts *c;
	struct event_desc *d;
	struct scratch *s;
	u32 *busy;
	bool selected;
	u64 ts = now();

	if (!h)
		return 0;
	for (i = 0; i < MAX_HANDOVERS; i++) {
		if (*(volatile u64 *)&h[i].ctx != (u64)ctx)
			continue;
		event = h[i].event;
		barrier();
		*(volatile u64 *)&h[i].ctx = 0;
		break;
	}
	c = event_wanted(event, &d, &selected);
	if (!c)
		return 0;
	if (!selected && !args_selected(ctx, d)) {
		bump(c, STK_C_FILTERED_PID);
		return 0;
	}
	if (d->flags & DESC_FILTER) {	/* there are no fields to decide by */
		bump(c, STK_C_LOST_NESTED);
		return 0;
	}
	s = scratch_get(&busy);
	if (!s) {
		bump(c, STK_C_LOST_SCRATCH);
		return 0;
	}
	event_start(s, event, ts);
	s->ext = WIRE_EXT_NO_FIELDS;
	s->ev.common_type = d->common_type;
	s->size = 8;
	common_fields(s, bpf_get_current_pid_tgid());
	kernel_stack(ctx, s, c, d->tracer_start, d->tracer_len, 0);
	if (event_write(s, c))
		bump(c, STK_C_NO_FIELDS);
	scratch_put(busy);
	return 0;
}

/* ---- system calls: one pair of programs for all of them -------------------------------------- */

static __always_inline u32 syscall_event(s64 nr, u32 exit)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	u32 key = exit * WIRE_MAX_SYSCALLS + nr, *event;

	if (nr < 0 || nr >= WIRE_MAX_SYSCALLS || compat_syscall_is_32bit(task))
		return ~0u;
	event = bpf_map_lookup_elem(&syscall_events, &key);
	return event ? *event : ~0u;
}

/* Where in the record; the mask is for the verifier, the caller keeps below half of it. */
static __always_inline u8 *record_at(struct scratch *s, u32 off)
{
	return s->filter.rec + (off & (WIRE_MAX_RECORD - 1));
}

/* Puts a string argument behind the record; 0: it is there, or cannot be read, 1: no more fit. */
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
	/* full: is the byte that became the NUL the string's last? */
	if (n == WIRE_STRING_LEN &&
	    !bpf_probe_read_user(&more, 1, (void *)(arg + WIRE_STRING_LEN - 1)) && more)
		s->ext |= WIRE_EXT_CUT;
	s->size = size + n;
	return 0;
}

__noinline int copy_argv(struct scratch *s, u64 arg)
{
	u32 start, i;
	u64 str;

	if (!s)
		return 1;
	start = s->size;
#pragma clang loop unroll(disable)
	for (i = 0; i < WIRE_ARGV_MAX + 1; i++) {
		if (bpf_probe_read_user(&str, sizeof(str), (void *)(arg + i * 8)) || !str)
			return 0;
		if (*(volatile u32 *)&s->size - start >= WIRE_ARGV_LEN || i == WIRE_ARGV_MAX)
			break;
		if (copy_string(s, str))
			break;
	}
	s->ext |= WIRE_EXT_CUT;
	return 0;
}

/* The strings that a system call's arguments point to, as __data_loc fields of the record. */
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
			s->ext |= WIRE_EXT_CUT;
		*(u32 *)record_at(s, loc & 0xffc) = (*(volatile u32 *)&s->size - size) << 16 | size;
	}
	return 0;
}

/*
 * raw_syscalls:sys_enter has {id, args[6]} after the common fields, a syscalls: event the number
 * and its own arguments: the same bytes.
 */
static __always_inline int sys_enter_event(void *ctx, bool filtered)
{
	struct event_counts *c;
	struct event_desc *d;
	struct scratch *s;
	u32 *busy;
	u64 ts = now();
	bool selected;
	s64 nr = -1;
	u32 event;

	if (!armed())
		return 1;
	bpf_probe_read_kernel(&nr, sizeof(nr), ctx + 8);
	event = syscall_event(nr, 0);
	if (event == ~0u)
		return 1;
	c = event_wanted(event, &d, &selected);
	if (!c)
		return 1;
	s = scratch_get(&busy);
	if (!s) {
		bump(c, STK_C_LOST_SCRATCH);
		return 1;
	}
	event_start(s, event, ts);
	bpf_probe_read_kernel(&s->ev.common_type, 64, ctx);
	s->ev.common_type = d->common_type;
	s->size = d->fixed_size;
	common_fields(s, bpf_get_current_pid_tgid());
	if (d->nr_strings)
		event_strings(s, d);
	if (!event_passes(s, d, filtered)) {
		bump(c, STK_C_FILTERED_EXPR);
	} else {
		kernel_stack(ctx, s, c, d->tracer_start, d->tracer_len, 0);
		event_write(s, c);
	}
	scratch_put(busy);
	return 1;
}

SEC("tracepoint")
int record_sys_enter(void *ctx)
{
	return sys_enter_event(ctx, false);
}

SEC("tracepoint")
int record_sys_enter_filtered(void *ctx)
{
	return sys_enter_event(ctx, true);
}

static __always_inline int sys_exit_event(void *ctx, bool filtered)
{
	struct event_counts *c;
	struct event_desc *d;
	struct scratch *s;
	u32 *busy;
	u64 ts = now();
	bool selected;
	s64 nr = -1;
	u32 event;

	if (!armed())
		return 1;
	bpf_probe_read_kernel(&nr, sizeof(nr), ctx + 8);
	event = syscall_event(nr, 1);
	if (event == ~0u)
		return 1;
	c = event_wanted(event, &d, &selected);
	if (!c)
		return 1;
	s = scratch_get(&busy);
	if (!s) {
		bump(c, STK_C_LOST_SCRATCH);
		return 1;
	}
	event_start(s, event, ts);
	bpf_probe_read_kernel(&s->ev.common_type, 24, ctx);
	s->ev.common_type = d->common_type;
	s->size = 24;
	common_fields(s, bpf_get_current_pid_tgid());
	if (!event_passes(s, d, filtered)) {
		bump(c, STK_C_FILTERED_EXPR);
	} else {
		kernel_stack(ctx, s, c, d->tracer_start, d->tracer_len, 0);
		event_write(s, c);
	}
	scratch_put(busy);
	return 1;
}

SEC("tracepoint")
int record_sys_exit(void *ctx)
{
	return sys_exit_event(ctx, false);
}

SEC("tracepoint")
int record_sys_exit_filtered(void *ctx)
{
	return sys_exit_event(ctx, true);
}

static __always_inline int count_syscall(struct bpf_raw_tracepoint_args *ctx, s64 nr, u32 exit)
{
	struct event_counts *c;
	u32 event;

	if (!armed())
		return 0;
	event = syscall_event(nr, exit);
	if (event == ~0u)
		return 0;
	c = event_counts(event);
	if (!c)
		return 0;
	bump(c, STK_C_HAPPENED);
	if (recorder_dropped())
		hand_over(ctx, event, c);
	return 0;
}

SEC("raw_tp")
int count_sys_enter(struct bpf_raw_tracepoint_args *ctx)
{
	return count_syscall(ctx, ctx->args[1], 0);
}

/* sys_exit(regs, ret): the number is in the registers (x86: orig_ax). */
SEC("raw_tp")
int count_sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct pt_regs *regs = (struct pt_regs *)ctx->args[0];
	u64 nr = -1;

	bpf_probe_read_kernel(&nr, sizeof(nr), &regs->orig_rax);
	return count_syscall(ctx, (s64)nr, 1);
}

/* ---- timer samples --------------------------------------------------------------------------- */

/*
 * The perf events are our own, so that 0 (no perf sample besides) hides nothing from anybody.
 */
SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	u64 pid_tgid = bpf_get_current_pid_tgid(), ts = now();
	struct event_counts *c;
	struct event_desc *d;
	struct scratch *s;
	u32 *busy;
	bool selected;

	if (!armed())
		return 0;
	c = event_counts(sample_event);
	if (!c)
		return 0;
	if (!(u32)pid_tgid && !keep_idle) {
		bump(c, STK_C_SAMPLE_IDLE);
		return 0;
	}
	bump(c, STK_C_HAPPENED);
	c = event_wanted(sample_event, &d, &selected);
	if (!c)
		return 0;
	s = scratch_get(&busy);
	if (!s) {
		bump(c, STK_C_LOST_SCRATCH);
		return 0;
	}
	event_start(s, sample_event, ts);
	common_fields(s, (u32)pid_tgid);
	s->ev.common_type = 0;
	s->ev.common_flags &= ~0x01;
	s->ext &= ~WIRE_EXT_NO_IRQFLAG;
	if (!(ctx->regs.eflags & X86_EFLAGS_IF))
		s->ev.common_flags |= 0x01;
	*(u64 *)s->fields = ctx->regs.rip;
	s->size = 16;
	s->words[0] = FRAME_MARKER(FRAME_EXACT, 0);
	kernel_stack(ctx, s, c, 0, 0, 1);
	event_write(s, c);
	scratch_put(busy);
	return 0;
}

/* ---- following tasks --------------------------------------------------------------------------- */

/* Runs in the parent for every new task or thread: the child is selected as its parent is. */
SEC("raw_tp/task_newtask")
int follow(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *child = (struct task_struct *)ctx->args[0];
	u32 parent = bpf_get_current_pid_tgid(), tid = 0, word;
	u64 *bits;

	if (bpf_core_read(&tid, sizeof(tid), &child->pid))
		return 0;
	word = tid >> 6;
	bits = bpf_map_lookup_elem(&pids, &word);
	if (!bits)
		return 0;
	if (pid_selected(parent))
		__sync_fetch_and_or(bits, 1ULL << (tid & 63));
	else
		__sync_fetch_and_and(bits, ~(1ULL << (tid & 63)));
	return 0;
}

/* ---- what this kernel's own program sees -------------------------------------------------------- */

/* Calibration: task:task_rename, fired by ourselves in plain task context. */
u32 calibrate_tid = 0;
u32 calibrate_preempt = 0, calibrate_migrate = 0, calibrate_runs = 0;
int calibrate_irqs_off = 0;

SEC("tracepoint")
int calibrate(void *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();

	if ((u32)bpf_get_current_pid_tgid() != calibrate_tid)
		return 1;
	calibrate_preempt = compat_percpu_u32(percpu_preempt_count) & 0xff;
	calibrate_migrate = task->migration_disabled;
	calibrate_irqs_off = compat_irqs_off();
	calibrate_runs++;
	return 1;
}

/* signal:signal_generate, for a signal of ours to ourselves: it is pending just then. */
u64 calibrate_tif = 0;

SEC("tracepoint")
int calibrate_signal(void *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();

	if ((u32)bpf_get_current_pid_tgid() == calibrate_tid)
		calibrate_tif = task->thread_info.flags;
	return 1;
}

/* Run once on every CPU: where its run queue is, the anchor of its per-CPU variables. */
u64 located_rq[WIRE_MAX_CPUS] = {};

SEC("raw_tp")
int locate(void *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	u32 cpu = bpf_get_smp_processor_id();
	struct cfs_rq *cfs_rq;
	struct rq *rq = NULL;
	int rq_cpu = -1;

	if (!bpf_core_field_exists(task->se.cfs_rq) || cpu >= WIRE_MAX_CPUS)
		return 0;
	cfs_rq = BPF_CORE_READ(task, se.cfs_rq);
	bpf_core_read(&rq, sizeof(rq), &cfs_rq->rq);
	bpf_core_read(&rq_cpu, sizeof(rq_cpu), &rq->cpu);
	if (rq_cpu == cpu)
		located_rq[cpu] = (u64)rq;
	return 0;
}
