// SPDX-License-Identifier: GPL-2.0-only
/* Empties the rings of the BPF programs into the writer. */
#include "bpf_drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "event_memo.h"
#include "event_rings.h"
#include "frame.h"
#include "idmap.h"
#include "log.h"
#include "losses.h"
#include "programs.h"
#include "record/backend.h"
#include "record/files/unwinder.h"
#include "record/files/user_files.h"
#include "record/memory.h"
#include "record/namer.h"
#include "record/select/rec_event.h"
#include "stackmap/stackmap.h"
#include "trace/write/writer.h"

#define MAX_LINKS (2 * WIRE_MAX_CUTS) /* parts of one stack; no valid stack has as many */
/* Copies of one CPU whose events have not been read yet; enough for all nested interrupts. */
#define COPIES 1024

struct bpf_drain {
	struct programs *programs;
	struct stackmap *map;
	struct namer *namer;
	struct stk_writer *w;
	struct user_files *files;
	bool user_fp_only;
	unsigned int nr_cpus;
	struct event_rings *rings;
	struct ring_source {
		struct bpf_drain *d;
		uint32_t cpu;
		uint64_t bytes; /* read by this run */
		uint64_t last_ts;
		struct task_names {
			uint32_t tid[2], number[2]; /* the current and the previous task */
		} tasks[WIRE_TASK_SLOTS];
		struct unwound {
			uint64_t tag;
			uint32_t number, end;
		} copies[COPIES]; /* by tag */
		struct event_memo memo;
	} * sources;
	struct event_info {
		uint64_t ends[STK_NR_ENDS]; /* of deferred stacks */
		bool differ; /* most records do: they are not remembered */
	} * info;
	unsigned int nr_events;
	struct idmap stacks; /* stack map id -> stack number */
	uint32_t nr_stacks; /* highest stack number so far */
	uint64_t ring_size;
	struct backend_stats stats;
};

/* ---- stacks ---------------------------------------------------------------------------------- */

/* Appends the words of a stack, following links into the stack map. */
static int flatten(struct bpf_drain *d, const uint64_t *words, unsigned int n, uint64_t *frames,
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

int bpf_drain__frames(struct bpf_drain *d, uint32_t id, uint64_t *ret_frames, unsigned int *ret_nr)
{
	struct stackmap_stack s;
	int err = stackmap__lookup(d->map, id, &s);

	*ret_nr = 0;
	return err ?: flatten(d, s.words, s.n, ret_frames, ret_nr);
}

/* Replaces the file ids of the BPF programs by the file numbers of the recording. */
static int number_files(struct bpf_drain *d, uint64_t *frames, unsigned int nr)
{
	uint32_t file;
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		if (frames[i] & FRAME_MARKER_BIT || !FRAME_FILE(frames[i]))
			continue;
		if (!d->files)
			return -EPROTO;
		err = user_files__number(d->files, FRAME_FILE(frames[i]), &file);
		if (err)
			return err;
		frames[i] = FRAME_USER(file, FRAME_OFFSET(frames[i]));
	}
	return 0;
}

/* Notes the user frames for which symbols will be written. */
static int note_frames(struct bpf_drain *d, const uint64_t *frames, unsigned int nr)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		if (!(frames[i] & FRAME_MARKER_BIT) && FRAME_FILE(frames[i]))
			err = user_files__note_frame(d->files, FRAME_FILE(frames[i]),
						     FRAME_OFFSET(frames[i]));
	return err;
}

static int add_stack(struct bpf_drain *d, const uint64_t *words, unsigned int n,
		     uint32_t *ret_number)
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
	err = number_files(d, frames, nr);
	if (!err)
		err = stk_writer__stack(d->w, frames, nr, &number);
	if (err)
		return err;
	if (number > d->nr_stacks) {
		d->nr_stacks = number;
		err = namer__frames(d->namer, frames, nr);
		if (!err)
			err = note_frames(d, frames, nr);
		if (err)
			return err;
	}
	*ret_number = number;
	return 0;
}

