// SPDX-License-Identifier: GPL-2.0-only
/* stackonce export: write a recording in another tool's format. */
#include "ui/ui.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "cleanup.h"
#include "export/formats.h"
#include "ui/reading.h"

struct export
{
	struct reading rd;
	unsigned int format;
	const char *output;
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
	{ "-q, --quiet", "no summary", OPT_FLAG(struct export, quiet) },
	HELP_OPTION
};
/* clang-format on */

static void export__free(struct export *ex)
{
	reading__free(&ex->rd);
}

static int next_event(void *ctx, const struct stk_event **ret_event)
{
	struct export *ex = ctx;
	int n = reading__next_selected(&ex->rd, ret_event);

	ex->rd.at_end = n != -ECANCELED;
	return n;
}

static bool has_loss(void *ctx, const struct stk_loss *loss)
{
	struct export *ex = ctx;

	return reading__loss_selected(&ex->rd, loss);
}

static const char *function(void *ctx, const char *sym)
{
	struct export *ex = ctx;

	return user_names__function(&ex->rd.names, sym);
}

static int write_output(struct export *ex)
{
	struct export_source src = { .is_selection = ex->rd.sel.any,
				     .next = next_event,
				     .has_loss = has_loss,
				     .function = function,
				     .ctx = ex };
	const struct export_format *format = &export_formats[ex->format];
	const struct output_opts output = {
		.path = ex->output,
		.inputs = ex->rd.paths,
		.nr_inputs = ex->rd.nr_paths,
		.force = ex->rd.force,
	};
	_cleanup_(strbuf__free) struct strbuf summary = { 0 }, times = { 0 };
	int code;

	code = reading__open(&ex->rd,
			     STK_WANT_EVENTS | (format->wants_fields ? STK_WANT_FIELDS : 0));
	if (code)
		return code;
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

static int run(int argc, char **argv)
{
	_cleanup_(export__free) struct export ex = { .rd.one_boot = true };
	int code = reading__options(&ex.rd, &cmd_export, argc, argv);

	if (code)
		return code;
	if (!ex.output)
		return ui__usage_error(argv[0], "-o OUTPUT is missing");
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
