// SPDX-License-Identifier: GPL-2.0-only
/* The connection: what a query may do and use, and what its errors mean. */
#include "sql.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"
#include "event_table.h"
#include "functions.h"
#include "log.h"
#include "pairs_table.h"
#include "row_table.h"
#include "strbuf.h"

#define HEAP_MAX (512ll << 20) /* SQLite's own memory; sorts use temporary files */
#define PROGRESS 10000 /* instructions of SQLite between two checks for Ctrl-C */

static const struct {
	int limit, value;
} limits[] = {
	{ SQLITE_LIMIT_LENGTH, 64 << 20 },  { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },
	{ SQLITE_LIMIT_EXPR_DEPTH, 200 },   { SQLITE_LIMIT_COMPOUND_SELECT, 100 },
	{ SQLITE_LIMIT_VDBE_OP, 1 << 20 },  { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000 },
	{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },  { SQLITE_LIMIT_ATTACHED, 1 },
	{ SQLITE_LIMIT_WORKER_THREADS, 0 },
};

static const char setup[] =
	"CREATE VIEW tasks AS SELECT _pid AS pid, _tid AS tid, _comm AS comm, sum(n) AS events "
	"FROM tuples GROUP BY _pid, _tid, _comm";

/* ---- what is allowed ------------------------------------------------------------------------- */

static bool is_harmless(const char *pragma)
{
	static const char *const names[] = { "table_info", "table_xinfo", "function_list",
					     "module_list", "compile_options" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!sqlite3_stricmp(pragma, names[i]))
			return true;
	return false;
}

static int authorize(void *ctx, int action, const char *what, const char *detail,
		     const char *database, const char *trigger)
{
	struct sql *s = ctx;

	if (s->may_write || action == SQLITE_SELECT || action == SQLITE_READ ||
	    action == SQLITE_RECURSIVE)
		return SQLITE_OK;
	if (action == SQLITE_FUNCTION && sqlite3_stricmp(detail, "load_extension"))
		return SQLITE_OK;
	if (action == SQLITE_PRAGMA && what && is_harmless(what))
		return SQLITE_OK;
	/* SQLite asks when a virtual table is declared; it refuses that of a query by itself */
	if (action == SQLITE_UPDATE && !strcmp(what, "sqlite_master"))
		return SQLITE_OK;
	s->was_denied = true;
	return SQLITE_DENY;
}

static int check_progress(void *ctx)
{
	return sql_recording__check_stop(&((struct sql *)ctx)->rec) != SQLITE_OK;
}

static int restrict_queries(struct sql *s)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		sqlite3_limit(s->db, limits[i].limit, limits[i].value);
	sqlite3_hard_heap_limit64(HEAP_MAX);
	rc = sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL)		      ?:
		     sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL) ?:
		     sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL)	      ?:
		     sqlite3_db_config(s->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL)		      ?:
		     sqlite3_db_config(s->db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	sqlite3_progress_handler(s->db, PROGRESS, check_progress, s);
	return rc ?: sqlite3_set_authorizer(s->db, authorize, s);
}

/* ---- open and close -------------------------------------------------------------------------- */

static int open_connection(struct sql *s)
{
	int rc = sqlite3_open_v2(":memory:", &s->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
				 SQL_FILES_VFS);

	return rc ? log_err(-ENOMEM, "set up SQLite") : 0;
}

static int make_tables(struct sql *s)
{
	int err = row_tables__register(s->db, &s->rec)		 ?:
			  event_tables__register(s->db, &s->rec) ?:
			  pairs_table__register(s->db, &s->rec)	 ?:
			  sql_functions__register(s->db, &s->rec);

	if (err)
		return err;
	if (sqlite3_exec(s->db, setup, NULL, NULL, NULL) || restrict_queries(s))
		return log_err(-ENOMEM, "set up SQLite: %s", sqlite3_errmsg(s->db));
	return 0;
}

