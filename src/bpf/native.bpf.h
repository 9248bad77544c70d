/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The programs of an event whose record is filled from the tracepoint's arguments, without perf.
 *
 * The front, `native`, is of type raw_tp, and each event has its own copy of it: the kernel's guard
 * against recursion belongs to a program, so it skips the front only where the event interrupts
 * itself, and counts that.  The front counts that the event happened, fills the record with
 * instructions that the recorder has made for the event (src/record/kernel/native_code.h), and goes
 * on with one of the ends by a tail call.  All events share these:
 *
 *	native_filter	the event has a filter
 *	native_end	its kernel stack is remembered, and the user stack is known
 *	native_slow	its kernel stack is not known to native_end, or due to be verified
 *	native_user	user stacks otherwise
 *
 * Interrupts may bring other events to the same ends, so these find their slot by the address of
 * the context, which lies in the frame of the caller; and they may not use the private stack per
 * CPU that the kernel gives to programs of this type since 6.13 (7d1cd70d4b16).  It does not do so
 * for a program that contains a tail call; therefore each of them has one.
 */
#ifndef NATIVE_BPF_H
#define NATIVE_BPF_H

#include "event.bpf.h"
#include "native_hole.bpf.h"
#include "nested.bpf.h"
#include "select.bpf.h"
#include "stack.bpf.h"
#include "syscall.bpf.h"

/*
 * Where an event may interrupt its own front, as a page fault in the recorder's program that takes
 * a user stack does, a second instance of the front is attached behind the first.  For each hit the
 * kernel calls both, one after the other, with the same context, and skips the one that is running
 * already.  The second must not record what the first has seen.  One word for each level of
 * interrupts is enough to know that, because only higher levels can come between the two calls; a
 * hit within the first front itself has the level of that, but another context, and leaves the word
 * alone.  Where the second is skipped, the word stays, and a later hit may have the same context.
 * So the first clears the words of higher levels, which no hit is using at that moment.
 *
 * The kernel's counts of skipped calls say what both missed: those of the first front less what the
 * second has taken, and no more than those of the second.  The second counts what it takes also
 * while the recording is not armed, as the kernel does.
 */
ARRAY_MMAPABLE(native_hits, 1, struct native_hits); /* event * nr_cpus + cpu */

static __always_inline struct native_hits *native_hits_of(u32 event, u32 cpu)
{
	u32 key = event * nr_cpus + cpu;

	/* without the level the second front would record what the first has recorded */
	if (cpu >= WIRE_MAX_CPUS || !percpu_base[cpu])
		return NULL;
	return bpf_map_lookup_elem(&native_hits, &key);
}

/* Whether this hit is the other front's.  Counts the hits that are the second's. */
static __always_inline bool native_leaves(void *ctx, struct native_hits *h, u32 role)
{
	volatile u64 *seen;
	u64 own;

	if (!h)
		return role == WIRE_ROLE_SECOND;
	seen = &h->seen[compat_level_of(preempt_count()) & 3];
	asm volatile("%0 = %1" : "=r"(own) : "r"(ctx));
	if (role == WIRE_ROLE_FIRST) {
		seen[0] = own;
		seen[1] = seen[2] = seen[3] = 0;
		return false;
	}
	if (seen[0] != own) {
		__sync_fetch_and_add(&h->taken, 1);
		return false;
	}
	seen[0] = 0;
	return true;
}

/*
 * Whether the event names a selected task.  The arguments are read by their address: the kernel
 * does not attach a program that reads more arguments of its context than the tracepoint has.
 */
static __always_inline bool native_names_selected(void *ctx, u32 event)
{
	const struct event_desc *d = bpf_map_lookup_elem(&descs, &event);
	u64 args, task;
	u32 i;

	if (!d)
		return false;
	asm volatile("%0 = %1" : "=r"(args) : "r"(ctx));
	for (i = 0; i < 2; i++) {
		if (!d->pid_arg[i])
			continue;
		task = kwalk_load(args + (d->pid_arg[i] - 1) * 8);
		if (task && tid_selected(kwalk_load((u64) & ((struct task_struct *)task)->pid)))
			return true;
	}
	return false;
}

/*
 * Distinguishes the contexts of a CPU's events: a distance between pointers, which is a number to
 * the verifier, so that it can be compared without a branch.  Not 0.
 */
