// SPDX-License-Identifier: GPL-2.0-only
/* Adds events, pairs and losses to what the page shows. */
#include "data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "data_priv.h"
#include "export/source.h"
#include "losses.h"

/* ---- begin and end --------------------------------------------------------------------------- */

int view_data__new(struct stk_reader *r, struct user_names *names, struct view_data **ret_data)
{
	_cleanup_(view_data__freep) struct view_data *d = calloc(1, sizeof(*d));
	uint32_t nameless;
	int err;

	if (!d)
		return -ENOMEM;
	d->r = r;
	d->end = UINT64_MAX;
	d->max_cells = 2 * VIEW_MAX_CELLS;
	d->several_boots = stk_reader__nr_boots(r) > 1;
	key_table__init(&d->tasks, sizeof(struct view_task), sizeof(uint32_t));
	key_table__init(&d->cpus, sizeof(struct view_cpu), 0);
	key_table__init(&d->sources, sizeof(struct view_source), sizeof(uint32_t));
	key_table__init(&d->places, sizeof(struct view_place), 0);
	err = view_calls__init(&d->calls, r, names, &d->strings);
	if (!err && !d->several_boots)
		err = string_table__intern(&d->hosts, "", &nameless);
	if (err)
		return err;
	*ret_data = take_ptr(d);
	return 0;
}

void view_data__free(struct view_data *d)
{
	if (!d)
		return;
	charge(&d->charge, d->r, 0, d->charge.work);
	view_calls__clear(&d->calls);
	string_table__clear(&d->strings);
	string_table__clear(&d->hosts);
	key_table__clear(&d->tasks);
	key_table__clear(&d->cpus);
	key_table__clear(&d->sources);
	key_table__clear(&d->places);
	view_cells__clear(&d->cells);
	view_cells__clear(&d->heat);
	view_slowest__clear(&d->slowest);
	view_losses__clear(&d->losses);
	free(d->type_events);
	free(d->kind_pairs);
	free(d->cut);
	free(d);
}

static uint64_t memory_of(const struct view_data *d)
{
	return string_table__memory(&d->strings) + string_table__memory(&d->hosts) +
	       view_calls__memory(&d->calls) + key_table__memory(&d->tasks) +
	       key_table__memory(&d->cpus) + key_table__memory(&d->sources) +
	       key_table__memory(&d->places) + view_cells__memory(&d->cells) +
	       view_cells__memory(&d->heat) + view_slowest__memory(&d->slowest) +
	       view_losses__memory(&d->losses) + d->nr_cut * sizeof(*d->cut) +
	       d->nr_type_events * sizeof(*d->type_events) +
	       d->nr_kind_pairs * sizeof(*d->kind_pairs);
}

static int charge_memory(struct view_data *d)
{
	if (!charge__is_due(&d->charge))
		return 0;
	return charge(&d->charge, d->r, memory_of(d), d->calls.work + d->work);
}

/* ---- time ------------------------------------------------------------------------------------ */

void view_data__end_at(struct view_data *d, uint64_t ts)
{
	d->end = ts;
}

uint32_t view_data__bin_of(const struct view_data *d, uint64_t ts)
{
	uint64_t bin = ts > d->begin ? (ts - d->begin) >> d->shift : 0;

	return MIN(bin, d->nr_bins ? d->nr_bins - 1 : 0);
}

void view_data__widen(struct view_data *d, unsigned int shift)
{
	d->shift += shift;
	d->nr_bins = d->nr_bins ? ((d->nr_bins - 1) >> MIN(shift, 31u)) + 1 : 0;
	d->work += d->cells.nr + d->heat.nr;
	view_cells__widen(&d->cells, shift);
	view_cells__widen(&d->heat, shift);
	view_slowest__widen(&d->slowest, shift);
}

