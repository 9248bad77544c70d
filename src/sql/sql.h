/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SQL on a recording: SQLite's engine over virtual tables.  Nothing is imported, and a query can
 * change nothing: neither the recording nor any other file.
 *
 *   sqlite.c        loads SQLite
 *   files.c         the files that SQLite can open
 *   recording.c     snapshots of the recording, scans of its events
 *   where.c         conditions that scans apply themselves
 *   tuples.c        events counted by their generic values
 *   event_table.c   the tables of events
 *   row_table.c     the other tables
 *   pairs_table.c   pairs of events
 *   functions.c     SQL functions
 *   sql.c           the connection: limits, what is allowed, errors
 *   save.c          the tables in a file of SQLite
 */
#ifndef SQL_SQL_H
#define SQL_SQL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "files.h"
#include "recording.h"

struct sql_opts {
	const char *path; /* borrowed */
	struct user_names *names; /* borrowed */
	bool partial; /* see struct sql_recording */
	uint64_t temp_bytes; /* of temporary files */
	uint64_t timeout_ns; /* of a statement; 0: none */
	const volatile sig_atomic_t *stop;
};

struct sql {
	sqlite3 *db;
	struct sql_files files;
	struct sql_recording rec;
	uint64_t timeout_ns;
	bool may_write; /* save.c: all statements see one snapshot */
	bool was_denied; /* the statement tried to change something */
};

/* Negative errno, logged. */
int sql__open(struct sql *s, const struct sql_opts *opts);
void sql__close(struct sql *s);

/*
 * Prepares the next statement of text, on a new snapshot if the file has grown; *ret_rest is what
 * follows it.  *ret_statement is NULL for a comment.  Negative errno, logged.
 */
int sql__prepare(struct sql *s, const char *text, sqlite3_stmt **ret_statement,
		 const char **ret_rest);
/* 1: a row; 0: the end; negative errno, logged: -EINTR, -ETIME and others. */
int sql__step(struct sql *s, sqlite3_stmt *statement);

/*
 * Writes the tables of one snapshot into an empty file, which fd is open for.  Negative errno,
 * logged.
 */
int sql__save(struct sql *s, int fd);

#endif /* SQL_SQL_H */
