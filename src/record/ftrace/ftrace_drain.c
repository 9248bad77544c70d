// SPDX-License-Identifier: GPL-2.0-only
/* Empties the rings of an ftrace instance into the writer. */
#include "ftrace_drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "frame.h"
#include "log.h"
#include "record/ftrace/patched/ftrace_ids.h"
#include "record/ftrace/patched/ftrace_users.h"
#include "record/ftrace/ring/ftrace_held.h"
#include "record/ftrace/ring/ftrace_instance.h"
#include "record/ftrace/ring/ftrace_kstack.h"
#include "record/ftrace/ring/ftrace_match.h"
#include "record/ftrace/ring/ftrace_ring.h"
#include "record/ftrace/ring/ftrace_tasks.h"
#include "record/namer.h"
#include "record/opts.h"
#include "record/select/rec_event.h"
#include "symbols/ksyms.h"
#include "trace/write/writer.h"

#define NR_TYPES 65536
/* An event of an idle CPU waits this long for its stack: later the stack will not arrive. */
#define SETTLE_NS 100000000ull
/* An event waits this long for a user stack that arrives when its task returns to user space. */
#define HOLD_NS 1000000000ull
#define HOLD_MAX (1u << 20) /* number of events that may wait */

struct ftrace_drain {
	struct ftrace_drain_opts o;
	struct ftrace_cpu {
		struct ftrace_drain *d;
		unsigned int cpu;
		struct ftrace_ring ring;
		struct ftrace_match *match;
		unsigned char *buf; /* pages that were read and not decoded yet */
		size_t len, cap;
		bool more; /* the ring has more pages */
		uint64_t last_ts; /* of the last record decoded */
		uint64_t waited_ts; /* a grace period has passed since events up to this time */
	} * cpus;
	size_t page_size;
	uint16_t *by_type; /* event index + 1 by common_type */
	struct namer *namer;
	struct ftrace_kstacks kstacks;
	struct ftrace_held held;
	uint64_t hold_since; /* older events do not wait any more */
	struct ftrace_ids *ids; /* NULL: this kernel has no stack map */
	uint32_t nr_stacks; /* highest stack number so far */
	struct ksym user_walk; /* the kernel's function that walks user stacks; size 0: unknown */
	uint32_t no_stack; /* number of the stack that stands for a lost one; 0: not written yet */
	uint64_t (*counters)[STK_NR_COUNTERS];
	struct backend_stats stats;
};

/* ---- stacks ---------------------------------------------------------------------------------- */

/* Adds a stack as ftrace took it; the array has room for one more frame. */
static int add_kernel_stack(struct ftrace_drain *d, uint64_t *frames, unsigned int nr, bool cut,
			    uint32_t *ret_number)
{
	int own = ftrace_kstacks__own(&d->kstacks, frames, nr), err;
	uint32_t number;

	if (own < 0)
		return own;
	frames += own;
	nr -= own;
	if (!nr) {
		*ret_number = 0;
		return 0;
	}
	if (nr > d->o.rec->max_depth) {
		nr = d->o.rec->max_depth;
		cut = true;
	}
	if (cut)
		frames[nr++] = FRAME_MARKER(FRAME_END, STK_END_TRUNCATED);
	err = stk_writer__stack(d->o.w, frames, nr, &number);
	if (!err && number > d->nr_stacks) {
		d->nr_stacks = number;
		err = namer__frames(d->namer, frames, nr);
	}
	if (!err)
		*ret_number = number;
	return err;
}

/* A stack that was recorded in full with its event. */
static int full_stack(struct ftrace_drain *d, const struct ftrace_record *r, uint32_t *ret_number,
		      bool *ret_in_walk)
{
	uint64_t frames[STK_MAX_DEPTH + 1];
	unsigned int nr = MIN(r->nr_words, (uint32_t)STK_MAX_DEPTH), i;

	for (i = 0; i < nr; i++) {
		frames[i] = ftrace_record__word(r, i);
		*ret_in_walk |= frames[i] - d->user_walk.start < d->user_walk.size;
	}
	return add_kernel_stack(d, frames, nr, r->nr_words > nr, ret_number);
}

