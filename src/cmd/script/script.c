// SPDX-License-Identifier: GPL-2.0-only
/* Every event in time order, in the look of ftrace's trace file or as JSON. */
#include "script.h"

#include <string.h>

#include "cleanup.h"
#include "ui/frames.h"

/* clang-format off */
static const char help[] =
	"Usage: stackonce script [OPTIONS] [FILE]\n"
	"Prints every event of a recording in time order, with fields and call stack.\n"
	"\n"
	"  -i, --input FILE     the recording (default trace.stk, - is standard input)\n"
	SELECT_HELP
	"      --fields LIST    these columns: comm,pid,tid,cpu,flags,time,event,fields,\n"
	"                       kstack,ustack or the name of an event's field\n"
	"      --ns             times with nine decimals\n"
	"      --no-stacks      without call stacks\n"
	"      --no-header      without the lines that explain the columns\n"
	"      --ids            ids of stacks, and user frames as offset and file's hash\n"
	"      --inline         user functions that were inlined, and source lines\n"
	NAMES_HELP
	"      --follow         wait for more of a recording in progress\n"
	"      --json           one JSON object per event\n"
	"      --stacks         with --json: each stack before its first event\n"
	"  -h, --help           this text\n";
/* clang-format on */

enum { OPT_FIELDS = OPT_OWN, OPT_NS, OPT_NO_STACKS, OPT_NO_HEADER, OPT_IDS, OPT_STACKS };

static const struct option longopts[] = {
	READING_OPTIONS,
	FOLLOW_OPTION,
	SELECT_OPTIONS,
	NAMES_OPTIONS,
	INLINE_OPTION,
	{ "fields", required_argument, NULL, OPT_FIELDS },
	{ "ns", no_argument, NULL, OPT_NS },
	{ "no-stacks", no_argument, NULL, OPT_NO_STACKS },
	{ "no-header", no_argument, NULL, OPT_NO_HEADER },
	{ "ids", no_argument, NULL, OPT_IDS },
	{ "stacks", no_argument, NULL, OPT_STACKS },
	{ 0 },
};

static int take_option(void *ctx, int c, const char *arg)
{
	struct script *s = ctx;

	switch (c) {
	case OPT_FIELDS:
		if (script__parse_fields(s, arg))
			return cmd__usage_error(s->rd.command, "--fields: '%s' is not a list", arg);
		return CMD_OK;
	case OPT_NS:
		s->ns = true;
		return CMD_OK;
	case OPT_NO_STACKS:
		s->no_stacks = true;
		return CMD_OK;
	case OPT_NO_HEADER:
		s->no_header = true;
		return CMD_OK;
	case OPT_IDS:
		s->ids = true;
		return CMD_OK;
	case OPT_STACKS:
		s->stacks_too = true;
		return CMD_OK;
	default:
		return reading__option(&s->rd, c, arg);
	}
}

static int parse_options(struct script *s, int argc, char **argv)
{
	int code = reading__options(&s->rd, argc, argv, "i:h", longopts, take_option, s);

	if (code || s->rd.help)
		return code;
	if (s->stacks_too && !s->rd.json)
		return cmd__usage_error(argv[0], "--stacks is for --json; text has them already");
	return reading__file(&s->rd, argc, argv);
}

static void put_header(struct script *s)
{
	struct strbuf *b = &s->out.b;

	if (s->nr_columns) {
		unsigned int i;

		strbuf__puts(b, "#");
		for (i = 0; i < s->nr_columns; i++) {
			strbuf__putc(b, ' ');
			strbuf__text(b, s->columns[i].name);
		}
		strbuf__putc(b, '\n');
		return;
	}
	strbuf__puts(b, "# tracer: stackonce\n"
			"#\n"
			"#                                _-----=> irqs-off/BH-disabled\n"
			"#                               / _----=> need-resched\n"
			"#                              | / _---=> hardirq/softirq\n"
			"#                              || / _--=> preempt-depth\n"
			"#                              ||| / _-=> migrate-disable\n"
			"#                              |||| /     delay\n"
			"#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
			"#              | |         |   |||||     |         |\n");
}

static int run(struct script *s)
{
	const struct stk_event *e;

	out__open(&s->out, !s->rd.follow);
	if (!s->rd.json && !s->no_header)
		put_header(s);
	while (reading__next(&s->rd, &s->out, NULL, NULL, &e)) {
		script__losses(s, stk_event__ts(e));
		if (s->rd.json)
			script__json(s, e);
		else if (s->nr_columns)
			script__columns(s, e);
		else
			script__line(s, e);
	}
	if (s->rd.at_end)
		script__losses(s, UINT64_MAX);
	script__warn_uncompiled(s);
	return out__close(&s->out, reading__finish(&s->rd));
}

int cmd_script(int argc, char **argv)
{
	_cleanup_(script__free) struct script s = { .rd.command = argv[0] };
	int code;

	code = parse_options(&s, argc, argv);
	if (code)
		return code;
	if (s.rd.help)
		return cmd__print(help);
	code = reading__open(&s.rd, STK_WANT_EVENTS | STK_WANT_FIELDS);
	if (code)
		return code;
	script__start(&s);
	return run(&s);
}
