// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recorder's programs, cut off after each of their stages, for `./run bench path`.  The source
 * of the recorder is included: every stage runs the product's functions, and the last stage is the
 * product's own program.  What a stage costs is its time less that of the stage before.
 *
 * The object is compiled several times, each time with one property of the product changed:
 *   PATH_PLAIN      no locked instruction: plain loads and stores instead
 *   PATH_ONE_LINE   all counters that an event increments lie in one cache line
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#ifdef PATH_PLAIN
#define PLAIN(p, value)                                           \
	({                                                        \
		typeof(*(p)) old = *(volatile typeof(*(p)) *)(p); \
                                                                  \
		*(volatile typeof(old) *)(p) = value;             \
		old;                                              \
	})
#define __sync_fetch_and_add(p, n) PLAIN(p, old + (n))
#define __sync_lock_test_and_set(p, n) PLAIN(p, n)
#endif

#ifdef PATH_ONE_LINE
#include "stackonce-counters.h"
/* A line of the row that holds no other counter of these events. */
#define STK_C_HAPPENED 24
#define STK_C_RECORDED 25
#define STK_C_WALK_REMEMBERED 26
#define STK_C_COST_NS 27
#define STK_C_COST_EVENTS 28
#endif

#include "bpf/record.bpf.c"

/* The compiler must compute the value although nothing uses it. */
#define KEEP(value) asm volatile("" : : "r"(value) : "memory")

/* In the order in which an event passes them. */
enum path_stage {
	PATH_EMPTY,
	PATH_COOKIE,
	PATH_TIME,
	PATH_WANTED,
	PATH_SCRATCH,
	PATH_TASK,
	PATH_COPY,
	PATH_PREEMPT,
	PATH_IRQS,
	PATH_FLAGS,
	PATH_BEGIN,
	PATH_RECALL,
	PATH_STACK,
	PATH_RING,
	PATH_WRITTEN,
};

static __always_inline void path_walk(void *ctx, struct event_run *e, u32 stage)
{
	struct scratch *s = e->s;

	s->walk.task = s->stack;
	if (stage >= PATH_STACK) {
		kernel_stack(ctx, s, e->c, e->d->tracer_start, e->d->tracer_len, 0,
			     KWALK_TRACEPOINT);
		return;
	}
	if (stage >= PATH_BEGIN && kwalk_begin(ctx, &s->walk, KWALK_TRACEPOINT) &&
	    stage == PATH_RECALL)
		KEEP(stack_recall(s, KWALK_TRACEPOINT));
}

/* The stages that need a scratch slot: the rest of event_begin(), and event_end(). */
static __always_inline void path_fill(void *ctx, struct event_run *e, u32 stage)
{
	struct scratch *s = e->s;

	if (stage >= PATH_COPY)
		copy_record(ctx, s, e->d);
	else
		s->size = 8;
	if (stage == PATH_PREEMPT || stage == PATH_IRQS)
		KEEP(compat_percpu_u32(percpu_preempt_count));
	if (stage == PATH_IRQS)
		KEEP(compat_irqs_off());
	if (stage >= PATH_FLAGS)
		common_fields(s, e->task);
	path_walk(ctx, e, stage);
	if (stage < PATH_RING)
		return;
	user_stack(s, e->c, true, false);
	if (stage == PATH_RING)
		KEEP(event_output(s));
	else
		KEEP(event_write(s, e->c));
}

/* From the choice of events on. */
static __always_inline void path_event(void *ctx, u32 event, u64 ts, u32 stage)
{
	struct event_run e;

	e.task = (void *)bpf_get_current_task_btf();
	e.c = event_wanted(event, e.task, &e.d, &e.excluded);
	if (!e.c || stage < PATH_SCRATCH)
		return;
	e.s = scratch_get(&e.busy);
	if (!e.s)
		return;
	if (stage >= PATH_TASK) {
		event_start(e.s, e.task, event, ts);
		path_fill(ctx, &e, stage);
	}
	scratch_put(e.busy);
}

/* ---- the recorder program, as record_event() ------------------------------------------------- */

static __always_inline int path_record(void *ctx, u32 stage)
{
	u32 event;
	u64 ts;

	if (stage < PATH_COOKIE)
		return 1;
	event = bpf_get_attach_cookie(ctx);
	if (stage < PATH_TIME)
		return 1;
	ts = now();
	if (stage >= PATH_WANTED && armed())
		path_event(ctx, event, ts, stage);
	return 1;
}

