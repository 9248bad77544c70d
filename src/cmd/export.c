// SPDX-License-Identifier: GPL-2.0-only
/* Write a recording in another tool's form; a format is a row of the table and its function. */
#include "ui/ui.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "export/fsmb.h"
#include "log.h"
#include "ui/reading.h"

struct export
{
	struct reading rd;
	unsigned int format;
	const char *output;
	bool quiet;
};

static int run_fsmb(struct export *ex)
{
	const struct output_opts output = {
		.path = ex->output, .inputs = &ex->rd.path, .nr_inputs = 1, .force = ex->rd.force
	};
	struct export_fsmb_result res;
	int code;

	code = reading__open(&ex->rd, STK_WANT_EVENTS);
	if (code)
		return code;
	if (export_fsmb(ex->rd.reader, &output, &res))
		return CMD_FAILURE;
	if (res.skipped)
		log_warn("%u stacks are not the kernel's: left out", res.skipped);
	if (res.refs_cut)
		log_warn("%" PRIu64 " stacks have more references than 32 bits hold", res.refs_cut);
	if (!ex->quiet)
		fprintf(stderr, "%u stacks\n", res.stacks);
	ex->rd.at_end = true;
	return reading__finish(&ex->rd);
}

static const struct export_format {
	const char *name;
	int (*run)(struct export *ex);
} formats[] = {
	{ "fsmb", run_fsmb },
	{ NULL, NULL },
};

/* clang-format off */
static const struct opt options[] = {
	{ "FORMAT", "fsmb: the binary stack map of the proposed ftrace stackmap",
	  OPT_WORD(struct export, format), WORDS_OF(formats) },
	READING_OPTIONS(struct export, rd, A_RECORDING),
	{ "-o, --output OUTPUT", "the file to write, - is standard output",
	  OPT_TEXT(struct export, output) },
	FORCE_OPTION("even where OUTPUT is a recording"),
	{ "-q, --quiet", "no summary", OPT_FLAG(struct export, quiet) },
	HELP_OPTION
};
/* clang-format on */

static void export__free(struct export *ex)
{
	reading__free(&ex->rd);
}

static int run(int argc, char **argv)
{
	_cleanup_(export__free) struct export ex = { 0 };
	int code = reading__options(&ex.rd, &cmd_export, argc, argv);

	if (code)
		return code;
	if (!ex.output)
		return cmd__usage_error(argv[0], "-o OUTPUT is missing");
	/* A reader that goes away is an error of write(2) then, with a message. */
	signal(SIGPIPE, SIG_IGN);
	return formats[ex.format].run(&ex);
}

const struct cmd cmd_export = {
	.name = "export",
	.summary = "write a recording in another tool's form",
	.run = run,
	.options = options,
	.usage = "FORMAT [OPTIONS] [FILE] -o OUTPUT",
	.text = "Writes a recording in another tool's form.\n",
};
