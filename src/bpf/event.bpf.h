/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps of the recorder program for one event: selection, record, filter, stacks, ring.
 */
#ifndef EVENT_BPF_H
#define EVENT_BPF_H

#include "event_flags.h"
#include "old_way.bpf.h"
#include "select.bpf.h"
#include "stack.bpf.h"
#include "state.bpf.h"
#include "user_stack.bpf.h"

/* Flags that few events have.  need: those of ctl.tif_resched and ctl.tif_lazy that are set. */
static __always_inline u32 rare_flags(u32 count, u64 need)
{
	u32 flags = 0;

	if (percpu_preempt_count && !(count & PREEMPT_NEED_RESCHED) && !ctl.counts_unknown)
		flags |= EVENT_FLAG_PREEMPT_RESCHED |
			 (ctl.tif_resched ? 0 : EVENT_FLAG_NEED_RESCHED);
	if (need & ctl.tif_resched)
		flags |= EVENT_FLAG_NEED_RESCHED;
	if (need & ctl.tif_lazy)
		flags |= EVENT_FLAG_NEED_RESCHED_LAZY;
	if (count & HARDIRQ_MASK)
		flags |= EVENT_FLAG_HARDIRQ;
	if (count & SOFTIRQ_SERVING)
		flags |= EVENT_FLAG_SOFTIRQ;
	if (count & NMI_MASK)
		flags |= EVENT_FLAG_NMI;
	if ((count & SOFTIRQ_MASK) > SOFTIRQ_SERVING)
		flags |= EVENT_FLAG_BH_OFF;
	return flags;
}

/*
 * Apart from the path of an event.  Only native events call it: in others, what would have to be
 * kept across the call has no room on the stack (512 bytes for all functions, before Linux 6.13).
 */
__noinline u32 event_rare_flags(u32 count, u64 need)
{
	return rare_flags(count, need);
}

static __always_inline u32 event_nibble(u32 n, u32 from)
{
	n = n > from ? n - from : 0;
	return n > 15 ? 15 : n;
}

/*
 * Fills struct trace_entry as the kernel's tracing_gen_ctx() does.  The bases are what the program
 * sees in plain task context; off: whether interrupts are off, as from compat_irqs_off().
 */
static __always_inline void common_fields_from(struct scratch *s, const struct task_struct *task,
					       u32 count, u16 type, u32 preempt_from,
					       u32 migrate_from, int off, bool apart)
{
	u32 flags = off > 0 ? EVENT_FLAG_IRQS_OFF : 0, preempt, migrate = task->migration_disabled;
	u64 need;

	if (off < 0)
		s->marks |= STK_MARK_NO_IRQFLAG;
	if (apart) {
		need = task->thread_info.flags & (ctl.tif_resched | ctl.tif_lazy);
		if (need | ((count ^ PREEMPT_NEED_RESCHED) & ~0xffu))
			flags |= event_rare_flags(count, need);
	} else {
		flags |= rare_flags(count, task->thread_info.flags);
	}
	preempt = event_nibble(count & 0xff, preempt_from);
	migrate = event_nibble(migrate, migrate_from);
	/* one store: it is read as one word */
	*(u64 *)&s->ev.common_type =
		type | flags << 16 | preempt << 24 | migrate << 28 | (u64)s->tid << 32;
}

/* The same for a record that has its type. */
static __always_inline void common_fields(struct scratch *s, const struct task_struct *task)
{
	int off = compat_irqs_off(); /* a call: before there are values to be kept across it */

	common_fields_from(s, task, preempt_count(), s->ev.common_type, ctl.preempt_base,
			   ctl.migrate_base, off, false);
}

/*
 * Writes this task's name into the ring unless it is the last one written for its slot; false: the
 * ring has no room.
 */