static __always_inline u64 native_id(void *ctx, const struct cpu_scratch *slots)
{
	u64 id;

	asm volatile("%0 = %1\n%0 -= %2" : "=&r"(id) : "r"(ctx), "r"(slots));
	return id;
}

/* A slot while an event is in it. */
struct native_run {
	struct scratch *s;
	struct event_counts *c;
	struct wire_cpu *cpu;
	u64 *ctx;
	u32 *busy;
};

static __always_inline void native_put(struct native_run *e)
{
	*(volatile u64 *)e->ctx = 0;
	scratch_put(e->busy);
}

enum native_fields {
	NATIVE_BY_HOLE, /* by instructions made for the event */
	NATIVE_ENTER, /* of raw_syscalls:sys_enter */
	NATIVE_CALL_ENTER, /* of a system call's entry */
	NATIVE_EXIT, /* of either */
};

/*
 * As syscall_get_arguments().  Where memory is read by a helper, all registers are read at once, to
 * copy.
 */
static __always_inline void native_call_args(u64 *to, struct pt_regs *copy,
					     const struct pt_regs *regs, bool is_32bit)
{
	bool by_load = kwalk_settings.reader == KWALK_BY_LOAD;

	if (!by_load)
		bpf_probe_read_kernel(copy, sizeof(*copy), regs);
#define NATIVE_ARG(name) *to++ = by_load ? LOAD(regs, name) : copy->name;
#define NATIVE_ARG_32(name) *to++ = (u32)(by_load ? LOAD(regs, name) : copy->name);
	if (is_32bit) {
		ARCH_CALL_ARGS_32(NATIVE_ARG_32)
	} else {
		ARCH_CALL_ARGS(NATIVE_ARG)
	}
#undef NATIVE_ARG
#undef NATIVE_ARG_32
}

/*
 * sys_enter(regs, id) has {id, args[6]}, and a system call's event as many of these as it has
 * arguments; sys_exit(regs, ret) has {id, ret}.
 */
static __always_inline u32 native_call_enter_fields(u64 *to, struct pt_regs *copy,
						    struct bpf_raw_tracepoint_args *ctx,
						    const struct task_struct *task)
{
	to[0] = ctx->args[1];
	native_call_args(&to[1], copy, (void *)ctx->args[0], compat_syscall_is_32bit(task));
	return 64;
}

static __always_inline u32 native_call_exit_fields(u64 *to, struct bpf_raw_tracepoint_args *ctx)
{
	const struct pt_regs *regs = (void *)ctx->args[0];

	to[0] = (s32)LOAD(regs, ARCH_REG_CALL);
	to[1] = ctx->args[1];
	return 24;
}

/* Fills the record; returns its size, or 0: it has only the common fields. */
static __always_inline u32 native_fill_all(struct scratch *s, struct bpf_raw_tracepoint_args *ctx,
					   u32 event, const struct task_struct *task, u32 how)
{
	u64 *fields = (u64 *)s->fields;
	struct event_desc *d;
	u32 size;

	if (how == NATIVE_BY_HOLE)
		return native_fill(&s->ev.common_type, ctx);
	if (how == NATIVE_EXIT)
		return native_call_exit_fields(fields, ctx);
	_Static_assert(sizeof(struct pt_regs) <= sizeof(s->walk.copy), "there is room");
	size = native_call_enter_fields(fields, (void *)s->walk.copy, ctx, task);
	if (how == NATIVE_ENTER)
		return size;
	d = bpf_map_lookup_elem(&descs, &event);
	if (!d)
		return 0;
	s->size = d->fixed_size;
	if (d->nr_strings)
		event_strings(s, d);
	return s->size;
}

/*
 * The event's flags, of those in DESC_ASK.  The recorder sets `ask` before the first of them, so no
 * flag is set where it is 0.
 */
static __always_inline u32 native_flags(const struct event_counts *c, u32 event)
{
	const struct event_desc *d;

	if (!*(volatile u8 *)&c->ask)
		return 0;
	d = bpf_map_lookup_elem(&descs, &event);
	return d ? *(volatile u32 *)&d->flags : 0;
}

