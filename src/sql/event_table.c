// SPDX-License-Identifier: GPL-2.0-only
/*
 * Virtual tables of events: each cursor reads the recording.  Where SQLite asks for groups of
 * generic values and for nothing else, the events are counted first, and each group is delivered as
 * often as it occurs: this saves SQLite's sorter, and memory.  Groups are in SQL's order, which
 * SQLite takes for that of an ORDER BY by the same columns.
 */
#include "event_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "events/format.h"
#include "log.h"
#include "query/field_columns.h"
#include "query/values.h"
#include "seeded_hash.h"
#include "strbuf.h"
#include "tuples.h"

/* idxNum */
enum {
	PLAN_FIELDS = 1 << 0, /* the statement uses fields */
	PLAN_GROUPS = 1 << 1, /* deliver groups, each event once */
	PLAN_DISTINCT = 1 << 2, /* the same, each group once */
	PLAN_COLUMNS_SHIFT = 3, /* the columns that distinguish the groups, a bit each */
};

#define SCAN_COST 10.0 /* of an event; SQLite takes 3 for a row of a table of its own */
#define ALL_COLUMNS ((1u << NR_EVENT_COLUMNS) - 1)
#define MAX_FIELDS 1900 /* SQLite's tables have at most 2,000 columns */

static const enum value_name column_values[NR_EVENT_COLUMNS] = {
	[EVENT_TS] = VALUE_TIME,       [EVENT_CPU] = VALUE_CPU,	      [EVENT_PID] = VALUE_PID,
	[EVENT_TID] = VALUE_TID,       [EVENT_COMM] = VALUE_COMM,     [EVENT_EVENT] = VALUE_EVENT,
	[EVENT_KSTACK] = VALUE_KSTACK, [EVENT_USTACK] = VALUE_USTACK,
};

enum table_kind { TABLE_EVENTS, TABLE_TUPLES, TABLE_TYPE };

struct table_def {
	struct sql_recording *rec;
	enum table_kind kind;
	unsigned int type; /* of TABLE_TYPE */
};

struct event_table {
	sqlite3_vtab base; /* first */
	const struct table_def *def;
	struct field_columns fields;
};

struct event_key {
	uint64_t ts;
	uint32_t cpu, tid, type, kstack, ustack, zero;
};

struct event_cursor {
	sqlite3_vtab_cursor base; /* first */
	struct sql_scan scan;
	struct sql_where where;
	const struct stk_event *e;
	const void *record; /* NULL: not asked for yet, or none */
	size_t len;
	bool has_record;
	struct strbuf scratch;
	struct sql_tuples tuples;
	int plan;
	unsigned int at; /* the tuple */
	uint64_t left; /* how often it is still delivered */
	bool ended;
	struct event_key
		*same; /* of the events up to this one that have its time; see event_id() */
	unsigned int nr_same, max_same;
};

static struct event_table *table_of(sqlite3_vtab *base)
{
	return (struct event_table *)base;
}

