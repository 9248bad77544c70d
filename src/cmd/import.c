// SPDX-License-Identifier: GPL-2.0-only
/* Makes a recording from another tool's data; a format is a row of the table and its function. */
#include "ui/ui.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "import/fsmb.h"
#include "text.h"

struct import {
	unsigned int format;
	const char *input, *output, *kallsyms, *trace;
	bool quiet, force;
};

static int run_fsmb(const struct import *im)
{
	const struct import_fsmb_opts opts = {
		.map = im->input,
		.kallsyms = im->kallsyms,
		.trace = im->trace,
		.output = im->output,
		.force = im->force,
	};
	struct import_fsmb_result res;

	if (import_fsmb(&opts, &res))
		return CMD_FAILURE;
	if (im->quiet)
		return CMD_OK;
	fprintf(stderr, "%s, %s of them duplicates of another", text__count(res.stacks, "stack").s,
		text__number(res.duplicates).s);
	if (im->kallsyms)
		fprintf(stderr, "; %s of %s named", text__number(res.frames_named).s,
			text__count(res.frames, "frame").s);
	if (im->trace)
		fprintf(stderr, "; %s, %s with a stack", text__count(res.events, "event").s,
			text__number(res.events_with_stack).s);
	if (res.text_stacks)
		fprintf(stderr, "; %s in full in the text",
			text__count(res.text_stacks, "stack").s);
	fputc('\n', stderr);
	return CMD_OK;
}

static const struct import_format {
	const char *name;
	int (*run)(const struct import *im);
} formats[] = {
	{ "fsmb", run_fsmb },
	{ NULL, NULL },
};

/* clang-format off */
static const struct opt options[] = {
	{ "FORMAT", "fsmb: the binary stack map of the proposed ftrace stackmap",
	  OPT_WORD(struct import, format), WORDS_OF(formats) },
	{ "INPUT", NULL, OPT_TEXT(struct import, input) },
	{ "-o, --output FILE", "the recording to write; - is standard output",
	  OPT_TEXT(struct import, output) },
	{ "--kallsyms FILE", "/proc/kallsyms of the kernel that wrote the map",
	  OPT_TEXT(struct import, kallsyms) },
	{ "--trace FILE", "that kernel's trace file, as text", OPT_TEXT(struct import, trace) },
	{ "--force", "replace FILE even if it is a recording", OPT_FLAG(struct import, force) },
	{ "-q, --quiet", "no summary", OPT_FLAG(struct import, quiet) },
	HELP_OPTION
};
/* clang-format on */

/* Standard input can be read once. */
static unsigned int nr_stdin(const struct import *im)
{
	return !strcmp(im->input, "-") + (im->kallsyms && !strcmp(im->kallsyms, "-")) +
	       (im->trace && !strcmp(im->trace, "-"));
}

static int run(int argc, char **argv)
{
	struct import im = { 0 };
	int code = options__parse(&cmd_import, argc, argv, &im);

	if (code)
		return code;
	if (!im.output)
		return ui__usage_error(argv[0], "-o FILE is missing");
	if (nr_stdin(&im) > 1)
		return ui__usage_error(argv[0], "only one input can be standard input");
	/* If the reader exits early, write(2) fails and a message says so. */
	signal(SIGPIPE, SIG_IGN);
	return formats[im.format].run(&im);
}

const struct cmd cmd_import = {
	.name = "import",
	.summary = "make a recording from another tool's data",
	.run = run,
	.options = options,
	.usage = "FORMAT INPUT [OPTIONS] -o FILE",
	.text = "Makes a recording from the output of another tracer.\n",
	.notes = "One of the inputs may be -, standard input.\n",
};
