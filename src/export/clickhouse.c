// SPDX-License-Identifier: GPL-2.0-only
/* Rows of recordings for ClickHouse, and the tables that take them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "clickhouse_priv.h"
#include "formats.h"
#include "log.h"
#include "string_table.h"
#include "text.h"

static void ch_export__clear(struct ch_export *c)
{
	output__free(c->output);
	strbuf__free(&c->b);
	strbuf__free(&c->insert);
	free(c->table);
}

static int for_each_recording(struct ch_export *c, int (*each)(struct ch_export *c, void *arg),
			      void *arg)
{
	int got;

	do {
		got = ch_begin_recording(c) ?:
			      each(c, arg)  ?:
					      export_source__next_recording(c->src);
	} while (got > 0);
	return got;
}

/* ---- names and schema ------------------------------------------------------------------------ */

struct names {
	struct string_table types; /* their names, or the statements that make their tables */
	bool schema;
	bool has[CH_NR_TABLES]; /* rows, by index of ch_tables */
};

static int note_type(struct names *n, const struct stk_event_type *t)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	_cleanup_free_ char *name = ch_table_of(t);
	uint32_t number;
	int err = name ? 0 : -ENOMEM;

	if (!err && n->schema)
		err = ch_put_type(&text, t);
	else if (!err)
		ch_put_text(&text, name);
	if (err || strbuf__failed(&text))
		return err ?: -ENOMEM;
	/* of the types with one name, each that has other fields adds these */
	err = string_table__number(&n->types, text.s, text.len, UINT32_MAX, &number);
	return err < 0 ? err : 0;
}

static void note_stack(struct ch_export *c, uint32_t number)
{
	struct stk_stack s;

	if (!number || c->has_frames || stk_reader__stack(c->src->reader, number, &s))
		return;
	c->has_stacks = true;
	c->has_frames = s.depth;
}

/* The tables of events, and which others have rows. */
static int note_tables(struct ch_export *c, void *arg)
{
	_cleanup_free_ bool *seen = NULL;
	struct names *n = arg;
	const struct stk_event *e;
	unsigned int nr = 0, i;
	int got, err = 0;

	while (!err && (got = ch_next(c, &e)) > 0) {
		const struct stk_event_type *t = stk_event__type(e);
		unsigned int index = stk_event_type__index(t);

		note_stack(c, stk_event__kstack(e));
		note_stack(c, stk_event__ustack(e));
		if (index < nr && seen[index])
			continue;
		err = array__reach(&seen, index, &nr) ? -ENOMEM : note_type(n, t);
		if (!err)
			seen[index] = true;
	}
	for (i = 0; i < CH_NR_TABLES; i++)
		n->has[i] = n->has[i] || ch_tables[i].has_rows(c);
	return err ?: got;
}

static void put_table(struct strbuf *b, const struct ch_table *t)
{
	strbuf__printf(b, "CREATE TABLE IF NOT EXISTS `%s`\n(\n", t->name);
	for (const struct ch_column *c = t->columns; c->name; c++)
		strbuf__printf(b, "%s    `%s` %s CODEC(%s)", c == t->columns ? "" : ",\n", c->name,
			       c->type, c->codec);
	strbuf__printf(b, "\n)\nENGINE = ReplacingMergeTree%s%s%s\nORDER BY %s;\n\n",
		       *t->version ? "(" : "", t->version, *t->version ? ")" : "", t->order);
}

/* What all event types have, of all tables with a colon in their names. */
static void put_events_view(struct strbuf *b)
{
	strbuf__puts(b, "CREATE TABLE IF NOT EXISTS `events`\n(\n");
	for (const struct ch_column *c = ch_event_columns; c->name; c++)
		strbuf__printf(b, "%s    `%s` %s", c == ch_event_columns ? "" : ",\n", c->name,
			       c->type);
	strbuf__puts(b, "\n)\nENGINE = Merge(currentDatabase(), ':');\n");
}

static int put_names(struct ch_export *c, bool schema)
{
	struct names n = { .schema = schema };
	int err = for_each_recording(c, note_tables, &n);
	uint32_t i;

	for (i = 0; !err && i < CH_NR_TABLES; i++) {
		if (schema)
			put_table(&c->b, &ch_tables[i]);
		else if (n.has[i])
			strbuf__printf(&c->b, "%s\n", ch_tables[i].name);
	}
	for (i = 0; !err && i < n.types.nr; i++)
		strbuf__printf(&c->b, "%s%s", string_table__get(&n.types, i), schema ? "" : "\n");
	if (schema)
		put_events_view(&c->b);
	string_table__clear(&n.types);
	return err;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* arg: the table, or NULL for one of events. */
static int put_rows(struct ch_export *c, void *arg)
{
	const struct ch_table *t = arg;

	return t ? t->put(c) : ch_put_events(c);
}

static int no_table(const char *table)
{
	if (!strcmp(table, "events"))
		return log_why(-ENOENT,
			       "--rows %s: it shows the tables of all event types and has no rows "
			       "of its own; --tables prints those",
			       table);
	return log_why(-ENOENT,
		       "--rows %s: no event belongs to such a table; --tables prints those that "
		       "have rows",
		       table);
}

static int put_table_rows(struct ch_export *c, const struct ch_table *t)
{
	int err;

	ch_put_insert(&c->b, t->name, t->columns);
	err = for_each_recording(c, put_rows, (void *)t);
	/* servers refuse a statement without rows */
	if (!c->nr_rows)
		strbuf__reset(&c->b);
	return err;
}

static int put_all_rows(struct ch_export *c, const char *table)
{
	int err;

	for (unsigned int i = 0; i < CH_NR_TABLES; i++)
		if (!strcmp(ch_tables[i].name, table))
			return put_table_rows(c, &ch_tables[i]);
	if (!strchr(table, ':'))
		return no_table(table);
	c->table = ch_unescaped(table);
	if (!c->table)
		return -ENOMEM;
	err = for_each_recording(c, put_rows, NULL);
	return !err && !c->insert.len ? no_table(table) : err;
}

static int put_all(struct ch_export *c)
{
	const struct export_source *src = c->src;
	int err = src->rows ? put_all_rows(c, src->rows) : put_names(c, src->schema);

	return err ?: ch_flush(c);
}

/* The errors that have no message yet. */
static int log_end(const struct ch_export *c, int err)
{
	if (err == -ENOMEM)
		return log_err(err, "export '%s'", stk_reader__path(c->src->reader) ?: "");
	return err == -ENOBUFS ? export__failed(c->src->reader, c->path, err) : err;
}

int export__clickhouse(const struct export_source *src, const struct output_opts *output,
		       struct strbuf *summary)
{
	_cleanup_(ch_export__clear) struct ch_export c = { .src = src, .path = output->path };
	int err = output__open(output, &c.output);

	if (err)
		return err;
	err = log_end(&c, put_all(&c)) ?: output__commit(c.output);
	if (!err && src->rows)
		strbuf__printf(summary, "%s of %s", text__count(c.nr_rows, "row").s, src->rows);
	return err ?: c.damage;
}
