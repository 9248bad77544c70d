// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table-valued function pairs(): an end event makes a row as it is read.  Pairs between whose
 * events another one may be missing are left out, and counted in a warning.
 */
#include "pairs_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/charge.h"
#include "analyze/pairs/pairs.h"
#include "cleanup.h"
#include "log.h"
#include "text.h"
#include "ui/reading.h"

enum {
	COL_TS,
	COL_END_TS,
	COL_NS,
	COL_ENDS, /* the values of the start, then those of the end */
	COL_BY_VALUE = COL_ENDS + 12,
	COL_START, /* the arguments, in this order */
	COL_END,
	COL_BY,
	COL_MATCH,
	NR_COLUMNS,
};
#define NR_ARGS (NR_COLUMNS - COL_START)

static const char columns[] =
	"ts INTEGER, end_ts INTEGER, ns INTEGER, cpu INTEGER, pid INTEGER, "
	"tid INTEGER, comm TEXT, kstack INTEGER, ustack INTEGER, end_cpu INTEGER, "
	"end_pid INTEGER, end_tid INTEGER, end_comm TEXT, end_kstack INTEGER, "
	"end_ustack INTEGER, by_value TEXT, \"start\" TEXT HIDDEN, \"end\" TEXT HIDDEN, "
	"\"by\" TEXT HIDDEN, \"match\" TEXT HIDDEN";

struct pairs_table {
	sqlite3_vtab base; /* first */
	struct sql_recording *rec;
};

struct pairs_cursor {
	sqlite3_vtab_cursor base; /* first */
	struct sql_scan scan;
	char *args[NR_ARGS]; /* NULL: not given */
	struct pairs *pairs;
	struct charge charge;
	struct pairs_pair pair;
	const struct pairs_group *group;
	bool has_pair, ended;
	bool no_memory; /* which events are starts or ends is unknown */
	uint64_t nr;
};

static struct pairs_cursor *cursor_of(sqlite3_vtab_cursor *base)
{
	return (struct pairs_cursor *)base;
}

static int table_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
			 sqlite3_vtab **ret_table, char **ret_error)
{
	struct pairs_table *t = calloc(1, sizeof(*t));
	int rc = t ? sql_table__declare(db, columns) : SQLITE_NOMEM;

	if (rc) {
		free(t);
		return rc;
	}
	t->rec = aux;
	*ret_table = &t->base;
	return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *base)
{
	free(base);
	return SQLITE_OK;
}

static int table_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	int at[NR_ARGS], i, nr = 0;
	struct stk_totals t;

	stk_reader__totals(((struct pairs_table *)base)->rec->reader, &t);
	memset(at, -1, sizeof(at));
	for (i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];

		if (c->iColumn < COL_START || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (!c->usable)
			return SQLITE_CONSTRAINT;
		at[c->iColumn - COL_START] = i;
	}
	for (i = 0; i < NR_ARGS; i++) {
		if (at[i] < 0)
			continue;
		info->aConstraintUsage[at[i]].argvIndex = ++nr;
		info->aConstraintUsage[at[i]].omit = 1;
		info->idxNum |= 1 << i;
	}
	info->estimatedCost = 3.0 * t.events + 1;
	info->estimatedRows = t.events / 4 + 1;
	return SQLITE_OK;
}

static int cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret_cursor)
{
	struct pairs_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	*ret_cursor = &c->base;
	return SQLITE_OK;
}

static void clear(struct pairs_cursor *c)
{
	pairs__free(c->pairs);
	sql_scan__close(&c->scan);
	for (size_t i = 0; i < NR_ARGS; i++)
		free(c->args[i]);
	*c = (struct pairs_cursor){ .base = c->base };
}

