// SPDX-License-Identifier: GPL-2.0-only
/* Make a recording of another tool's data; a format is a row of the table and its function. */
#include "ui/ui.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "import/fsmb.h"

static const char help[] =
	"Usage: stackonce import FORMAT INPUT [OPTIONS] -o FILE\n"
	"Makes a recording of what another tracer wrote.\n"
	"\n"
	"  fsmb                 the binary stack map of the proposed ftrace stackmap\n"
	"\n"
	"  -o, --output FILE    the recording to write, - is standard output\n"
	"      --kallsyms FILE  /proc/kallsyms of the kernel that wrote the map\n"
	"      --trace FILE     the text of that kernel's trace file\n"
	"      --force          even where FILE is a recording\n"
	"  -q, --quiet          no summary\n"
	"  -h, --help           this text\n"
	"\n"
	"One of the inputs may be -, standard input.\n";

enum { OPT_KALLSYMS = 0x100, OPT_TRACE, OPT_FORCE };

static const struct option longopts[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "kallsyms", required_argument, NULL, OPT_KALLSYMS },
	{ "trace", required_argument, NULL, OPT_TRACE },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct import {
	const char *format, *input, *output, *kallsyms, *trace;
	bool quiet, help, force;
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
	fprintf(stderr, "%u stacks, %u of them duplicates of another", res.stacks, res.duplicates);
	if (im->kallsyms)
		fprintf(stderr, "; %" PRIu64 " of %" PRIu64 " addresses named", res.frames_named,
			res.frames);
	if (im->trace)
		fprintf(stderr, "; %" PRIu64 " events, %" PRIu64 " with a stack", res.events,
			res.events_with_stack);
	fputc('\n', stderr);
	return CMD_OK;
}

static const struct import_format {
	const char *name;
	int (*run)(const struct import *im);
} formats[] = {
	{ "fsmb", run_fsmb },
};

static int parse_options(struct import *im, int argc, char **argv)
{
	int c;

	while ((c = cmd__getopt(argc, argv, "o:qh", longopts)) != -1) {
		switch (c) {
		case 'h':
			im->help = true;
			return CMD_OK;
		case 'o':
			im->output = optarg;
			break;
		case 'q':
			im->quiet = true;
			break;
		case OPT_KALLSYMS:
			im->kallsyms = optarg;
			break;
		case OPT_TRACE:
			im->trace = optarg;
			break;
		case OPT_FORCE:
			im->force = true;
			break;
		default:
			return CMD_USAGE;
		}
	}
	if (argc - optind > 2)
		return cmd__usage_error(argv[0], "'%s' is not expected here", argv[optind + 2]);
	im->format = argv[optind];
	im->input = im->format ? argv[optind + 1] : NULL;
	return CMD_OK;
}

/* Standard input can be read once. */
static unsigned int nr_stdin(const struct import *im)
{
	return (im->input && !strcmp(im->input, "-")) +
	       (im->kallsyms && !strcmp(im->kallsyms, "-")) + (im->trace && !strcmp(im->trace, "-"));
}

int cmd_import(int argc, char **argv)
{
	struct import im = { 0 };
	size_t i;
	int code;

	code = parse_options(&im, argc, argv);
	if (code)
		return code;
	if (im.help)
		return cmd__print(help);
	if (!im.format)
		return cmd__usage_error(argv[0], "no format given");
	for (i = 0; i < ARRAY_SIZE(formats) && strcmp(formats[i].name, im.format); i++)
		;
	if (i == ARRAY_SIZE(formats))
		return cmd__usage_error(argv[0], "unknown format '%s'", im.format);
	if (!im.input)
		return cmd__usage_error(argv[0], "no input given");
	if (!im.output)
		return cmd__usage_error(argv[0], "-o FILE is missing");
	if (nr_stdin(&im) > 1)
		return cmd__usage_error(argv[0], "standard input can be one input only");
	/* A reader that goes away is an error of write(2) then, with a message. */
	signal(SIGPIPE, SIG_IGN);
	return formats[i].run(&im);
}
