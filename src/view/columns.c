// SPDX-License-Identifier: GPL-2.0-only
/* Writes the tables of the page as columns of numbers. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "data_priv.h"
#include "query/metadata.h"

/* ---- columns --------------------------------------------------------------------------------- */

#define LEB128_MAX 10

static void put_leb128(struct strbuf *b, uint64_t v)
{
	char *to;

	if (b->cap - b->len <= LEB128_MAX && strbuf__grow(b, LEB128_MAX))
		return;
	for (to = b->s + b->len; v > 127; v >>= 7)
		*to++ = v | 128;
	*to++ = v;
	b->len = to - b->s;
}

static void put_number(struct view_column *c, uint64_t v)
{
	int64_t delta;

	v = MIN(v, VIEW_MAX_NUMBER);
	delta = v - c->last;
	c->last = v;
	put_leb128(&c->bytes, c->is_delta ? (uint64_t)delta << 1 ^ delta >> 63 : v);
}

static int add_column(struct view_table *t, bool is_delta, const char *fmt, ...)
{
	struct view_column *more =
		reallocarray(t->columns, t->nr_columns + 1ul, sizeof(*t->columns));
	va_list ap;

	if (!more)
		return -ENOMEM;
	t->columns = more;
	more += t->nr_columns++;
	*more = (struct view_column){ .is_delta = is_delta };
	va_start(ap, fmt);
	vsnprintf(more->name, sizeof(more->name), fmt, ap);
	va_end(ap);
	return 0;
}

