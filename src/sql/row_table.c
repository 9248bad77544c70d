// SPDX-License-Identifier: GPL-2.0-only
/* Virtual tables of what the reader has in memory.  A row of `tables` is a table. */
#include "row_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "ui/frames.h"

struct row_cursor {
	sqlite3_vtab_cursor base; /* first */
	struct sql_recording *rec;
	uint32_t at, end; /* the item */
	unsigned int row, nr_rows; /* of the item */
	union {
		struct stk_stack stack;
		struct stk_file file;
	};
	struct stk_frame frames[STK_MAX_DEPTH];
	unsigned int nr_frames;
};

struct row_table_def {
	const char *name, *columns;
	bool has_key; /* the first column: few rows have the same value */
	/* The items [*ret_first, *ret_end): all, or those with the key. */
	void (*items)(const struct sql_recording *rec, const int64_t *key, uint32_t *ret_first,
		      uint32_t *ret_end);
	unsigned int (*load)(struct row_cursor *c); /* returns the number of its rows */
	int (*put)(sqlite3_context *x, struct row_cursor *c, int column);
};

struct row_table {
	sqlite3_vtab base; /* first */
	struct sql_recording *rec;
	const struct row_table_def *def;
};

static struct row_cursor *cursor_of(sqlite3_vtab_cursor *base)
{
	return (struct row_cursor *)base;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* NULL is SQL's NULL. */
static int put_string(sqlite3_context *x, const char *s)
{
	if (s)
		sqlite3_result_text(x, s, -1, SQLITE_TRANSIENT);
	return SQLITE_OK;
}

static int put_number(sqlite3_context *x, uint64_t v)
{
	sqlite3_result_int64(x, v);
	return SQLITE_OK;
}

static int put_known(sqlite3_context *x, bool known, uint64_t v)
{
	return known ? put_number(x, v) : SQLITE_OK;
}

static int put_buffer(sqlite3_context *x, struct strbuf *b)
{
	if (strbuf__failed(b))
		return SQLITE_NOMEM;
	if (b->len)
		sqlite3_result_text(x, b->s, b->len, SQLITE_TRANSIENT);
	return SQLITE_OK;
}

/* ---- stacks and frames ----------------------------------------------------------------------- */

static void stack_items(const struct sql_recording *rec, const int64_t *key, uint32_t *ret_first,
			uint32_t *ret_end)
{
	*ret_first = key ? sql_recording__stack_number(rec, *key) : 1;
	*ret_end = key ? *ret_first + !!*ret_first : stk_reader__nr_stacks(rec->reader) + 1;
}

static const char *frame_kind(const struct stk_frame *f)
{
	return f->kind == STK_FRAME_KERNEL ? "kernel" : f->kind == STK_FRAME_USER ? "user" : NULL;
}

static unsigned int load_stack(struct row_cursor *c)
{
	c->nr_frames = MAX(stk_reader__frames(c->rec->reader, c->at, c->frames, 1), 0);
	return !stk_reader__stack(c->rec->reader, c->at, &c->stack);
}

static int put_stack(sqlite3_context *x, struct row_cursor *c, int column)
{
	const struct stk_stack *st = &c->stack;
	struct stk_stack first;

	switch (column) {
	case 0:
		return put_number(x, st->id);
	case 1:
		return put_string(x, !c->nr_frames			 ? NULL :
				     c->frames[0].kind == STK_FRAME_USER ? "user" :
									   "kernel");
	case 2:
		return put_number(x, st->depth);
	case 3:
		return put_string(x, stk_stack_end_name(st->end));
	case 4:
		if (st->alias_of == st->number ||
		    stk_reader__stack(c->rec->reader, st->alias_of, &first))
			return SQLITE_OK;
		return put_number(x, first.id);
	default:
		return put_known(x, st->refs, st->refs);
	}
}

static unsigned int load_frames(struct row_cursor *c)
{
	if (stk_reader__stack(c->rec->reader, c->at, &c->stack))
		return 0;
	return stack__frames(c->rec->reader, c->at, c->frames);
}

static int put_frame(sqlite3_context *x, struct row_cursor *c, int column)
{
	const struct stk_frame *f = &c->frames[c->row];

	switch (column) {
	case 0:
		return put_number(x, c->stack.id);
	case 1:
		return put_number(x, c->row);
	case 2:
		return put_string(x, frame_kind(f));
	case 3:
		return put_known(x, f->kind != STK_FRAME_UNKNOWN, f->ip);
	case 4:
		return put_string(x, f->sym ? user_names__function(c->rec->names, f->sym) : NULL);
	case 5:
		return put_known(x, f->sym, f->off);
	case 6:
		return put_string(x, f->mod);
	case 7:
		return put_known(x, f->file, f->file);
	case 8:
		return put_number(x, f->exact);
	default:
		return put_number(x, f->guessed);
	}
}

/* ---- files ----------------------------------------------------------------------------------- */

static void file_items(const struct sql_recording *rec, const int64_t *key, uint32_t *ret_first,
		       uint32_t *ret_end)
{
	uint32_t nr = stk_reader__nr_files(rec->reader);

	*ret_first = key ? (*key > 0 && *key <= nr ? *key : 0) : 1;
	*ret_end = key ? *ret_first + !!*ret_first : nr + 1;
}

static unsigned int load_file(struct row_cursor *c)
{
	return !stk_reader__file(c->rec->reader, c->at, &c->file);
}

static int put_device(sqlite3_context *x, const struct stk_file *f)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };

	strbuf__printf(&b, "%02x:%02x", f->dev_major, f->dev_minor);
	return put_buffer(x, &b);
}