static int cursor_close(sqlite3_vtab_cursor *base)
{
	clear(cursor_of(base));
	free(base);
	return SQLITE_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool matches(struct pairs_cursor *c, const char *globs, const struct stk_event_type *t)
{
	int got = event__matches(c->scan.reader, globs, t);

	c->no_memory |= got < 0;
	return got > 0;
}

static unsigned int role_of(void *ctx, const struct stk_event_type *t)
{
	struct pairs_cursor *c = ctx;

	return (matches(c, c->args[0], t) ? PAIRS_START : 0) |
	       (matches(c, c->args[1], t) ? PAIRS_END : 0);
}

static int take_pair(void *ctx, const struct pairs_group *group, const struct pairs_pair *pair)
{
	struct pairs_cursor *c = ctx;

	c->pair = *pair;
	c->group = group;
	c->has_pair = true;
	return 0;
}

static int warn_missing(struct pairs_cursor *c)
{
	struct pairs_result res;
	int err = pairs__finish(c->pairs, c->scan.reader, &res);

	if (err)
		return SQLITE_NOMEM;
	if (res.counts.gap)
		log_warn(
			"pairs(): left out %s between whose events others may be missing, see 'stackonce info'",
			text__count(res.counts.gap, "pair").s);
	if (res.counts.others)
		log_warn("pairs(): by_value is '(others)' for %s beyond %d groups",
			 text__count(res.counts.others, "pair").s, PAIRS_MAX_GROUPS);
	return SQLITE_OK;
}

static int next_pair(struct pairs_cursor *c)
{
	const struct stk_event *e;
	int rc, err = 0;

	c->has_pair = false;
	while ((rc = sql_scan__next(&c->scan, c->base.pVtab, &e)) == SQLITE_ROW) {
		err = pairs__add(c->pairs, c->scan.reader, e);
		if (!err && charge__is_due(&c->charge))
			err = charge(&c->charge, c->scan.reader, pairs__memory(c->pairs), 0);
		if (err == -ENOENT)
			return sql_error(c->base.pVtab, SQLITE_ERROR,
					 "pairs(): an event lacks a field of BY or MATCH");
		if (err == -ENOBUFS)
			return sql_error(c->base.pVtab, SQLITE_CORRUPT, SQL_OVER_BUDGET,
					 c->scan.rec->path);
		if (err || c->no_memory)
			return SQLITE_NOMEM;
		if (c->has_pair) {
			c->nr++;
			return SQLITE_OK;
		}
	}
	c->ended = true;
	return rc == SQLITE_DONE ? warn_missing(c) : rc;
}

static bool is_event(const struct sql_recording *rec, const char *globs)
{
	for (unsigned int i = 0; i < stk_reader__nr_types(rec->reader); i++)
		if (event__matches(rec->reader, globs, stk_reader__type(rec->reader, i)))
			return true;
	return false;
}

static int check_args(struct pairs_cursor *c, const struct sql_recording *rec)
{
	const char *why;

	if (!c->args[0] || !c->args[1])
		return sql_error(c->base.pVtab, SQLITE_ERROR,
				 "pairs(START, END, BY, MATCH) needs the events START and END");
	why = pairs__check(c->args[3], c->args[2], NULL);
	if (why)
		return sql_error(c->base.pVtab, SQLITE_ERROR, "pairs(): %s", why);
	for (unsigned int i = 0; i < 2; i++)
		if (!is_event(rec, c->args[i]))
			return sql_error(c->base.pVtab, SQLITE_ERROR,
					 "pairs(): the recording has no event '%s'", c->args[i]);
	return SQLITE_OK;
}

static int cursor_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
			 sqlite3_value **values)
{
	struct sql_recording *rec = ((struct pairs_table *)base->pVtab)->rec;
	struct pairs_cursor *c = cursor_of(base);
	struct pairs_opts opts = { .role = role_of, .measured = take_pair, .ctx = c };
	int rc, i, nr = 0;

	clear(c);
	for (i = 0; i < NR_ARGS; i++) {
		const char *arg = plan & 1 << i ? (char *)sqlite3_value_text(values[nr++]) : NULL;

		if (arg && *arg && !(c->args[i] = strdup(arg)))
			return SQLITE_NOMEM;
	}
	rc = check_args(c, rec) ?:
		     sql_scan__open(&c->scan, rec, STK_WANT_EVENTS | STK_WANT_FIELDS, base->pVtab);
	if (rc)
		return rc;
	opts.by = c->args[2];
	opts.match = c->args[3];
	if (pairs__new(&opts, &c->pairs))
		return SQLITE_NOMEM;
	return next_pair(c);
}

static int cursor_next(sqlite3_vtab_cursor *base)
{
	return next_pair(cursor_of(base));
}

static int cursor_eof(sqlite3_vtab_cursor *base)
{
	return cursor_of(base)->ended;
}

static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_id)
{
	*ret_id = cursor_of(base)->nr;
	return SQLITE_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void put_end(sqlite3_context *x, const struct pairs_cursor *c, const struct pairs_end *end,
		    int column)
{
	const uint32_t numbers[] = { end->cpu, end->pid, end->tid, 0, end->kstack, end->ustack };

	if (column == 3)
		sqlite3_result_text(x, pairs__comm(c->pairs, end->comm), -1, SQLITE_TRANSIENT);
	else if (column < 3 || numbers[column])
		sqlite3_result_int64(x, numbers[column]);
}

static int put_by(sqlite3_context *x, const struct pairs_cursor *c)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	unsigned int i, nr = pairs__nr_by(c->pairs);

	if (c->group->others)
		strbuf__puts(&b, "(others)");
	for (i = 0; i < nr && !c->group->others; i++) {
		strbuf__puts(&b, i ? " " : "");
		strbuf__puts(&b, c->group->by[i].text ?: "");
	}
	if (strbuf__failed(&b))
		return SQLITE_NOMEM;
	if (nr)
		sqlite3_result_text(x, b.s ?: "", b.len, SQLITE_TRANSIENT);
	return SQLITE_OK;
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *x, int column)
{
	const struct pairs_cursor *c = cursor_of(base);
	uint64_t from = c->pair.start.ts, to = c->pair.end.ts;

	if (column == COL_TS)
		sqlite3_result_int64(x, from);
	else if (column == COL_END_TS)
		sqlite3_result_int64(x, to);
	else if (column == COL_NS)
		sqlite3_result_int64(x, to > from ? to - from : 0);
	else if (column < COL_ENDS + 6)
		put_end(x, c, &c->pair.start, column - COL_ENDS);
	else if (column < COL_BY_VALUE)
		put_end(x, c, &c->pair.end, column - COL_ENDS - 6);
	else if (column == COL_BY_VALUE)
		return put_by(x, c);
	else if (c->args[column - COL_START])
		sqlite3_result_text(x, c->args[column - COL_START], -1, SQLITE_TRANSIENT);
	return SQLITE_OK;
}

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

int pairs_table__register(sqlite3 *db, struct sql_recording *rec)
{
	if (sqlite3_create_module_v2(db, "pairs", &module, rec, NULL))
		return log_err(-ENOMEM, "make the tables of '%s'", rec->path);
	return 0;
}
