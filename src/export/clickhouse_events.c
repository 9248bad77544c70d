// SPDX-License-Identifier: GPL-2.0-only
/* A table for each event type: what every event has, and the fields. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "array.h"
#include "cleanup.h"
#include "clickhouse_priv.h"
#include "events/format.h"
#include "log.h"
#include "query/field_columns.h"

#define MAX_FIELDS 1000

const struct ch_column ch_event_columns[] = {
	{ "_host", "LowCardinality(String)", "ZSTD" },
	{ "_recording", "UUID", "ZSTD" },
	{ "_block", "UInt32", "Delta, ZSTD" },
	{ "_row", "UInt32", "Delta, ZSTD" },
	{ "_time", "DateTime('UTC')", "Delta, ZSTD" },
	{ "_ts", "UInt64", "Delta, ZSTD" },
	{ "_event", "LowCardinality(String)", "ZSTD" },
	{ "_cpu", "UInt32", "ZSTD" },
	{ "_pid", "UInt32", "ZSTD" },
	{ "_tid", "UInt32", "ZSTD" },
	{ "_comm", "LowCardinality(String)", "ZSTD" },
	{ "_kstack", "LowCardinality(UUID)", "ZSTD" },
	{ "_ustack", "LowCardinality(UUID)", "ZSTD" },
	{ 0 },
};
#define NO_STACK "00000000-0000-0000-0000-000000000000"

char *ch_table_of(const struct stk_event_type *t)
{
	char *name;

	return asprintf(&name, "%s:%s", stk_event_type__system(t), stk_event_type__name(t)) < 0 ?
		       NULL :
		       name;
}

bool ch_is_of_table(const struct stk_event_type *t, const char *table)
{
	const char *system = stk_event_type__system(t);
	size_t len = strlen(system);

	return !strncmp(table, system, len) && table[len] == ':' &&
	       !strcmp(table + len + 1, stk_event_type__name(t));
}

/* ---- columns --------------------------------------------------------------------------------- */

/* The fields of a type. */
struct fields {
	struct ev_format *format; /* NULL: unparsable, so without fields */
	struct field_columns columns;
};

static void fields__clear(struct fields *f)
{
	field_columns__clear(&f->columns);
	ev_format__free(f->format);
	*f = (struct fields){ 0 };
}

static bool is_taken(const char *name)
{
	for (unsigned int i = 0; ch_event_columns[i].name; i++)
		if (!strcasecmp(ch_event_columns[i].name, name))
			return true;
	return false;
}

static int fields__of(const struct stk_event_type *t, struct fields *ret_fields)
{
	const char *text = stk_event_type__format(t);
	struct fields f = { 0 };
	int err = 0;

	/* events without a format have no fields */
	if (*text)
		err = ev_format__parse(text, strlen(text), &f.format);
	if (err == -ENOMEM)
		return -ECANCELED; /* it logs that */
	err = field_columns__of(f.format, MAX_FIELDS, is_taken, &f.columns);
	if (!err)
		*ret_fields = f;
	else
		fields__clear(&f);
	if (err == -E2BIG)
		return log_why(err, "the event %s:%s has more than %d fields",
			       stk_event_type__system(t), stk_event_type__name(t), MAX_FIELDS);
	return err;
}

/* An array of numbers. */
static bool is_list(const struct field_column *c)
{
	const struct ev_field *f = c->field;

	return f->kind != EV_FIELD_INT && !field_column__is_text(c) &&
	       (f->elem_size == 1 || f->elem_size == 2 || f->elem_size == 4 || f->elem_size == 8);
}

/* Wide enough for what another kernel has under the same name. */
static const char *type_of(const struct field_column *c)
{
	const struct ev_field *f = c->field;

	if (is_list(c))
		return f->is_signed ? "Array(Int64)" : "Array(UInt64)";
	if (field_column__is_text(c) || f->kind != EV_FIELD_INT)
		return "Nullable(String)";
	return f->address || (f->size == 8 && !f->is_signed) ? "Nullable(UInt64)" :
							       "Nullable(Int64)";
}

/* ---- schema ---------------------------------------------------------------------------------- */

static void put_alter(struct strbuf *b, const char *table, const struct fields *f)
{
	strbuf__puts(b, "ALTER TABLE ");
	ch_put_name(b, table);
	for (unsigned int i = 0; i < f->columns.nr; i++) {
		strbuf__puts(b, i ? ", ADD COLUMN IF NOT EXISTS " : " ADD COLUMN IF NOT EXISTS ");
		ch_put_name(b, f->columns.v[i].name);
		strbuf__printf(b, " %s CODEC(ZSTD)", type_of(&f->columns.v[i]));
	}
	strbuf__puts(b, ";\n\n");
}

