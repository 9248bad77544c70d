/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Function probes: entries and returns of kernel functions and of functions in programs, USDT, and
 * emulated events.  One program per kind of attachment serves all events of that kind.
 *
 * The kernel does not drop probes in programs, so those count their events themselves, except for
 * returns in deep recursion, which a probe at the entry counts.  The kernel drops a probe on a
 * kernel function that nests in another program; `count_function` counts that.
 */
#ifndef PROBE_BPF_H
#define PROBE_BPF_H

#include <bpf/bpf_tracing.h>
#include <bpf/usdt.bpf.h>

#include "event.bpf.h"
#include "nested.bpf.h"

/* Set before load. */
const volatile bool probe_filters = false; /* at least one function probe has a filter */

/*
 * uprobe programs can be preempted, although since 6.13 (a76ab5731e32) they share one private stack
 * per CPU.  Since 6.15 (e2d8f560d176) programs that call global functions may disable preemption;
 * struct bpf_subprog_info has might_sleep since then.
 */
struct bpf_subprog_info {
	bool might_sleep : 1;
} __attribute__((preserve_access_index));

extern void bpf_preempt_disable(void) __ksym __weak;
extern void bpf_preempt_enable(void) __ksym __weak;

static __always_inline bool preempt_guard(void)
{
	struct bpf_subprog_info *info = NULL;

	return bpf_core_field_exists(info->might_sleep) && bpf_preempt_disable &&
	       bpf_preempt_enable;
}

#define UNPREEMPTED(call)                      \
	do {                                   \
		if (preempt_guard()) {         \
			bpf_preempt_disable(); \
			call;                  \
			bpf_preempt_enable();  \
		} else {                       \
			call;                  \
		}                              \
	} while (0)

/*
 * Reads a register from the context.  The verifier accepts this at constant offsets only; without
 * the asm, the compiler would merge several reads into one at a variable offset.
 */
#define PROBE_REG(ctx, reg)                                                   \
	({                                                                    \
		u64 reg_value_;                                               \
		asm volatile("%0 = *(u64 *)(%1 + %2)"                         \
			     : "=r"(reg_value_)                               \
			     : "r"(ctx), "i"(offsetof(struct pt_regs, reg))); \
		reg_value_;                                                   \
	})

/* ---- arguments saved for the return ---------------------------------------------------------- */

/* The arguments of a pending call, saved at its entry for its return; task 0: a free slot. */
struct saved_call {
	u64 task;
	u64 sp;
	u64 args[3];
	u32 variant;
	u32 pad;
};

ARRAY(saved_calls, WIRE_SAVED_SETS, struct saved_call[WIRE_SAVED_WAYS]);

static __always_inline struct saved_call *saved_set(u64 task)
{
	u32 key = (task >> 6 ^ task >> 16) & (WIRE_SAVED_SETS - 1);

	return bpf_map_lookup_elem(&saved_calls, &key);
}

/* Frees the slots of the task's calls at or below sp: they have returned. */
static __always_inline void calls_free(struct saved_call *set, u64 task, u64 sp)
{
	u32 i;

#pragma clang loop unroll(full)
	for (i = 0; i < WIRE_SAVED_WAYS; i++)
		if (set[i].task == task && set[i].sp <= sp)
			*(volatile u64 *)&set[i].task = 0;
}

/*
 * A slot belongs to the running task once its `task` is set: no other task changes it then.  0: the
 * set is full.
 */
__noinline int call_save(u64 sp, u32 variant, u64 arg0, u64 arg1, u64 arg2)
{
	u64 task = bpf_get_current_task();
	struct saved_call *set = saved_set(task), *own = NULL;
	u32 i;

	if (!set)
		return 0;
	calls_free(set, task, sp);
#pragma clang loop unroll(full)
	for (i = 0; i < WIRE_SAVED_WAYS; i++)
		if (!own && !__sync_val_compare_and_swap(&set[i].task, 0, task))
			own = &set[i];
	if (!own)
		return 0;
	own->sp = sp;
	own->args[0] = arg0;
	own->args[1] = arg1;
	own->args[2] = arg2;
	own->variant = variant;
	return 1;
}