/* A stack of the kernel's stack map, or the stack of an interrupt on top of another one. */
static int mapped_stack(struct ftrace_drain *d, const struct ftrace_record *r, uint32_t *ret_number)
{
	uint64_t frames[STK_MAX_DEPTH + 1];
	unsigned int nr = 0;
	bool cut = false;
	uint32_t *known;
	int err;

	known = ftrace_ids__number(d->ids, r->stack_id, r->below_id);
	if (!known)
		return -ENOMEM;
	if (!*known) {
		err = ftrace_ids__frames(d->ids, r->stack_id, r->below_id, frames, STK_MAX_DEPTH,
					 &nr, &cut);
		if (err == -ENOENT) {
			d->stats.unresolved++;
			frames[nr++] = FRAME_MARKER(FRAME_END, STK_END_FAILED);
			err = 0;
		}
		if (!err)
			err = add_kernel_stack(d, frames, nr, cut, known);
		if (err)
			return err;
	}
	*ret_number = *known;
	return 0;
}

/* The stack for events whose own stack was lost. */
static int lost_stack(struct ftrace_drain *d, uint32_t *ret_number)
{
	static const uint64_t failed = FRAME_MARKER(FRAME_END, STK_END_FAILED);
	int err = 0;

	if (!d->no_stack)
		err = stk_writer__stack(d->o.w, &failed, 1, &d->no_stack);
	if (err)
		return err;
	d->nr_stacks = MAX(d->nr_stacks, d->no_stack);
	*ret_number = d->no_stack;
	return 0;
}

/* ---- complete events ------------------------------------------------------------------------- */

static int take_kernel_stack(struct ftrace_drain *d, const struct ftrace_matched *m, uint64_t *c,
			     uint32_t *ret_number)
{
	if (!(m->wanted & FTRACE_MATCH_KERNEL))
		return 0;
	if (!(m->got & FTRACE_MATCH_KERNEL)) {
		c[STK_C_STACK_FAILED]++;
		return lost_stack(d, ret_number);
	}
	*ret_number = ftrace_stack_number(m->kernel);
	if (!*ret_number)
		c[STK_C_STACK_EMPTY]++;
	else /* a stack is new for the first event that has its number */
		c[ftrace_stack_is_new(m->kernel) ? STK_C_STACK_NEW : STK_C_STACK_HIT]++;
	return 0;
}

static int task_of(struct ftrace_cpu *cpu, const struct ftrace_matched *m, uint32_t *ret_number)
{
	struct ftrace_task task;

	ftrace_tasks__at(cpu->d->o.tasks, m->ctx.pid, m->ts, cpu->cpu, &task);
	return stk_writer__task(cpu->d->o.w, task.tid, task.tgid, task.comm, sizeof(task.comm),
				ret_number);
}

/* full: the event would still wait for a stack if there were room. */
static int emit(struct ftrace_cpu *cpu, const struct ftrace_matched *m, bool full)
{
	struct ftrace_drain *d = cpu->d;
	struct stk_writer_event out = {
		.ts = m->ts,
		.cpu = cpu->cpu,
		.flags = m->ctx.flags,
		.preempt_count = m->ctx.preempt,
		.record = m->data,
		.record_len = m->len,
	};
	const struct rec_event *e;
	uint16_t type, index;
	int err;

	memcpy(&type, m->data, sizeof(type));
	index = d->by_type[type];
	if (!index)
		return 0;
	out.event = index - 1;
	e = &d->o.rec->events->v[out.event];
	/* the ring rounds sizes up; a record without a dynamic part ends with its fields */
	if (!e->desc.nr_dyn && out.record_len > e->desc.fixed_size)
		out.record_len = e->desc.fixed_size;
	err = take_kernel_stack(d, m, d->counters[out.event], &out.kstack);
	if (!err && d->o.users)
		err = ftrace_users__take(d->o.users, m, d->counters[out.event], &out.ustack);
	if (!err)
		err = task_of(cpu, m, &out.task);
	if (!err)
		err = namer__fields(d->namer, out.event, out.record, out.record_len);
	if (!err)
		err = stk_writer__event(d->o.w, &out);
	if (err)
		return err;
	d->counters[out.event][STK_C_RECORDED]++;
	d->counters[out.event][STK_C_FULL_WAITING] += full;
	d->stats.events++;
	return 0;
}