/* A stack without a number so far, or one that is not in the stack map. */
static int new_stack(struct bpf_drain *d, uint32_t id, const uint64_t *full, unsigned int nr,
		     uint32_t *ret_number)
{
	static const uint64_t failed = FRAME_MARKER(FRAME_END, STK_END_FAILED);
	static const uint64_t not_recorded = FRAME_MARKER(FRAME_END, STK_END_NOT_RECORDED);
	struct stackmap_stack s;
	uint32_t *number;
	int err;

	if (id == WIRE_STACK_FULL)
		return add_stack(d, full, nr, ret_number);
	if (id == WIRE_STACK_FAILED)
		return add_stack(d, &failed, 1, ret_number);
	if (id == WIRE_STACK_NOT_RECORDED)
		return add_stack(d, &not_recorded, 1, ret_number);
	if (stackmap__lookup(d->map, id, &s)) {
		d->stats.unresolved++;
		s = (struct stackmap_stack){ .words = &failed, .n = 1 };
	}
	err = add_stack(d, s.words, s.n, ret_number);
	if (err)
		return err;
	number = idmap__add(&d->stacks, id);
	if (!number)
		return -ENOMEM;
	*number = *ret_number;
	return 0;
}

/* The number of a kernel or user stack; full: nr words of a stack that was sent with its event. */
static inline int find_stack(struct bpf_drain *d, uint32_t id, const uint64_t *full,
			     unsigned int nr, uint32_t *ret_number)
{
	const uint32_t *number;

	if (id == WIRE_STACK_NONE) {
		*ret_number = 0;
		return 0;
	}
	number = idmap__find(&d->stacks, id);
	if (!number)
		return new_stack(d, id, full, nr, ret_number);
	*ret_number = *number;
	return 0;
}

/* ---- records --------------------------------------------------------------------------------- */

/*
 * The BPF program remembers announced tasks in as many slots with the same hash (announce_task()).
 * This side keeps the previous task of each slot, too, for an event that was in progress when
 * another task took the slot.
 */
static struct task_names *task_slot(struct ring_source *r, uint32_t tid)
{
	return &r->tasks[(tid ^ tid >> 8) & (WIRE_TASK_SLOTS - 1)];
}

static uint32_t task_number(struct ring_source *r, uint32_t tid)
{
	const struct task_names *slot = task_slot(r, tid);

	return slot->tid[0] == tid ? slot->number[0] : slot->tid[1] == tid ? slot->number[1] : 0;
}

static int on_task(struct ring_source *r, const struct wire_task *t)
{
	struct task_names *slot = task_slot(r, t->tid);
	uint32_t before = task_number(r, t->tid);
	int err;

	if (slot->tid[0] != t->tid) {
		slot->tid[1] = slot->tid[0];
		slot->number[1] = slot->number[0];
		slot->tid[0] = t->tid;
	}
	err = stk_writer__task(r->d->w, t->tid, t->tgid, (const char *)t->comm, sizeof(t->comm),
			       &slot->number[0]);
	r->memo.generation += slot->number[0] != before;
	return err;
}

/* Unwinds a deferred stack; its event follows. */
static int on_copy(struct ring_source *r, const struct wire_copy *c)
{
	struct unwound *u = &r->copies[c->tag % COPIES];
	uint64_t words[UNWINDER_WORDS];
	unsigned int nr, end;
	uint32_t number;
	int err;

	if (!r->d->files)
		return -EPROTO;
	if (unwinder__walk(r->d->files, c, c->len, r->d->user_fp_only, words, &nr, &end)) {
		r->d->stats.unresolved++;
		end = STK_END_FAILED;
		words[0] = FRAME_MARKER(FRAME_END, end);
		nr = 1;
	}
	err = add_stack(r->d, words, nr, &number);
	if (!err)
		*u = (struct unwound){ .tag = c->tag, .number = number, .end = end };
	return err;
}