/*
 * Copies the saved arguments of the call that returns now to s->args, unless s is NULL, and frees
 * its slot; sp is above its return address.  0: the entry was not seen.
 */
__noinline int call_take(struct scratch *s, u64 sp, u32 variant)
{
	u64 task = bpf_get_current_task();
	struct saved_call *set = saved_set(task), *own = NULL;
	u32 i;

	if (!set)
		return 0;
#pragma clang loop unroll(full)
	for (i = 0; i < WIRE_SAVED_WAYS; i++)
		if (set[i].task == task && set[i].variant == variant && sp - set[i].sp <= 8)
			own = &set[i];
	if (own && s) {
		s->args[0] = own->args[0];
		s->args[1] = own->args[1];
		s->args[2] = own->args[2];
	}
	calls_free(set, task, sp);
	return own != NULL;
}

/* ---- emulated events: two small functions each ----------------------------------------------- */

/* Stores folio, rwc and locked, which are in different registers for each variant. */
static __always_inline void rmap_args(struct pt_regs *ctx, u32 variant, u64 *ret_args)
{
	u64 arg2 = PROBE_REG(ctx, ARCH_REG_ARG2), arg3 = PROBE_REG(ctx, ARCH_REG_ARG3);
	u64 arg5 = PROBE_REG(ctx, ARCH_REG_ARG5), arg6 = PROBE_REG(ctx, ARCH_REG_ARG6);

	ret_args[0] = PROBE_REG(ctx, ARCH_REG_ARG1);
	ret_args[1] = variant == WIRE_RMAP_FILE_PAGES ? arg5 : arg2;
	ret_args[2] = variant == WIRE_RMAP_KSM	      ? 0 :
		      variant == WIRE_RMAP_FILE_PAGES ? (u8)arg6 :
							(u8)arg3;
}

/*
 * Builds the record from s->args; 0: not a walk of a folio.  The page type follows from the
 * function that the kernel called according to the two low bits of folio->mapping.  The bits
 * themselves may change before the walk ends.
 */
__noinline int rmap_fill(struct scratch *s, u32 variant)
{
	struct wire_rmap *r;
	u32 len = 5;

	if (!s)
		return 0;
	r = (void *)&s->ev.common_type;
	r->folio_addr = s->args[0];
	r->rwc_addr = s->args[1];
	r->locked = s->args[2] != 0;
	r->pad[0] = r->pad[1] = r->pad[2] = 0;
	*(u64 *)r->text = 0;
	if (variant == WIRE_RMAP_KSM) {
		__builtin_memcpy(r->text, "ksm", 4);
		len = 4;
	} else if (variant == WIRE_RMAP_ANON) {
		__builtin_memcpy(r->text, "anon", 5);
	} else {
		__builtin_memcpy(r->text, "file", 5);
	}
	r->page_type = len << 16 | offsetof(struct wire_rmap, text);
	s->size = offsetof(struct wire_rmap, text) + len;
	return s->args[0] != 0;
}

/* Stores the arguments of the call that the record needs; emulated is an enum wire_emulated. */
static __always_inline void emulated_args(struct pt_regs *ctx, u32 emulated, u32 variant,
					  u64 *ret_args)
{
	if (emulated == WIRE_RMAP_WALK)
		rmap_args(ctx, variant, ret_args);
}

/* Builds the record from s->args; 0: the call is not one of this event type. */
static __always_inline int emulated_fill(struct scratch *s, u32 emulated, u32 variant)
{
	return emulated == WIRE_RMAP_WALK ? rmap_fill(s, variant) : 0;
}

/* ---- the record ------------------------------------------------------------------------------ */