/* A front from the decision whether the event is recorded to its end; bare: without fields. */
static __always_inline int native_record(struct bpf_raw_tracepoint_args *ctx, u32 event,
					 struct event_counts *c, const struct task_struct *task,
					 u32 irqs, u32 how, bool bare)
{
	u32 excluded, cpu = bpf_get_smp_processor_id(), i, size;
	struct native_run e = { .c = c };
	struct cpu_scratch *slots;

	if (!event_chosen(c, NULL, event, task, &excluded))
		return 0;
	slots = bpf_map_lookup_elem(&scratches, &cpu);
	i = slots ? scratch_claim(slots->cpu.busy, LOG2_SCRATCHES) : WIRE_SLOTS;
	if (!slots || i >> LOG2_SCRATCHES) {
		bump(c, STK_C_LOST_SCRATCH);
		note_loss(c, now());
		return 0;
	}
	e.s = &slots->slot[i];
	e.busy = &slots->cpu.busy[i];
	e.ctx = &slots->cpu.ctx[i];
	event_start(e.s, task, event, now());
	e.s->ctx = (u64)ctx;
	/* asking the kernel whether interrupts are off costs 35 ns */
	common_fields_from(e.s, task, cpu_preempt_count(&slots->cpu), c->common_type,
			   ctl.raw_preempt_base, ctl.raw_migrate_base,
			   irqs == NATIVE_IRQS_ASK ? compat_irqs_off() : irqs == NATIVE_IRQS_OFF,
			   true);
	size = bare ? 0 : native_fill_all(e.s, ctx, event, task, how);
	e.s->size = size ?: 8;
	e.s->marks |= size ? 0 : STK_MARK_NO_FIELDS;
	e.s->excluded = excluded;
	if (excluded && !native_names_selected(ctx, event)) {
		bump(c, excluded);
		scratch_put(e.busy);
		return 0;
	}
	if (excluded)
		e.s->marks |= STK_MARK_NOT_SELECTED;
	*(volatile u64 *)e.ctx = native_id(ctx, slots);
	if (!(native_flags(c, event) & DESC_FILTER))
		bpf_tail_call_static(ctx, &tails, WIRE_TAIL_END);
	else if (size) /* the filter needs fields */
		bpf_tail_call_static(ctx, &tails, WIRE_TAIL_FILTER);
	/* the tail calls do not fail: the recorder has filled the table */
	bump(c, STK_C_LOST_NESTED);
	note_loss(c, e.s->ts);
	native_put(&e);
	return 0;
}

/*
 * Whether perf's program records this hit, and the front has only counted it.  *ret_old: the event
 * has taken the old way, so if the front records it after all, it does so without fields.
 */
static __always_inline bool native_left(u32 event, const struct task_struct *task,
					const struct event_counts *c, u32 how, bool *ret_old)
{
	u32 flags = native_flags(c, event);
	bool dropped;

	*ret_old = false;
	if (!(flags & (DESC_OLD_WAY | DESC_BESIDE)))
		return false;
	dropped = recorder_dropped();
	if (flags & DESC_BESIDE)
		return !dropped;
	*ret_old = old_way_taken(flags, c);
	if (how != NATIVE_BY_HOLE && !dropped)
		*ret_old = old_way_of_call(event, task->pid, *ret_old);
	return *ret_old && !dropped;
}

/* A front from the counter of the event on. */
static __always_inline int native_begin(struct bpf_raw_tracepoint_args *ctx, u32 event, u32 irqs,
					u32 how)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct event_counts *c = event_counts(event);
	bool old;

	if (!c)
		return 0;
	bump(c, STK_C_HAPPENED);
	if (native_left(event, task, c, how, &old))
		return 0;
	return native_record(ctx, event, c, task, irqs, how, old);
}

SEC("raw_tp")
int native(struct bpf_raw_tracepoint_args *ctx)
{
	u32 event, role, irqs, cpu = bpf_get_smp_processor_id();

	asm volatile("%0 = %1" : "=r"(event) : "i"(WIRE_COUNT_EVENT));
	asm volatile("%0 = %1" : "=r"(role) : "i"(WIRE_NATIVE_ROLE));
	asm volatile("%0 = %1" : "=r"(irqs) : "i"(WIRE_NATIVE_IRQS));
	if (role && native_leaves(ctx, native_hits_of(event, cpu), role))
		return 0;
	return armed() ? native_begin(ctx, event, irqs, NATIVE_BY_HOLE) : 0;
}

/*
 * System calls cannot happen while a program runs, so the kernel skips none of these, and one of
 * them serves all calls.  Their tracepoints have interrupts enabled.
 */
