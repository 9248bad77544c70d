// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints rows as a table, JSON or CSV.  How a number is printed depends on how its column is
 * declared: addresses in hexadecimal, code by name in a table, u64 without a sign.
 */
#include "sql_cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"

#define SAMPLE_ROWS 1000 /* the first rows, which are kept to find the widths */
#define SAMPLE_BYTES (1u << 20)
#define MAX_WIDTH 60 /* of a column that is aligned */

enum column_kind { COLUMN_PLAIN, COLUMN_UNSIGNED, COLUMN_ADDRESS, COLUMN_CODE };

struct row_column {
	char *key; /* the name; if an earlier column has it, too, with the column's number */
	enum column_kind kind;
	size_t width;
	bool is_left; /* has text */
};

struct rows {
	struct sql_cmd *c;
	sqlite3_stmt *statement;
	struct row_column *columns;
	int nr_columns;
	struct strbuf sample; /* cells, each with a NUL */
	unsigned int nr_sampled;
	bool is_aligned; /* the widths are known, and the head is printed */
	size_t pad; /* blanks before the next text of the line */
	struct kernel_text text;
};

static enum column_kind kind_of(const char *declared)
{
	if (!declared)
		return COLUMN_PLAIN;
	return !strncmp(declared, "CODE", 4)	 ? COLUMN_CODE :
	       !strncmp(declared, "ADDRESS", 7)	 ? COLUMN_ADDRESS :
	       !strncmp(declared, "UNSIGNED", 8) ? COLUMN_UNSIGNED :
						   COLUMN_PLAIN;
}

/* Keys of an object are different. */
static char *key_of(const struct rows *r, const char *name, int column)
{
	char *key;

	for (int i = 0; i < column; i++)
		if (!strcmp(r->columns[i].key, name))
			return asprintf(&key, "%s#%d", name, column + 1) < 0 ? NULL : key;
	return strdup(name);
}

static void rows__clear(struct rows *r)
{
	for (int i = 0; r->columns && i < r->nr_columns; i++)
		free(r->columns[i].key);
	free(r->columns);
	strbuf__free(&r->sample);
}