static int put_id(sqlite3_context *x, const struct stk_file *f, enum stk_file_id kind)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };

	if (f->id_kind == kind)
		file__id(&b, f, "");
	return put_buffer(x, &b);
}

static int put_file(sqlite3_context *x, struct row_cursor *c, int column)
{
	const struct stk_file *f = &c->file;
	bool is_file = f->kind == STK_FILE_FILE, is_jit = f->kind == STK_FILE_JIT;

	switch (column) {
	case 0:
		return put_number(x, f->number);
	case 1:
		return put_number(x, f->hash);
	case 2:
		return put_string(x, file__kind(f));
	case 3:
		return put_string(x, f->path);
	case 4:
		return put_string(x, f->host_path && *f->host_path ? f->host_path : NULL);
	case 5:
		return put_id(x, f, STK_ID_BUILD_ID);
	case 6:
		return put_id(x, f, STK_ID_CONTENT);
	case 7:
		return is_file ? put_device(x, f) : SQLITE_OK;
	case 8:
		return put_known(x, is_file, f->inode);
	case 9:
		return put_known(x, is_file, f->size);
	case 10:
		return put_known(x, is_file, f->mtime_ns);
	default:
		return put_known(x, is_jit, f->pid);
	}
}

/* ---- event types and losses ------------------------------------------------------------------ */

static void type_items(const struct sql_recording *rec, const int64_t *key, uint32_t *ret_first,
		       uint32_t *ret_end)
{
	*ret_first = 0;
	*ret_end = rec->nr_types;
}

static unsigned int load_one(struct row_cursor *c)
{
	return 1;
}

#define COUNTER(c, number, name, listed) +stk_reader__counter(r, t, STK_C_##c)

static int put_type(sqlite3_context *x, struct row_cursor *c, int column)
{
	const struct stk_reader *r = c->rec->reader;
	const struct stk_event_type *t = stk_reader__type(r, c->at);

	switch (column) {
	case 0:
		return put_string(x, c->rec->types[c->at].full_name);
	case 1:
		return put_string(x, *stk_event_type__filter(t) ? stk_event_type__filter(t) : NULL);
	case 2:
		return put_number(x, stk_reader__counter(r, t, STK_C_HAPPENED));
	case 3:
		return put_number(x, stk_reader__counter(r, t, STK_C_RECORDED));
	case 4:
		return put_number(x, 0 STK_COUNTERS_FILTERED(COUNTER));
	default:
		return put_number(x, 0 STK_COUNTERS_LOST(COUNTER));
	}
}

static void loss_items(const struct sql_recording *rec, const int64_t *key, uint32_t *ret_first,
		       uint32_t *ret_end)
{
	*ret_first = 0;
	*ret_end = rec->nr_losses;
}

static int put_loss(sqlite3_context *x, struct row_cursor *c, int column)
{
	const struct stk_loss *l = &c->rec->losses[c->at];

	switch (column) {
	case 0:
		return put_string(
			x,
			l->type ? c->rec->types[stk_event_type__index(l->type)].full_name : NULL);
	case 1:
		return put_known(x, l->cpu != STK_ANY_CPU, l->cpu);
	case 2:
		return put_number(x, l->first_ts);
	case 3:
		return put_known(x, l->last_ts != UINT64_MAX, l->last_ts);
	default:
		return put_known(x, l->count, l->count);
	}
}

/* ---- the tables ------------------------------------------------------------------------------ */

