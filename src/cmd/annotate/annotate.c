// SPDX-License-Identifier: GPL-2.0-only
/* stackonce annotate: the events of one function by source line or instruction. */
#include "annotate.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "log.h"

enum { ANNOTATE_KERNEL = 1u << 0, ANNOTATE_USER = 1u << 1 };

/* The last operand is FUNCTION, those before it are FILEs. */
static int take_word(void *into, const struct opt *o, const char *arg)
{
	struct annotated *an = into;
	int err = an->function ? reading__take_path(an, o, an->function) : 0;

	an->function = arg;
	return err;
}

/* clang-format off */
static const struct opt options[] = {
	{ "-i, --input FILE", A_RECORDING, OPT_FN(reading__take_path) },
	{ "[FILE...]", NULL, OPT_FN(take_word) },
	{ "--by BY", "list by %s (default line, if source lines are known)",
	  OPT_WORD(struct annotated, by), WORDS("line", "insn") },
	{ "--children", "count the events with a frame of the function anywhere in a stack",
	  OPT_FLAG(struct annotated, children) },
	{ "--inline", "print the functions inlined in each line below it",
	  OPT_FLAG(struct reading, names.inlines) },
	SELECT_OPTIONS("only events",
		       "only these events, separated by commas: 'sched:*,sys_enter_*'"),
	{ "--kernel", "kernel stacks only", OPT_BIT(struct annotated, stacks, ANNOTATE_KERNEL) },
	{ "--user", "user stacks only: the innermost frame is that of the program",
	  OPT_BIT(struct annotated, stacks, ANNOTATE_USER) },
	NAMES_OPTIONS,
	JSON_OPTION("print one JSON object for the function, and one per line or instruction"),
	HELP_OPTION
};
/* clang-format on */

static void annotated__free(struct annotated *an)
{
	annotate__free(an->annotate);
	reading__free(&an->rd);
}

static int check_operands(struct annotated *an)
{
	an->inlines = an->rd.names.inlines;
	if (an->inlines && an->by == ANNOTATE_BY_INSN)
		return ui__usage_error(an->rd.command, "--inline is about source lines: it "
						       "excludes --by insn");
	if (!an->function)
		return ui__usage_error(an->rd.command, "FUNCTION is missing");
	if (an->rd.is_default && strcmp(an->rd.path, "-") && access(an->rd.path, F_OK) &&
	    !access(an->function, F_OK))
		return ui__usage_error(an->rd.command, "FUNCTION is missing: '%s' is a file",
				       an->function);
	return CMD_OK;
}

static bool matches(void *ctx, const struct stk_frame *f)
{
	return function_name__matches(ctx, f);
}

/* Says why nothing can be shown; returns an error. */
static int no_function(const struct annotated *an, const struct annotate_function *functions,
		       unsigned int nr)
{
	bool is_file = !access(an->function, F_OK);
	uint64_t all = 0, in_user = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		all += functions[i].sum.all;
		in_user += functions[i].frame.kind == STK_FRAME_USER;
	}
	if (all)
		return log_why(
			-ENOENT,
			"no event has its innermost frame in '%s', which is elsewhere in the "
			"stacks of %s: see --children%s",
			an->function, text__count(all, "event").s,
			in_user && !an->stacks ? " or --user" : "");
	if (!annotate__events(an->annotate))
		return log_why(-ENOENT, "'%s' has no %s", an->rd.path,
			       an->rd.sel.any ? "event that the options select" : "events");
	return log_why(-ENOENT,
		       "no stack of %s has a function '%s': 'stackonce report "
		       "--tree=callees' shows which functions there are%s",
		       text__count(annotate__events(an->annotate), "event").s, an->function,
		       is_file ? " (a file has this name: give FILE FUNCTION)" : "");
}

/* The number of functions that have events to show; they come first. */
static unsigned int nr_shown(const struct annotated *an, const struct annotate_function *functions,
			     unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr && annotated__count(an, &functions[i].sum); i++)
		;
	return i;
}

static int put_functions(struct annotated *an)
{
	const struct annotate_function *functions;
	unsigned int nr, shown;
	int err;

	err = annotate__finish(an->annotate, matches, an, &functions, &nr);
	if (err)
		return log_err(err, "look for '%s' in the stacks", an->function);
	shown = nr_shown(an, functions, nr);
	if (!shown)
		return no_function(an, functions, nr);
	if (shown == 1)
		return annotate__put(an, &functions[0]);
	annotate__put_candidates(an, functions, shown);
	return log_why(-EINVAL, "'%s' is the name of %u functions: give one of those listed",
		       an->function, shown);
}

static int run(int argc, char **argv)
{
	_cleanup_(annotated__free) struct annotated an = { .by = ANNOTATE_BY_DEFAULT };
	const struct stk_event *e;
	bool both;
	int code, err;

	code = reading__options(&an.rd, &cmd_annotate, argc, argv);
	code = code ?: check_operands(&an);
	an.rd.names.inlines = an.by != ANNOTATE_BY_INSN && !an.rd.names.no_symbols;
	code = code ?: reading__open(&an.rd, STK_WANT_EVENTS);
	if (code)
		return code;
	out__open(&an.out, true);
	both = !an.stacks;
	err = annotate__new(an.rd.reader, both || an.stacks & ANNOTATE_KERNEL,
			    both || an.stacks & ANNOTATE_USER, &an.annotate);
	while (!err && reading__next(&an.rd, &an.out, NULL, NULL, &e))
		err = annotate__add(an.annotate, e);
	if (err)
		log_err(err, "count the stacks");
	else
		err = put_functions(&an);
	return out__close(&an.out, err ? CMD_FAILURE : reading__finish(&an.rd));
}

const struct cmd cmd_annotate = {
	.name = "annotate",
	.summary = "the events of one function, by source line or instruction",
	.run = run,
	.options = options,
	.usage = "[OPTIONS] [FILE...] FUNCTION",
	.text = "Prints where in FUNCTION events happened, by source line or instruction.\n",
	.notes = "FUNCTION is NAME, or NAME@PLACE if several have that name: PLACE is a kernel\n"
		 "module, 'kernel', or the path or name of a file.\n",
};
