// SPDX-License-Identifier: GPL-2.0-only
/* Prints every event in time order, in the format of ftrace's trace file or as JSON. */
#include "script.h"

#include <string.h>

#include "cleanup.h"
#include "ui/frames.h"
#include "ui/need.h"

/* clang-format off */
static const struct opt options[] = {
	READING_OPTIONS(struct script, rd, A_RECORDING),
	SELECT_OPTIONS("only events",
		       "only these events, separated by commas: 'sched:*,sys_enter_*'"),
	{ "--fields LIST", "print these columns: %s; or an event field by its name",
	  OPT_FN(script__take_fields), .expects = "a list of columns",
	  WORDS_OF(script_column_names) },
	{ "--ns", "print times with nine decimals", OPT_FLAG(struct script, ns) },
	{ "--no-stacks", "do not print call stacks", OPT_FLAG(struct script, no_stacks) },
	{ "--no-header", "do not print the lines that explain the columns",
	  OPT_FLAG(struct script, no_header) },
	{ "--ids", "print stack ids, and user frames as offset and hash of the file",
	  OPT_FLAG(struct script, ids) },
	FULL_FILES_OPTION,
	INLINE_OPTION,
	NAMES_OPTIONS,
	FOLLOW_OPTION("wait for new events while the recording is in progress"),
	JSON_OPTION("one JSON object per event"),
	{ "--stacks", "with --json: print each stack before its first event",
	  OPT_FLAG(struct script, stacks_too) },
	HELP_OPTION
};
/* clang-format on */

static int parse_options(struct script *s, int argc, char **argv)
{
	int code = reading__options(&s->rd, &cmd_script, argc, argv);

	s->rd.no_notes = s->no_header;
	if (!code && s->stacks_too && !s->rd.json)
		return ui__usage_error(argv[0],
				       "--stacks needs --json; text has the stacks anyway");
	if (!code && s->ids && s->rd.names.full)
		return ui__usage_error(argv[0], "--ids prints user frames with the hash of their "
						"file, --full with its path: give one of them");
	return code;
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

/* At the first event, when the event types are known. */
static int begin(struct script *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_columns; i++)
		if (s->columns[i].kind == COL_FIELD && need__field(&s->rd, s->columns[i].name))
			return CMD_FAILURE;
	if (!s->rd.json && !s->no_header)
		put_header(s);
	return CMD_OK;
}

static int put_events(struct script *s)
{
	const struct stk_event *e;
	bool begun = false;
	int code = CMD_OK;

	out__open(&s->out, !s->rd.follow);
	while (!code && reading__next(&s->rd, &s->out, NULL, NULL, &e)) {
		if (!begun) {
			begun = true;
			code = begin(s);
			if (code)
				break;
		}
		script__losses(s, stk_event__ts(e));
		if (s->rd.json)
			script__json(s, e);
		else if (s->nr_columns)
			script__columns(s, e);
		else
			script__line(s, e);
	}
	if (!begun && !s->rd.code && !s->rd.sel.has_events) /* there may be no such event */
		code = begin(s);
	if (s->rd.at_end)
		script__losses(s, UINT64_MAX);
	script__warn_uncompiled(s);
	return out__close(&s->out, reading__finish(&s->rd) ?: code);
}

static int run(int argc, char **argv)
{
	_cleanup_(script__free) struct script s = { 0 };
	int code;

	code = parse_options(&s, argc, argv) ?:
		       reading__open(&s.rd, STK_WANT_EVENTS | STK_WANT_FIELDS);
	if (code)
		return code;
	script__start(&s);
	return put_events(&s);
}

const struct cmd cmd_script = {
	.name = "script",
	.summary = "print every event in time order, with fields and stack",
	.run = run,
	.options = options,
	.text = "Prints every event of a recording in time order, with fields and call stack.\n",
};