static struct event_cursor *cursor_of(sqlite3_vtab_cursor *base)
{
	return (struct event_cursor *)base;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* The declared type of a column decides how its values are printed. */
static const char *declared(const struct field_column *c)
{
	const struct ev_field *f = c->field;

	if (field_column__is_text(c))
		return "TEXT";
	if (f->kind != EV_FIELD_INT)
		return "BLOB";
	if (f->address == EV_FUNCTION || f->address == EV_CODE)
		return "CODE INTEGER";
	if (f->address)
		return "ADDRESS INTEGER";
	return f->size == 8 && !f->is_signed ? "UNSIGNED INTEGER" : "INTEGER";
}

static bool is_taken(const char *name)
{
	for (unsigned int i = 0; i < NR_EVENT_COLUMNS; i++)
		if (!sqlite3_stricmp(value_names[column_values[i]].column, name))
			return true;
	return false;
}

/* The columns; NULL: out of memory. */
static char *declaration(const struct event_table *t)
{
	char *sql = sqlite3_mprintf("%s", "");
	unsigned int i;

	for (i = 0; i < NR_EVENT_COLUMNS; i++) {
		const struct value_row *v = &value_names[column_values[i]];

		if (i == EVENT_TS && t->def->kind == TABLE_TUPLES)
			sql = sqlite3_mprintf("%zn INTEGER", sql);
		else
			sql = sqlite3_mprintf("%z%s%s %s", sql, i ? "," : "", v->column,
					      v->type == VALUE_TEXT ? "TEXT" : "INTEGER");
	}
	for (i = 0; i < t->fields.nr; i++) {
		const struct field_column *c = &t->fields.v[i];

		sql = sqlite3_mprintf("%z,\"%w\" %s", sql, c->name, declared(c));
	}
	return sql;
}

static void table_free(struct event_table *t)
{
	field_columns__clear(&t->fields);
	free(t);
}

static int table_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
			 sqlite3_vtab **ret_table, char **ret_error)
{
	struct event_table *t = calloc(1, sizeof(*t));
	const struct ev_format *format;
	char *sql = NULL;
	int rc, err = 0;

	if (!t)
		return SQLITE_NOMEM;
	t->def = aux;
	if (t->def->kind == TABLE_TYPE)
		err = sql_recording__format(t->def->rec, t->def->type, &format) ?:
			      field_columns__of(format, MAX_FIELDS, is_taken, &t->fields);
	rc = err == -E2BIG ? SQLITE_TOOBIG : err ? SQLITE_NOMEM : SQLITE_OK;
	if (!rc) {
		sql = declaration(t);
		rc = sql ? sql_table__declare(db, sql) : SQLITE_NOMEM;
		sqlite3_free(sql);
	}
	if (rc) {
		*ret_error = sqlite3_mprintf("%s", rc == SQLITE_TOOBIG ? "too many fields" :
									 sqlite3_errmsg(db));
		table_free(t);
		return rc;
	}
	*ret_table = &t->base;
	return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *base)
{
	table_free(table_of(base));
	return SQLITE_OK;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static double nr_events(const struct sql_recording *rec)
{
	struct stk_totals t;

	stk_reader__totals(rec->reader, &t);
	return t.events + 1.0;
}

/* Whether the statement can be answered by groups; then ret_order has the groups' columns. */
static bool wants_groups(const struct event_table *t, sqlite3_index_info *info,
			 struct sql_order ret_order[NR_EVENT_COLUMNS], unsigned int *ret_nr)
{
	int i, mode = sqlite3_vtab_distinct(info);
	unsigned int nr = 0;

	if (t->def->kind == TABLE_TUPLES || (mode != 1 && mode != 2) || !info->nOrderBy ||
	    info->nOrderBy > NR_EVENT_COLUMNS || info->colUsed >> NR_EVENT_COLUMNS ||
	    info->colUsed & 1 << EVENT_TS)
		return false;
	for (i = 0; i < info->nOrderBy; i++) {
		if (info->aOrderBy[i].iColumn < 0)
			return false;
		ret_order[nr++] =
			(struct sql_order){ info->aOrderBy[i].iColumn, info->aOrderBy[i].desc };
	}
	*ret_nr = nr;
	return true;
}

static int table_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct event_table *t = table_of(base);
	double events = nr_events(t->def->rec);
	struct sql_order order[NR_EVENT_COLUMNS];
	unsigned int nr_order = 0, used = info->colUsed & ALL_COLUMNS, i;
	struct where_plan plan;
	char text[sizeof(plan.text) + 1 + NR_EVENT_COLUMNS];

	where_plan__make(&plan, info, t->def->kind == TABLE_TUPLES ? EVENT_CPU : EVENT_TS);
	if (info->colUsed >> NR_EVENT_COLUMNS)
		info->idxNum |= PLAN_FIELDS;
	if (wants_groups(t, info, order, &nr_order)) {
		info->idxNum |= sqlite3_vtab_distinct(info) == 2 ? PLAN_DISTINCT : PLAN_GROUPS;
		info->orderByConsumed = 1;
	}
	/* all of its columns: n depends on them, and must not depend on the statement */
	if (t->def->kind == TABLE_TUPLES) {
		info->idxNum |= PLAN_DISTINCT;
		used = ALL_COLUMNS;
	}
	info->idxNum |= used << PLAN_COLUMNS_SHIFT;
	/* the order of the groups, small letters for descending, then the conditions */
	for (i = 0; i < nr_order; i++)
		text[i] = (order[i].descending ? 'a' : 'A') + order[i].column;
	text[i++] = '/';
	strcpy(text + i, plan.text);
	info->idxStr = sqlite3_mprintf("%s", text);
	info->needToFreeIdxStr = 1;
	/* a scan decodes all events, whatever passes: not to be done for each row of a join */
	info->estimatedCost = events * (SCAN_COST + plan.share);
	info->estimatedRows = (sqlite3_int64)(events * plan.share) + 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- cursors --------------------------------------------------------------------------------- */

static int cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret_cursor)
{
	struct event_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	*ret_cursor = &c->base;
	return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *base)
{
	struct event_cursor *c = cursor_of(base);

	sql_scan__close(&c->scan);
	sql_where__clear(&c->where);
	sql_tuples__clear(&c->tuples);
	strbuf__free(&c->scratch);
	free(c->same);
	free(c);
	return SQLITE_OK;
}

