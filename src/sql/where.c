// SPDX-License-Identifier: GPL-2.0-only
/* Conditions that scans apply themselves: see where.h. */
#include "where.h"

#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define OP_IN 'i' /* the others are '=', '<', 'l' (<=), '>', 'g' (>=), 'G' (glob), 'L' (like) */

/* ---- plans ----------------------------------------------------------------------------------- */

static bool is_number(int column)
{
	return column != EVENT_COMM && column != EVENT_EVENT;
}

/* The share of events that pass, a guess as SQLite's own are; 0: this condition is left to it. */
static double share_of(int column, char op)
{
	static const double equal[NR_EVENT_COLUMNS] = {
		[EVENT_TS] = 1e-6,	[EVENT_CPU] = 0.1,	[EVENT_PID] = 0.02,
		[EVENT_TID] = 0.02,	[EVENT_COMM] = 0.05,	[EVENT_EVENT] = 0.2,
		[EVENT_KSTACK] = 0.005, [EVENT_USTACK] = 0.005,
	};

	if (op == '=')
		return equal[column];
	if (op == OP_IN)
		return MIN(0.5, 4 * equal[column]);
	if (op == 'G' || op == 'L')
		return is_number(column) ? 0 : 0.3;
	return column == EVENT_TS ? 0.3 : 0;
}

static char operator_of(sqlite3_index_info *info, int i)
{
	const struct sqlite3_index_constraint *c = &info->aConstraint[i];

	switch (c->op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return c->iColumn != EVENT_TS && sqlite3_vtab_in(info, i, -1) ? OP_IN : '=';
	case SQLITE_INDEX_CONSTRAINT_LT:
		return '<';
	case SQLITE_INDEX_CONSTRAINT_LE:
		return 'l';
	case SQLITE_INDEX_CONSTRAINT_GT:
		return '>';
	case SQLITE_INDEX_CONSTRAINT_GE:
		return 'g';
	case SQLITE_INDEX_CONSTRAINT_GLOB:
		return 'G';
	case SQLITE_INDEX_CONSTRAINT_LIKE:
		return 'L';
	default:
		return 0;
	}
}

void where_plan__make(struct where_plan *plan, sqlite3_index_info *info, int first)
{
	int i;

	*plan = (struct where_plan){ .share = 1 };
	for (i = 0; i < info->nConstraint && plan->nr < WHERE_MAX; i++) {
		int column = info->aConstraint[i].iColumn;
		double share;
		char op;

		if (!info->aConstraint[i].usable || column < first || column >= NR_EVENT_COLUMNS)
			continue;
		op = operator_of(info, i);
		share = op ? share_of(column, op) : 0;
		if (!share || (!is_number(column) && op != 'L' &&
			       strcmp(sqlite3_vtab_collation(info, i), "BINARY")))
			continue;
		if (op == OP_IN)
			sqlite3_vtab_in(info, i, 1);
		plan->text[2 * plan->nr] = 'A' + column;
		plan->text[2 * plan->nr + 1] = op;
		info->aConstraintUsage[i].argvIndex = ++plan->nr;
		plan->share *= share;
	}
}

