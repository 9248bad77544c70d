// SPDX-License-Identifier: GPL-2.0-only
/* Answers SQL queries from a recording. */
#include "sql_cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "log.h"
#include "output/output.h"

#define TEMP_BYTES (4ull << 30)

volatile sig_atomic_t sql_cmd__stop;

static int take_input(void *into, const struct opt *o, const char *arg)
{
	struct sql_cmd *c = into;

	if (c->input)
		return ui__usage_error("sql", "give one recording, not -i %s and -i %s", c->input,
				       arg);
	c->input = arg;
	return CMD_OK;
}

/* clang-format off */
static const struct opt options[] = {
	{ "-i, --input FILE", "the recording (default trace.stk)",
	  OPT_FN(take_input) },
	{ "[FILE]", NULL, OPT_TEXT(struct sql_cmd, words[0]) },
	{ "[SQL]", NULL, OPT_TEXT(struct sql_cmd, words[1]) },
	JSON_OPTION("print one JSON object per row"),
	{ "--csv", "print comma-separated values", OPT_FLAG(struct sql_cmd, csv) },
	{ "--save OUT.sqlite", "write the tables to a new SQLite file",
	  OPT_TEXT(struct sql_cmd, save) },
	FORCE_OPTION("replace OUT.sqlite even if it is a recording"),
	{ "--timeout SECONDS", "end a query that takes longer",
	  OPT_SECONDS(struct sql_cmd, timeout_ns, 1000000000000000) },
	{ "--temp-size SIZE", "use at most this much of temporary files (default 4G)",
	  OPT_SIZE(struct sql_cmd, temp_bytes, 0, 1ull << 50) },
	{ "--partial", "answer from what can be read of a damaged recording",
	  OPT_FLAG(struct sql_cmd, partial) },
	{ "-v, --verbose", "print what the queries needed of memory and temporary files",
	  OPT_FLAG(struct sql_cmd, verbose) },
	NAMES_OPTIONS,
	HELP_OPTION
};
/* clang-format on */

static void on_interrupt(int sig)
{
	sql_cmd__stop = 1;
}

static void sql_cmd__free(struct sql_cmd *c)
{
	sql__close(&c->sql);
	reading__free(&c->rd);
}

/* A word is the recording if there is such a file, or if it does not look like SQL. */
static bool is_query(const char *word)
{
	return access(word, F_OK) && strpbrk(word, " \t\n(;");
}

/* FILE SQL, FILE or SQL; with -i, SQL. */
static int take_words(struct sql_cmd *c)
{
	const char *file = c->words[0];

	c->query = c->words[1];
	if (file && !c->query && (c->input || is_query(file))) {
		c->query = file;
		file = NULL;
	}
	if (file && c->input)
		return ui__usage_error(c->rd.command, "give one recording, not '%s' and -i %s",
				       file, c->input);
	c->is_default = !file && !c->input;
	c->path = file ?: c->input ?: c->rd.path;
	if (!strcmp(c->path, "-"))
		return ui__usage_error(c->rd.command, "standard input cannot be the recording: a "
						      "query may read it several times");
	return CMD_OK;
}

static int parse_options(struct sql_cmd *c, int argc, char **argv)
{
	int code;

	c->rd.only_files = true;
	code = reading__options(&c->rd, &cmd_sql, argc, argv) ?: take_words(c);
	if (code)
		return code;
	if (c->rd.json && c->csv)
		return ui__usage_error(argv[0], "give one of --json and --csv");
	if (c->save && (c->query || c->rd.json || c->csv))
		return ui__usage_error(argv[0], "--save writes the tables as they are: it excludes "
						"a query, --json and --csv");
	return CMD_OK;
}

static int open_recording(struct sql_cmd *c)
{
	const struct sql_opts opts = {
		.path = c->path,
		.names = &c->rd.names,
		.partial = c->partial,
		.temp_bytes = c->temp_bytes,
		.timeout_ns = c->timeout_ns,
		.stop = &sql_cmd__stop,
	};

	if (c->is_default && access(c->path, F_OK)) {
		log_err(0,
			"there is no '%s' here: give FILE, or record one with 'stackonce record'",
			c->path);
		return CMD_FAILURE;
	}
	return sql__open(&c->sql, &opts) ? CMD_FAILURE : CMD_OK;
}

static int save(struct sql_cmd *c)
{
	const struct output_opts opts = {
		.path = c->save, .inputs = &c->path, .nr_inputs = 1, .force = c->rd.force
	};
	_cleanup_(output__freep) struct output *o = NULL;
	int err = output__open(&opts, &o);

	if (err)
		return err;
	if (lseek(output__fd(o), 0, SEEK_CUR) < 0)
		return log_why(-ESPIPE, "'%s' is not a file: SQLite needs one", c->save);
	return sql__save(&c->sql, output__fd(o)) ?: output__commit(o);
}

static int say_damaged(const struct sql_cmd *c)
{
	return log_why(-EBADMSG, "'%s' is damaged: the answer lacks what cannot be read", c->path);
}

/* What an answer cannot say: that the recording is not complete. */
static int finish(struct sql_cmd *c, int err)
{
	struct stk_totals t;

	stk_reader__totals(c->sql.rec.reader, &t);
	if (!err && c->sql.rec.damaged)
		err = say_damaged(c);
	else if (!err && !t.clean_end && stk_reader__is_live(c->sql.rec.reader))
		log_warn("'%s' is being recorded: events not written yet are missing", c->path);
	else if (!err && !t.clean_end)
		log_warn("'%s' ended abruptly: the last events may be missing", c->path);
	user_names__finish(&c->rd.names);
	if (c->verbose) {
		ui__set_log_level(STK_LOG_DEBUG);
		log_debug("SQLite used at most %s of memory and %s of temporary files",
			  text__bytes(sqlite3_memory_highwater(0)).s,
			  text__bytes(c->sql.files.peak).s);
	}
	return err ? CMD_FAILURE : CMD_OK;
}

static int answer(struct sql_cmd *c)
{
	struct sigaction sa = { .sa_handler = on_interrupt };
	int err, code;

	code = open_recording(c);
	if (code)
		return code;
	if (!c->save)
		out__open(&c->out, c->query != NULL);
	sigaction(SIGINT, &sa, NULL); /* also if there is a pager */
	if (c->save)
		return finish(c, save(c));
	err = c->query ? sql_cmd__run_query(c, c->query) : sql_cmd__run_input(c);
	return out__close(&c->out, finish(c, err));
}

static int run(int argc, char **argv)
{
	_cleanup_(sql_cmd__free) struct sql_cmd c = { .temp_bytes = TEMP_BYTES };
	int code = parse_options(&c, argc, argv);

	return code ?: answer(&c);
}

const struct cmd cmd_sql = {
	.name = "sql",
	.summary = "answer SQL queries",
	.run = run,
	.options = options,
	.text = "Answers SQL queries from a recording, without importing it.  Without SQL, reads\n"
		"statements from standard input.\n",
	.notes = "Tables: events, tuples, tasks, stacks, frames, files, types, losses,\n"
		 "pairs('START','END','BY','MATCH'), and one for each event type, such as\n"
		 "\"sched:sched_switch\".  See stackonce-sql(1).\n",
};