#define MAX_SAME 1024 /* events of one time that are compared with each other */

static struct event_key key_of(const struct stk_event *e)
{
	return (struct event_key){ .ts = stk_event__ts(e),
				   .cpu = stk_event__cpu(e),
				   .tid = stk_event__tid(e),
				   .type = stk_event_type__index(stk_event__type(e)),
				   .kstack = stk_event__kstack(e),
				   .ustack = stk_event__ustack(e) };
}

static int note_event(struct event_cursor *c)
{
	struct event_key key = key_of(c->e);

	if (c->nr_same && c->same[0].ts != key.ts)
		c->nr_same = 0;
	if (c->nr_same < MAX_SAME) {
		if (array__grow(&c->same, c->nr_same, &c->max_same))
			return SQLITE_NOMEM;
		c->same[c->nr_same] = key;
	}
	c->nr_same++;
	return SQLITE_OK;
}

/*
 * SQLite knows a row by its id when it scans a table again, with other conditions (OR, RIGHT JOIN).
 * So an id follows from what an event is, and from how many before it were the same: these pass the
 * same conditions.
 */
static uint64_t event_id(const struct event_cursor *c)
{
	struct event_key key = key_of(c->e);
	unsigned int before = c->nr_same - 1, i, nr = 0;
	uint64_t seed = c->scan.rec->seed;

	for (i = 0; i < MIN(before, MAX_SAME); i++)
		nr += !memcmp(&c->same[i], &key, sizeof(key));
	return seeded_hash__bytes(seed, &key, sizeof(key)) + nr + (before > MAX_SAME ? before : 0);
}

