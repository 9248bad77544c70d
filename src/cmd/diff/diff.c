// SPDX-License-Identifier: GPL-2.0-only
/* stackonce diff: what changed between two recordings, and whether it is more than noise. */
#include "diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/stacks/stack_counts.h"
#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "output/output.h"
#include "ui/need.h"

#define MIN_BIN_NS 1000000

static int take_bin(void *into, const struct opt *o, const char *arg)
{
	struct diff_reading *r = into;
	uint64_t ns;

	if (parse__seconds(arg, &ns) || ns < MIN_BIN_NS)
		return -EINVAL;
	r->bin_ns = ns;
	return CMD_OK;
}

static int take_latency(void *into, const struct opt *o, const char *arg)
{
	struct diff_reading *r = into;
	char *comma;

	r->is_latency = true;
	if (!strchr(arg, ','))
		return pair_query__take_preset(&r->l.query, "diff", arg);
	free(r->pair);
	r->pair = strdup(arg);
	if (!r->pair)
		return -ENOMEM;
	comma = strchr(r->pair, ',');
	*comma = '\0';
	r->l.query.start = r->pair;
	r->l.query.end = comma + 1;
	return *r->l.query.start && *r->l.query.end && !strchr(r->l.query.end, ',') ? CMD_OK :
										      -EINVAL;
}

static int take_time_b(void *into, const struct opt *o, const char *arg)
{
	struct diff_reading *r = into;

	if (r->time_b)
		return ui__usage_error("diff", "--time-b can be given once");
	r->time_b = arg;
	return CMD_OK;
}

/* clang-format off */
static const struct opt options[] = {
	{ "A", "the recording to compare with: before the change",
	  OPT_FN(reading__take_path) },
	{ "B", "the recording to compare: after the change",
	  OPT_TEXT(struct diff_reading, second) },
	{ "--per EVENT", "compare the number of events per 'second' (default), per 'event' of the "
	  "same type, or per one of these events", OPT_TEXT(struct diff_reading, per) },
	{ "--by WHAT", "compare by %s: the function anywhere in the stack, or innermost (default "
	  "stack)", OPT_WORD(struct diff_reading, by), WORDS("stack", "function", "self") },
	{ "--latency PAIR", "compare the times between pairs of events: START,END, or a preset as "
	  "for 'stackonce latency'", OPT_FN(take_latency), PRESET_WORDS,
	  .expects = "START,END or the name of a preset" },
	{ "--match LIST", "the key of START and END, see 'stackonce latency'",
	  OPT_TEXT(struct diff_reading, l.query.match) },
	{ "--top N", "print the N largest changes, 0: all (default 10)",
	  OPT_NUMBER(struct diff_reading, top, 0, UINT32_MAX) },
	{ "--all", "print changes that may be noise, too", OPT_FLAG(struct diff_reading, all) },
	{ "--bin SECONDS", "judge noise by parts of this length (default 1)", OPT_FN(take_bin),
	  .expects = "a time of at least 0.001 seconds" },
	{ "--time-b A,B", "the times of B, if they differ from --time",
	  OPT_FN(take_time_b) },
	FLAMEGRAPH_OPTIONS("write a flame graph of B, red and blue where it has more and less"),
	SELECT_OPTIONS("only events",
		       "only these events, separated by commas: 'sched:*,sys_enter_*'"),
	{ "--kernel", "kernel stacks only", OPT_BIT(struct diff_reading, stacks, STACKS_KERNEL) },
	{ "--user", "user stacks only", OPT_BIT(struct diff_reading, stacks, STACKS_USER) },
	FULL_FILES_OPTION,
	NAMES_OPTIONS,
	JSON_OPTION("print one JSON object per recording and per change"),
	HELP_OPTION
};
/* clang-format on */

static void diff_cmd__free(struct diff_cmd *c)
{
	unsigned int i;

	diff__free(c->diff);
	for (i = 0; i < ARRAY_SIZE(c->r); i++) {
		side__clear(&c->r[i].side);
		free(c->r[i].by_types);
		free(c->r[i].pair);
		latency__free(&c->r[i].l);
	}
}

/* ---- options --------------------------------------------------------------------------------- */