/* ---- values ---------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return CMP(*x, *y);
}

/* Calls take for the value, or for each value of a list; stops at the first that is not taken. */
static int each_value(sqlite3_value *value, char op, int (*take)(void *, sqlite3_value *),
		      void *ctx)
{
	sqlite3_value *one;
	int rc;

	if (op != OP_IN)
		return take(ctx, value);
	for (rc = sqlite3_vtab_in_first(value, &one); rc == SQLITE_OK && one;
	     rc = sqlite3_vtab_in_next(value, &one)) {
		rc = take(ctx, one);
		if (rc)
			return rc;
	}
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

struct number_list {
	int64_t *v;
	unsigned int nr;
	bool is_other; /* a value that is not an integer: only SQLite knows what equals it */
};

static int take_number(void *ctx, sqlite3_value *value)
{
	struct number_list *l = ctx;
	int type = sqlite3_value_type(value);

	if (type == SQLITE_NULL)
		return SQLITE_OK; /* nothing equals it */
	if (type != SQLITE_INTEGER) {
		l->is_other = true;
		return SQLITE_OK;
	}
	return array__append(&l->v, &l->nr, sqlite3_value_int64(value)) ? SQLITE_NOMEM : SQLITE_OK;
}

static int add_numbers(struct sql_where *w, struct where_numbers *to, sqlite3_value *value, char op)
{
	struct number_list l = { 0 };
	int rc = each_value(value, op, take_number, &l);

	if (rc || l.is_other || to->any) { /* of two conditions the first is enough */
		free(l.v);
		return rc;
	}
	if (!l.nr)
		w->none = true;
	else
		qsort(l.v, l.nr, sizeof(*l.v), by_number);
	*to = (struct where_numbers){ true, l.v, l.nr };
	return SQLITE_OK;
}

static void add_time(struct sql_where *w, sqlite3_value *value, char op)
{
	int64_t ts = sqlite3_value_int64(value);

	if (sqlite3_value_type(value) == SQLITE_NULL)
		w->none = true;
	/* times beyond 2^63 are negative to SQLite: leave it to compare them */
	if (sqlite3_value_type(value) != SQLITE_INTEGER || ts < 0)
		return;
	if (op == '=' || op == 'g' || op == '>')
		w->from = MAX(w->from, (uint64_t)ts + (op == '>'));
	if ((op == '=' || op == 'l' || op == '<') && w->to > INT64_MAX)
		w->to = INT64_MAX;
	if (op == '=' || op == 'l')
		w->to = MIN(w->to, (uint64_t)ts);
	if (op == '<' && !ts)
		w->none = true;
	else if (op == '<')
		w->to = MIN(w->to, (uint64_t)ts - 1);
}

static bool matches(const struct where_text *t, const char *text)
{
	return t->op == 'G' ? !sqlite3_strglob(t->text, text) :
	       t->op == 'L' ? !sqlite3_strlike(t->text, text, 0) :
			      !strcmp(t->text, text);
}

struct text_list {
	char op;
	struct where_text *v;
	unsigned int nr;
	bool is_other;
};

static int take_text(void *ctx, sqlite3_value *value)
{
	struct text_list *l = ctx;
	struct where_text t = { .op = l->op };

	if (sqlite3_value_type(value) == SQLITE_NULL)
		return SQLITE_OK;
	if (sqlite3_value_type(value) != SQLITE_TEXT) {
		l->is_other = true;
		return SQLITE_OK;
	}
	t.text = strdup((const char *)sqlite3_value_text(value) ?: "");
	if (!t.text || array__append(&l->v, &l->nr, t)) {
		free(t.text);
		return SQLITE_NOMEM;
	}
	return SQLITE_OK;
}

static void free_texts(struct where_text *v, unsigned int nr)
{
	while (nr)
		free(v[--nr].text);
	free(v);
}

static int all_types(struct sql_where *w, const struct sql_recording *rec)
{
	w->types = malloc(rec->nr_types + 1);
	if (!w->types)
		return SQLITE_NOMEM;
	memset(w->types, true, rec->nr_types + 1);
	return SQLITE_OK;
}

int sql_where__only_type(struct sql_where *w, const struct sql_recording *rec, unsigned int type)
{
	unsigned int i;

	if (!w->types && all_types(w, rec))
		return SQLITE_NOMEM;
	for (i = 0; i < rec->nr_types; i++)
		w->types[i] &= i == type;
	return SQLITE_OK;
}

static int add_types(struct sql_where *w, const struct sql_recording *rec,
		     const struct text_list *l)
{
	unsigned int i, k;
	bool passes;

	if (!w->types && all_types(w, rec))
		return SQLITE_NOMEM;
	for (i = 0; i < rec->nr_types; i++) {
		for (k = 0, passes = false; k < l->nr && !passes; k++)
			passes = matches(&l->v[k], rec->types[i].full_name);
		w->types[i] &= passes;
	}
	return SQLITE_OK;
}

static int add_texts(struct sql_where *w, const struct sql_recording *rec, int column,
		     sqlite3_value *value, char op)
{
	struct text_list l = { .op = op };
	int rc = each_value(value, op, take_text, &l);

	if (!rc && !l.is_other && !l.nr)
		w->none = true;
	if (!rc && !l.is_other && column == EVENT_EVENT)
		rc = add_types(w, rec, &l);
	if (!rc && !l.is_other && column == EVENT_COMM && !w->comms) {
		w->comms = take_ptr(l.v);
		w->nr_comms = l.nr;
		l.nr = 0;
	}
	free_texts(l.v, l.nr);
	return rc;
}

int sql_where__begin(struct sql_where *w, struct sql_recording *rec, const char *plan,
		     sqlite3_value **values)
{
	struct where_numbers *numbers[NR_EVENT_COLUMNS] = {
		[EVENT_CPU] = &w->cpu,	     [EVENT_PID] = &w->pid,	  [EVENT_TID] = &w->tid,
		[EVENT_KSTACK] = &w->kstack, [EVENT_USTACK] = &w->ustack,
	};
	int rc = SQLITE_OK;

	sql_where__clear(w);
	w->to = UINT64_MAX;
	for (; plan && *plan && !rc; plan += 2, values++) {
		int column = plan[0] - 'A';

		if (column == EVENT_TS)
			add_time(w, *values, plan[1]);
		else if (numbers[column])
			rc = add_numbers(w, numbers[column], *values, plan[1]);
		else
			rc = add_texts(w, rec, column, *values, plan[1]);
	}
	return rc;
}

void sql_where__clear(struct sql_where *w)
{
	struct where_numbers *all[] = { &w->cpu, &w->pid, &w->tid, &w->kstack, &w->ustack };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		free(all[i]->v);
	free(w->types);
	free_texts(w->comms, w->nr_comms);
	*w = (struct sql_where){ 0 };
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool has(const struct where_numbers *n, int64_t v)
{
	size_t i;

	if (!n->any)
		return true;
	if (n->nr == 1)
		return n->v[0] == v;
	i = array__bisect(n->nr, k, n->v[k] < v);
	return i < n->nr && n->v[i] == v;
}

/* The same name has the same address in a reader. */
static bool comm_passes(struct sql_where *w, const char *comm)
{
	unsigned int at = (uint32_t)((uintptr_t)comm >> 3) * 0x9e3779b1u >> 24, k;

	if (w->cache[at].comm != comm) {
		w->cache[at].comm = comm;
		w->cache[at].passes = false;
		for (k = 0; k < w->nr_comms && !w->cache[at].passes; k++)
			w->cache[at].passes = matches(&w->comms[k], comm);
	}
	return w->cache[at].passes;
}

static bool stack_passes(const struct where_numbers *ids, const struct sql_scan *s, uint32_t number)
{
	return !ids->any || (number && has(ids, sql_recording__stack_id(s->rec, number)));
}

/* By all but time and CPU. */
static bool may_pass(struct sql_where *w, const struct sql_scan *s, const struct stk_event *e)
{
	if (w->types && !w->types[stk_event_type__index(stk_event__type(e))])
		return false;
	if (!has(&w->pid, stk_event__pid(e)) || !has(&w->tid, stk_event__tid(e)))
		return false;
	if (!stack_passes(&w->kstack, s, stk_event__kstack(e)) ||
	    !stack_passes(&w->ustack, s, stk_event__ustack(e)))
		return false;
	return !w->comms || comm_passes(w, stk_event__comm(e));
}

bool sql_where__passes(struct sql_where *w, const struct sql_scan *s, const struct stk_event *e)
{
	uint64_t ts = stk_event__ts(e);

	return ts >= w->from && ts <= w->to && has(&w->cpu, stk_event__cpu(e)) && may_pass(w, s, e);
}

static bool cpu_passes(void *ctx, uint32_t cpu)
{
	const struct sql_scan *s = ctx;

	return has(&s->where->cpu, cpu);
}

static bool event_passes(void *ctx, const struct stk_event *e)
{
	struct sql_scan *s = ctx;

	/* A query that is to stop must not have to wait for an event that passes. */
	if (!(++s->asked % STOP_EVENTS) && sql_recording__check_stop(s->rec))
		s->stopped = true;
	return s->stopped || stk_event_type__index(stk_event__type(e)) >= s->rec->nr_types ||
	       may_pass(s->where, s, e);
}

void sql_where__select(struct sql_where *w, struct sql_scan *s)
{
	const struct stk_select select = {
		.size = sizeof(select),
		.from = w->from,
		.to = w->to,
		.cpu = cpu_passes,
		.event = event_passes,
		.ctx = s,
	};

	/* Where code was replaced, stacks get their numbers as all events are read. */
	if (s->rec->has_variants)
		return;
	s->where = w;
	stk_reader__select(s->reader, &select);
}
