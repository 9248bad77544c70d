/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares the records that programs fill from a tracepoint's arguments with those that the kernel
 * fills for the same hits, with two programs of their own, so that the programs of the event are as
 * fast as without a check:
 *
 *	check_kernel	of type TRACEPOINT, copies the kernel's record
 *	check_front	of type raw_tp, has the same instructions as the event's front, fills a
 *			record of its own, and goes on with check_compare
 *
 * They are attached in this order and therefore called in this order, whoever else has attached to
 * the event.  Both are called from the same function, so they have the same thread, and meanwhile
 * only interrupts come between them, and what programs in between cause.  A copy of the kernel's
 * record is kept for each CPU and level of interrupts.
 *
 * A copy is that of the current hit:
 *	- If the kernel does not drop TRACEPOINT programs now, check_kernel has run for this hit.
 *	- A hit that came between, at the same level, has replaced the copy, and its check_front
 *	  has consumed it.
 *	- If its check_front was skipped, because it happened within the check_front of this hit,
 *	  the copy has another serial number than at the begin of that.
 *	- System calls may be preempted between the two, and go on on another CPU.  The number of
 *	  context switches of the task shows this, also of copies that were never consumed.
 */
#ifndef NATIVE_CHECK_BPF_H
#define NATIVE_CHECK_BPF_H

#include "native.bpf.h"
#include "native_check.h"
#include "native_hole.bpf.h"
#include "nested.bpf.h"
#include "state.bpf.h"

struct native_check_entry {
	u64 serial; /* of the copy; 0: none */
	u64 last; /* serial number given to a copy */
	u64 task, switches; /* whose hit it was, and how often it had been switched */
	u64 round;
	u64 event;
	u64 serial_of_own; /* of the copy that it is compared with */
	u64 size; /* of the own record */
	u64 kernel[NATIVE_ROOM / 8], own[NATIVE_ROOM / 8];
};

struct native_check_cpu {
	struct native_check_entry level[4];
};

ARRAY(native_check_cpus, 1, struct native_check_cpu);

/* By event; then those of all entries and of all exits of system calls. */
ARRAY_MMAPABLE(native_checks, 1, struct native_check);

static __always_inline struct native_check_entry *native_check_entry(void)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct native_check_cpu *c = bpf_map_lookup_elem(&native_check_cpus, &cpu);

	/* without the level, nested hits would be taken for each other */
	if (!c || cpu >= WIRE_MAX_CPUS || !percpu_base[cpu] || !percpu_preempt_count)
		return NULL;
	return &c->level[compat_level_of(preempt_count()) & 3];
}

static __always_inline struct native_check *native_check_of(u32 event)
{
	struct native_check *n = bpf_map_lookup_elem(&native_checks, &event);

	return n && *(volatile s64 *)&n->left > 0 ? n : NULL;
}

static __always_inline u64 native_check_switches(const struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

SEC("tracepoint")
int check_kernel(void *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	u32 event = bpf_get_attach_cookie(ctx);
	struct native_check *n = native_check_of(event);
	struct native_check_entry *e = native_check_entry();
	u64 serial;

	if (!n || !e || !armed())
		return 1;
	*(volatile u64 *)&e->serial = 0;
	barrier();
	e->event = event;
	e->task = (u64)task;
	e->switches = native_check_switches(task);
	e->round = n->round;
	bpf_probe_read_kernel(e->kernel, NATIVE_ROOM, ctx); /* perf's buffer is longer */
	/* no other program of this type runs on this CPU before this one ends */
	serial = ++e->last;
	barrier();
	*(volatile u64 *)&e->serial = serial;
	return 1;
}

/* Where the record of this hit is to be filled; NULL: there is no copy to compare it with. */
static __always_inline struct native_check_entry *native_check_begin(u32 event)
{
	struct native_check_entry *e = native_check_entry();

	if (!e)
		return NULL;
	e->serial_of_own = *(volatile u64 *)&e->serial;
	barrier();
	return e->serial_of_own && e->event == event ? e : NULL;
}

/* Whether the copy is of this hit. */
static __always_inline bool native_check_matches(const struct native_check *n,
						 const struct native_check_entry *e)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();

	return e->task == (u64)task && e->switches == native_check_switches(task) &&
	       e->round == n->round && !recorder_dropped();
}

/* What two records differ in: in fields that may change between the two programs, and in others. */
struct native_difference {
	const struct native_check *n;
	const u64 *kernel, *own;
	u64 all, steady;
	u64 size; /* of both records */
	u64 at[2]; /* the first word that differs in any field, and in one that may not change */
};