/* What --latency cannot be combined with. */
static int check_latency(struct diff_reading *r)
{
	const char *other = r->per		      ? "per" :
			    r->by		      ? "by" :
			    r->all		      ? "all" :
			    r->l.rd.flamegraph	      ? "flamegraph" :
			    r->l.rd.names.full	      ? "full" :
			    r->stacks & STACKS_KERNEL ? "kernel" :
			    r->stacks & STACKS_USER   ? "user" :
							NULL;

	if (!r->is_latency && r->l.query.match)
		return ui__usage_error(r->l.rd.command, "--match needs --latency");
	if (!r->is_latency)
		return CMD_OK;
	if (other)
		return ui__usage_error(r->l.rd.command, "--latency excludes --%s", other);
	return pair_query__complete(&r->l.query, "diff");
}

static int check_options(struct diff_cmd *c)
{
	const struct diff_reading *a = &c->r[0];

	if (!strcmp(a->l.rd.path, "-") && !strcmp(a->second, "-"))
		return ui__usage_error(a->l.rd.command, "only one of the recordings can be '-'");
	c->per = !a->per || !strcmp(a->per, "second") ? DIFF_PER_SECOND :
		 !strcmp(a->per, "event")	      ? DIFF_PER_EVENT :
							DIFF_PER_OTHER;
	return CMD_OK;
}

/* Each recording has its own selection, so each parses the command line. */
static int parse_reading(struct diff_reading *r, int argc, char **argv)
{
	_cleanup_free_ char **words = calloc(argc + 1, sizeof(*words));

	if (!words)
		return CMD_FAILURE;
	memcpy(words, argv, argc * sizeof(*words)); /* parsing moves them */
	*r = (struct diff_reading){ .l = { .rd = { .only_files = true, .every = true } },
				    .top = 10,
				    .bin_ns = 1000000000 };
	return reading__options(&r->l.rd, &cmd_diff, argc, words) ?: check_latency(r);
}

static int parse_options(struct diff_cmd *c, int argc, char **argv)
{
	struct diff_reading *a = &c->r[0], *b = &c->r[1];
	int code = parse_reading(a, argc, argv) ?: check_options(c);

	code = code ?: parse_reading(b, argc, argv);
	if (code)
		return code;
	b->l.rd.path = b->l.rd.paths[0] = b->second;
	if (b->time_b)
		b->l.rd.sel.nr_times = 0;
	if (b->time_b && selection__take_time(&b->l.rd, NULL, b->time_b))
		return ui__usage_error(b->l.rd.command,
				       "--time-b expects A,B with A before B, or A, or ,B, as "
				       "--time does: '%s'",
				       b->time_b);
	if (a->l.rd.sel.nr_times > 1 || b->l.rd.sel.nr_times > 1)
		return ui__usage_error(b->l.rd.command, "--time can be given once");
	selection__complete(&b->l.rd.sel);
	return CMD_OK;
}