static __always_inline bool announce_task(struct scratch *s, struct wire_cpu *c, u32 cpu)
{
	u32 tid = s->tid, tgid = s->tgid;
	struct task_slot *slot = &c->tasks[(tid ^ tid >> 8) & (WIRE_TASK_SLOTS - 1)];
	struct wire_task *t = (struct wire_task *)s->task;

	if (slot->tid == tid && slot->tgid == tgid && slot->comm[0] == t->comm[0] &&
	    slot->comm[1] == t->comm[1])
		return true;
	t->event = WIRE_TASK;
	t->pad = 0;
	t->tid = tid;
	t->tgid = tgid;
	if (!ring_output(&c->ring, cpu, (struct wire_head *)t, sizeof(*t)))
		return false;
	/*
	 * An interrupt may see a partly written slot: tid is invalid meanwhile and written last, so
	 * such a slot matches no task.
	 */
	*(volatile u32 *)&slot->tid = ~0u;
	barrier();
	slot->tgid = tgid;
	slot->comm[0] = t->comm[0];
	slot->comm[1] = t->comm[1];
	barrier();
	*(volatile u32 *)&slot->tid = tid;
	return true;
}

/*
 * Appends the words of the user stack, or the tag of its copy, to s->left bytes of fields and
 * kernel stack.  Returns the new size in bytes.
 */
__noinline u32 user_words_output(struct scratch *s)
{
	u32 size, nr;

	if (!s)
		return 0;
	size = (s->left + 7) & ~7u;
	if (size > WIRE_MAX_RECORD + STACKMAP_WORDS * 8)
		return ~0u;
	if (s->ustack == WIRE_STACK_DEFERRED) {
		bpf_probe_read_kernel(s->fields + size, 8, &s->tag);
		return size + 8;
	}
	nr = s->user.nr_words;
	if (nr > STACKMAP_WORDS)
		return ~0u;
	bpf_probe_read_kernel(s->fields + size, (nr & 0xff) * 8, s->user.words.w);
	size += nr * 8;
	s->tag = nr;
	if (size > EVENT_BYTES - 8)
		return ~0u;
	bpf_probe_read_kernel(s->fields + size, 8, &s->tag);
	return size + 8;
}

/* The bytes of the fields: struct trace_entry, the first 8 of the record, is part of ev. */
static __always_inline u32 event_fields_size(const struct scratch *s)
{
	u32 size = s->size;

	if (size < 8 || size > WIRE_MAX_RECORD)
		size = 8;
	return size - 8;
}

/* Completes what precedes the fields in the ring; returns the bytes of the fields. */
static __always_inline u32 event_head(struct scratch *s)
{
	u32 size;

	s->ev.ts = s->ts;
	s->ev.kstack = s->kstack;
	s->ev.ustack = s->ustack;
	s->ev.event = s->event;
	s->ev.marks = s->marks;
	s->ev.nr_words = 0;
	size = event_fields_size(s);
	if (size & 7) { /* stack words begin at a multiple of 8 */
		u32 at = size;

		asm volatile("" : "+r"(at));
		*(u64 *)(s->fields + (at & (WIRE_MAX_RECORD - 1))) = 0;
	}
	return size;
}

/* Writes the event into this CPU's ring; 0: the ring has no room. */
__noinline int event_output(struct scratch *s)
{
	u32 cpu = bpf_get_smp_processor_id(), size, nr;
	struct cpu_scratch *c = bpf_map_lookup_elem(&scratches, &cpu);

	if (!s || !c || !announce_task(s, &c->cpu, cpu))
		return 0;
	size = event_head(s);
	if (s->kstack == WIRE_STACK_FULL) {
		u32 start = s->start;

		nr = s->nr_frames - start;
		if (nr && nr <= STACKMAP_WORDS) {
			size = (size + 7) & ~7u;
			if (size > WIRE_MAX_RECORD)
				return 0;
			bpf_probe_read_kernel(s->fields + size, (nr & 0xff) * 8,
					      stack_part(s, start));
			s->ev.nr_words = nr;
			size += nr * 8;
		}
	}
	if (s->ustack == WIRE_STACK_FULL || s->ustack == WIRE_STACK_DEFERRED) {
		*(volatile u32 *)&s->left = size;
		size = user_words_output(s);
	}
	if (size > EVENT_BYTES)
		return 0;
	return ring_output(&c->cpu.ring, cpu, (struct wire_head *)&s->ev, sizeof(s->ev) + size);
}

