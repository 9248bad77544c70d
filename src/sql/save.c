// SPDX-License-Identifier: GPL-2.0-only
/* Copies the tables into a file of SQLite, for other programs. */
#include "sql.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "event_table.h"
#include "log.h"
#include "row_table.h"
#include "strbuf.h"

static int run(struct sql *s, char *text)
{
	const char *rest = text;
	int err = text ? 0 : log_err(-ENOMEM, "save the tables");

	while (!err && *rest) {
		sqlite3_stmt *statement = NULL;

		err = sql__prepare(s, rest, &statement, &rest);
		while (!err && statement && (err = sql__step(s, statement)) > 0)
			err = 0; /* a pragma returns a row */
		sqlite3_finalize(statement);
	}
	sqlite3_free(text);
	return err;
}

/* "_ts" INTEGER, ...: as the table declares them. */
static int columns_of(struct sql *s, const char *table, struct strbuf *b)
{
	char *text = sqlite3_mprintf("SELECT * FROM main.\"%w\" LIMIT 0", table);
	sqlite3_stmt *statement = NULL;
	int err = text ? sql__prepare(s, text, &statement, NULL) : -ENOMEM, i;

	for (i = 0; !err && i < sqlite3_column_count(statement); i++) {
		char *column = sqlite3_mprintf("%s\"%w\" %s", i ? ", " : "",
					       sqlite3_column_name(statement, i),
					       sqlite3_column_decltype(statement, i));

		if (column)
			strbuf__puts(b, column);
		else
			err = -ENOMEM;
		sqlite3_free(column);
	}
	sqlite3_finalize(statement);
	sqlite3_free(text);
	return err ?: strbuf__failed(b) ? -ENOMEM : 0;
}

static int save_table(struct sql *s, const char *table)
{
	_cleanup_(strbuf__free) struct strbuf columns = { 0 };
	int err = columns_of(s, table, &columns);

	if (err)
		return err;
	return run(s, sqlite3_mprintf("CREATE TABLE save.\"%w\"(%s); "
				      "INSERT INTO save.\"%w\" SELECT * FROM main.\"%w\"",
				      table, columns.s, table, table));
}

/* Each table of an event type is one more scan: only those that have events. */
static int find_types(struct sql *s, bool *has_events)
{
	sqlite3_stmt *statement = NULL;
	int got, err = sql__prepare(s, "SELECT DISTINCT _event FROM tuples", &statement, NULL);
	unsigned int i;

	if (err)
		return err;
	while ((got = sql__step(s, statement)) > 0) {
		const char *name = (const char *)sqlite3_column_text(statement, 0);

		for (i = 0; name && i < s->rec.nr_types; i++)
			has_events[i] |= !strcmp(s->rec.types[i].full_name, name);
	}
	sqlite3_finalize(statement);
	return got;
}

static int save_types(struct sql *s)
{
	_cleanup_free_ bool *has_events = calloc(s->rec.nr_types + 1, sizeof(*has_events));
	int err = has_events ? find_types(s, has_events) : -ENOMEM;
	unsigned int i;

	for (i = 0; !err && i < s->rec.nr_types; i++) {
		_cleanup_free_ char *name = has_events[i] ? event_table__name(&s->rec, i) : NULL;

		if (has_events[i])
			err = name ? save_table(s, name) : -ENOMEM;
	}
	return err;
}

int sql__save(struct sql *s, int fd)
{
	const char *name;
	unsigned int i;
	int err;

	s->files.save = fd;
	s->may_write = true;
	err = run(s, sqlite3_mprintf("ATTACH '%s' AS save; PRAGMA save.journal_mode = MEMORY; "
				     "BEGIN",
				     SQL_FILES_SAVE));
	if (!err)
		err = save_table(s, "events") ?: save_types(s);
	for (i = 0; !err && (name = row_table__name(i)); i++)
		err = save_table(s, name);
	return err ?: run(s, sqlite3_mprintf("COMMIT"));
}