static int next_event(struct event_cursor *c)
{
	int rc;

	c->has_record = false;
	while ((rc = sql_scan__next(&c->scan, c->base.pVtab, &c->e)) == SQLITE_ROW)
		if (sql_where__passes(&c->where, &c->scan, c->e))
			return note_event(c);
	c->ended = true;
	sql_scan__close(&c->scan);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static void begin_tuple(struct event_cursor *c)
{
	c->ended = c->at >= c->tuples.nr;
	if (!c->ended)
		c->left = c->plan & PLAN_DISTINCT ? 1 : c->tuples.v[c->at].count;
}

static int read_tuples(struct event_cursor *c, const char *order)
{
	unsigned int columns = c->plan >> PLAN_COLUMNS_SHIFT, nr = 0;
	struct sql_order by[NR_EVENT_COLUMNS];
	int rc;

	while (order[nr] != '/' && nr < NR_EVENT_COLUMNS) {
		by[nr].descending = order[nr] >= 'a';
		by[nr].column = order[nr] - (by[nr].descending ? 'a' : 'A');
		columns |= 1u << by[nr++].column;
	}
	rc = sql_tuples__read(&c->tuples, &c->scan, &c->where, columns, c->base.pVtab);
	sql_scan__close(&c->scan);
	if (rc)
		return rc;
	sql_tuples__sort(&c->tuples, c->scan.rec, by, nr);
	c->at = 0;
	begin_tuple(c);
	return SQLITE_OK;
}

static int cursor_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
			 sqlite3_value **values)
{
	struct event_cursor *c = cursor_of(base);
	const struct table_def *def = table_of(base->pVtab)->def;
	unsigned int want = STK_WANT_EVENTS | (plan & PLAN_FIELDS ? STK_WANT_FIELDS : 0);
	int rc;

	c->plan = plan;
	c->ended = false;
	c->has_record = false;
	c->nr_same = 0;
	rc = sql_where__begin(&c->where, def->rec, strchr(text, '/') + 1, values);
	if (!rc && def->kind == TABLE_TYPE)
		rc = sql_where__only_type(&c->where, def->rec, def->type);
	if (rc)
		return rc;
	if (c->where.none) {
		c->ended = true;
		return SQLITE_OK;
	}
	rc = sql_scan__open(&c->scan, def->rec, want, base->pVtab);
	if (rc)
		return rc;
	sql_where__select(&c->where, &c->scan);
	return plan & (PLAN_GROUPS | PLAN_DISTINCT) ? read_tuples(c, text) : next_event(c);
}

static int cursor_next(sqlite3_vtab_cursor *base)
{
	struct event_cursor *c = cursor_of(base);

	if (!(c->plan & (PLAN_GROUPS | PLAN_DISTINCT)))
		return next_event(c);
	if (!--c->left) {
		c->at++;
		begin_tuple(c);
	}
	return SQLITE_OK;
}

static int cursor_eof(sqlite3_vtab_cursor *base)
{
	return cursor_of(base)->ended;
}