static int emit_done(struct ftrace_cpu *cpu)
{
	struct ftrace_drain *d = cpu->d;
	const struct ftrace_matched *m;
	int err = 0;

	while (!err && (m = ftrace_match__next(cpu->match))) {
		bool waits = d->o.users && !ftrace_users__is_known(d->o.users, m);

		if (waits && d->held.nr < HOLD_MAX)
			err = ftrace_held__add(&d->held, cpu->cpu, m);
		else
			err = emit(cpu, m, waits || m->forced);
	}
	return err;
}

static int emit_held(void *ctx, unsigned int cpu, const struct ftrace_matched *m)
{
	struct ftrace_drain *d = ctx;
	int err;

	if (m->ts >= d->hold_since && !ftrace_users__is_known(d->o.users, m))
		return 0;
	err = emit(&d->cpus[cpu], m, m->forced);
	return err ?: 1;
}

/* ---- records --------------------------------------------------------------------------------- */

static int on_kernel_stack(struct ftrace_cpu *cpu, const struct ftrace_record *r)
{
	struct ftrace_drain *d = cpu->d;
	unsigned int parts = FTRACE_MATCH_KERNEL;
	uint32_t before = d->nr_stacks, number = 0;
	bool in_walk = false;
	int err = 0;

	/* an id without a cookie: no cookie will follow */
	if (r->kind != FTRACE_KERNEL_STACK)
		parts |= FTRACE_MATCH_COOKIE;
	if (r->kind == FTRACE_STACK_ID_COOKIE && !r->stack_id)
		parts = FTRACE_MATCH_COOKIE;
	if (r->kind == FTRACE_KERNEL_STACK)
		err = full_stack(d, r, &number, &in_walk);
	else if (r->stack_id)
		err = mapped_stack(d, r, &number);
	if (err)
		return err;
	ftrace_match__stack(cpu->match, &r->ctx, parts,
			    ftrace_stack_value(number, STK_END_COMPLETE, number > before),
			    r->cookie);
	/* a page fault in the walk of a user stack: the kernel does not walk another one then */
	if (in_walk)
		ftrace_match__stack(cpu->match, &r->ctx, FTRACE_MATCH_USER, 0, 0);
	return 0;
}

static int on_event(struct ftrace_cpu *cpu, const struct ftrace_record *r,
		    const struct ftrace_page_event *pe)
{
	const struct ftrace_drain *d = cpu->d;
	unsigned int parts = 0;
	int err;

	if (d->by_type[r->type]) {
		parts |= d->o.rec->kernel_stacks ? FTRACE_MATCH_KERNEL : 0;
		parts |= d->o.users ? ftrace_users__parts(d->o.users) : 0;
	}
	err = ftrace_match__event(cpu->match, pe->ts, &r->ctx, pe->data, pe->len, parts);
	return err ?: emit_done(cpu);
}

static int on_record(struct ftrace_cpu *cpu, const struct ftrace_page_event *pe)
{
	struct ftrace_drain *d = cpu->d;
	struct ftrace_record r;
	int err;

	err = ftrace_kinds__decode(d->o.kinds, pe->data, pe->len, &r);
	if (err)
		return err;
	cpu->last_ts = pe->ts;
	switch (r.kind) {
	case FTRACE_EVENT:
		return on_event(cpu, &r, pe);
	case FTRACE_KERNEL_STACK:
	case FTRACE_STACK_ID:
	case FTRACE_STACK_ID_PAIR:
	case FTRACE_STACK_ID_COOKIE:
		err = on_kernel_stack(cpu, &r);
		break;
	default:
		err = d->o.users ? ftrace_users__record(d->o.users, cpu->match, &r, pe->ts) : 0;
		break;
	}
	return err ?: emit_done(cpu);
}

static int decode(struct ftrace_cpu *cpu)
{
	struct ftrace_page_event pe;
	struct ftrace_page page;
	int err = 0, n = 0;
	size_t at;

	for (at = 0; at < cpu->len && !err && n >= 0; at += cpu->d->page_size) {
		ftrace_page__open(&page, cpu->d->o.page, cpu->buf + at, cpu->d->page_size);
		if (page.lost)
			ftrace_match__cut(cpu->match, UINT64_MAX);
		while (!err && (n = ftrace_page__next(&page, &pe)) > 0)
			err = on_record(cpu, &pe);
	}
	cpu->len = 0;
	return err ?: n;
}