static __always_inline bool event_written(struct scratch *s, struct event_counts *c, bool written)
{
	if (written)
		bump(c, STK_C_RECORDED);
	else
		event_lost(c, STK_C_LOST_RING, s->ts);
	return written;
}

static __always_inline bool event_write(struct scratch *s, struct event_counts *c)
{
	return event_written(s, c, event_output(s));
}

/* Its first words come from registers: storing them first, to copy them, would be slow. */
static __always_inline bool event_ids_output(struct scratch *s, struct wire_ring_pos *ring, u32 cpu)
{
	u32 len = sizeof(s->ev) + event_fields_size(s);
	ring_word *to = ring_reserve(ring, cpu, len);

	if (!to)
		return false;
	to[1] = s->ts;
	to[2] = s->kstack | (u64)s->ustack << 32;
	ring_copy(to, (ring_word *)&s->ev, 3, len);
	ring_commit(to, len | (u64)(u16)s->event << 32 | (u64)(u8)s->marks << 48);
	return true;
}

/* The same for an event that carries no words of stacks, without the call, which costs 7 ns. */
static __always_inline bool event_write_ids(struct scratch *s, struct event_counts *c,
					    struct wire_cpu *w)
{
	u32 cpu = bpf_get_smp_processor_id();

	return event_written(s, c, announce_task(s, w, cpu) && event_ids_output(s, &w->ring, cpu));
}

/*
 * Whether the event passes its filter, if it has one.  The evaluator costs the verifier as much as
 * a program, so each recorder program exists with and without it.
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

/* Defines the programs NAME and NAME_filtered, whose expression uses the constant `filtered`. */
#define RECORDER(name, expression)                       \
	SEC("tracepoint") int name(void *ctx)            \
	{                                                \
		const bool filtered = false;             \
		return expression;                       \
	}                                                \
	SEC("tracepoint") int name##_filtered(void *ctx) \
	{                                                \
		const bool filtered = true;              \
		return expression;                       \
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
			s->marks |= STK_MARK_CUT;
		}
		if (end > fixed)
			bpf_probe_read_kernel(rec, end, ctx);
	}
	s->size = end;
	s->ev.common_type = d->common_type;
}

/* Whether a sched event names a selected task, which is the rule of ftrace's set_event_pid. */
static __always_inline bool names_selected(struct scratch *s, struct event_desc *d)
{
	u8 *rec = (u8 *)&s->ev.common_type;
	u32 i;

	for (i = 0; i < 2; i++) {
		if (i >= d->nr_pids)
			break;
		if (tid_selected(*(u32 *)(rec + (d->pid_off[i] & 0xffc))))
			return true;
	}
	return false;
}

/* Each program reads the flag only once per event, so its counters agree. */
static __always_inline bool armed(void)
{
	return *(volatile u32 *)&ctl.armed;
}

/*
 * Decides by CPU and running task whether to record the event; false: it is not recorded and has
 * been counted as filtered.  *ret_excluded: 0, or the running task is not selected, but the event
 * may name a task that is; if it does not, this counter is to be incremented.
 */
static __always_inline bool event_chosen(struct event_counts *c, const struct event_desc *d,
					 u32 event, const struct task_struct *task,
					 u32 *ret_excluded)
{
	u32 tid = task->pid, by = selections, excluded;

	if (by & WIRE_SELECT_CPUS && !cpu_selected()) {
		bump(c, STK_C_FILTERED_CPU);
		return false;
	}
	/* Events in interrupts that hit the recorder are not its own. */
	if (!(by & WIRE_SELECT_IDS) && is_self(tid, task->tgid) &&
	    (event == sample_event || !compat_context_level()))
		excluded = STK_C_FILTERED_SELF;
	else
		excluded = by ? task_excluded(by, task, tid) : 0;
	*ret_excluded = excluded;
	if (!excluded)
		return true;
	/* With selected tasks, an event of the recorder may name one of them. */
	if (by & WIRE_SELECT_TASKS) {
		d = d ?: bpf_map_lookup_elem(&descs, &event);
		if (d && d->nr_pids)
			return true;
	}
	bump(c, excluded);
	return false;
}