static __always_inline void args_fill(struct pt_regs *ctx, struct scratch *s, struct event_desc *d)
{
	u64 *v = (u64 *)s->fields;

	v[0] = d->flags & DESC_USER ? PROBE_REG(ctx, ARCH_REG_IP) : bpf_get_func_ip(ctx);
	if (d->flags & DESC_RETURN) {
		v[1] = PROBE_REG(ctx, ARCH_REG_RESULT);
	} else {
		v[1] = PROBE_REG(ctx, ARCH_REG_ARG1);
		v[2] = PROBE_REG(ctx, ARCH_REG_ARG2);
		v[3] = PROBE_REG(ctx, ARCH_REG_ARG3);
		v[4] = PROBE_REG(ctx, ARCH_REG_ARG4);
		v[5] = PROBE_REG(ctx, ARCH_REG_ARG5);
		v[6] = PROBE_REG(ctx, ARCH_REG_ARG6);
	}
	s->size = d->fixed_size;
}

static __always_inline int emulated_record(struct pt_regs *ctx, struct scratch *s,
					   struct event_desc *d, u32 variant)
{
	if (!(d->flags & DESC_RETURN)) {
		emulated_args(ctx, d->emulated, variant, s->args);
	} else if (!call_take(s, PROBE_REG(ctx, ARCH_REG_SP), variant)) {
		s->marks |= STK_MARK_NO_FIELDS; /* called before the recording began */
		s->size = 8;
		return 1;
	}
	return emulated_fill(s, d->emulated, variant);
}

static __always_inline void emulated_save(struct pt_regs *ctx, u32 event, u32 variant)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct event_desc *d = bpf_map_lookup_elem(&descs, &event);
	u64 args[3] = {};

	if (!armed() || !d || task_excluded(selections, task, task->pid))
		return;
	emulated_args(ctx, d->emulated, variant, args);
	if (!call_save(PROBE_REG(ctx, ARCH_REG_SP), variant, args[0], args[1], args[2]))
		note_full(event, STK_C_FULL_CALLS);
}

static __always_inline void probe_stack(struct pt_regs *ctx, struct event_run *e)
{
	struct scratch *s = e->s;

	/* a probe in a program interrupts user code: there is no kernel stack */
	if (e->d->flags & DESC_USER) {
		s->kstack = WIRE_STACK_NONE;
	} else if (e->d->flags & DESC_RETURN) {
		kernel_stack(ctx, s, e->c, e->d->tracer_start, e->d->tracer_len, 0,
			     KWALK_REGISTERS);
	} else {
		s->words[0] = FRAME_MARKER(FRAME_EXACT, 0);
		kernel_stack(ctx, s, e->c, 0, 0, 1, KWALK_REGISTERS);
	}
	user_stack(s, e->c, true, false);
}

/* A filter cannot be evaluated without fields. */
static __always_inline bool probe_undecided(struct event_run *e)
{
	return e->s->marks & STK_MARK_NO_FIELDS && e->d->flags & DESC_FILTER;
}

static __always_inline void probe_end(struct pt_regs *ctx, struct event_run *e, int matches)
{
	if (probe_undecided(e)) {
		event_lost(e->c, STK_C_LOST_NESTED, e->s->ts);
	} else if (!matches || (!(e->s->marks & STK_MARK_NO_FIELDS) &&
				!event_passes(e->s, e->d, probe_filters))) {
		bump(e->c, STK_C_FILTERED_EXPR);
		event_cost(e->c, e->s);
	} else {
		probe_stack(ctx, e);
		if (event_write(e->s, e->c)) {
			if (e->s->marks & STK_MARK_NO_FIELDS)
				bump(e->c, STK_C_NO_FIELDS);
			event_cost(e->c, e->s);
		}
	}
	scratch_put(e->busy);
}

/*
 * Runs at the entry of a function in a program whose return is probed, before the kernel registers
 * the call.  The kernel does not follow the call if 64 calls are pending already: count its return
 * as lost.
 */
static __always_inline void return_unfollowed(u32 event)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct event_counts *c;
	struct event_desc *d;
	u32 excluded;

	if (!armed() || !bpf_core_field_exists(task->utask) || !task->utask ||
	    task->utask->depth < USER_RETURNS)
		return;
	c = event_counts(event);
	if (!c)
		return;
	bump(c, STK_C_HAPPENED);
	c = event_wanted(event, task, &d, &excluded);
	if (c)
		event_lost(c, STK_C_LOST_RETURN, now());
}