/* clang-format off */
#define PATH_PROGRAMS(X) \
	X(empty, PATH_EMPTY) X(cookie, PATH_COOKIE) X(time, PATH_TIME) X(wanted, PATH_WANTED) \
	X(scratch, PATH_SCRATCH) X(task, PATH_TASK) X(copy, PATH_COPY) X(preempt, PATH_PREEMPT) \
	X(irqs, PATH_IRQS) X(flags, PATH_FLAGS) X(begin, PATH_BEGIN) X(recall, PATH_RECALL) \
	X(stack, PATH_STACK) X(ring, PATH_RING) X(written, PATH_WRITTEN)
/* clang-format on */

#define PATH_RECORD(name, stage)                     \
	SEC("tracepoint") int path_##name(void *ctx) \
	{                                            \
		return path_record(ctx, stage);      \
	}
PATH_PROGRAMS(PATH_RECORD)

/* ---- the counter program, as count_event() --------------------------------------------------- */

static __always_inline int path_count(bool active)
{
	struct event_counts *c;

	if (!armed())
		return 0;
	c = event_counts(0);
	if (!c)
		return 0;
	bump(c, STK_C_HAPPENED);
	if (active)
		KEEP(compat_percpu_u32(percpu_prog_active));
	return 0;
}

SEC("raw_tp")
int path_count_happened(void *ctx)
{
	return path_count(false);
}

SEC("raw_tp")
int path_count_active(void *ctx)
{
	return path_count(true);
}

/* ---- native events: the front cut off, or whole with an end that is cut off ------------------ */

enum path_native_stage {
	PATH_NATIVE_EMPTY,
	PATH_NATIVE_WANTED,
	PATH_NATIVE_SLOT,
	PATH_NATIVE_FLAGS,
	/* from here on ends */
	PATH_NATIVE_FIELDS,
	PATH_NATIVE_RECALL,
	PATH_NATIVE_KNOWN,
	PATH_NATIVE_RING,
};

/* As native_begin(). */
static __always_inline int path_native(void *ctx, u32 stage)
{
	const struct task_struct *task;
	struct event_desc *d;
	struct event_counts *c;
	struct scratch *s;
	u32 excluded, *busy;

	if (stage < PATH_NATIVE_WANTED || !armed())
		return 0;
	task = (void *)bpf_get_current_task_btf();
	c = event_wanted(0, task, &d, &excluded);
	if (!c)
		return 0;
	bump(c, STK_C_HAPPENED);
	if (stage < PATH_NATIVE_SLOT)
		return 0;
	s = scratch_get(&busy);
	if (!s)
		return 0;
	event_start(s, task, 0, now());
	if (stage == PATH_NATIVE_FLAGS)
		common_fields_from(s, task, preempt_count(), d->common_type, ctl.raw_preempt_base,
				   ctl.raw_migrate_base, 0, true);
	scratch_put(busy);
	return 0;
}

/* As native_end(). */
static __always_inline int path_end(void *ctx, u32 stage)
{
	struct native_run e;

	if (!native_resume(ctx, &e)) {
		bpf_tail_call_static(ctx, &tails, WIRE_TAIL_END);
		return 0;
	}
	e.s->kstack = e.s->ustack = WIRE_STACK_NONE;
	if (stage == PATH_NATIVE_RECALL)
		KEEP(kwalk_recall_noted(e.s->ctx, e.s->stack, e.c->first,
					stack_salt(e.s, KWALK_RAW)));
	if (stage >= PATH_NATIVE_KNOWN)
		KEEP(native_known(&e));
	if (stage == PATH_NATIVE_RING)
		KEEP(event_write_ids(e.s, e.c, e.cpu));
	native_put(&e);
	return 0;
}

#define PATH_NATIVE(name, stage)                        \
	SEC("raw_tp") int path_native_##name(void *ctx) \
	{                                               \
		return path_native(ctx, stage);         \
	}
PATH_NATIVE(empty, PATH_NATIVE_EMPTY)
PATH_NATIVE(wanted, PATH_NATIVE_WANTED)
PATH_NATIVE(slot, PATH_NATIVE_SLOT)
PATH_NATIVE(flags, PATH_NATIVE_FLAGS)

#define PATH_END(name, stage)                        \
	SEC("raw_tp") int path_end_##name(void *ctx) \
	{                                            \
		return path_end(ctx, stage);         \
	}
PATH_END(fields, PATH_NATIVE_FIELDS)
PATH_END(recall, PATH_NATIVE_RECALL)
PATH_END(known, PATH_NATIVE_KNOWN)
PATH_END(ring, PATH_NATIVE_RING)