/* Removes the words of the user stack from the end of the record. */
static int user_stack(struct ring_source *r, const struct wire_event *e, size_t *len,
		      uint32_t *ret_number)
{
	const uint64_t *last = (const uint64_t *)((const char *)e + *len) - 1;
	const struct unwound *u;

	if (e->ustack != WIRE_STACK_FULL && e->ustack != WIRE_STACK_DEFERRED)
		return find_stack(r->d, e->ustack, NULL, 0, ret_number);
	if (*len < sizeof(*e) + sizeof(*last))
		return -EPROTO;
	*len -= sizeof(*last);
	if (e->ustack == WIRE_STACK_FULL) {
		if (*last > (*len - sizeof(*e)) / sizeof(*last))
			return -EPROTO;
		*len -= *last * sizeof(*last);
		return find_stack(r->d, e->ustack, last - *last, *last, ret_number);
	}
	u = &r->copies[*last % COPIES];
	if (u->tag != *last) {
		r->d->stats.unresolved++;
		r->d->info[e->event].ends[STK_END_FAILED]++;
		return find_stack(r->d, WIRE_STACK_FAILED, NULL, 0, ret_number);
	}
	*ret_number = u->number;
	r->d->info[e->event].ends[u->end]++;
	return 0;
}

static int on_event(struct ring_source *r, const struct wire_event *e, size_t len)
{
	struct bpf_drain *d = r->d;
	struct stk_writer_event out = {
		.ts = e->ts,
		.cpu = r->cpu,
		.event = e->event,
		.flags = e->common_flags,
		.preempt_count = e->common_preempt_count,
	};
	size_t words = e->nr_words * sizeof(uint64_t);
	int err;

	if (e->event >= d->nr_events)
		return -EPROTO;
	err = user_stack(r, e, &len, &out.ustack);
	if (err)
		return err;
	if (len < sizeof(*e) + words)
		return -EPROTO;
	out.task = task_number(r, e->common_pid);
	err = find_stack(d, e->kstack, (const uint64_t *)((const char *)e + len - words),
			 e->nr_words, &out.kstack);
	if (err)
		return err;
	out.record = &e->common_type;
	out.record_len = len - words - offsetof(struct wire_event, common_type);
	out.marks |= e->marks;
	if (!(out.marks & STK_MARK_NO_FIELDS))
		err = namer__fields(d->namer, e->event, out.record, out.record_len);
	return err ?: stk_writer__event(d->w, &out);
}

/* Remembers the event that has been written, unless its stack was counted when it was unwound. */
static void remember(struct ring_source *r, const struct wire_event *e)
{
	struct event_info *info = &r->d->info[e->event];
	struct stk_writer_again again;

	info->differ = !stk_writer__last(r->d->w, r->cpu, &again);
	if (!info->differ && event_memo__is_short(e) && e->ustack != WIRE_STACK_DEFERRED)
		event_memo__add(&r->memo, e, &again);
}

/* Writes an event that is known; false: it is not, or the writer has forgotten it. */
static bool write_again(struct ring_source *r, const struct wire_event *e)
{
	const struct stk_writer_again *again;

	if (e->event >= r->d->nr_events || r->d->info[e->event].differ)
		return false;
	again = event_memo__find(&r->memo, e);
	return again && stk_writer__again(r->d->w, r->cpu, again, e->ts);
}

static int on_record(struct ring_source *r, const struct wire_head *record)
{
	const struct wire_event *e = (const void *)record;
	int err;

	if (record->len < sizeof(*e))
		return -EPROTO;
	if (record->event == WIRE_TASK)
		return on_task(r, (const void *)record);
	if (record->event == WIRE_COPY)
		return on_copy(r, (const void *)record);
	if (!write_again(r, e)) {
		err = on_event(r, e, e->len);
		if (err)
			return err;
		remember(r, e);
	}
	r->d->stats.events++;
	r->last_ts = e->ts;
	return 0;
}