/* The flame graph replaces none of the recordings, so it is opened here, not with the first one. */
static int open_recordings(struct diff_cmd *c)
{
	struct reading *a = &c->r[0].l.rd, *b = &c->r[1].l.rd;
	const char *paths[] = { a->path, b->path }, *flamegraph = a->flamegraph;
	const struct output_opts opts = {
		.path = flamegraph, .inputs = paths, .nr_inputs = 2, .force = a->force
	};
	unsigned int want = STK_WANT_EVENTS | (c->r[0].is_latency ? STK_WANT_FIELDS : 0);
	int code;

	a->flamegraph = b->flamegraph = NULL;
	code = reading__open(a, want) ?: reading__open(b, want);
	if (!code && flamegraph && output__open(&opts, &a->picture))
		code = CMD_FAILURE;
	a->flamegraph = flamegraph;
	return code;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool is_by(struct diff_cmd *c, struct diff_reading *r, const struct stk_event *e)
{
	const struct stk_event_type *t = stk_event__type(e);
	unsigned int i = stk_event_type__index(t);

	if (c->per != DIFF_PER_OTHER ||
	    !selection__has_time(&r->l.rd.sel, stk_event__ts(e), stk_event__ts(e)))
		return false;
	if (array__reach(&r->by_types, i, &r->nr_by_types))
		return selection__keep(&r->l.rd.sel, -ENOMEM);
	if (!r->by_types[i])
		r->by_types[i] =
			selection__keep(&r->l.rd.sel, event__matches(r->l.rd.reader, r->per, t)) ?
				1 :
				2;
	return r->by_types[i] == 1;
}

static int count_event(struct diff_cmd *c, struct diff_reading *r, const struct stk_event *e)
{
	int err = side__add(&r->side, e, reading__selected(&r->l.rd, e), is_by(c, r, e));

	if (err || !charge__is_due(&r->charge))
		return err;
	return charge(&r->charge, r->l.rd.reader, side__memory(&r->side), 0);
}

static int count_events(struct diff_cmd *c, struct diff_reading *r)
{
	const struct selection *sel = &r->l.rd.sel;
	const struct stk_event *e;
	bool more;
	int err = 0;

	/* Times that refer to the recording are known from its first event on. */
	more = reading__next(&r->l.rd, &c->out, NULL, NULL, &e);
	side__init(&r->side, r->l.rd.reader, r->stacks ?: STACKS_KERNEL | STACKS_USER,
		   sel->nr_times ? sel->times[0].from : 0,
		   sel->nr_times ? sel->times[0].to : UINT64_MAX, r->bin_ns);
	while (more && !err) {
		err = count_event(c, r, e);
		more = reading__next(&r->l.rd, &c->out, NULL, NULL, &e);
	}
	side__finish(&r->side);
	return err ? log_err(err, "count the stacks of '%s'", r->l.rd.path) : 0;
}

/* Both recordings must have the events that the others are divided by. */
static int check_per(struct diff_cmd *c)
{
	const char *globs[] = { c->r[0].per, NULL };

	if (c->per != DIFF_PER_OTHER)
		return 0;
	return need__counted(&c->r[0].l.rd, globs, NULL) ||
			       need__counted(&c->r[1].l.rd, globs, NULL) ?
		       -ENOENT :
		       0;
}

static int compare(struct diff_cmd *c)
{
	const struct diff_opts opts = { .per = c->per, .by = c->r[0].by };
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(c->r) && !err; i++)
		err = count_events(c, &c->r[i]);
	err = err ?: check_per(c);
	if (err)
		return err;
	err = diff__new(&c->r[0].side, &c->r[1].side, &opts, &c->diff);
	return err ? log_err(err, "compare '%s' with '%s'", c->r[0].l.rd.path, c->r[1].l.rd.path) :
		     0;
}

/* ---- what is compared how -------------------------------------------------------------------- */

static void warn_one_sided(struct diff_cmd *c, unsigned int which)
{
	_cleanup_(strbuf__free) struct strbuf names = { 0 };
	unsigned int side;
	const char *name;
	uint32_t at = 0;

	while ((name = diff__one_sided(c->diff, &at, &side)))
		if (side == which)
			strbuf__printf(&names, "%s%s", names.len ? ", " : "", name);
	if (names.len)
		log_warn("not compared, since only '%s' has these events: %s",
			 c->r[which].l.rd.path, names.s);
}

static int put_answer(struct diff_cmd *c)
{
	const struct reading *rd = &c->r[0].l.rd;

	warn_one_sided(c, 0);
	warn_one_sided(c, 1);
	/* The flame graph may go to standard output instead. */
	if (rd->flamegraph && !strcmp(rd->flamegraph, "-"))
		;
	else if (rd->json)
		diff__put_json(c);
	else
		diff__put_text(c);
	return rd->flamegraph ? diff__put_flames(c) : CMD_OK;
}

static int run(int argc, char **argv)
{
	_cleanup_(diff_cmd__free) struct diff_cmd c = { 0 };
	int code;

	code = parse_options(&c, argc, argv) ?: open_recordings(&c);
	if (code)
		return code;
	out__open(&c.out, true);
	if (c.r[0].is_latency)
		code = diff__latency(&c);
	else
		code = compare(&c) ? CMD_FAILURE : put_answer(&c);
	code = reading__finish(&c.r[0].l.rd) ?: code;
	code = reading__finish(&c.r[1].l.rd) ?: code;
	return out__close(&c.out, code);
}

const struct cmd cmd_diff = {
	.name = "diff",
	.summary = "what changed between two recordings, and what is only noise",
	.run = run,
	.options = options,
	.usage = "[OPTIONS] A B\n"
		 "       stackonce diff --latency PAIR [OPTIONS] A B",
	.text = "Compares how often each call stack, or each function, occurs in two recordings,\n"
		"and marks the changes that are larger than the noise within each of them.\n",
};
