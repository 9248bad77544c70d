/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of stackonce sql share. */
#ifndef SQL_CMD_H
#define SQL_CMD_H

#include "sql/sql.h"
#include "ui/kernel_strings.h"
#include "ui/reading.h"

struct sql_cmd {
	struct reading rd;
	struct out out;
	const char *words[2], *input; /* as given */
	const char *path; /* of the recording */
	bool is_default; /* it was not given */
	const char *query; /* NULL: standard input */
	bool csv, partial, verbose;
	const char *save; /* --save; NULL: not given */
	uint64_t timeout_ns, temp_bytes;
	struct sql sql;
};

/* Prints the rows of one statement.  Negative errno, logged. */
int sql_cmd__put_rows(struct sql_cmd *c, sqlite3_stmt *statement);
/* Runs all statements of a text.  Negative errno, logged. */
int sql_cmd__run(struct sql_cmd *c, const char *text);
/* The same, or a command of the prompt, which begins with a dot. */
int sql_cmd__run_query(struct sql_cmd *c, const char *text);
/* Runs the statements on standard input, with a prompt if that is a terminal. */
int sql_cmd__run_input(struct sql_cmd *c);

/* Set by Ctrl-C; a statement ends then. */
extern volatile sig_atomic_t sql_cmd__stop;

#endif /* SQL_CMD_H */