/* Opens the ring of a CPU once it exists, which is when the CPU comes online. */
static int open_ring(struct bpf_drain *d, unsigned int cpu)
{
	const int *fds = programs__ring_fds(d->programs, cpu);

	if (!fds || event_rings__has(d->rings, cpu))
		return 0;
	return event_rings__add(d->rings, cpu, programs__ring_pos(d->programs, cpu), fds);
}

int bpf_drain__new(const struct bpf_drain_opts *o, struct bpf_drain **ret_drain)
{
	const struct rec_events *events = o->events;
	const struct event_wakeups wakeups = programs__wakeups(o->programs);
	struct bpf_drain *d = calloc(1, sizeof(*d));
	unsigned int i;
	int err;

	if (!d)
		return -ENOMEM;
	d->programs = o->programs;
	d->map = programs__stackmap(o->programs);
	d->w = o->w;
	d->files = o->files;
	d->user_fp_only = o->user_fp_only;
	d->nr_cpus = programs__nr_cpus(o->programs);
	d->ring_size = programs__memory(o->programs)->ring;
	d->nr_events = events->nr;
	d->sources = calloc(d->nr_cpus, sizeof(*d->sources));
	d->info = calloc(MAX(events->nr, 1u), sizeof(*d->info));
	err = d->sources && d->info ? namer__new(o->syms, events, o->w, &d->namer) : -ENOMEM;
	if (!err)
		err = event_rings__new(d->nr_cpus, programs__rings(o->programs),
				       programs__memory(o->programs)->moved / d->nr_cpus, &wakeups,
				       &d->rings);
	if (err) {
		bpf_drain__free(d);
		return err;
	}
	for (i = 0; i < d->nr_cpus; i++) {
		d->sources[i].d = d;
		d->sources[i].cpu = i;
		err = open_ring(d, i);
		if (err) {
			bpf_drain__free(d);
			return err;
		}
	}
	*ret_drain = d;
	return 0;
}

void bpf_drain__free(struct bpf_drain *d)
{
	if (!d)
		return;
	event_rings__free(d->rings);
	idmap__clear(&d->stacks);
	namer__free(d->namer);
	free(d->sources);
	free(d->info);
	free(d);
}

/* Ends after one ring size, in case the CPU fills its ring continuously. */
static int drain_cpu(struct ring_source *r)
{
	struct bpf_drain *d = r->d;
	struct event_batch batch;
	const struct wire_head *record;
	int err;

	r->bytes = 0;
	while (r->bytes < d->ring_size) {
		err = event_rings__next(d->rings, r->cpu, &batch);
		if (err <= 0)
			return err;
		r->bytes += batch.end - batch.at;
		while ((record = event_batch__next(&batch))) {
			err = on_record(r, record);
			if (err)
				return err;
		}
	}
	event_rings__read(d->rings, r->cpu);
	d->stats.horizon = MIN(d->stats.horizon, r->last_ts);
	return 0;
}

int bpf_drain__run(struct bpf_drain *d)
{
	unsigned int i;
	int err;

	d->stats.fullest = 0;
	d->stats.horizon = UINT64_MAX;
	err = d->files ? user_files__poll(d->files) : 0;
	for (i = 0; i < d->nr_cpus && !err; i++) {
		err = open_ring(d, i);
		if (!err)
			err = drain_cpu(&d->sources[i]);
		d->stats.fullest = MAX(d->stats.fullest, d->sources[i].bytes);
	}
	return err;
}

void bpf_drain__add_ends(const struct bpf_drain *d, uint64_t (*counters)[STK_NR_COUNTERS])
{
	unsigned int i, end;

	for (i = 0; i < d->nr_events; i++)
		for (end = 0; end < STK_NR_ENDS; end++)
			counters[i][counter_of_end(end)] += d->info[i].ends[end];
}

void bpf_drain__end_round(struct bpf_drain *d)
{
	namer__end_round(d->namer);
}

void bpf_drain__stats(const struct bpf_drain *d, struct backend_stats *ret_stats)
{
	*ret_stats = d->stats;
}