/* Compares a word.  The loop is the kernel's, so that the verifier looks at it once. */
static long native_check_word(u64 i, struct native_difference *d)
{
	u64 rest, x, is_field = ~0ull, is_steady = d->n->steady_strings;

	if (!i)
		return 0; /* the common fields */
	if (i >= NATIVE_ROOM / 8)
		return 1;
	if (i < NATIVE_MAX_FIXED / 8) {
		is_field = d->n->fields[i];
		is_steady = d->n->steady[i];
	}
	rest = d->size - i * 8;
	if (rest < 8)
		is_field &= (1ull << rest * 8) - 1;
	x = (d->kernel[i] ^ d->own[i]) & is_field;
	if (!d->all && x)
		d->at[0] = i;
	if (!d->steady && x & is_steady)
		d->at[1] = i;
	d->all |= x;
	d->steady |= x & is_steady;
	return 0;
}

static __always_inline void native_check_keep(struct native_pair *p,
					      const struct native_check_entry *e, u64 at)
{
	if (__sync_val_compare_and_swap(&p->is_taken, 0, 1))
		return;
	p->size = e->size;
	p->at = at * 8;
	bpf_probe_read_kernel(p->kernel, NATIVE_ROOM, e->kernel);
	bpf_probe_read_kernel(p->own, NATIVE_ROOM, e->own);
	barrier();
	*(volatile u64 *)&p->is_complete = 1;
}

static __always_inline enum native_verdict native_check_compare(struct native_check *n,
								struct native_check_entry *e)
{
	struct native_difference d = {
		.n = n, .kernel = e->kernel, .own = e->own, .size = e->size
	};
	u64 serial = e->serial_of_own;
	u32 v;

	if (d.size > NATIVE_ROOM || !native_check_matches(n, e))
		return NATIVE_MISSED;
	if (!d.size)
		return NATIVE_UNAVAILABLE;
	bpf_loop((u32)(d.size + 7) / 8, native_check_word, &d, 0);
	barrier();
	if (*(volatile u64 *)&e->serial != serial)
		return NATIVE_MISSED;
	if (!d.all)
		return NATIVE_AGREED;
	v = d.steady ? NATIVE_DIFFERED : NATIVE_CHANGED;
	native_check_keep(&n->pair[v], e, d.at[v - NATIVE_CHANGED]);
	return v;
}

SEC("raw_tp")
int check_compare(void *ctx)
{
	struct native_check_entry *e = native_check_entry();
	enum native_verdict v;
	struct native_check *n;
	u32 event;

	if (!e) { /* its stack must not be shared, see native.bpf.h */
		bpf_tail_call_static(ctx, &tails, WIRE_TAIL_CHECK);
		return 0;
	}
	event = e->event;
	n = bpf_map_lookup_elem(&native_checks, &event);
	if (!n)
		return 0;
	v = native_check_compare(n, e);
	*(volatile u64 *)&e->serial = 0;
	/* a series ends after a number of comparisons, whatever CPUs make them */
	if (v < NATIVE_NR_VERDICTS && __sync_fetch_and_add(&n->left, -1) < 1)
		return 0;
	__sync_fetch_and_add(&n->compared[v & 7], 1);
	if (v == NATIVE_AGREED)
		*(volatile u64 *)&n->agreed_ts = now();
	return 0;
}

/* The record has been filled; size 0: a field is unavailable. */
static __always_inline int native_check_end(void *ctx, struct native_check_entry *e, u64 size)
{
	e->size = size;
	bpf_tail_call_static(ctx, &tails, WIRE_TAIL_CHECK);
	return 0;
}

/* A copy for each event, as of `native`. */
SEC("raw_tp")
int check_front(void *ctx)
{
	struct native_check_entry *e;
	u32 event;

	asm volatile("%0 = %1" : "=r"(event) : "i"(WIRE_COUNT_EVENT));
	e = native_check_begin(event);
	return e ? native_check_end(ctx, e, native_fill(e->own, ctx)) : 0;
}

/* Those of all entries and of all exits of system calls. */
SEC("raw_tp")
int check_sys_enter(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct native_check_entry *e;
	u32 event;

	asm volatile("%0 = %1" : "=r"(event) : "i"(WIRE_COUNT_EVENT));
	e = native_check_begin(event);
	if (!e)
		return 0;
	_Static_assert(9 * 8 + sizeof(struct pt_regs) <= sizeof(e->own), "there is room");
	return native_check_end(
		ctx, e, native_call_enter_fields(&e->own[1], (void *)&e->own[9], ctx, task));
}

SEC("raw_tp")
int check_sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct native_check_entry *e;
	u32 event;

	asm volatile("%0 = %1" : "=r"(event) : "i"(WIRE_COUNT_EVENT));
	e = native_check_begin(event);
	return e ? native_check_end(ctx, e, native_call_exit_fields(&e->own[1], ctx)) : 0;
}

#endif /* NATIVE_CHECK_BPF_H */
