// SPDX-License-Identifier: GPL-2.0-only
/* stackonce export: write a recording in another tool's format. */
#include "ui/ui.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "cleanup.h"
#include "counting/counting.h"
#include "export/formats.h"
#include "export_pairs.h"
#include "log.h"
#include "ui/reading.h"

struct export
{
	struct reading rd;
	struct counting c;
	unsigned int format;
	const char *output;
	struct pair_kinds pairs;
	bool quiet;
};

/* clang-format off */
static const struct opt options[] = {
	{ "FORMAT", "%s", OPT_WORD(struct export, format), WORDS_OF(export_formats) },
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
	{ "--pairs LIST", "slices: the pairs of these presets, or none (default: all whose events "
	  "the recording has)", OPT_TEXT(struct export, pairs.presets) },
	PAIR_EVENTS_OPTIONS(struct export, pairs.own, PAIR_HIDDEN),
	PAIR_KEY_OPTIONS(struct export, pairs.own, PAIR_HIDDEN),
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

/* -ECANCELED: a message has been printed. */
static int cancel(int err, const struct export *ex)
{
	if (err && err != -ENOENT && err != -ECANCELED)
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
	struct export *ex = ctx;
	int n = ex->pairs.nr ? next_paired(ex, ret_event) :
			       reading__next_selected(&ex->rd, ret_event);

	ex->rd.at_end = n != -ECANCELED;
	return n;
}

static bool has_loss(void *ctx, const struct stk_loss *loss)
{
	struct export *ex = ctx;

	return reading__loss_selected(&ex->rd, loss);
}

/* The stacks of the selected events, for formats that have no events. */
static int count_stacks(void *ctx, struct export_stacks *ret_stacks)
{
	struct export *ex = ctx;
	struct out nothing = { 0 };

	if (counting__run(&ex->c, &nothing) || counting__finish(&ex->c))
		return -ECANCELED;
	counting__stacks(&ex->c, ret_stacks);
	return 0;
}

/* Refuses options that the format has no use for. */
static int check_options(const struct export *ex)
{
	const struct export_format *format = &export_formats[ex->format];
	const struct counting *c = &ex->c;

	if (!ex->output)
		return ui__usage_error(ex->rd.command, "-o OUTPUT is missing");
	if (!format->by && (c->by || c->weigh || c->stacks || c->folding))
		return ui__usage_error(ex->rd.command,
				       "%s does not count stacks: it excludes --by, --weigh, "
				       "--fold, --kernel and --user",
				       format->name);
	if (!format->by && !format->frames && ex->rd.names.inlines)
		return ui__usage_error(ex->rd.command,
				       "%s does not name inlined functions: it excludes --inline",
				       format->name);
	return CMD_OK;
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

static int open_recording(struct export *ex)
{
	const struct export_format *format = &export_formats[ex->format];
	unsigned int want = STK_WANT_EVENTS | (format->wants_fields ? STK_WANT_FIELDS : 0);

	ex->rd.one_boot = !format->boots && !ex->c.by;
	ex->rd.no_notes = true;
	ex->c.by = ex->c.by ?: format->by;
	ex->c.by_event = format->by_event;
	if (format->by)
		want |= counting__wants(&ex->c);
	return reading__open(&ex->rd, want) ?: start_counting(ex);
}

static int write_output(struct export *ex)
{
	struct export_source src = { .is_selection = ex->rd.sel.any,
				     .next = next_event,
				     .has_loss = has_loss,
				     .count = count_stacks,
				     .pairs = ex->pairs.nr ? &ex->pairs.taker : NULL,
				     .ctx = ex,
				     .names = &ex->rd.names };
	const struct export_format *format = &export_formats[ex->format];
	const struct output_opts output = {
		.path = ex->output,
		.inputs = ex->rd.paths,
		.nr_inputs = ex->rd.nr_paths,
		.force = ex->rd.force,
	};
	_cleanup_(strbuf__free) struct strbuf summary = { 0 }, times = { 0 };
	int code;

	code = open_recording(ex);
	if (code)
		return code;
	if (pair_kinds__start(&ex->pairs, &ex->rd)) {
		log_err(-ENOMEM, "match starts and ends");
		return CMD_FAILURE;
	}
	src.reader = ex->rd.reader;
	if (format->run(&src, &output, &summary))
		return CMD_FAILURE;
	if (!ex->quiet && summary.len) {
		selection__put_times(&ex->rd.sel, &times);
		if (times.len)
			strbuf__printf(&summary, ";%s", times.s);
		fprintf(stderr, "%s\n", summary.s);
	}
	return reading__finish(&ex->rd);
}

static int complete_pairs(struct export *ex)
{
	const struct export_format *format = &export_formats[ex->format];
	int code;

	if (!format->takes_pairs)
		return pair_kinds__are_given(&ex->pairs) ?
			       ui__usage_error(ex->rd.command,
					       "%s has no slices: it excludes --pairs, --start, "
					       "--end, --match, --start-if and --single",
					       format->name) :
			       CMD_OK;
	code = pair_kinds__complete(&ex->pairs, ex->rd.command);
	ex->rd.every = ex->pairs.nr;
	return code;
}

static int run(int argc, char **argv)
{
	_cleanup_(export__free) struct export ex = { 0 };
	int code = reading__options(&ex.rd, &cmd_export, argc, argv) ?:
			   check_options(&ex)			     ?:
								       complete_pairs(&ex);

	if (code)
		return code;
	/* If the reader exits early, write(2) fails and a message says so. */
	signal(SIGPIPE, SIG_IGN);
	return write_output(&ex);
}

const struct cmd cmd_export = {
	.name = "export",
	.summary = "write a recording in another tool's format",
	.run = run,
	.options = options,
	.usage = "FORMAT [OPTIONS] [FILE...] -o OUTPUT",
	.text = "Writes a recording in another tool's format.\n",
	.notes = "Formats:\n"
#define EXPORT_FORMAT(name, summary, ...) "  " #name ": " summary "\n"
#include "export/formats.def"
	,
};
