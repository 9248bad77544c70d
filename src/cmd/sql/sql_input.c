// SPDX-License-Identifier: GPL-2.0-only
/* Statements on standard input, and the prompt. */
#include "sql_cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "log.h"
#include "sql/event_table.h"
#include "sql/row_table.h"

#define MAX_STATEMENT (1u << 20) /* as SQLite's limit */

static const char help[] =
	"Statements end with a semicolon; Ctrl-C ends a query, Ctrl-D the program.\n"
	"  .tables          list the tables\n"
	"  .columns TABLE   list the columns of a table\n"
	"  .help            print this text\n"
	"  .quit            leave\n";

int sql_cmd__run(struct sql_cmd *c, const char *text)
{
	int err = 0;

	while (!err && *text) {
		sqlite3_stmt *statement = NULL;

		err = sql__prepare(&c->sql, text, &statement, &text);
		if (!err && statement)
			err = sql_cmd__put_rows(c, statement);
		sqlite3_finalize(statement);
	}
	return err;
}

static int put_tables(struct sql_cmd *c)
{
	struct strbuf *b = &c->out.b;
	const char *name;
	unsigned int i;

	strbuf__puts(b, "events\ntuples\ntasks\n");
	for (i = 0; (name = row_table__name(i)); i++)
		strbuf__printf(b, "%s\n", name);
	strbuf__puts(b, "pairs(START, END, BY, MATCH)\n");
	for (i = 0; i < c->sql.rec.nr_types; i++) {
		_cleanup_free_ char *table = event_table__name(&c->sql.rec, i);

		if (!table)
			return log_err(-ENOMEM, "list the tables");
		strbuf__putc(b, '"');
		strbuf__text(b, table);
		strbuf__puts(b, "\"\n");
	}
	return 0;
}

static int put_columns(struct sql_cmd *c, const char *table)
{
	size_t len = strlen(table);
	bool is_quoted = len > 1 && table[0] == '"' && table[len - 1] == '"';
	char *text = sqlite3_mprintf("SELECT name, type FROM pragma_table_info(%.*Q)",
				     (int)(is_quoted ? len - 2 : len), table + is_quoted);
	int err = text ? sql_cmd__run(c, text) : -ENOMEM;

	sqlite3_free(text);
	return err;
}

/* A line that begins with a dot.  1: leave. */
static int run_command(struct sql_cmd *c, char *line)
{
	char *word = strsep(&line, " ");

	if (!strcmp(word, ".quit") || !strcmp(word, ".exit"))
		return 1;
	if (!strcmp(word, ".tables"))
		return put_tables(c);
	if (!strcmp(word, ".columns") && line && *line)
		return put_columns(c, line);
	if (!strcmp(word, ".help")) {
		strbuf__puts(&c->out.b, help);
		return 0;
	}
	return log_why(-EINVAL, "'%s' is no command: .tables, .columns TABLE, .help or .quit",
		       word);
}

int sql_cmd__run_query(struct sql_cmd *c, const char *text)
{
	_cleanup_free_ char *line = NULL;
	int got;

	if (text[0] != '.')
		return sql_cmd__run(c, text);
	line = strdup(text);
	got = line ? run_command(c, line) : log_err(-ENOMEM, "run a command");
	return got < 0 ? got : 0;
}

static void prompt(struct sql_cmd *c, bool continues)
{
	strbuf__puts(&c->out.b, continues ? "...> " : "sql> ");
	out__flush(&c->out);
}

/* 1: leave; negative errno, logged. */
static int take_line(struct sql_cmd *c, struct strbuf *statement, char *line)
{
	int err;

	if (!statement->len && !line[strspn(line, " \t\r\n")])
		return 0;
	if (!statement->len && line[0] == '.') {
		line[strcspn(line, "\n")] = '\0';
		return run_command(c, line);
	}
	strbuf__puts(statement, line);
	if (strbuf__failed(statement) || statement->len > MAX_STATEMENT)
		return log_why(-E2BIG, "a statement is longer than %u KiB", MAX_STATEMENT >> 10);
	if (!sqlite3_complete(statement->s))
		return 0;
	err = sql_cmd__run(c, statement->s);
	strbuf__reset(statement);
	return err;
}

int sql_cmd__run_input(struct sql_cmd *c)
{
	bool asks = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	_cleanup_(strbuf__free) struct strbuf statement = { 0 };
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	int got = 0;

	while (!got && !c->out.err) {
		if (asks)
			prompt(c, statement.len);
		sql_cmd__stop = 0;
		if (getline(&line, &size, stdin) < 0) {
			if (asks && errno == EINTR) {
				clearerr(stdin);
				strbuf__reset(&statement);
				strbuf__putc(&c->out.b, '\n');
				continue;
			}
			break;
		}
		got = take_line(c, &statement, line);
		if (asks && got < 0) {
			strbuf__reset(&statement);
			got = 0;
		}
	}
	if (asks && !got)
		strbuf__putc(&c->out.b, '\n');
	if (!got && sql_cmd__stop)
		return log_why(-EINTR, "interrupted");
	/* the last statement needs no semicolon */
	if (!got && statement.len && strspn(statement.s, " \t\r\n") < statement.len)
		got = sql_cmd__run(c, statement.s);
	return got < 0 ? got : 0;
}