static const struct row_table_def tables[] = {
	{ "stacks",
	  "id INTEGER, kind TEXT, depth INTEGER, ends TEXT, alias_of INTEGER, refs INTEGER", true,
	  stack_items, load_stack, put_stack },
	{ "frames",
	  "stack INTEGER, nr INTEGER, kind TEXT, ip ADDRESS INTEGER, sym TEXT, off INTEGER, "
	  "mod TEXT, file INTEGER, exact INTEGER, guessed INTEGER",
	  true, stack_items, load_frames, put_frame },
	{ "files",
	  "id INTEGER, hash ADDRESS INTEGER, kind TEXT, path TEXT, host_path TEXT, build_id TEXT, "
	  "sha256 TEXT, dev TEXT, inode UNSIGNED INTEGER, size UNSIGNED INTEGER, "
	  "mtime_ns INTEGER, pid INTEGER",
	  true, file_items, load_file, put_file },
	{ "types",
	  "event TEXT, filter TEXT, happened UNSIGNED INTEGER, recorded UNSIGNED INTEGER, "
	  "filtered UNSIGNED INTEGER, lost UNSIGNED INTEGER",
	  false, type_items, load_one, put_type },
	{ "losses",
	  "event TEXT, cpu INTEGER, first_ts INTEGER, last_ts INTEGER, count UNSIGNED INTEGER",
	  false, loss_items, load_one, put_loss },
};

const char *row_table__name(unsigned int i)
{
	return i < ARRAY_SIZE(tables) ? tables[i].name : NULL;
}

struct row_aux {
	struct sql_recording *rec;
	const struct row_table_def *def;
};

static int table_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
			 sqlite3_vtab **ret_table, char **ret_error)
{
	const struct row_aux *a = aux;
	struct row_table *t = calloc(1, sizeof(*t));
	int rc = t ? sql_table__declare(db, a->def->columns) : SQLITE_NOMEM;

	if (rc) {
		free(t);
		return rc;
	}
	t->rec = a->rec;
	t->def = a->def;
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
	const struct row_table *t = (struct row_table *)base;
	uint32_t first, end;
	int i;

	t->def->items(t->rec, NULL, &first, &end);
	info->estimatedRows = end - first + 1;
	info->estimatedCost = 10.0 * info->estimatedRows;
	for (i = 0; t->def->has_key && i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];

		if (!c->usable || c->iColumn || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->idxNum = 1;
		info->estimatedRows = 1;
		info->estimatedCost = t->rec->ids_are_numbers ? 10 : 100;
		break;
	}
	return SQLITE_OK;
}

static int cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret_cursor)
{
	struct row_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->rec = ((struct row_table *)base)->rec;
	*ret_cursor = &c->base;
	return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *base)
{
	free(cursor_of(base));
	return SQLITE_OK;
}

/* Goes on to the next item that has rows. */
static int find_row(struct row_cursor *c)
{
	const struct row_table *t = (struct row_table *)c->base.pVtab;

	for (; c->at < c->end; c->at++) {
		if (sql_recording__check_stop(c->rec))
			return SQLITE_INTERRUPT;
		c->row = 0;
		c->nr_rows = t->def->load(c);
		if (c->nr_rows)
			break;
	}
	return SQLITE_OK;
}

static int cursor_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
			 sqlite3_value **values)
{
	struct row_cursor *c = cursor_of(base);
	const struct row_table *t = (struct row_table *)base->pVtab;
	bool is_key = argc && sqlite3_value_type(values[0]) == SQLITE_INTEGER;
	int64_t key = argc ? sqlite3_value_int64(values[0]) : 0;

	t->def->items(c->rec, is_key ? &key : NULL, &c->at, &c->end);
	return find_row(c);
}

static int cursor_next(sqlite3_vtab_cursor *base)
{
	struct row_cursor *c = cursor_of(base);

	if (++c->row < c->nr_rows)
		return SQLITE_OK;
	c->at++;
	return find_row(c);
}

static int cursor_eof(sqlite3_vtab_cursor *base)
{
	return cursor_of(base)->at >= cursor_of(base)->end;
}

static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_id)
{
	*ret_id = (sqlite3_int64)cursor_of(base)->at * STK_MAX_DEPTH + cursor_of(base)->row;
	return SQLITE_OK;
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *x, int column)
{
	const struct row_table *t = (struct row_table *)base->pVtab;

	return t->def->put(x, cursor_of(base), column);
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

int row_tables__register(sqlite3 *db, struct sql_recording *rec)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		struct row_aux *aux = malloc(sizeof(*aux));

		if (!aux)
			return log_err(-ENOMEM, "make the tables of '%s'", rec->path);
		*aux = (struct row_aux){ rec, &tables[i] };
		if (sqlite3_create_module_v2(db, tables[i].name, &module, aux, free))
			return log_err(-ENOMEM, "make the tables of '%s'", rec->path);
	}
	return 0;
}