static __always_inline int native_syscall(struct bpf_raw_tracepoint_args *ctx, s64 nr, u32 how)
{
	u32 event;

	if (!armed())
		return 0;
	event = syscall_event(nr, how == NATIVE_EXIT);
	return event == ~0u ? 0 : native_begin(ctx, event, NATIVE_IRQS_ON, how);
}

SEC("raw_tp")
int native_call_enter(struct bpf_raw_tracepoint_args *ctx)
{
	return native_syscall(ctx, ctx->args[1], NATIVE_CALL_ENTER);
}

SEC("raw_tp")
int native_call_exit(struct bpf_raw_tracepoint_args *ctx)
{
	const struct pt_regs *regs = (void *)ctx->args[0];

	return native_syscall(ctx, LOAD(regs, ARCH_REG_CALL), NATIVE_EXIT);
}

/* The fronts of raw_syscalls: events. */
SEC("raw_tp")
int native_sys_enter(struct bpf_raw_tracepoint_args *ctx)
{
	u32 event;

	asm volatile("%0 = %1" : "=r"(event) : "i"(WIRE_COUNT_EVENT));
	return armed() ? native_begin(ctx, event, NATIVE_IRQS_ON, NATIVE_ENTER) : 0;
}

SEC("raw_tp")
int native_sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
	u32 event;

	asm volatile("%0 = %1" : "=r"(event) : "i"(WIRE_COUNT_EVENT));
	return armed() ? native_begin(ctx, event, NATIVE_IRQS_ON, NATIVE_EXIT) : 0;
}

/* An event whose counter has handed it over, because the kernel drops the recorder program. */
SEC("raw_tp")
int nested(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	u32 event = take_over(ctx);
	struct event_counts *c = event_counts(event);

	if (!c)
		return 0;
	return native_record(ctx, event, c, task, NATIVE_IRQS_ASK, NATIVE_BY_HOLE, true);
}

/* 0: these are the same, 1: they differ; without a branch, which would double what is verified. */
static __always_inline u64 native_differ(u64 a, u64 b)
{
	u64 x = a ^ b, minus = -x;

	asm volatile("" : "+r"(minus)); /* else the compiler makes a branch of it */
	return (x | minus) >> 63;
}

/* Finds the slot that the front filled; the last event of a CPU is most often in the first one. */
static __always_inline bool native_resume(void *ctx, struct native_run *ret_run)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct cpu_scratch *slots = bpf_map_lookup_elem(&scratches, &cpu);
	u64 i, own;

	_Static_assert(LOG2_SCRATCHES == 2, "there are four slots to look at");
	if (!slots)
		return false;
	own = native_id(ctx, slots);
	asm volatile("%0 = 0" : "=r"(i));
	if (*(volatile u64 *)&slots->cpu.ctx[0] != own) {
		i = (1 - native_differ(*(volatile u64 *)&slots->cpu.ctx[1], own)) +
		    (1 - native_differ(*(volatile u64 *)&slots->cpu.ctx[2], own)) * 2 +
		    (1 - native_differ(*(volatile u64 *)&slots->cpu.ctx[3], own)) * 3;
		asm volatile("" : "+r"(i));
		i &= WIRE_SLOTS - 1;
	}
	if (*(volatile u64 *)&slots->cpu.ctx[i] != own)
		return false;
	ret_run->cpu = &slots->cpu;
	ret_run->ctx = &slots->cpu.ctx[i];
	ret_run->busy = &slots->cpu.busy[i];
	ret_run->s = &slots->slot[i];
	ret_run->c = event_counts(ret_run->s->event);
	return ret_run->c;
}

static __always_inline void native_written(struct native_run *e, bool written)
{
	if (written) {
		if (e->s->marks & STK_MARK_NO_FIELDS)
			bump(e->c, STK_C_NO_FIELDS);
		event_cost(e->c, e->s);
	}
	native_put(e);
}

/* Also where a tail call fails, which does not happen: the recorder has filled the table. */
static __always_inline void native_lose(struct native_run *e)
{
	event_lost(e->c, STK_C_LOST_NESTED, e->s->ts);
	native_put(e);
}

/*
 * The kernel stack is done: takes the user stack, if any is wanted, and writes the event.  ids: the
 * kernel stack is known by its id.
 */
static __always_inline void native_go_on(void *ctx, struct native_run *e, bool ids)
{
	if (user_stacks) {
		bpf_tail_call_static(ctx, &tails, WIRE_TAIL_USER);
		native_lose(e);
	} else {
		e->s->ustack = WIRE_STACK_NONE;
		native_written(e,
			       ids ? event_write_ids(e->s, e->c, e->cpu) : event_write(e->s, e->c));
	}
}

