// SPDX-License-Identifier: GPL-2.0-only
#include "drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/libbpf.h>

#include "cleanup.h"
#include "event.h"
#include "events/format.h"
#include "frame.h"
#include "idmap.h"
#include "log.h"
#include "namer.h"
#include "programs.h"
#include "stackmap/stackmap.h"
#include "trace/writer.h"

#define MAX_LINKS 8 /* parts of one stack: more than stack_cut() ever makes */

struct drain {
	struct programs *programs;
	struct stackmap *map;
	struct namer *namer;
	struct stk_writer *w;
	unsigned int nr_cpus;
	struct ring_source {
		struct drain *d;
		struct ring_buffer *rb; /* NULL: no such CPU */
		uint32_t cpu;
		uint64_t bytes; /* found by this run */
		uint64_t last_ts;
		struct task_names {
			uint32_t tid[2], number[2]; /* now, and before that */
		} tasks[WIRE_TASK_SLOTS];
	} * rings;
	struct event_info {
		bool symbols; /* prints fields as kernel symbols */
		const struct ev_format *fmt;
	} * info;
	unsigned int nr_events;
	struct idmap stacks; /* stack map id -> stack number */
	uint32_t nr_stacks; /* highest stack number so far */
	uint64_t ring_size;
	struct drain_stats stats;
};

/* ---- symbols ---------------------------------------------------------------------------------- */

static int name_frames(struct drain *d, const uint64_t *frames, unsigned int nr)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		if (FRAME_IS_KERNEL(frames[i]))
			err = namer__frame(d->namer, frames[i]);
	return err;
}

/* Addresses in the fields of an event that prints some as symbols. */
static int name_fields(struct drain *d, const struct ev_format *fmt, const void *rec, size_t len)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ev_format__nr_fields(fmt) && !err; i++) {
		const struct ev_field *f = ev_format__field(fmt, i);
		uint64_t v;

		if (f->kind != EV_FIELD_INT || f->size != 8)
			continue;
		v = ev_field__value(f, rec, len);
		if (FRAME_IS_KERNEL(v) && v >> 31 == 0x1ffffffffull)
			err = namer__value(d->namer, v);
	}
	return err;
}

/* ---- stacks ----------------------------------------------------------------------------------- */

/* Appends the words of a stack, following links into the stack map. */
static int flatten(struct drain *d, const uint64_t *words, unsigned int n, uint64_t *frames,
		   unsigned int *nr)
{
	unsigned int links = 0;

	for (;;) {
		struct stackmap_stack part;
		uint64_t last;
		int err;

		if (!n)
			return 0;
		last = words[n - 1];
		if (!FRAME_IS_MARKER(last) || FRAME_MARKER_KIND(last) != FRAME_LINK) {
			if (*nr + n > STK_MAX_DEPTH)
				return -E2BIG;
			memcpy(frames + *nr, words, n * sizeof(*words));
			*nr += n;
			return 0;
		}
		if (++links > MAX_LINKS || *nr + n > STK_MAX_DEPTH)
			return -E2BIG;
		memcpy(frames + *nr, words, (n - 1) * sizeof(*words));
		*nr += n - 1;
		err = stackmap__lookup(d->map, FRAME_MARKER_VALUE(last), &part);
		if (err)
			return err;
		words = part.words;
		n = part.n;
	}
}

static int add_stack(struct drain *d, const uint64_t *words, unsigned int n, uint32_t *ret_number)
{
	uint64_t frames[STK_MAX_DEPTH];
	unsigned int nr = 0;
	uint32_t number;
	int err;

	err = flatten(d, words, n, frames, &nr);
	if (err) {
		d->stats.unresolved++;
		frames[0] = FRAME_MARKER(FRAME_END, STK_END_FAILED);
		nr = 1;
	}
	err = stk_writer__stack(d->w, frames, nr, &number);
	if (err)
		return err;
	if (number > d->nr_stacks) {
		d->nr_stacks = number;
		err = name_frames(d, frames, nr);
		if (err)
			return err;
	}
	*ret_number = number;
	return 0;
}

static int kernel_stack(struct drain *d, const struct wire_event *e, const uint64_t *full,
			uint32_t *ret_number)
{
	static const uint64_t failed = FRAME_MARKER(FRAME_END, STK_END_FAILED);
	struct stackmap_stack s;
	uint32_t *number;
	int err;

	if (e->kstack == WIRE_STACK_NONE) {
		*ret_number = 0;
		return 0;
	}
	if (e->kstack == WIRE_STACK_FULL)
		return add_stack(d, full, e->nr_words, ret_number);
	if (e->kstack == WIRE_STACK_FAILED)
		return add_stack(d, &failed, 1, ret_number);
	number = idmap__get(&d->stacks, e->kstack);
	if (!number)
		return -ENOMEM;
	if (!*number) {
		if (stackmap__lookup(d->map, e->kstack, &s)) {
			d->stats.unresolved++;
			s = (struct stackmap_stack){ .words = &failed, .n = 1 };
		}
		err = add_stack(d, s.words, s.n, number);
		if (err)
			return err;
	}
	*ret_number = *number;
	return 0;
}

/* ---- records ---------------------------------------------------------------------------------- */

/*
 * The kernel's side remembers whom it named in as many slots by the same hash (announce_task());
 * one more of each is kept, for an event that was under way when its task's slot was taken.
 */
static struct task_names *task_slot(struct ring_source *r, uint32_t tid)
{
	return &r->tasks[(tid ^ tid >> 8) & (WIRE_TASK_SLOTS - 1)];
}

