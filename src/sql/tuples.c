// SPDX-License-Identifier: GPL-2.0-only
/* Counts events by their generic values: see tuples.h. */
#include "tuples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "seeded_hash.h"

static int tuple_of(const struct sql_tuples *t, struct sql_scan *s, const struct stk_event *e,
		    struct sql_tuple *tuple)
{
	unsigned int c = t->columns;
	uint32_t *v = tuple->v;

	memset(v, 0, sizeof(tuple->v));
	if (c & 1u << EVENT_CPU)
		v[EVENT_CPU] = stk_event__cpu(e);
	if (c & 1u << EVENT_PID)
		v[EVENT_PID] = stk_event__pid(e);
	if (c & 1u << EVENT_TID)
		v[EVENT_TID] = stk_event__tid(e);
	if (c & 1u << EVENT_EVENT)
		v[EVENT_EVENT] = stk_event_type__index(stk_event__type(e));
	if (c & 1u << EVENT_KSTACK)
		v[EVENT_KSTACK] = sql_recording__stack_rank(s->rec, stk_event__kstack(e));
	if (c & 1u << EVENT_USTACK)
		v[EVENT_USTACK] = sql_recording__stack_rank(s->rec, stk_event__ustack(e));
	if (c & 1u << EVENT_COMM)
		return sql_scan__comm(s, e, &v[EVENT_COMM]);
	return 0;
}

uint64_t sql_tuple__hash(uint64_t seed, const struct sql_tuple *tuple)
{
	const uint32_t *v = tuple->v;
	uint64_t h = seed;

	for (unsigned int i = 0; i < NR_EVENT_COLUMNS; i += 2)
		h = seeded_hash__u64(seed, h, (uint64_t)v[i] << 32 | v[i + 1]);
	return h;
}

static bool same(const struct sql_tuple *a, const struct sql_tuple *b)
{
	return !memcmp(a->v, b->v, sizeof(a->v));
}

static int charge_memory(struct sql_tuples *t, struct stk_reader *r)
{
	uint64_t memory = (uint64_t)t->max * sizeof(*t->v) + index__memory(&t->index);
	int err = stk_reader__charge(r, memory - t->charged, 0);

	if (!err)
		t->charged = memory;
	return err;
}

/* tuple->count is the number of events to add. */
static int add(struct sql_tuples *t, struct stk_reader *r, const struct sql_tuple *tuple,
	       uint32_t *last)
{
	uint64_t hash;
	uint32_t i;

	if (*last < t->nr && same(&t->v[*last], tuple)) {
		t->v[*last].count += tuple->count;
		return 0;
	}
	hash = sql_tuple__hash(t->seed, tuple);
	index__for_each(&t->index, hash, i)
		if (same(&t->v[i], tuple))
			break;
	if (i == INDEX_NONE) {
		if (array__grow(&t->v, t->nr, &t->max) || index__add(&t->index, hash, t->nr))
			return -ENOMEM;
		i = t->nr++;
		t->v[i] = *tuple;
		t->v[i].count = 0;
		if (charge_memory(t, r))
			return -ENOBUFS;
	}
	t->v[i].count += tuple->count;
	*last = i;
	return 0;
}

int sql_tuples__read(struct sql_tuples *t, struct sql_scan *s, struct sql_where *w,
		     unsigned int columns, sqlite3_vtab *vt)
{
	const struct stk_event *e;
	struct sql_tuple tuple;
	uint32_t last = 0;
	int rc, err = 0;

	sql_tuples__clear(t);
	t->columns = columns & ~(1u << EVENT_TS);
	t->seed = seeded_hash__seed();
	while (!err && (rc = sql_scan__next_counted(s, vt, &e, &tuple.count)) == SQLITE_ROW) {
		if (!sql_where__passes(w, s, e))
			continue;
		err = tuple_of(t, s, e, &tuple) ?: add(t, s->reader, &tuple, &last);
	}
	if (err == -ENOBUFS)
		return sql_error(vt, SQLITE_CORRUPT, SQL_OVER_BUDGET, s->rec->path);
	if (err)
		return SQLITE_NOMEM;
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

struct order {
	const struct sql_recording *rec;
	const struct sql_order *by;
	unsigned int nr;
};

/* A stack of 0 is NULL, which SQLite sorts first. */
static int compare(const struct sql_recording *rec, enum event_column column, uint32_t x,
		   uint32_t y)
{
	if (column == EVENT_COMM)
		return strcmp(string_table__get(&rec->comms, x), string_table__get(&rec->comms, y));
	if (column == EVENT_EVENT)
		return strcmp(rec->types[x].full_name, rec->types[y].full_name);
	return CMP(x, y);
}

static int by_columns(const void *a, const void *b, void *ctx)
{
	const struct sql_tuple *x = a, *y = b;
	const struct order *o = ctx;
	unsigned int i;
	int cmp;

	for (i = 0; i < o->nr; i++) {
		enum event_column c = o->by[i].column;

		cmp = x->v[c] == y->v[c] ? 0 : compare(o->rec, c, x->v[c], y->v[c]);
		if (cmp)
			return o->by[i].descending ? -cmp : cmp;
	}
	return memcmp(x->v, y->v, sizeof(x->v));
}

void sql_tuples__sort(struct sql_tuples *t, const struct sql_recording *rec,
		      const struct sql_order *by, unsigned int nr)
{
	struct order o = { rec, by, nr };

	if (t->nr)
		qsort_r(t->v, t->nr, sizeof(*t->v), by_columns, &o);
}

void sql_tuples__clear(struct sql_tuples *t)
{
	free(t->v);
	index__free(&t->index);
	*t = (struct sql_tuples){ 0 };
}
