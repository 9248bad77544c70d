// SPDX-License-Identifier: GPL-2.0-only
/* stackonce export: write a recording in another tool's format. */
#include "ui/ui.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "counting/counting.h"
#include "export/formats.h"
#include "log.h"
#include "ui/pairs/pair_kinds.h"
#include "ui/reading.h"

struct export
{
	struct reading rd;
	struct counting c;
	struct pair_kinds pairs;
	unsigned int format;
	const char *output;
	bool quiet;
	const char *rows; /* of clickhouse */
	bool schema, tables;
};

/* What is exported from, recording by recording where the format wants that. */
struct export_run {
	struct export ex;
	struct export_source src;
	int argc;
	char **argv; /* a copy: the parser reorders what it is given */
	const char **paths; /* of all recordings */
	unsigned int nr_paths, at; /* the one that is exported */
	int code;
};

/* clang-format off */
static const struct opt options[] = {
	{ "FORMAT", NULL, OPT_WORD(struct export, format), WORDS_OF(export_formats) },
	READING_OPTIONS(struct export, rd, A_RECORDING),
	{ "-o, --output OUTPUT", "the file or directory to write; - is standard output",
	  OPT_TEXT(struct export, output) },
	FORCE_OPTION("replace OUTPUT even if it is a recording or a trace"),
	SELECT_OPTIONS("only events", "only these events, separated by commas"),
	BY_OPTIONS(struct export, c, "group by event, comm, sym, caller, a field, ...",
		   "", "write a field's sum in place of the number of events"),
	FOLD_OPTION(struct export, c),
	STACKS_OPTIONS(struct export, c),
	INLINE_OPTION,
	NAMES_OPTIONS,
	{ "--pairs LIST", "draw the pairs of these presets, or none (default all)",
	  OPT_TEXT(struct export, pairs.presets) },
	PAIR_EVENTS_OPTIONS(struct export, pairs.own, PAIR_HIDDEN),
	PAIR_KEY_OPTIONS(struct export, pairs.own, PAIR_HIDDEN),
	/* the text of the format names these */
	{ "--schema", NULL, OPT_FLAG(struct export, schema) },
	{ "--tables", NULL, OPT_FLAG(struct export, tables) },
	{ "--rows TABLE", NULL, OPT_TEXT(struct export, rows) },
	{ "-q, --quiet", "no summary", OPT_FLAG(struct export, quiet) },
	HELP_OPTION
};
/* clang-format on */

static void export__free(struct export *ex)
{
	counting__free(&ex->c);
	pair_kinds__free(&ex->pairs);
	reading__free(&ex->rd);
}

static void export_run__free(struct export_run *x)
{
	export__free(&x->ex);
	free(x->paths);
	free(x->argv);
}

/* ---- the source of a format ------------------------------------------------------------------ */

/* -ECANCELED: a message has been printed. */
static int cancel(int err, const struct export *ex)
{
	if (err == -ENOBUFS)
		export__failed(ex->rd.reader, ex->output, err);
	else if (err && err != -ENOENT && err != -ECANCELED)
		log_err(err, "match starts and ends");
	return err ? -ECANCELED : 0;
}

/* An event that is not selected may end a pair that is. */
static int next_paired(struct export *ex, const struct stk_event **ret_event)
{
	int n, err;

	while ((n = reading__next_selected(&ex->rd, ret_event)) == 1) {
		err = pair_kinds__add(&ex->pairs, &ex->rd, *ret_event);
		if (err)
			return cancel(err, ex);
		if (!ex->rd.sel.any || reading__selected(&ex->rd, *ret_event))
			return 1;
	}
	return n ?: cancel(pair_kinds__check(&ex->pairs), ex);
}

static int next_event(void *ctx, const struct stk_event **ret_event)
{
	struct export_run *x = ctx;
	int n = x->ex.pairs.nr ? next_paired(&x->ex, ret_event) :
				 reading__next_selected(&x->ex.rd, ret_event);

	if (n == 1 || n == -ECANCELED)
		return n;
	reading__end(&x->ex.rd, n);
	return n;
}

static bool has_loss(void *ctx, const struct stk_loss *loss)
{
	struct export_run *x = ctx;

	return reading__loss_selected(&x->ex.rd, loss);
}

static int place_event(void *ctx, const struct stk_event *e, struct stack_place *ret_place)
{
	struct export_run *x = ctx;

	return counting__place(&x->ex.c, e, ret_place);
}