static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_id)
{
	struct event_cursor *c = cursor_of(base);

	if (c->plan & (PLAN_GROUPS | PLAN_DISTINCT))
		*ret_id = sql_tuple__hash(c->scan.rec->seed, &c->tuples.v[c->at]) + c->left;
	else
		*ret_id = event_id(c);
	return SQLITE_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void put_stack(sqlite3_context *x, const struct sql_recording *rec, uint32_t number)
{
	if (number)
		sqlite3_result_int64(x, sql_recording__stack_id(rec, number));
}

static int put_comm(sqlite3_context *x, struct event_cursor *c)
{
	uint32_t number;

	if (sql_scan__comm(&c->scan, c->e, &number))
		return SQLITE_NOMEM;
	sqlite3_result_text(x, string_table__get(&c->scan.rec->comms, number), -1, SQLITE_STATIC);
	return SQLITE_OK;
}

static int put_generic(sqlite3_context *x, struct event_cursor *c, int column)
{
	const struct sql_recording *rec = table_of(c->base.pVtab)->def->rec;
	const struct stk_event *e = c->e;

	switch (column) {
	case EVENT_TS:
		sqlite3_result_int64(x, stk_event__ts(e));
		break;
	case EVENT_CPU:
		sqlite3_result_int64(x, stk_event__cpu(e));
		break;
	case EVENT_PID:
		sqlite3_result_int64(x, stk_event__pid(e));
		break;
	case EVENT_TID:
		sqlite3_result_int64(x, stk_event__tid(e));
		break;
	case EVENT_COMM:
		return put_comm(x, c);
	case EVENT_EVENT:
		sqlite3_result_text(x,
				    rec->types[stk_event_type__index(stk_event__type(e))].full_name,
				    -1, SQLITE_STATIC);
		break;
	case EVENT_KSTACK:
		put_stack(x, rec, stk_event__kstack(e));
		break;
	case EVENT_USTACK:
		put_stack(x, rec, stk_event__ustack(e));
		break;
	}
	return SQLITE_OK;
}

static void put_tuple(sqlite3_context *x, const struct event_cursor *c, int column)
{
	const struct sql_recording *rec = table_of(c->base.pVtab)->def->rec;
	const struct sql_tuple *t = &c->tuples.v[c->at];
	uint32_t v = t->v[column];

	if (column == EVENT_TS)
		sqlite3_result_int64(x, t->count);
	else if (column == EVENT_COMM)
		sqlite3_result_text(x, string_table__get(&rec->comms, v), -1, SQLITE_STATIC);
	else if (column == EVENT_EVENT)
		sqlite3_result_text(x, rec->types[v].full_name, -1, SQLITE_STATIC);
	else if (column != EVENT_KSTACK && column != EVENT_USTACK)
		sqlite3_result_int64(x, v);
	else if (v)
		sqlite3_result_int64(x, sql_recording__rank_id(rec, v));
}

static void put_field(sqlite3_context *x, struct event_cursor *c, const struct field_column *fc)
{
	const struct ev_field *f = fc->field;
	const void *bytes;
	const char *text;
	size_t n;

	if (!c->has_record) {
		c->has_record = true;
		c->record = stk_event__marks(c->e) & STK_MARK_NO_FIELDS ?
				    NULL :
				    stk_event__record(c->e, &c->len);
	}
	if (!c->record || f->offset > c->len || f->size > c->len - f->offset)
		return;
	text = field_column__text(fc, c->record, c->len, &c->scratch, &n);
	if (text) {
		sqlite3_result_text64(x, text, n, SQLITE_TRANSIENT, SQLITE_UTF8);
	} else if (f->kind == EV_FIELD_INT) {
		sqlite3_result_int64(x, ev_field__value(f, c->record, c->len));
	} else if (!field_column__is_text(fc)) {
		bytes = ev_field__bytes(f, c->record, c->len, &n);
		if (bytes)
			sqlite3_result_blob(x, bytes, n, SQLITE_TRANSIENT);
	}
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *x, int column)
{
	struct event_cursor *c = cursor_of(base);

	if (c->plan & (PLAN_GROUPS | PLAN_DISTINCT)) {
		put_tuple(x, c, column);
		return SQLITE_OK;
	}
	if (column < NR_EVENT_COLUMNS)
		return put_generic(x, c, column);
	put_field(x, c, &table_of(base->pVtab)->fields.v[column - NR_EVENT_COLUMNS]);
	return SQLITE_OK;
}

/* Without xCreate, a table is there under the name of its module. */
static const sqlite3_module module = {
	.xConnect = table_connect,
	.xBestIndex = table_best_index,
	.xDisconnect = table_disconnect,
	.xOpen = cursor_open,
	.xClose = cursor_close,
	.xFilter = cursor_filter,
	.xNext = cursor_next,
	.xEof = cursor_eof,
	.xColumn = cursor_column,
	.xRowid = cursor_rowid,
};

/* ---- names ----------------------------------------------------------------------------------- */

char *event_table__name(const struct sql_recording *rec, unsigned int type)
{
	char *name;

	if (!rec->types[type].is_repeated)
		return strdup(rec->types[type].full_name);
	return asprintf(&name, "%s#%u", rec->types[type].full_name, type) < 0 ? NULL : name;
}

static int add_table(sqlite3 *db, struct sql_recording *rec, const char *name, enum table_kind kind,
		     unsigned int type)
{
	struct table_def *def = malloc(sizeof(*def));

	if (!def)
		return -ENOMEM;
	*def = (struct table_def){ rec, kind, type };
	/* SQLite frees def, also after an error */
	return sqlite3_create_module_v2(db, name, &module, def, free) ? -ENOMEM : 0;
}

int event_tables__register(sqlite3 *db, struct sql_recording *rec)
{
	unsigned int i;
	int err = 0;

	if (!rec->nr_tables)
		err = add_table(db, rec, "events", TABLE_EVENTS, 0) ?:
			      add_table(db, rec, "tuples", TABLE_TUPLES, 0);
	for (i = rec->nr_tables; !err && i < rec->nr_types; i++) {
		_cleanup_free_ char *name = event_table__name(rec, i);

		err = name ? add_table(db, rec, name, TABLE_TYPE, i) : -ENOMEM;
	}
	rec->nr_tables = i;
	return err ? log_err(err, "make the tables of '%s'", rec->path) : 0;
}