int sql__open(struct sql *s, const struct sql_opts *opts)
{
	int err;

	s->timeout_ns = opts->timeout_ns;
	s->rec.path = opts->path;
	s->rec.names = opts->names;
	s->rec.partial = opts->partial;
	s->rec.stop = opts->stop;
	err = sqlite__load()			      ?:
		      sql_recording__refresh(&s->rec) ?:
		      sql_files__register(&s->files, opts->temp_bytes);
	return err ?: open_connection(s) ?: make_tables(s);
}

void sql__close(struct sql *s)
{
	if (s->db)
		sqlite3_close_v2(s->db);
	sql_files__unregister(&s->files);
	sql_recording__clear(&s->rec);
	*s = (struct sql){ 0 };
}

/* ---- statements ------------------------------------------------------------------------------ */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static int errno_of(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_CORRUPT:
		return -EBADMSG;
	case SQLITE_AUTH:
		return -EPERM;
	default:
		return -EINVAL;
	}
}

/* What is wrong with the name of a table: ": \"sched:sched_switch\" is one", or nothing. */
static void put_hint(const struct sql *s, struct strbuf *b)
{
	static const char no_table[] = "no such table: ";
	const char *text = sqlite3_errmsg(s->db);
	unsigned int i;

	if (strstr(text, "near \":"))
		strbuf__puts(b, " (the name of an event type's table is in double quotes)");
	if (strncmp(text, no_table, strlen(no_table)))
		return;
	text += strlen(no_table);
	for (i = 0; i < s->rec.nr_types; i++) {
		const char *name = strchr(s->rec.types[i].full_name, ':');

		if (!name || sqlite3_stricmp(name + 1, text))
			continue;
		strbuf__printf(b, ": there is \"%s\", in double quotes", s->rec.types[i].full_name);
		return;
	}
}

/* Says what failed and what to do about it. */
static int log_failure(struct sql *s, int rc)
{
	_cleanup_(strbuf__free) struct strbuf hint = { 0 };
	const char *text = sqlite3_errmsg(s->db);
	int at = sqlite3_error_offset(s->db);

	if (rc == SQLITE_INTERRUPT && s->rec.stop && *s->rec.stop)
		return log_why(-EINTR, "interrupted");
	if (rc == SQLITE_INTERRUPT)
		return log_why(-ETIME, "the query took longer than --timeout allows");
	if (s->was_denied)
		return log_why(-EPERM,
			       "SQL: only SELECT is allowed: a query cannot change anything "
			       "(--save writes the tables to a file)");
	if ((rc & 0xff) == SQLITE_FULL && s->files.exceeded)
		return log_why(-ENOSPC,
			       "the query needs more than %llu MiB of temporary files: see "
			       "--temp-size",
			       (unsigned long long)s->files.max >> 20);
	if ((rc & 0xff) == SQLITE_NOMEM && !strcmp(text, "out of memory"))
		return log_why(-ENOMEM, "the query needs more than %lld MiB of memory",
			       HEAP_MAX >> 20);
	if ((rc & 0xff) == SQLITE_CORRUPT || rc == SQLITE_CANTOPEN)
		return log_why(errno_of(rc), "%s", text);
	put_hint(s, &hint);
	if (at >= 0)
		return log_why(errno_of(rc), "SQL: %s, at character %d%s", text, at + 1,
			       hint.s ?: "");
	return log_why(errno_of(rc), "SQL: %s%s", text, hint.s ?: "");
}

int sql__prepare(struct sql *s, const char *text, sqlite3_stmt **ret_statement,
		 const char **ret_rest)
{
	int rc, err = 0;

	if (!s->may_write)
		err = sql_recording__refresh(&s->rec) ?: event_tables__register(s->db, &s->rec);
	if (err)
		return err;
	s->was_denied = s->files.exceeded = false;
	s->rec.deadline = s->timeout_ns ? now_ns() + s->timeout_ns : 0;
	rc = sqlite3_prepare_v2(s->db, text, -1, ret_statement, ret_rest);
	return rc ? log_failure(s, rc) : 0;
}

int sql__step(struct sql *s, sqlite3_stmt *statement)
{
	int rc = sqlite3_step(statement);

	return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : log_failure(s, rc);
}