/* The stacks of the selected events, which formats with events have read. */
static int count_stacks(void *ctx, struct export_stacks *ret_stacks)
{
	struct export_run *x = ctx;
	struct out nothing = { 0 };
	int code = x->ex.c.counts ? counting__check(&x->ex.c) : counting__run(&x->ex.c, &nothing);

	if (code || x->ex.rd.error == -ENOMEM || counting__finish(&x->ex.c))
		return -ECANCELED;
	counting__stacks(&x->ex.c, ret_stacks);
	return 0;
}

static int start_counting(struct export *ex)
{
	const struct export_format *format = &export_formats[ex->format];
	int code;

	if (!format->by)
		return CMD_OK;
	code = counting__start(&ex->c, &ex->rd);
	if (!code && ex->c.spec.weighed && ex->c.spec.how != WEIGH_SUM)
		return ui__usage_error(ex->rd.command, "%s has sums of weights: give --weigh %s",
				       format->name, ex->c.weight_name);
	return code;
}

/* For formats that read the events and group them. */
static int begin_placing(struct export_run *x)
{
	struct counting *c = &x->ex.c;
	unsigned int i;

	if (!export_formats[x->ex.format].one_by_one)
		return CMD_OK;
	if (counting__begin(c)) {
		log_err(-ENOMEM, "count the stacks");
		return CMD_FAILURE;
	}
	x->src.place = place_event;
	x->src.fold = c->fold;
	for (i = 0; i < c->nr_keys; i++) {
		x->src.by_thread |= c->keys[i].generic == VALUE_TID;
		x->src.by_cpu |= c->keys[i].generic == VALUE_CPU;
	}
	return CMD_OK;
}

static int open_recording(struct export_run *x)
{
	const struct export_format *format = &export_formats[x->ex.format];
	/* of the tables of clickhouse, those of events have fields */
	bool has_fields = format->wants_fields || (x->ex.rows && strchr(x->ex.rows, ':'));
	unsigned int want = STK_WANT_EVENTS | (has_fields ? STK_WANT_FIELDS : 0);
	struct export *ex = &x->ex;
	int code;

	ex->rd.one_boot = !format->boots && !ex->c.by;
	ex->rd.no_notes = true;
	ex->c.by = ex->c.by ?: format->by;
	ex->c.by_event = format->by_event;
	if (format->by)
		want |= counting__wants(&ex->c);
	code = reading__open(&ex->rd, want) ?: start_counting(ex) ?: begin_placing(x);
	if (!code && pair_kinds__start(&ex->pairs, &ex->rd)) {
		log_err(-ENOMEM, "match starts and ends");
		code = CMD_FAILURE;
	}
	x->src.reader = ex->rd.reader;
	x->src.names = &ex->rd.names;
	x->src.is_selection = ex->rd.sel.any;
	return code;
}

static int parse_options(struct export_run *x)
{
	_cleanup_free_ char **argv = calloc(x->argc + 1, sizeof(*argv));

	if (!argv) {
		log_err(-ENOMEM, "parse the options");
		return CMD_FAILURE;
	}
	memcpy(argv, x->argv, x->argc * sizeof(*argv));
	return reading__options(&x->ex.rd, &cmd_export, x->argc, argv);
}

/* The command line again, which is right, for the next recording: no state of the last one. */
static int next_recording(void *ctx)
{
	struct export_run *x = ctx;

	x->code = reading__finish(&x->ex.rd) ?: x->code;
	if (x->at + 1 == x->nr_paths)
		return 0;
	export__free(&x->ex);
	x->ex = (struct export){ 0 };
	if (parse_options(x))
		return -ECANCELED;
	reading__choose(&x->ex.rd, ++x->at);
	return open_recording(x) ? -ECANCELED : 1;
}

/* Formats that export each recording on its own read files, and any number of them. */
static int begin_each(struct export_run *x)
{
	const struct export_format *format = &export_formats[x->ex.format];
	struct reading *rd = &x->ex.rd;
	unsigned int i;

	x->nr_paths = rd->nr_paths;
	x->paths = calloc(rd->nr_paths, sizeof(*x->paths));
	if (!x->paths) {
		log_err(-ENOMEM, "remember the recordings");
		return CMD_FAILURE;
	}
	memcpy(x->paths, rd->paths, rd->nr_paths * sizeof(*x->paths));
	if (!format->each)
		return CMD_OK;
	for (i = 0; i < rd->nr_paths; i++)
		if (!strcmp(rd->paths[i], "-"))
			return ui__usage_error(rd->command,
					       "%s reads recordings from files: it needs what "
					       "is at their end for their first event",
					       format->name);
	reading__choose(rd, 0);
	return CMD_OK;
}