/* Whether the user stack is known, too, so that the event can be written. */
static __always_inline bool native_user_known(struct native_run *e)
{
	if (!user_stacks || (e->s->excluded && !waker_stacks))
		return false;
	e->s->user_tried = 1;
	if (!user_known_call(e->s))
		return false;
	user_stack_count(e->s, e->c);
	return true;
}

SEC("raw_tp")
int native_user(void *ctx)
{
	struct native_run e;

	if (!native_resume(ctx, &e)) {
		bpf_tail_call_static(ctx, &tails, WIRE_TAIL_USER);
		return 0;
	}
	user_stack(e.s, e.c, !e.s->excluded, e.s->user_tried);
	native_written(&e, event_write(e.s, e.c));
	return 0;
}

/*
 * The kernel stack of an event for which native_end has found no plain memo: by a memo of another
 * kind, or by the rules.
 */
static __always_inline void native_stack(void *ctx, struct native_run *e)
{
	bool begun = false, known = false;

	e->s->walk.task = e->s->stack;
	if (e->c->first) {
		kwalk_begin_noted(ctx, &e->s->walk, e->c->first);
		known = stack_recall(e->s, KWALK_RAW);
	}
	if (!known) {
		begun = kwalk_begin_raw_noting(ctx, &e->s->walk, &e->c->first);
		known = begun && stack_recall(e->s, KWALK_RAW);
	}
	if (!known)
		stack_take(ctx, e->s, e->c, 0, begun, KWALK_RAW);
	else if (stack_is_due(e->c))
		stack_verify_remembered(ctx, e->s, e->c, 0, KWALK_RAW);
}

SEC("raw_tp")
int native_slow(void *ctx)
{
	struct event_desc *d;
	struct native_run e;

	if (!native_resume(ctx, &e)) {
		bpf_tail_call_static(ctx, &tails, WIRE_TAIL_SLOW);
		return 0;
	}
	d = bpf_map_lookup_elem(&descs, &e.s->event);
	if (d) {
		stack_set_tracer(e.s, d->tracer_start, d->tracer_len);
		if (e.s->kstack == WIRE_STACK_NONE)
			native_stack(ctx, &e);
		else
			stack_verify_remembered(ctx, e.s, e.c, 0, KWALK_RAW);
	}
	native_go_on(ctx, &e, false);
	return 0;
}

/* Sets s->kstack if a plain memo knows the stack, and counts it; false: native_slow goes on. */
static __always_inline bool native_known(struct native_run *e)
{
	if (ctl.walk_ended)
		return false;
	e->s->kstack = kwalk_recall_noted(e->s->ctx, e->s->stack, e->c->first,
					  stack_salt(e->s, KWALK_RAW));
	return e->s->kstack != WIRE_STACK_NONE && !stack_is_due(e->c);
}

SEC("raw_tp")
int native_end(void *ctx)
{
	struct native_run e;

	if (!native_resume(ctx, &e)) {
		bpf_tail_call_static(ctx, &tails, WIRE_TAIL_END);
		return 0;
	}
	e.s->kstack = WIRE_STACK_NONE;
	e.s->user_tried = 0;
	if (kernel_stacks && !native_known(&e)) {
		bpf_tail_call_static(ctx, &tails, WIRE_TAIL_SLOW);
		native_lose(&e);
	} else if (native_user_known(&e)) {
		native_written(&e, event_write_ids(e.s, e.c, e.cpu));
	} else {
		native_go_on(ctx, &e, true);
	}
	return 0;
}

SEC("raw_tp")
int native_filter(void *ctx)
{
	struct event_desc *d;
	struct native_run e;

	if (!native_resume(ctx, &e)) {
		bpf_tail_call_static(ctx, &tails, WIRE_TAIL_FILTER);
		return 0;
	}
	d = bpf_map_lookup_elem(&descs, &e.s->event);
	if (d && event_passes(e.s, d, true)) {
		bpf_tail_call_static(ctx, &tails, WIRE_TAIL_END);
		native_lose(&e);
		return 0;
	}
	bump(e.c, STK_C_FILTERED_EXPR);
	event_cost(e.c, e.s);
	native_put(&e);
	return 0;
}

#endif /* NATIVE_BPF_H */