static int rows__begin(struct rows *r)
{
	r->text.reader = r->c->sql.rec.reader;
	r->nr_columns = sqlite3_column_count(r->statement);
	r->columns = calloc(r->nr_columns ?: 1, sizeof(*r->columns));
	for (int i = 0; r->columns && i < r->nr_columns; i++) {
		const char *name = sqlite3_column_name(r->statement, i);

		r->columns[i].kind = kind_of(sqlite3_column_decltype(r->statement, i));
		r->columns[i].key = name ? key_of(r, name, i) : NULL;
		if (!r->columns[i].key)
			return -ENOMEM;
	}
	return r->columns ? 0 : -ENOMEM;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_address(const struct rows *r, int column)
{
	return r->columns[column].kind >= COLUMN_ADDRESS;
}

static void put_integer(const struct rows *r, struct strbuf *b, int column)
{
	int64_t v = sqlite3_column_int64(r->statement, column);

	if (is_address(r, column))
		strbuf__printf(b, "0x%" PRIx64, (uint64_t)v);
	else if (r->columns[column].kind == COLUMN_UNSIGNED)
		strbuf__u64(b, v);
	else
		strbuf__s64(b, v);
}

/* As few digits as make the same number. */
static void put_real(struct strbuf *b, double v)
{
	char text[32];
	int digits;

	for (digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	strbuf__puts(b, text);
}

static void put_blob(const struct rows *r, struct strbuf *b, int column)
{
	const uint8_t *p = sqlite3_column_blob(r->statement, column);
	int n = sqlite3_column_bytes(r->statement, column);

	strbuf__puts(b, "0x");
	while (n--)
		strbuf__hex(b, *p++, 2);
}

/* A value that is not text; NULL is nothing. */
static void put_value(const struct rows *r, struct strbuf *b, int column)
{
	switch (sqlite3_column_type(r->statement, column)) {
	case SQLITE_INTEGER:
		put_integer(r, b, column);
		break;
	case SQLITE_FLOAT:
		put_real(b, sqlite3_column_double(r->statement, column));
		break;
	case SQLITE_BLOB:
		put_blob(r, b, column);
		break;
	}
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_json_value(struct rows *r, struct json *j, int i)
{
	int type = sqlite3_column_type(r->statement, i);
	const char *quote =
		type == SQLITE_BLOB || (type == SQLITE_INTEGER && is_address(r, i)) ? "\"" : "";

	json__name(j, r->columns[i].key);
	if (type == SQLITE_TEXT) {
		json__bytes(j, NULL, (const char *)sqlite3_column_text(r->statement, i),
			    sqlite3_column_bytes(r->statement, i));
	} else if (type == SQLITE_NULL ||
		   (type == SQLITE_FLOAT && !isfinite(sqlite3_column_double(r->statement, i)))) {
		json__null(j, NULL); /* JSON has no infinity */
	} else {
		strbuf__puts(json__value(j, NULL), quote);
		put_value(r, j->out, i);
		strbuf__puts(j->out, quote);
	}
}

static void put_json(struct rows *r)
{
	struct json *j = &r->c->out.json;

	json__record(j, "row");
	json__object(j, "values");
	for (int i = 0; i < r->nr_columns; i++)
		put_json_value(r, j, i);
	json__end(j);
	json__end(j);
}

/* ---- CSV, as RFC 4180 describes it ----------------------------------------------------------- */

static void put_csv_text(struct rows *r, const char *s, size_t n)
{
	_cleanup_(strbuf__free) struct strbuf safe = { 0 };
	struct strbuf *b = &r->c->out.b;

	if (r->c->out.terminal) {
		strbuf__safe(&safe, s, n);
		b->failed |= safe.failed;
		s = safe.s ?: "";
		n = safe.len;
	}
	if (n && !memchr(s, '"', n) && !memchr(s, ',', n) && !memchr(s, '\n', n) &&
	    !memchr(s, '\r', n)) {
		strbuf__add(b, s, n);
		return;
	}
	strbuf__putc(b, '"'); /* an empty text, too: NULL has no quotes */
	for (; n--; s++) {
		if (*s == '"')
			strbuf__putc(b, '"');
		strbuf__putc(b, *s);
	}
	strbuf__putc(b, '"');
}

static void put_csv_head(struct rows *r)
{
	for (int i = 0; i < r->nr_columns; i++) {
		strbuf__puts(&r->c->out.b, i ? "," : "");
		put_csv_text(r, r->columns[i].key, strlen(r->columns[i].key));
	}
	strbuf__puts(&r->c->out.b, "\r\n");
}

static void put_csv(struct rows *r)
{
	struct strbuf *b = &r->c->out.b;

	for (int i = 0; i < r->nr_columns; i++) {
		strbuf__puts(b, i ? "," : "");
		if (sqlite3_column_type(r->statement, i) == SQLITE_TEXT)
			put_csv_text(r, (const char *)sqlite3_column_text(r->statement, i),
				     sqlite3_column_bytes(r->statement, i));
		else
			put_value(r, b, i);
	}
	strbuf__puts(b, "\r\n");
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Appends the name of code in the kernel; false: the value is no such code. */
static bool put_code(struct rows *r, struct strbuf *b, int i)
{
	return r->columns[i].kind == COLUMN_CODE &&
	       sqlite3_column_type(r->statement, i) == SQLITE_INTEGER &&
	       kernel_text__symbol(&r->text, sqlite3_column_int64(r->statement, i), true, b);
}

static void put_cell(struct rows *r, struct strbuf *b, int i)
{
	if (sqlite3_column_type(r->statement, i) == SQLITE_TEXT)
		strbuf__safe(b, (const char *)sqlite3_column_text(r->statement, i),
			     sqlite3_column_bytes(r->statement, i));
	else if (!put_code(r, b, i))
		put_value(r, b, i);
}

static bool is_number(const struct rows *r, int i)
{
	int type = sqlite3_column_type(r->statement, i);

	return type == SQLITE_NULL || type == SQLITE_FLOAT ||
	       (type == SQLITE_INTEGER && r->columns[i].kind != COLUMN_CODE);
}

/* Characters, of which UTF-8 has one for each byte that does not continue another. */
static size_t width_of(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

static void put_aligned(struct rows *r, const char *text, int i)
{
	const struct row_column *col = &r->columns[i];
	struct strbuf *b = &r->c->out.b;
	size_t width = width_of(text), pad = col->width > width ? col->width - width : 0;

	r->pad += i ? 2 : 0;
	if (!col->is_left)
		r->pad += pad;
	if (*text) {
		strbuf__pad(b, ' ', r->pad);
		strbuf__puts(b, text);
		r->pad = 0;
	}
	if (col->is_left)
		r->pad += pad;
	if (i + 1 == r->nr_columns) {
		strbuf__putc(b, '\n');
		r->pad = 0;
	}
}

/* Prints the head and the rows that were kept. */
static void put_sample(struct rows *r)
{
	const char *cell = r->sample.s;
	unsigned int row;
	int i;

	r->is_aligned = true;
	out__paint(&r->c->out, OUT_HEAD);
	for (i = 0; i < r->nr_columns; i++) {
		_cleanup_(strbuf__free) struct strbuf head = { 0 };

		strbuf__text(&head, r->columns[i].key);
		put_aligned(r, head.s ?: "", i);
	}
	out__paint(&r->c->out, OUT_PLAIN);
	for (row = 0; row < r->nr_sampled && !strbuf__failed(&r->sample); row++) {
		for (i = 0; i < r->nr_columns; i++) {
			put_aligned(r, cell, i);
			cell += strlen(cell) + 1;
		}
	}
	strbuf__free(&r->sample);
}

static void put_table(struct rows *r)
{
	_cleanup_(strbuf__free) struct strbuf cell = { 0 };
	int i;

	for (i = 0; i < r->nr_columns; i++) {
		struct row_column *col = &r->columns[i];

		strbuf__reset(&cell);
		put_cell(r, &cell, i);
		if (r->is_aligned) {
			put_aligned(r, cell.s ?: "", i);
			continue;
		}
		col->width = MAX(col->width, MIN(width_of(cell.s ?: ""), MAX_WIDTH));
		col->is_left |= !is_number(r, i);
		strbuf__add(&r->sample, cell.s ?: "", cell.len + !!cell.s);
		if (!cell.s)
			strbuf__add(&r->sample, "", 1);
	}
	if (!r->is_aligned)
		r->nr_sampled++;
	if (!r->is_aligned && (r->nr_sampled == SAMPLE_ROWS || r->sample.len > SAMPLE_BYTES))
		put_sample(r);
}

/* ---- statements ------------------------------------------------------------------------------ */

static void begin_table(struct rows *r)
{
	for (int i = 0; i < r->nr_columns; i++)
		r->columns[i].width = MIN(width_of(r->columns[i].key), MAX_WIDTH);
}

int sql_cmd__put_rows(struct sql_cmd *c, sqlite3_stmt *statement)
{
	_cleanup_(rows__clear) struct rows r = { .c = c, .statement = statement };
	bool is_table = !c->rd.json && !c->csv;
	int err = rows__begin(&r), got = 0;

	if (err)
		return log_err(err, "print the rows");
	begin_table(&r);
	if (c->csv)
		put_csv_head(&r);
	while (!out__drain(&c->out) && (got = sql__step(&c->sql, statement)) > 0) {
		if (c->rd.json)
			put_json(&r);
		else if (c->csv)
			put_csv(&r);
		else
			put_table(&r);
	}
	if (is_table && !r.is_aligned && (got >= 0 || r.nr_sampled))
		put_sample(&r);
	c->out.b.failed |= r.sample.failed;
	return got < 0 ? got : 0;
}