/* ---- rings ----------------------------------------------------------------------------------- */

static int keep_page(void *ctx, const void *page, size_t len)
{
	struct ftrace_cpu *cpu = ctx;

	if (array__reserve(&cpu->buf, cpu->len + len, &cpu->cap))
		return -ENOMEM;
	memcpy(cpu->buf + cpu->len, page, len);
	cpu->len += len;
	return 0;
}

/*
 * Reads the rings of all CPUs before decoding: the tasks and stacks to which the events refer are
 * known after that.
 */
static int take_pages(struct ftrace_drain *d)
{
	unsigned int i;
	int n;

	d->stats.fullest = 0;
	for (i = 0; i < d->o.nr_cpus; i++) {
		struct ftrace_cpu *cpu = &d->cpus[i];
		uint64_t bytes;

		n = ftrace_ring__read(&cpu->ring, d->o.ring_bytes, keep_page, cpu, &bytes);
		if (n == -ENODEV)
			continue;
		if (n < 0)
			return n;
		cpu->more = n;
		d->stats.fullest = MAX(d->stats.fullest, bytes);
	}
	return 0;
}

/*
 * Whether an event has waited too long for its stack while its CPU recorded nothing.  No grace
 * period has passed for it yet: settle() completes those for which one has.
 */
static bool is_overdue(const struct ftrace_cpu *cpu, uint64_t now)
{
	uint64_t ts;

	return !cpu->more && now > cpu->last_ts + SETTLE_NS &&
	       ftrace_match__oldest(cpu->match, &ts);
}

/*
 * A virtual CPU may be descheduled between an event and its stack.  After a grace period the stack
 * is in the ring, and the next run finds it.
 */
static int wait_for_overdue(struct ftrace_drain *d, uint64_t now)
{
	bool waits = false;
	unsigned int i;
	int err;

	for (i = 0; i < d->o.nr_cpus; i++)
		waits |= is_overdue(&d->cpus[i], now);
	if (!waits)
		return 0;
	err = ftrace_instance__wait(d->o.instance);
	if (err)
		return err;
	for (i = 0; i < d->o.nr_cpus; i++)
		if (!d->cpus[i].more)
			d->cpus[i].waited_ts = d->cpus[i].last_ts;
	return 0;
}

/*
 * Limits the round by events that wait for a stack.  Those from before a grace period do not wait
 * any more; later ones do, even if they have become overdue: their stacks may be on the way.
 */
static int settle(struct ftrace_cpu *cpu, bool last)
{
	struct ftrace_drain *d = cpu->d;
	uint64_t ts;
	int err;

	if (!cpu->more) {
		ftrace_match__cut(cpu->match, last ? UINT64_MAX : cpu->waited_ts);
		err = emit_done(cpu);
		if (err)
			return err;
	}
	if (cpu->more)
		d->stats.horizon = MIN(d->stats.horizon, cpu->last_ts);
	if (ftrace_match__oldest(cpu->match, &ts))
		d->stats.horizon = MIN(d->stats.horizon, ts);
	return 0;
}

int ftrace_drain__run(struct ftrace_drain *d, bool last)
{
	uint64_t now = recorder_opts__now(d->o.rec), oldest;
	unsigned int i;
	int err;

	d->stats.horizon = UINT64_MAX;
	err = take_pages(d);
	if (!err)
		err = ftrace_tasks__poll(d->o.tasks, now);
	if (!err && d->ids)
		ftrace_ids__refresh(d->ids);
	if (d->o.users)
		ftrace_users__refresh(d->o.users);
	for (i = 0; i < d->o.nr_cpus && !err; i++)
		err = decode(&d->cpus[i]);
	for (i = 0; i < d->o.nr_cpus && !err; i++)
		err = settle(&d->cpus[i], last);
	if (!err && !last)
		err = wait_for_overdue(d, now);
	if (err || !d->held.nr)
		return err;
	d->hold_since = last ? UINT64_MAX : now - HOLD_NS;
	err = ftrace_held__walk(&d->held, emit_held, d, &oldest);
	d->stats.horizon = MIN(d->stats.horizon, oldest);
	return err;
}

