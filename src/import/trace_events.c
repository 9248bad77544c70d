// SPDX-License-Identifier: GPL-2.0-only
/* Joins the lines of a trace text into events with stack ids, in time order. */
#include "trace_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "string_table.h"
#include "trace_text.h"

#define MAX_NAMES 65536 /* distinct event names in one text */
#define NR_WAITING 4 /* task, softirq, hardirq, NMI: as deep as events can nest */
#define NO_EVENT UINT32_MAX

/* Events of one CPU without a <stack_id N> line so far, the newest last. */
struct waiting {
	uint32_t event[NR_WAITING];
};

/* A CPU between two of its events, and what the text says was lost in between. */
struct lane {
	bool any; /* events so far */
	bool lost, unknown; /* since the last event; the count is unknown */
	uint64_t last_ts, count;
	uint64_t first_ts;
};

struct trace_events {
	struct trace_event *v;
	size_t nr, cap;
	struct string_table names;
	struct waiting *waiting; /* by CPU */
	struct lane *lanes; /* as many */
	uint32_t nr_waiting;
	struct trace_loss *losses;
	size_t nr_losses, max_losses;
	bool overwritten; /* the oldest events were overwritten */
	bool lost_any; /* losses so far without a CPU */
	uint32_t open; /* the event to which lines of frames belong, or NO_EVENT */
	struct trace_events_counts counts;
};

/*
 * The line of a stack belongs to the event with the same header except for the time, whose index
 * this returns, or NO_EVENT.  An event has one such line.
 */
static uint32_t claim(struct trace_events *t, const struct trace_line *l)
{
	struct waiting *w = l->cpu < t->nr_waiting ? &t->waiting[l->cpu] : NULL;
	int i, j;

	for (i = NR_WAITING - 1; w && i >= 0 && w->event[i] != NO_EVENT; i--) {
		const struct trace_event *e = &t->v[w->event[i]];
		uint32_t found = w->event[i];

		if (e->tid != l->tid || e->flags != l->flags ||
		    e->preempt_count != l->preempt_count || e->comm_len != l->comm_len ||
		    memcmp(e->comm, l->comm, l->comm_len))
			continue;
		/* Later events were nested in it and are complete. */
		for (j = NR_WAITING - 1; j >= 0; j--)
			w->event[j] =
				j >= NR_WAITING - i ? w->event[j - (NR_WAITING - i)] : NO_EVENT;
		return found;
	}
	return NO_EVENT;
}

static void take_stack_id(struct trace_events *t, const struct trace_line *l)
{
	uint32_t i = claim(t, l);

	if (i == NO_EVENT) {
		t->counts.orphan_ids++;
		return;
	}
	t->v[i].has_stack = l->stack_id <= UINT32_MAX;
	t->v[i].stack_id = (uint32_t)l->stack_id;
	t->counts.bad_ids += !t->v[i].has_stack;
}