int ch_put_type(struct strbuf *b, const struct stk_event_type *t)
{
	_cleanup_(fields__clear) struct fields f = { 0 };
	_cleanup_free_ char *table = ch_table_of(t);
	const struct ch_column *c;
	unsigned int i;
	int err = table ? fields__of(t, &f) : -ENOMEM;

	if (err)
		return err;
	strbuf__puts(b, "CREATE TABLE IF NOT EXISTS ");
	ch_put_name(b, table);
	strbuf__puts(b, "\n(\n");
	for (c = ch_event_columns; c->name; c++)
		strbuf__printf(b, "%s    `%s` %s CODEC(%s)", c == ch_event_columns ? "" : ",\n",
			       c->name, c->type, c->codec);
	for (i = 0; i < f.columns.nr; i++) {
		strbuf__puts(b, ",\n    ");
		ch_put_name(b, f.columns.v[i].name);
		strbuf__printf(b, " %s CODEC(ZSTD)", type_of(&f.columns.v[i]));
	}
	strbuf__puts(b, "\n)\nENGINE = ReplacingMergeTree\nPARTITION BY toDate(_time)\n"
			"ORDER BY (_host, _recording, _block, _row);\n\n");
	if (f.columns.nr)
		put_alter(b, table, &f);
	return 0;
}