/* The same with the counters and the description of the event; NULL: it is not recorded. */
static __always_inline struct event_counts *event_wanted(u32 event, const struct task_struct *task,
							 struct event_desc **ret_desc,
							 u32 *ret_excluded)
{
	struct event_counts *c = event_counts(event);

	if (!c)
		return NULL;
	*ret_desc = bpf_map_lookup_elem(&descs, &event);
	if (!*ret_desc || !old_way_records(event, *ret_desc, c, task->pid) ||
	    !event_chosen(c, *ret_desc, event, task, ret_excluded))
		return NULL;
	return c;
}

/*
 * A concurrent rename may tear the name; bpf_get_current_comm() has the same race.  The verifier
 * lets words be read that lie within an array.
 */
static __always_inline void event_comm(struct wire_task *t, const struct task_struct *task)
{
	const char *comm = task->comm;

	t->comm[0] = *(const u64 *)comm;
	t->comm[1] = *(const u64 *)(comm + 8);
}

static __always_inline void event_start(struct scratch *s, const struct task_struct *task,
					u32 event, u64 ts)
{
	s->ts = ts;
	s->event = event;
	s->marks = 0;
	s->tid = task->pid;
	s->tgid = task->tgid;
	s->stack = (u64)task->stack;
	event_comm((struct wire_task *)s->task, task);
}

static __always_inline struct scratch *scratch_get(u32 **ret_busy)
{
	u32 cpu = bpf_get_smp_processor_id(), i;
	struct cpu_scratch *c = bpf_map_lookup_elem(&scratches, &cpu);

	if (!c)
		return NULL;
	i = scratch_claim(c->cpu.busy, LOG2_SCRATCHES);
	if (i >> LOG2_SCRATCHES)
		return NULL;
	*ret_busy = &c->cpu.busy[i];
	return &c->slot[i];
}

static __always_inline void scratch_put(u32 *busy)
{
	barrier();
	*(volatile u32 *)busy = 0;
}

/* An event while a program records it. */
struct event_run {
	const struct task_struct *task;
	struct event_counts *c;
	struct event_desc *d;
	struct scratch *s;
	u32 *busy;
	u32 excluded; /* see event_wanted() */
};

/* False: the event is filtered or there is no free scratch slot; it has been counted. */
static __always_inline bool event_begin(struct event_run *e, u32 event, u64 ts)
{
	e->task = (void *)bpf_get_current_task_btf();
	e->c = event_wanted(event, e->task, &e->d, &e->excluded);
	if (!e->c)
		return false;
	e->s = scratch_get(&e->busy);
	if (!e->s) {
		event_lost(e->c, STK_C_LOST_SCRATCH, ts);
		return false;
	}
	event_start(e->s, e->task, event, ts);
	return true;
}

__noinline int event_measure(struct event_counts *c, struct scratch *s)
{
	if (!c || !s)
		return 0;
	__sync_fetch_and_add(&c->c[STK_C_COST_NS], now() - s->ts);
	bump(c, STK_C_COST_EVENTS);
	ring_wake();
	return 0;
}

/*
 * Measures one event in 64, because reading the clock again is expensive, and not the first ones,
 * which find cold caches.  The same events look at how full the ring is.
 */
static __always_inline void event_cost(struct event_counts *c, struct scratch *s)
{
	if ((c->c[STK_C_RECORDED] + c->c[STK_C_FILTERED_EXPR]) % 64 == 32)
		event_measure(c, s);
}

/* Completes an event whose record is filled: filter, stacks, ring. */
static __always_inline void event_end(void *ctx, struct event_run *e, bool filtered)
{
	if (!event_passes(e->s, e->d, filtered)) {
		bump(e->c, STK_C_FILTERED_EXPR);
		event_cost(e->c, e->s);
	} else {
		kernel_stack(ctx, e->s, e->c, e->d->tracer_start, e->d->tracer_len, 0,
			     KWALK_TRACEPOINT);
		user_stack(e->s, e->c, !e->excluded, false);
		if (event_write(e->s, e->c))
			event_cost(e->c, e->s);
	}
	scratch_put(e->busy);
}

#endif /* EVENT_BPF_H */