static int on_task(struct ring_source *r, const struct wire_task *t)
{
	struct task_names *slot = task_slot(r, t->tid);

	if (slot->tid[0] != t->tid) {
		slot->tid[1] = slot->tid[0];
		slot->number[1] = slot->number[0];
		slot->tid[0] = t->tid;
	}
	return stk_writer__task(r->d->w, t->tid, t->tgid, (const char *)t->comm, sizeof(t->comm),
				&slot->number[0]);
}

static uint32_t task_number(struct ring_source *r, uint32_t tid)
{
	const struct task_names *slot = task_slot(r, tid);

	return slot->tid[0] == tid ? slot->number[0] : slot->tid[1] == tid ? slot->number[1] : 0;
}

static int on_event(struct ring_source *r, const struct wire_event *e, size_t len)
{
	struct drain *d = r->d;
	struct stk_writer_event out = {
		.ts = e->ts,
		.cpu = r->cpu,
		.event = e->event,
		.flags = e->common_flags,
		.preempt_count = e->common_preempt_count,
	};
	size_t words = e->nr_words * sizeof(uint64_t);
	int err;

	if (e->event >= d->nr_events || len < sizeof(*e) + words)
		return -EPROTO;
	out.task = task_number(r, e->common_pid);
	err = kernel_stack(d, e, (const uint64_t *)((const char *)e + len - words), &out.kstack);
	if (err)
		return err;
	out.record = &e->common_type;
	out.record_len = len - words - offsetof(struct wire_event, common_type);
	if (e->ext & WIRE_EXT_NO_FIELDS)
		out.marks |= STK_MARK_NO_FIELDS;
	if (e->ext & WIRE_EXT_CUT)
		out.marks |= STK_MARK_CUT;
	if (e->ext & WIRE_EXT_NO_IRQFLAG)
		out.marks |= STK_MARK_NO_IRQFLAG;
	if (d->info[e->event].symbols && !(out.marks & STK_MARK_NO_FIELDS))
		err = name_fields(d, d->info[e->event].fmt, out.record, out.record_len);
	return err ? err : stk_writer__event(d->w, &out);
}

/* Stops a CPU that fills its ring faster than we empty it after one ring's worth. */
static int on_record(void *ctx, void *data, size_t len)
{
	const struct wire_event *e = data;
	struct ring_source *r = ctx;
	int err;

	r->bytes += ((len + 7) & ~7ul) + 8;
	if (len < sizeof(*e))
		return -EPROTO;
	if (e->event == WIRE_TASK)
		return on_task(r, data);
	err = on_event(r, e, len);
	if (err)
		return err;
	r->d->stats.events++;
	r->last_ts = e->ts;
	return r->bytes < r->d->ring_size ? 0 : -EAGAIN;
}

/* Rings come when their CPU does. */
static int ring_open(struct ring_source *r)
{
	int fd = programs__ring_fd(r->d->programs, r->cpu);

	if (r->rb || fd < 0)
		return 0;
	r->rb = ring_buffer__new(fd, on_record, r, NULL);
	return r->rb ? 0 : -errno;
}

int drain__new(struct programs *p, const struct rec_events *events, struct ksyms *syms,
	       struct stk_writer *w, struct drain **ret_drain)
{
	struct drain *d = calloc(1, sizeof(*d));
	unsigned int i;
	int err;

	if (!d)
		return -ENOMEM;
	d->programs = p;
	d->map = programs__stackmap(p);
	d->w = w;
	d->nr_cpus = programs__nr_cpus(p);
	d->ring_size = programs__ring_size(p);
	d->nr_events = events->nr;
	d->rings = calloc(d->nr_cpus, sizeof(*d->rings));
	d->info = calloc(MAX(events->nr, 1u), sizeof(*d->info));
	if (!d->rings || !d->info || namer__new(syms, w, &d->namer)) {
		drain__free(d);
		return -ENOMEM;
	}
	for (i = 0; i < events->nr; i++) {
		const char *print = strstr(events->v[i].format, "print fmt:");

		d->info[i].fmt = events->v[i].fmt;
		d->info[i].symbols = print && (strstr(print, "%ps") || strstr(print, "%pS") ||
					       strstr(print, "%pf") || strstr(print, "%pF"));
	}
	for (i = 0; i < d->nr_cpus; i++) {
		d->rings[i].d = d;
		d->rings[i].cpu = i;
		err = ring_open(&d->rings[i]);
		if (err) {
			drain__free(d);
			return err;
		}
	}
	*ret_drain = d;
	return 0;
}

void drain__free(struct drain *d)
{
	unsigned int i;

	if (!d)
		return;
	for (i = 0; d->rings && i < d->nr_cpus; i++)
		ring_buffer__free(d->rings[i].rb);
	idmap__clear(&d->stacks);
	namer__free(d->namer);
	free(d->rings);
	free(d->info);
	free(d);
}

int drain__run(struct drain *d)
{
	unsigned int i;
	int n;

	d->stats.fullest = 0;
	d->stats.horizon = UINT64_MAX;
	for (i = 0; i < d->nr_cpus; i++) {
		struct ring_source *r = &d->rings[i];

		n = ring_open(r);
		if (n)
			return n;
		if (!r->rb)
			continue;
		r->bytes = 0;
		n = ring_buffer__consume(r->rb);
		if (n == -EAGAIN)
			d->stats.horizon = MIN(d->stats.horizon, r->last_ts);
		else if (n < 0)
			return n;
		d->stats.fullest = MAX(d->stats.fullest, r->bytes);
	}
	return 0;
}

void drain__end_round(struct drain *d)
{
	namer__end_round(d->namer);
}

void drain__stats(const struct drain *d, struct drain_stats *ret_stats)
{
	*ret_stats = d->stats;
}