static void put_insert(struct strbuf *b, const char *table, const struct fields *f)
{
	strbuf__puts(b, "INSERT INTO ");
	ch_put_name(b, table);
	for (const struct ch_column *c = ch_event_columns; c->name; c++)
		strbuf__printf(b, "%s`%s`", c == ch_event_columns ? " (" : ", ", c->name);
	for (unsigned int i = 0; i < f->columns.nr; i++) {
		strbuf__puts(b, ", ");
		ch_put_name(b, f->columns.v[i].name);
	}
	strbuf__puts(b, ") FORMAT TabSeparated\n");
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct key_text {
	char s[UUID_TEXT + 1]; /* "": not made yet */
};

struct events {
	struct ch_export *c;
	struct fields fields; /* of the types of the table */
	uint8_t *types; /* by index: 0 unknown, 1 other table, 2 this one */
	unsigned int nr_types;
	struct strbuf head, time, scratch;
	uint64_t second; /* of time */
	struct key_text *keys; /* by stack number */
	uint32_t nr_keys;
};

static void events__clear(struct events *ev)
{
	fields__clear(&ev->fields);
	strbuf__free(&ev->head);
	strbuf__free(&ev->time);
	strbuf__free(&ev->scratch);
	free(ev->types);
	free(ev->keys);
}

/* Types of one name have one table, in whatever recordings: their fields must be the same, too. */
static int begin_type(struct events *ev, const struct stk_event_type *t)
{
	_cleanup_(strbuf__free) struct strbuf insert = { 0 };
	struct ch_export *c = ev->c;
	int err;

	fields__clear(&ev->fields);
	err = fields__of(t, &ev->fields);
	if (err)
		return err;
	put_insert(&insert, c->table, &ev->fields);
	if (strbuf__failed(&insert))
		return -ENOMEM;
	if (!c->insert.len) {
		strbuf__add(&c->b, insert.s, insert.len);
		strbuf__add(&c->insert, insert.s, insert.len);
		return strbuf__failed(&c->insert) ? -ENOMEM : 0;
	}
	if (!strcmp(c->insert.s, insert.s))
		return 0;
	return log_why(-EINVAL,
		       "'%s': the fields of %s are not those of the events before, and an INSERT "
		       "has the same columns for all rows: export what differs apart",
		       stk_reader__path(c->src->reader) ?: "", c->table);
}

/* 1: an event of the table, 0: of another one. */
static int look_at_type(struct events *ev, const struct stk_event *e)
{
	const struct stk_event_type *t = stk_event__type(e);
	unsigned int index = stk_event_type__index(t);
	int err;

	if (index < ev->nr_types && ev->types[index])
		return ev->types[index] - 1;
	if (array__reach(&ev->types, index, &ev->nr_types))
		return -ENOMEM;
	ev->types[index] = 1 + ch_is_of_table(t, ev->c->table);
	err = ev->types[index] == 2 ? begin_type(ev, t) : 0;
	return err ?: ev->types[index] - 1;
}

static int put_stack(struct events *ev, uint32_t number)
{
	struct strbuf *b = &ev->c->b;
	struct stack_key key;
	uint32_t had = ev->nr_keys;
	int err;

	ch_tab(b);
	if (!number) {
		strbuf__add(b, NO_STACK, UUID_TEXT);
		return 0;
	}
	if (number >= ev->nr_keys) {
		if (array__reach(&ev->keys, number, &ev->nr_keys))
			return -ENOMEM;
		err = stk_reader__charge(ev->c->src->reader,
					 (ev->nr_keys - had) * sizeof(*ev->keys), 0);
		if (err)
			return err;
	}
	if (!ev->keys[number].s[0]) {
		err = ch_charge_keys(ev->c, number);
		if (!err)
			err = stack_key__of_stack(&ev->c->keys, number, &key);
		if (err)
			return err;
		ch_uuid(key.v, ev->keys[number].s);
	}
	strbuf__add(b, ev->keys[number].s, UUID_TEXT);
	return 0;
}

static void put_time(struct events *ev, uint64_t ts)
{
	uint64_t wall = ch_wall_ns(ev->c, ts);

	if (!ev->time.len || wall / 1000000000 != ev->second) {
		ev->second = wall / 1000000000;
		strbuf__reset(&ev->time);
		ch_put_time(&ev->time, wall);
	}
	strbuf__add(&ev->c->b, ev->time.s ?: "", ev->time.len);
}

static void put_element(struct strbuf *b, const struct ev_field *f, const uint8_t *p)
{
	unsigned int shift = 64 - 8 * f->elem_size;
	uint64_t v = 0;

	memcpy(&v, p, f->elem_size);
	if (f->is_signed)
		strbuf__s64(b, (int64_t)(v << shift) >> shift);
	else
		strbuf__u64(b, v);
}

static void put_list(struct strbuf *b, const struct ev_field *f, const void *record, size_t len)
{
	size_t n = 0, i;
	const uint8_t *p = ev_field__bytes(f, record, len, &n);

	strbuf__putc(b, '[');
	for (i = 0; p && i + f->elem_size <= n; i += f->elem_size) {
		if (i)
			strbuf__putc(b, ',');
		put_element(b, f, p + i);
	}
	strbuf__putc(b, ']');
}

static void put_field(struct events *ev, const struct field_column *c, const void *record,
		      size_t len)
{
	const struct ev_field *f = c->field;
	struct strbuf *b = &ev->c->b;
	const char *text;
	uint64_t v;
	size_t n;

	if (is_list(c)) {
		put_list(b, f, record, len);
		return;
	}
	text = field_column__text(c, record, len, &ev->scratch, &n);
	if (!text && f->kind != EV_FIELD_INT)
		text = ev_field__bytes(f, record, len, &n);
	if (text) {
		ch_put_escaped(b, text, n, 0);
		return;
	}
	if (f->kind != EV_FIELD_INT) {
		strbuf__puts(b, "\\N");
		return;
	}
	v = ev_field__value(f, record, len);
	if (c->text) { /* the address, as no string was recorded */
		strbuf__puts(b, "0x");
		strbuf__hex(b, v, 0);
	} else if (f->address || (f->size == 8 && !f->is_signed)) {
		strbuf__u64(b, v);
	} else {
		strbuf__s64(b, v);
	}
}

static void put_fields(struct events *ev, const struct stk_event *e)
{
	const void *record = NULL;
	size_t len = 0;

	if (!(stk_event__marks(e) & STK_MARK_NO_FIELDS))
		record = stk_event__record(e, &len);
	for (unsigned int i = 0; i < ev->fields.columns.nr; i++) {
		const struct field_column *c = &ev->fields.columns.v[i];
		const struct ev_field *f = c->field;

		ch_tab(&ev->c->b);
		/* arrays cannot be NULL */
		if (!record || f->offset > len || f->size > len - f->offset)
			strbuf__puts(&ev->c->b, is_list(c) ? "[]" : "\\N");
		else
			put_field(ev, c, record, len);
	}
}

static void put_number(struct strbuf *b, uint64_t v)
{
	ch_tab(b);
	strbuf__u64(b, v);
}

static int put_event(struct events *ev, const struct stk_event *e)
{
	struct strbuf *b = &ev->c->b;
	const char *comm = stk_event__comm(e);
	size_t before = b->len;
	int err;

	strbuf__add(b, ev->head.s, ev->head.len);
	strbuf__u64(b, stk_event__block(e));
	put_number(b, stk_event__row(e));
	ch_tab(b);
	put_time(ev, stk_event__ts(e));
	put_number(b, stk_event__ts(e));
	ch_tab(b);
	ch_put_text(b, ev->c->table);
	put_number(b, stk_event__cpu(e));
	put_number(b, stk_event__pid(e));
	put_number(b, stk_event__tid(e));
	ch_tab(b);
	ch_put_text(b, comm);
	err = put_stack(ev, stk_event__kstack(e)) ?: put_stack(ev, stk_event__ustack(e));
	if (err)
		return err;
	put_fields(ev, e);
	if (strbuf__failed(&ev->time) || strbuf__failed(&ev->scratch))
		return -ENOMEM;
	return export_source__charge(ev->c->src, b->len - before) ?: ch_end_row(ev->c);
}

int ch_put_events(struct ch_export *c)
{
	_cleanup_(events__clear) struct events ev = { .c = c };
	const struct stk_event *e;
	int got;

	ch_put_text(&ev.head, c->host);
	strbuf__printf(&ev.head, "\t%s\t", c->recording);
	if (strbuf__failed(&ev.head))
		return -ENOMEM;
	while ((got = ch_next(c, &e)) > 0) {
		got = look_at_type(&ev, e);
		if (got > 0)
			got = put_event(&ev, e);
		if (got < 0)
			return got;
	}
	return got;
}