/*
 * Counts the event as happened unless `count_function` does; false: it is filtered, or there is no
 * scratch slot.
 */
static __always_inline bool probe_begin(struct event_run *e, u32 event, u64 ts)
{
	struct event_desc *d = bpf_map_lookup_elem(&descs, &event);
	struct event_counts *c = event_counts(event);

	if (!d || !c)
		return false;
	if (d->flags & DESC_USER)
		bump(c, STK_C_HAPPENED);
	if (!event_begin(e, event, ts))
		return false;
	e->s->ev.common_type = 0;
	common_fields(e->s, e->task);
	return true;
}

static __always_inline void probe_event(struct pt_regs *ctx, u32 cookie)
{
	u32 event = cookie & WIRE_PROBE_EVENT, variant = cookie >> WIRE_PROBE_VARIANT & 0xff;
	struct event_run e;
	u64 ts = now();

	int matches = 1;

	if (cookie & WIRE_PROBE_COUNT) {
		return_unfollowed(event);
		return;
	}
	if (cookie & WIRE_PROBE_SAVE) {
		emulated_save(ctx, event, variant);
		return;
	}
	if (!armed() || !probe_begin(&e, event, ts)) {
		if (cookie & WIRE_PROBE_TAKE)
			call_take(NULL, PROBE_REG(ctx, ARCH_REG_SP), variant);
		return;
	}
	if (e.d->emulated)
		matches = emulated_record(ctx, e.s, e.d, variant);
	else
		args_fill(ctx, e.s, e.d);
	probe_end(ctx, &e, matches);
}

SEC("kprobe")
int probe(struct pt_regs *ctx)
{
	u32 cookie = bpf_get_attach_cookie(ctx);

	UNPREEMPTED(probe_event(ctx, cookie));
	return 0;
}

/* Needs no preemption guard: the kernel's function tracer calls it with preemption disabled. */
SEC("kprobe.multi")
int probe_multi(struct pt_regs *ctx)
{
	probe_event(ctx, bpf_get_attach_cookie(ctx));
	return 0;
}

static __always_inline void usdt_event(struct pt_regs *ctx, u32 event)
{
	struct event_run e;
	u64 ts = now();
	long value;
	u32 i;

	if (!armed() || !probe_begin(&e, event, ts))
		return;
	*(u64 *)e.s->fields = PROBE_REG(ctx, ARCH_REG_IP);
#pragma clang loop unroll(disable)
	for (i = 0; i < WIRE_USDT_ARGS; i++) {
		if (i >= e.d->nr_args)
			break;
		value = 0;
		if (bpf_usdt_arg(ctx, i, &value)) /* its memory is not resident */
			e.s->marks |= STK_MARK_CUT;
		*(u64 *)(e.s->fields + 8 + i * 8) = value;
	}
	e.s->size = e.d->fixed_size;
	probe_end(ctx, &e, 1);
}

SEC("kprobe")
int probe_usdt(struct pt_regs *ctx)
{
	u32 event = bpf_usdt_cookie(ctx);

	UNPREEMPTED(usdt_event(ctx, event));
	return 0;
}

/*
 * The counter program of a probe on a kernel function.  A copy is attached as fentry or fexit to
 * each function, because the kernel has a recursion guard for each program.
 */
SEC("raw_tp")
int count_function(void *ctx)
{
	struct event_counts *c;
	u32 event;

	asm volatile("%0 = %1" : "=r"(event) : "i"(WIRE_COUNT_EVENT));
	if (!armed())
		return 0;
	c = event_counts(event);
	if (!c)
		return 0;
	bump(c, STK_C_HAPPENED);
	if (compat_percpu_u32(percpu_prog_active)) {
		bump(c, STK_C_LOST_NESTED);
		note_loss(c, now());
	}
	return 0;
}

#endif /* PROBE_BPF_H */