void ftrace_drain__end_round(struct ftrace_drain *d)
{
	uint64_t now = recorder_opts__now(d->o.rec);
	uint64_t since = MIN(d->stats.horizon, now - SETTLE_NS);

	namer__end_round(d->namer);
	ftrace_tasks__forget(d->o.tasks, since);
	if (d->o.users)
		ftrace_users__forget(d->o.users, since);
}

void ftrace_drain__add_counters(const struct ftrace_drain *d, uint64_t (*counters)[STK_NR_COUNTERS])
{
	unsigned int i, c;

	for (i = 0; i < d->o.rec->events->nr; i++)
		for (c = 0; c < STK_NR_COUNTERS; c++)
			counters[i][c] += d->counters[i][c];
}

uint64_t ftrace_drain__lost_stacks(const struct ftrace_drain *d, unsigned int cpu)
{
	const struct ftrace_match_counts *c = ftrace_match__counts(d->cpus[cpu].match);

	return c->no_kernel + c->no_user;
}

uint64_t ftrace_drain__orphans(const struct ftrace_drain *d, unsigned int cpu)
{
	return ftrace_match__counts(d->cpus[cpu].match)->orphans;
}

void ftrace_drain__stats(const struct ftrace_drain *d, struct backend_stats *ret_stats)
{
	*ret_stats = d->stats;
}

/* ---- start and end --------------------------------------------------------------------------- */

static int open_cpus(struct ftrace_drain *d)
{
	unsigned int i;
	int err;

	d->cpus = calloc(d->o.nr_cpus, sizeof(*d->cpus));
	if (!d->cpus)
		return -ENOMEM;
	for (i = 0; i < d->o.nr_cpus; i++)
		d->cpus[i] = (struct ftrace_cpu){
			.d = d,
			.cpu = i,
			.ring = { .fd = -1, .pipe = { -1, -1 } },
		};
	for (i = 0; i < d->o.nr_cpus; i++) {
		err = ftrace_ring__open(&d->cpus[i].ring, d->o.instance, i, d->page_size);
		if (!err)
			err = ftrace_match__new(&d->cpus[i].match);
		if (err)
			return err;
	}
	return 0;
}

static void note_types(struct ftrace_drain *d)
{
	const struct rec_events *events = d->o.rec->events;
	unsigned int i;

	for (i = 0; i < events->nr; i++)
		if (events->v[i].desc.common_type)
			d->by_type[events->v[i].desc.common_type] = i + 1;
}

int ftrace_drain__new(const struct ftrace_drain_opts *opts, struct ftrace_drain **ret_drain)
{
	struct ftrace_drain *d = calloc(1, sizeof(*d));
	unsigned int nr = MAX(opts->rec->events->nr, 1u);
	int err;

	if (!d)
		return -ENOMEM;
	d->o = *opts;
	d->page_size = ftrace_instance__page_size(opts->instance);
	d->kstacks.syms = opts->rec->syms;
	ksyms__by_name(opts->rec->syms, "stack_trace_save_user", &d->user_walk);
	d->by_type = calloc(NR_TYPES, sizeof(*d->by_type));
	d->counters = calloc(nr, sizeof(*d->counters));
	err = d->by_type && d->counters ? 0 : -ENOMEM;
	if (!err)
		err = namer__new(opts->rec->syms, opts->rec->events, opts->w, &d->namer);
	if (!err && opts->kinds->of[FTRACE_STACK_ID].known)
		err = ftrace_ids__new(opts->instance, "stack_map_bin", &d->ids);
	if (!err)
		err = open_cpus(d);
	if (err) {
		ftrace_drain__free(d);
		return err;
	}
	note_types(d);
	*ret_drain = d;
	return 0;
}

void ftrace_drain__free(struct ftrace_drain *d)
{
	unsigned int i;

	if (!d)
		return;
	for (i = 0; d->cpus && i < d->o.nr_cpus; i++) {
		ftrace_ring__close(&d->cpus[i].ring);
		ftrace_match__free(d->cpus[i].match);
		free(d->cpus[i].buf);
	}
	ftrace_held__clear(&d->held);
	ftrace_kstacks__clear(&d->kstacks);
	ftrace_ids__free(d->ids);
	namer__free(d->namer);
	free(d->cpus);
	free(d->by_type);
	free(d->counters);
	free(d);
}
