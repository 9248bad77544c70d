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

static const char help[] =
	"Usage: stackonce export FORMAT [OPTIONS] [FILE] -o OUTPUT\n"
	"Writes a recording in another tool's form (FILE: trace.stk unless given).\n"
	"\n"
	"  fsmb                 the binary stack map of the proposed ftrace stackmap\n"
	"\n"
	"  -o, --output OUTPUT  the file to write, - is standard output\n"
	"      --force          even where OUTPUT is a recording\n"
	"  -q, --quiet          no summary\n"
	"  -h, --help           this text\n";

static const struct option longopts[] = {
	{ "output", required_argument, NULL, 'o' },
	FORCE_OPTION,
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct export
{
	struct reading rd;
	const char *format, *output;
	bool quiet, help;
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
};

static int parse_options(struct export *ex, int argc, char **argv)
{
	int c;

	while ((c = cmd__getopt(argc, argv, "o:qh", longopts)) != -1) {
		switch (c) {
		case 'h':
			ex->help = true;
			return CMD_OK;
		case 'o':
			ex->output = optarg;
			break;
		case 'q':
			ex->quiet = true;
			break;
		case OPT_FORCE:
			ex->rd.force = true;
			break;
		default:
			return CMD_USAGE;
		}
	}
	ex->format = argv[optind];
	if (!ex->format)
		return cmd__usage_error(argv[0], "no format given");
	optind++;
	return reading__file(&ex->rd, argc, argv);
}

static void export__free(struct export *ex)
{
	reading__free(&ex->rd);
}

int cmd_export(int argc, char **argv)
{
	_cleanup_(export__free) struct export ex = { .rd.command = argv[0] };
	size_t i;
	int code;

	code = parse_options(&ex, argc, argv);
	if (code)
		return code;
	if (ex.help)
		return cmd__print(help);
	for (i = 0; i < ARRAY_SIZE(formats) && strcmp(formats[i].name, ex.format); i++)
		;
	if (i == ARRAY_SIZE(formats))
		return cmd__usage_error(argv[0], "unknown format '%s'", ex.format);
	if (!ex.output)
		return cmd__usage_error(argv[0], "-o OUTPUT is missing");
	/* A reader that goes away is an error of write(2) then, with a message. */
	signal(SIGPIPE, SIG_IGN);
	return formats[i].run(&ex);
}