/* The bin of what is to be added: all bins become wider if it is beyond the last one. */
static uint32_t reach_bin(struct view_data *d, uint64_t ts)
{
	unsigned int shift = d->shift;
	uint64_t offset;

	if (!d->has_begun) {
		d->has_begun = true;
		d->begin = ts;
	}
	ts = MIN(ts, d->end);
	offset = ts > d->begin ? ts - d->begin : 0;
	while (offset >> shift >= VIEW_MAX_BINS)
		shift++;
	if (shift > d->shift)
		view_data__widen(d, shift - d->shift);
	d->nr_bins = MAX(d->nr_bins, (offset >> shift) + 1);
	return offset >> shift;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

int view_data__task(struct view_data *d, uint32_t tid, uint32_t pid, const char *comm,
		    uint32_t host, uint32_t *ret_task)
{
	struct view_task key = { .tid = tid, .pid = pid, .host = host };
	int err;

	err = string_table__intern(&d->strings, comm, &key.comm);
	if (!err)
		err = key_table__at(&d->tasks, &key, ret_task);
	return MIN(err, 0);
}

/* Hosts matter only where task ids of several boots may be equal. */
static const char *host_of(const struct view_data *d, const struct stk_event *e)
{
	return d->several_boots ? stk_event__host(e) : "";
}

/* The reader keeps names at one address. */
static int task_of(struct view_data *d, const struct stk_event *e, uint32_t *ret_task,
		   uint32_t *ret_host)
{
	uint32_t tid = stk_event__tid(e), pid = stk_event__pid(e), task, host_nr;
	const char *comm = tid ? stk_event__comm(e) : "<idle>", *host = host_of(d, e);
	uint32_t at = index__hash(tid) % VIEW_TASK_CACHE;
	int err;

	if (!d->task_cache[at].task || d->task_cache[at].tid != tid ||
	    d->task_cache[at].pid != pid || d->task_cache[at].comm != comm ||
	    d->task_cache[at].host != host) {
		err = string_table__intern(&d->hosts, host, &host_nr);
		err = err ?: view_data__task(d, tid, pid, comm, host_nr, &task);
		if (err)
			return err;
		d->task_cache[at].tid = tid;
		d->task_cache[at].pid = pid;
		d->task_cache[at].comm = comm;
		d->task_cache[at].host = host;
		d->task_cache[at].task = task + 1;
		d->task_cache[at].host_nr = host_nr;
	}
	*ret_task = d->task_cache[at].task - 1;
	*ret_host = d->task_cache[at].host_nr;
	return 0;
}

static int cpu_of(struct view_data *d, uint32_t host, uint32_t number, uint32_t *ret_cpu)
{
	const struct view_cpu key = { .host = host, .number = number };
	uint32_t at = number % VIEW_CPU_CACHE;
	int err;

	if (!d->cpu_cache[at].cpu || d->cpu_cache[at].key.host != host ||
	    d->cpu_cache[at].key.number != number) {
		err = key_table__at(&d->cpus, &key, ret_cpu);
		if (err < 0)
			return err;
		d->cpu_cache[at].key = key;
		d->cpu_cache[at].cpu = *ret_cpu + 1;
	}
	*ret_cpu = d->cpu_cache[at].cpu - 1;
	return 0;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static int new_place(struct view_data *d, const struct view_source *s, uint32_t *ret_place)
{
	const uint32_t *as = key_table__value(&d->tasks, s->task);
	struct view_place place = {
		.what = s->what,
		.cpu = s->cpu,
		.type = s->type,
		.task = *as ? *as - 1 : s->task,
	};
	int err;

	err = view_calls__find(&d->calls, s->kstack, s->ustack, &place.stack);
	if (err)
		return err;
	if (place.stack && place.stack <= d->nr_cut)
		place.stack = d->cut[place.stack - 1];
	err = key_table__at(&d->places, &place, ret_place);
	return MIN(err, 0);
}

static int add_sum(struct view_data *d, const struct view_source *s, uint64_t ts, uint64_t n)
{
	uint32_t source, place, *known;
	int err;

	err = key_table__at(&d->sources, s, &source);
	if (err < 0)
		return err;
	if (err) {
		err = new_place(d, s, &place);
		if (err)
			return err;
		*(uint32_t *)key_table__value(&d->sources, source) = place;
	}
	known = key_table__value(&d->sources, source);
	err = view_cells__add(&d->cells, reach_bin(d, ts), *known, n);
	if (!err && d->cells.nr > d->max_cells)
		err = view_data__thin(d);
	return err ?: charge_memory(d);
}

int view_data__add(struct view_data *d, const struct stk_event *e)
{
	struct view_source s = {
		.type = stk_event_type__index(stk_event__type(e)),
		.kstack = stk_event__kstack(e),
		.ustack = stk_event__ustack(e),
	};
	uint32_t host = 0;
	int err;

	err = task_of(d, e, &s.task, &host);
	if (!err)
		err = cpu_of(d, host, stk_event__cpu(e), &s.cpu);
	if (!err && s.type >= d->nr_type_events)
		err = array__reach(&d->type_events, s.type, &d->nr_type_events);
	if (err)
		return err;
	d->type_events[s.type]++;
	d->events++;
	return add_sum(d, &s, stk_event__ts(e), 1);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* floor(4 * log2(ns)): the highest bit, and in which of its quarters the rest is. */
static unsigned int bucket_of(uint64_t ns)
{
	/* 2^63 * 2^(1/4), 2^(2/4), 2^(3/4), rounded down; they are irrational */
	static const uint64_t quarters[] = { 0x9837f0518db8a96f, 0xb504f333f9de6484,
					     0xd744fccad69d6af4 };
	unsigned int i, bit, bucket;

	if (!ns)
		return 0;
	bit = 63 - __builtin_clzll(ns);
	ns <<= 63 - bit;
	bucket = 4 * bit;
	for (i = 0; i < ARRAY_SIZE(quarters) && ns > quarters[i]; i++)
		bucket++;
	return bucket;
}

static int keep_slow(struct view_data *d, const struct export_pair *p,
		     const struct view_source *start, uint32_t bin, uint64_t duration)
{
	struct view_slow slow = {
		.start = p->start.ts, .duration = duration, .task = start->task, .cpu = start->cpu
	};
	int err;

	err = view_slowest__reach(&d->slowest, p->kind);
	if (err || !view_slowest__has_room(&d->slowest, p->kind, bin, duration))
		return err;
	err = view_calls__find(&d->calls, p->start.kstack, p->start.ustack, &slow.start_stack)	 ?:
		      view_calls__find(&d->calls, p->end.kstack, p->end.ustack, &slow.end_stack) ?:
		      string_table__intern(&d->strings, p->name, &slow.value);
	if (!err)
		view_slowest__add(&d->slowest, p->kind, bin, &slow);
	return err;
}

int view_data__add_pair(struct view_data *d, const struct export_pair *p)
{
	uint64_t duration = MAX(p->end.ts, p->start.ts) - p->start.ts;
	struct view_source s = {
		.what = p->kind + 1,
		.type = p->start.type,
		.kstack = p->start.kstack,
		.ustack = p->start.ustack,
	};
	const char *comm;
	uint32_t bin;
	int err;

	if (p->kind >= d->nr_kind_pairs && array__reach(&d->kind_pairs, p->kind, &d->nr_kind_pairs))
		return -ENOMEM;
	d->kind_pairs[p->kind]++;
	d->pairs++;
	comm = p->start.tid ? p->start.comm : "<idle>";
	err = view_data__task(d, p->start.tid, p->start.pid, comm, 0, &s.task);
	err = err ?: cpu_of(d, 0, p->start.cpu, &s.cpu);
	err = err ?: add_sum(d, &s, p->end.ts, duration);
	if (err)
		return err;
	bin = reach_bin(d, p->end.ts);
	err = view_cells__add(&d->heat, bin, p->kind * VIEW_BUCKETS + bucket_of(duration), 1);
	return err ?: keep_slow(d, p, &s, bin, duration);
}

int view_data__add_loss(struct view_data *d, const struct stk_loss *loss)
{
	struct view_loss l = {
		.first = loss->first_ts,
		.last = loss->last_ts,
		.type = loss->type ? stk_event_type__index(loss->type) + 1 : 0,
		.count = loss->count,
		.skipped = loss_is_skipped(loss),
	};
	uint32_t cpu;
	int err = 0;

	/* Of several boots, it is unknown whose CPU it is. */
	if (loss->cpu != STK_ANY_CPU && !d->several_boots) {
		err = cpu_of(d, 0, loss->cpu, &cpu);
		if (err)
			return err;
		l.cpu = cpu + 1;
	}
	err = view_losses__add(&d->losses, &l, d);
	return err ?: charge_memory(d);
}

/* ---- the end --------------------------------------------------------------------------------- */

int view_data__finish(struct view_data *d)
{
	d->nr_bins = d->nr_bins ?: 1;
	return view_data__thin(d)		 ?:
		       view_data__limit_tasks(d) ?:
		       view_data__sort(d)	 ?:
		       charge(&d->charge, d->r, memory_of(d), d->calls.work + d->work);
}

uint64_t view_data__events(const struct view_data *d)
{
	return d->events;
}

uint64_t view_data__pairs(const struct view_data *d)
{
	return d->pairs;
}