static int add_cpu(struct trace_events *t, uint32_t cpu)
{
	struct lane *lanes;
	struct waiting *w;

	if (cpu < t->nr_waiting)
		return 0;
	lanes = reallocarray(t->lanes, cpu + 1, sizeof(*lanes));
	if (!lanes)
		return -ENOMEM;
	for (uint32_t i = t->nr_waiting; i <= cpu; i++)
		lanes[i] = (struct lane){ .lost = t->lost_any, .unknown = t->lost_any };
	t->lanes = lanes;
	w = reallocarray(t->waiting, cpu + 1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	memset(w + t->nr_waiting, 0xff, (cpu + 1 - t->nr_waiting) * sizeof(*w)); /* NO_EVENT */
	t->waiting = w;
	t->nr_waiting = cpu + 1;
	return 0;
}

static int add_event(struct trace_events *t, const struct trace_line *l)
{
	struct trace_event *e;
	struct waiting *w;
	uint32_t name;
	int err;

	err = string_table__number(&t->names, l->event_len ? l->event : TRACE_EVENTS_UNNAMED,
				   l->event_len ? l->event_len : strlen(TRACE_EVENTS_UNNAMED),
				   MAX_NAMES, &name);
	if (err >= 0)
		err = add_cpu(t, l->cpu);
	if (err)
		return err;
	if (array__grow(&t->v, t->nr, &t->cap))
		return -ENOMEM;
	if (t->nr == NO_EVENT)
		return -E2BIG;
	e = &t->v[t->nr];
	*e = (struct trace_event){
		.ts = l->ts,
		.comm = l->comm,
		.comm_len = l->comm_len,
		.text = l->text,
		.text_len = l->text_len,
		.tid = l->tid,
		.tgid = l->tgid,
		.cpu = l->cpu,
		.name = name,
		.seq = (uint32_t)t->nr,
		.flags = l->flags,
		.preempt_count = l->preempt_count,
		.no_irqflag = l->no_irqflag,
	};
	w = &t->waiting[l->cpu];
	memmove(w->event, w->event + 1, sizeof(w->event) - sizeof(w->event[0]));
	w->event[NR_WAITING - 1] = (uint32_t)t->nr;
	if (t->nr && t->v[t->nr - 1].ts > l->ts)
		t->counts.sorted = false;
	t->counts.seconds = t->counts.seconds || l->has_fraction;
	t->counts.nr_cpus = MAX(t->counts.nr_cpus, l->cpu + 1);
	t->nr++;
	return 0;
}

/* ---- losses ---------------------------------------------------------------------------------- */

static int add_loss(struct trace_events *t, struct trace_loss loss)
{
	if (array__grow(&t->losses, t->nr_losses, &t->max_losses))
		return -ENOMEM;
	t->losses[t->nr_losses++] = loss;
	return 0;
}

/* The kernel prints the line ahead of the CPU's next event. */
static int take_lost_line(struct trace_events *t, const struct trace_line *l)
{
	bool any = l->lost_cpu >= TRACE_TEXT_MAX_CPUS;
	uint32_t cpu = any ? 0 : l->lost_cpu, end = any ? t->nr_waiting : cpu + 1;

	t->counts.lost += l->lost;
	if (l->lost_cpu == TRACE_TEXT_OLDEST) {
		t->overwritten = true;
		return 0;
	}
	if (!any && add_cpu(t, cpu))
		return -ENOMEM;
	t->lost_any |= any;
	for (; cpu < end; cpu++) {
		struct lane *lane = &t->lanes[cpu];

		lane->lost = true;
		lane->unknown |= any || l->lost_unknown;
		lane->count += l->lost;
	}
	return 0;
}

/*
 * A loss on a CPU lies between the CPU's events before and after it, or extends from 0 or to the
 * end.
 */
static int close_loss(struct trace_events *t, uint32_t cpu, uint64_t next_ts)
{
	struct lane *lane = &t->lanes[cpu];
	struct trace_loss loss = { .first_ts = lane->any ? lane->last_ts : 0,
				   .last_ts = next_ts,
				   .count = lane->unknown ? 0 : lane->count,
				   .cpu = cpu };

	if (!lane->lost)
		return 0;
	lane->lost = lane->unknown = false;
	lane->count = 0;
	if (loss.first_ts > loss.last_ts) {
		loss.last_ts = loss.first_ts;
		loss.first_ts = next_ts;
	}
	return add_loss(t, loss);
}

static int pass_event(struct trace_events *t, const struct trace_line *l)
{
	struct lane *lane = &t->lanes[l->cpu];
	int err = close_loss(t, l->cpu, l->ts);

	if (!lane->any)
		lane->first_ts = l->ts;
	lane->any = true;
	lane->last_ts = l->ts;
	return err;
}

/* Index of the first event at ts or later. */
static size_t find_ts(const struct trace_events *t, uint64_t ts)
{
	return array__bisect(t->nr, i, t->v[i].ts < ts);
}

static bool other_cpu_at(const struct trace_events *t, uint64_t ts, uint32_t cpu)
{
	size_t i;

	for (i = find_ts(t, ts); i < t->nr && t->v[i].ts == ts; i++)
		if (t->v[i].cpu != cpu)
			return true;
	return false;
}

/*
 * Excludes the times of the events before and after, which were not lost.  Times are rounded: if
 * another CPU has an event at the same time, the lost event may be before or after that one.
 */
static void narrow_loss(const struct trace_events *t, struct trace_loss *loss)
{
	uint64_t first = loss->first_ts, last = loss->last_ts;

	if (first && !other_cpu_at(t, first, loss->cpu))
		first++;
	if (last && last != UINT64_MAX && !other_cpu_at(t, last, loss->cpu))
		last--;
	if (first > last)
		return;
	loss->first_ts = first;
	loss->last_ts = last;
}

static int compare_losses(const void *pa, const void *pb)
{
	const struct trace_loss *a = pa, *b = pb;

	return CMP(a->first_ts, b->first_ts);
}

static int finish_losses(struct trace_events *t)
{
	uint64_t begin = t->nr ? t->v[0].ts : 0;
	uint32_t cpu;
	size_t i;
	int err = 0;

	for (cpu = 0; cpu < t->nr_waiting && !err; cpu++) {
		const struct lane *lane = &t->lanes[cpu];

		err = close_loss(t, cpu, UINT64_MAX);
		if (!err && t->overwritten && lane->any && lane->first_ts > begin)
			err = add_loss(t, (struct trace_loss){ .last_ts = lane->first_ts,
							       .cpu = cpu });
	}
	for (i = 0; i < t->nr_losses; i++) {
		narrow_loss(t, &t->losses[i]);
		t->losses[i].first_ts =
			MAX(t->losses[i].first_ts, MIN(begin, t->losses[i].last_ts));
	}
	if (t->nr_losses)
		qsort(t->losses, t->nr_losses, sizeof(*t->losses), compare_losses);
	return err;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* A stack that matches no event is kept as an event of its own. */
static int take_stack(struct trace_events *t, const struct trace_line *l)
{
	uint32_t i = claim(t, l);
	int err = 0;

	if (i == NO_EVENT) {
		err = add_event(t, l) ?: pass_event(t, l);
		i = err ? NO_EVENT : claim(t, l);
	}
	t->open = i;
	return err;
}

static void take_frame(struct trace_events *t, const struct trace_line *l)
{
	struct trace_event *e = t->open != NO_EVENT ? &t->v[t->open] : NULL;

	if (!e) {
		t->counts.other_lines++;
		return;
	}
	e->frames = e->frames ?: l->text; /* the first line's text; the others with " => " */
	e->frames_len = (size_t)(l->text + l->text_len - e->frames);
}

static int add_line(struct trace_events *t, const struct trace_line *l)
{
	if (l->kind != TRACE_LINE_FRAME)
		t->open = NO_EVENT;
	switch (l->kind) {
	case TRACE_LINE_EVENT:
		return add_event(t, l) ?: pass_event(t, l);
	case TRACE_LINE_STACK_ID:
		take_stack_id(t, l);
		return 0;
	case TRACE_LINE_STACK:
		return take_stack(t, l);
	case TRACE_LINE_FRAME:
		take_frame(t, l);
		return 0;
	case TRACE_LINE_LOST:
		return take_lost_line(t, l);
	case TRACE_LINE_COMMENT:
		return 0;
	case TRACE_LINE_OTHER:
		t->counts.other_lines++;
		return 0;
	}
	return 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct trace_event *a = pa, *b = pb;

	return CMP(a->ts, b->ts) ?: CMP(a->seq, b->seq);
}

int trace_events__parse(const char *name, const char *text, size_t len,
			struct trace_events **ret_events)
{
	struct trace_events *t = calloc(1, sizeof(*t));
	struct trace_line line = { 0 };
	struct trace_text lines;
	int err = 0;

	if (!t)
		return log_err(-ENOMEM, "%s", name);
	t->counts.sorted = true;
	t->open = NO_EVENT;
	trace_text__init(&lines, text, len);
	while (!err && trace_text__next(&lines, &line))
		err = add_line(t, &line);
	if (err) {
		trace_events__free(t);
		return log_err(err, "%s: line %zu", name, line.number);
	}
	if (!t->counts.sorted)
		qsort(t->v, t->nr, sizeof(*t->v), compare);
	err = finish_losses(t);
	if (err) {
		trace_events__free(t);
		return log_err(err, "%s", name);
	}
	*ret_events = t;
	return 0;
}

void trace_events__free(struct trace_events *t)
{
	if (!t)
		return;
	string_table__clear(&t->names);
	free(t->waiting);
	free(t->lanes);
	free(t->losses);
	free(t->v);
	free(t);
}

size_t trace_events__nr(const struct trace_events *t)
{
	return t->nr;
}

const struct trace_event *trace_events__get(const struct trace_events *t, size_t i)
{
	return &t->v[i];
}

size_t trace_events__nr_losses(const struct trace_events *t)
{
	return t->nr_losses;
}

const struct trace_loss *trace_events__loss(const struct trace_events *t, size_t i)
{
	return &t->losses[i];
}

uint32_t trace_events__nr_names(const struct trace_events *t)
{
	return t->names.nr;
}

const char *trace_events__name(const struct trace_events *t, uint32_t i)
{
	return string_table__get(&t->names, i);
}

const struct trace_events_counts *trace_events__counts(const struct trace_events *t)
{
	return &t->counts;
}