static int write_output(struct export_run *x)
{
	const struct export_format *format = &export_formats[x->ex.format];
	const struct output_opts output = {
		.path = x->ex.output ?: "-",
		.inputs = x->paths,
		.nr_inputs = x->nr_paths,
		.force = x->ex.rd.force,
	};
	_cleanup_(strbuf__free) struct strbuf summary = { 0 }, times = { 0 };
	int code;

	x->src = (struct export_source){
		.next = next_event,
		.has_loss = has_loss,
		.count = count_stacks,
		.pairs = x->ex.pairs.nr ? &x->ex.pairs.taker : NULL,
		.next_recording = format->each ? next_recording : NULL,
		.ctx = x,
		.rows = x->ex.rows,
		.schema = x->ex.schema,
	};
	code = open_recording(x);
	if (code)
		return code;
	if (format->run(&x->src, &output, &summary))
		return CMD_FAILURE;
	if (!x->ex.quiet && summary.len) {
		pair_kinds__summarize(&x->ex.pairs, &summary);
		selection__put_times(&x->ex.rd.sel, &times);
		if (times.len)
			strbuf__printf(&summary, ";%s", times.s);
		fprintf(stderr, "%s\n", summary.s);
	}
	return format->each ? x->code : reading__finish(&x->ex.rd);
}

/* ---- options --------------------------------------------------------------------------------- */

/* Refuses the options of tables where there are none. */
static int check_tables(const struct export *ex, const char *command)
{
	const struct export_format *format = &export_formats[ex->format];
	int nr = ex->schema + ex->tables + !!ex->rows;

	if (!format->each && nr)
		return ui__usage_error(command,
				       "%s has no tables: --schema, --tables and --rows are for "
				       "clickhouse",
				       format->name);
	if (format->each && nr != 1)
		return ui__usage_error(command, "%s needs one of --schema, --tables and --rows",
				       format->name);
	return CMD_OK;
}

/* Refuses options that the format has no use for. */
static int check_options(const struct export *ex)
{
	const struct export_format *format = &export_formats[ex->format];
	const struct counting *c = &ex->c;

	if (!format->each && !ex->output)
		return ui__usage_error(ex->rd.command, "-o OUTPUT is missing");
	if (!format->by && (c->by || c->weigh || c->stacks || c->folding))
		return ui__usage_error(ex->rd.command,
				       "%s does not count stacks: it excludes --by, --weigh, "
				       "--fold, --kernel and --user",
				       format->name);
	if (!format->by && !format->names_inlined && ex->rd.names.inlines)
		return ui__usage_error(ex->rd.command,
				       "%s does not name inlined functions: it excludes --inline",
				       format->name);
	return check_tables(ex, ex->rd.command);
}

static int complete_pairs(struct export *ex)
{
	const struct export_format *format = &export_formats[ex->format];
	int code;

	if (!format->takes_pairs)
		return pair_kinds__are_given(&ex->pairs) ?
			       ui__usage_error(ex->rd.command,
					       "%s draws no pairs: it excludes --pairs, --start, "
					       "--end, --match, --start-if and --single",
					       format->name) :
			       CMD_OK;
	code = pair_kinds__complete(&ex->pairs, ex->rd.command);
	ex->rd.every = ex->pairs.nr;
	return code;
}

static int run(int argc, char **argv)
{
	_cleanup_(export_run__free) struct export_run x = { .argc = argc };
	int code;

	x.argv = calloc(argc + 1, sizeof(*argv));
	if (!x.argv) {
		log_err(-ENOMEM, "parse the options");
		return CMD_FAILURE;
	}
	memcpy(x.argv, argv, argc * sizeof(*argv));
	code = parse_options(&x) ?: check_options(&x.ex) ?: complete_pairs(&x.ex) ?: begin_each(&x);
	if (code)
		return code;
	/* If the reader exits early, write(2) fails and a message says so. */
	signal(SIGPIPE, SIG_IGN);
	return write_output(&x);
}

const struct cmd cmd_export = {
	.name = "export",
	.summary = "write a recording in another tool's format",
	.run = run,
	.options = options,
	.usage = "FORMAT [OPTIONS] [FILE...] -o OUTPUT",
	.text = "Writes a recording in another tool's format.\n",
	.notes = "Formats:\n"
#define EXPORT_FORMAT_AS(name, word, summary, ...) "  " word ": " summary "\n"
#include "export/formats.def"
	,
};