/* Names of columns; a + before a name: of differences. */
static int add_columns(struct view_table *t, const char *table, const char *const *names,
		       unsigned int nr)
{
	unsigned int i;
	int err = 0;

	t->name = table;
	for (i = 0; i < nr && !err; i++)
		err = add_column(t, names[i][0] == '+', "%s", names[i] + (names[i][0] == '+'));
	return err;
}
#define ADD_COLUMNS(t, table, ...)                                  \
	add_columns(t, table, (const char *const[]){ __VA_ARGS__ }, \
		    sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

/* The columns that follow the first ones are the caller's. */
static void put_row(struct view_table *t, const uint64_t *numbers, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		put_number(&t->columns[i], numbers[i]);
	t->rows++;
}
#define PUT_ROW(t, ...)                               \
	put_row(t, (const uint64_t[]){ __VA_ARGS__ }, \
		sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* ---- tasks and stacks ------------------------------------------------------------------------ */

static int make_tasks(struct view_tables *t, const struct view_data *d)
{
	const struct view_numbers *tasks = &t->numbers[OF_TASKS];
	struct view_table *table = &t->v[VIEW_TASKS];
	uint32_t i;

	if (ADD_COLUMNS(table, "tasks", "+tid", "+pid", "comm", "host"))
		return -ENOMEM;
	for (i = 0; i < tasks->nr_used; i++) {
		const struct view_task *task = key_table__key(&d->tasks, tasks->used[i]);

		PUT_ROW(table, task->tid, task->pid, view_tables__of(t, OF_STRINGS, task->comm),
			view_tables__of(t, OF_HOSTS, task->host));
	}
	return 0;
}

static uint32_t stack_there(const struct view_tables *t, uint32_t stack)
{
	return stack ? view_tables__of(t, OF_NODES, stack - 1) + 1 : 0;
}

static int make_stacks(struct view_tables *t, const struct view_data *d)
{
	const struct view_numbers *frames = &t->numbers[OF_FRAMES], *nodes = &t->numbers[OF_NODES];
	uint32_t i;

	if (ADD_COLUMNS(&t->v[VIEW_FRAMES], "frames", "+name", "kind", "file") ||
	    ADD_COLUMNS(&t->v[VIEW_NODES], "nodes", "+parent", "+frame"))
		return -ENOMEM;
	for (i = 0; i < frames->nr_used; i++) {
		const struct view_frame *f = view_calls__frame(&d->calls, frames->used[i]);

		PUT_ROW(&t->v[VIEW_FRAMES], view_tables__of(t, OF_STRINGS, f->name), f->kind,
			view_tables__of(t, OF_STRINGS, f->file));
	}
	for (i = 0; i < nodes->nr_used; i++) {
		const struct view_node *n = view_calls__node(&d->calls, nodes->used[i]);

		PUT_ROW(&t->v[VIEW_NODES], stack_there(t, n->parent),
			view_tables__of(t, OF_FRAMES, n->frame));
	}
	return 0;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static uint64_t multiply(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* The events of a row, then the times of each kind of pairs, then the CPU time. */
static void put_cell(struct view_tables *t, const struct view_data *d, uint32_t bin,
		     const struct view_place *place, const uint64_t *weights, unsigned int nr)
{
	struct view_table *table = &t->v[VIEW_CELLS];
	const struct stk_event_type *type = stk_reader__type(d->r, place->type);
	unsigned int i;

	PUT_ROW(table, bin, view_tables__of(t, OF_CPUS, place->cpu),
		view_tables__of(t, OF_TASKS, place->task),
		view_tables__of(t, OF_TYPES, place->type), stack_there(t, place->stack));
	for (i = 0; i < nr; i++)
		put_number(&table->columns[5 + i], weights[i]);
	if (t->sample_ns)
		put_number(&table->columns[5 + nr], stk_event_type__kind(type) == STK_KIND_SAMPLE ?
							    multiply(weights[0], t->sample_ns) :
							    0);
}

static bool is_same_row(const struct view_place *a, const struct view_place *b)
{
	return a->type == b->type && a->task == b->task && a->stack == b->stack && a->cpu == b->cpu;
}

static int make_cells(struct view_tables *t, const struct view_data *d)
{
	unsigned int nr = t->numbers[OF_KINDS].nr_used + 1;
	_cleanup_free_ uint64_t *weights = calloc(nr, sizeof(*weights));
	struct view_table *table = &t->v[VIEW_CELLS];
	uint32_t i, w;
	int err;

	err = ADD_COLUMNS(table, "cells", "+bin", "cpu", "task", "type", "stack", "n");
	for (i = 1; i < nr + !!t->sample_ns && !err; i++)
		err = add_column(table, false, "w%" PRIu32, i);
	if (err || !weights)
		return -ENOMEM;
	for (i = 0; i < d->cells.nr;) {
		const struct view_cell *first = &d->cells.v[i], *c = first;
		const struct view_place *row = key_table__key(&d->places, first->key), *p = row;

		memset(weights, 0, nr * sizeof(*weights));
		while (i < d->cells.nr && c->bin == first->bin && is_same_row(row, p)) {
			w = p->what ? view_tables__of(t, OF_KINDS, p->what - 1) + 1 : 0;
			weights[w] = c->n;
			if (++i == d->cells.nr)
				break;
			c = &d->cells.v[i];
			p = key_table__key(&d->places, c->key);
		}
		put_cell(t, d, first->bin, row, weights, nr);
	}
	return 0;
}

/* ---- losses and pairs ------------------------------------------------------------------------ */

static int make_losses(struct view_tables *t, const struct view_data *d)
{
	struct view_table *table = &t->v[VIEW_LOSSES];
	uint32_t i;

	if (ADD_COLUMNS(table, "losses", "+begin", "+end", "cpu", "type", "count", "skipped"))
		return -ENOMEM;
	for (i = 0; i < d->losses.nr; i++) {
		const struct view_loss *l = &d->losses.v[i];

		PUT_ROW(table, view_data__bin_of(d, l->first), view_data__bin_of(d, l->last),
			l->cpu ? view_tables__of(t, OF_CPUS, l->cpu - 1) + 1 : 0,
			l->type ? view_tables__of(t, OF_TYPES, l->type - 1) + 1 : 0, l->count,
			l->skipped);
	}
	return 0;
}

static int make_pair_cells(struct view_tables *t, const struct view_data *d)
{
	struct view_table *table = &t->v[VIEW_PAIR_CELLS];
	uint32_t i;

	if (ADD_COLUMNS(table, "pair_cells", "pair", "+bin", "+bucket", "n"))
		return -ENOMEM;
	for (i = 0; i < d->heat.nr; i++) {
		const struct view_cell *c = &d->heat.v[i];

		PUT_ROW(table, view_tables__of(t, OF_KINDS, c->key / VIEW_BUCKETS), c->bin,
			c->key % VIEW_BUCKETS, c->n);
	}
	return 0;
}

static int compare_slow(const void *a, const void *b)
{
	const struct view_slow *x = *(struct view_slow *const *)a;
	const struct view_slow *y = *(struct view_slow *const *)b;

	return CMP(y->duration, x->duration) ?: CMP(x->start, y->start) ?: CMP(x->task, y->task);
}

/* Those of a kind, slowest first. */
static void put_slowest(struct view_tables *t, const struct view_data *d, uint32_t kind)
{
	const struct view_slow *order[VIEW_RANGES * VIEW_SLOWEST];
	uint32_t range, i, nr = 0;

	for (range = 0; range < VIEW_RANGES; range++) {
		const struct view_range *r = &d->slowest.ranges[kind * VIEW_RANGES + range];

		for (i = 0; i < r->nr; i++)
			order[nr++] = &r->v[i];
	}
	qsort(order, nr, sizeof(*order), compare_slow);
	for (i = 0; i < nr; i++) {
		const struct view_slow *s = order[i];

		PUT_ROW(&t->v[VIEW_SLOW], view_tables__of(t, OF_KINDS, kind),
			MAX(s->start, d->begin) - d->begin, s->duration,
			view_tables__of(t, OF_TASKS, s->task), view_tables__of(t, OF_CPUS, s->cpu),
			stack_there(t, s->start_stack), stack_there(t, s->end_stack),
			view_tables__of(t, OF_STRINGS, s->value));
	}
}

static int make_slowest(struct view_tables *t, const struct view_data *d)
{
	uint32_t kind;

	if (ADD_COLUMNS(&t->v[VIEW_SLOW], "slow", "pair", "+start", "+duration", "task", "cpu",
			"start_stack", "end_stack", "value"))
		return -ENOMEM;
	for (kind = 0; kind < d->slowest.nr_kinds; kind++)
		put_slowest(t, d, kind);
	return 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* What a timer sample stands for, if the recording has any. */
static uint64_t find_sample_ns(const struct view_data *d)
{
	uint64_t hz = 0;
	uint32_t i;

	metadata__u64(d->r, "samples.hz", &hz);
	for (i = 0; i < d->nr_type_events && hz; i++)
		if (d->type_events[i] &&
		    stk_event_type__kind(stk_reader__type(d->r, i)) == STK_KIND_SAMPLE)
			return 1000000000 / hz;
	return 0;
}

int view_tables__make(const struct view_data *d, const struct view_head *head,
		      struct view_tables *ret_tables)
{
	struct view_tables *t = ret_tables;

	t->sample_ns = find_sample_ns(d);
	return view_data__lost_by_type(d, head->is_selection, &t->lost, &t->lost_total) ?:
		       view_tables__number(t, d)					?:
		       make_tasks(t, d)							?:
		       make_stacks(t, d)						?:
		       make_cells(t, d)							?:
		       make_losses(t, d)						?:
		       make_pair_cells(t, d)						?:
		       make_slowest(t, d);
}

void view_tables__clear(struct view_tables *t)
{
	unsigned int i, j;

	for (i = 0; i < NR_VIEW_TABLES; i++) {
		for (j = 0; j < t->v[i].nr_columns; j++)
			strbuf__free(&t->v[i].columns[j].bytes);
		free(t->v[i].columns);
	}
	for (i = 0; i < NR_VIEW_NUMBERS; i++) {
		free(t->numbers[i].of);
		free(t->numbers[i].used);
	}
	free(t->lost);
}

int view_data__put(const struct view_data *d, const struct view_head *head, struct strbuf *out)
{
	_cleanup_(view_tables__clear) struct view_tables t = { 0 };
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	bool failed = false;
	unsigned int i, j;
	uint32_t len;
	int err;

	err = view_tables__make(d, head, &t);
	if (err)
		return err;
	view_tables__put_head(&t, d, head, &text);
	len = text.len;
	strbuf__add(out, (const char *)&len, sizeof(len));
	strbuf__add(out, text.s ?: "", text.len);
	for (i = 0; i < NR_VIEW_TABLES; i++) {
		for (j = 0; j < t.v[i].nr_columns; j++) {
			const struct strbuf *bytes = &t.v[i].columns[j].bytes;

			failed |= strbuf__failed(bytes);
			strbuf__add(out, bytes->s ?: "", bytes->len);
		}
	}
	return failed || strbuf__failed(&text) || strbuf__failed(out) ? -ENOMEM : 0;
}
