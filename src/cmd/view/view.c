// SPDX-License-Identifier: GPL-2.0-only
/* stackonce view: a page of HTML on which a recording can be looked at. */
#include "ui/ui.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "output/output.h"
#include "text.h"
#include "ui/pairs/pair_kinds.h"
#include "ui/reading.h"
#include "view/data.h"
#include "view/page.h"
#include "view/template.h"
#include "view_perfetto.h"
#include "view_text.h"

struct view {
	struct reading rd;
	struct pair_kinds pairs;
	const char *output;
	bool quiet, no_perfetto;
	char *name; /* of the output if none is given */
	struct output *file;
	struct view_data *data;
	/* of the head */
	struct strbuf selection, command, command_all;
	struct strbuf perfetto;
	struct view_pair_kind *kinds;
	char **notes;
	unsigned int nr_notes;
	bool has_times; /* they are known, after the first event */
};

/* clang-format off */
static const struct opt options[] = {
	READING_OPTIONS(struct view, rd, A_RECORDING),
	{ "-o, --output OUTPUT", "the page to write (default: the name of FILE with .html, here)",
	  OPT_TEXT(struct view, output) },
	FORCE_OPTION("replace OUTPUT even if it is a recording"),
	SELECT_OPTIONS("only events", "only these events, separated by commas"),
	NAMES_OPTIONS,
	{ "--pairs LIST", "the pairs of these presets and offcpu, or none (default: all)",
	  OPT_TEXT(struct view, pairs.presets) },
	PAIR_EVENTS_OPTIONS(struct view, pairs.own, PAIR_HIDDEN),
	PAIR_KEY_OPTIONS(struct view, pairs.own, PAIR_HIDDEN),
	{ "--no-perfetto", "no trace for Perfetto in the page",
	  OPT_FLAG(struct view, no_perfetto) },
	{ "-q, --quiet", "do not print what was written", OPT_FLAG(struct view, quiet) },
	HELP_OPTION
};
/* clang-format on */

static void view__free(struct view *v)
{
	unsigned int i;

	view_data__free(v->data);
	output__free(v->file);
	free(v->name);
	strbuf__free(&v->selection);
	strbuf__free(&v->command);
	strbuf__free(&v->command_all);
	strbuf__free(&v->perfetto);
	free(v->kinds);
	for (i = 0; i < v->nr_notes; i++)
		free(v->notes[i]);
	free(v->notes);
	pair_kinds__free(&v->pairs);
	reading__free(&v->rd);
}

/* ---- the output ------------------------------------------------------------------------------ */

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "trace.html" of a/b/trace.stk, in the current directory. */
static int name_output(struct view *v)
{
	const char *path = strcmp(v->rd.paths[0], "-") ? v->rd.paths[0] : "trace";
	const char *name = last_component(path), *end = strrchr(name, '.');
	size_t len =
		end && end > name && !strcmp(end, ".stk") ? (size_t)(end - name) : strlen(name);

	if (v->output)
		return CMD_OK;
	if (asprintf(&v->name, "%.*s.html", (int)len, name) < 0) {
		v->name = NULL;
		log_err(-ENOMEM, "name the page");
		return CMD_FAILURE;
	}
	v->output = v->name;
	return CMD_OK;
}

static int open_output(struct view *v)
{
	const struct output_opts opts = {
		.path = v->output,
		.inputs = v->rd.paths,
		.nr_inputs = v->rd.nr_paths,
		.force = v->rd.force,
	};

	return output__open(&opts, &v->file) ? CMD_FAILURE : CMD_OK;
}

/* ---- the head of the data -------------------------------------------------------------------- */

static int __attribute__((format(printf, 2, 3))) note(struct view *v, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	if (array__append(&v->notes, &v->nr_notes, text)) {
		free(text);
		return -ENOMEM;
	}
	return 0;
}

/* What the page lacks, though the options ask for it. */
static int note_what_is_missing(struct view *v)
{
	struct stk_totals totals;
	unsigned int i;
	int err = 0;

	stk_reader__totals(v->rd.reader, &totals);
	if (v->rd.error)
		err = note(v, "the recording is damaged: what is behind the damage is missing");
	else if (totals.bad_blocks)
		err = note(v, "%" PRIu64 " damaged block%s of the recording left out",
			   totals.bad_blocks, totals.bad_blocks == 1 ? "" : "s");
	else if (!totals.clean_end)
		err = note(v, "the recording has no end: its last events may be missing");
	if (!err && stk_reader__nr_boots(v->rd.reader) > 1)
		err = note(v, "there are no pairs, as the recordings are of several boots");
	for (i = 0; i < v->pairs.nr && !err; i++) {
		uint64_t gaps = pair_kinds__gaps(&v->pairs, i);

		if (gaps)
			err = note(v,
				   "%" PRIu64 " pair%s of %s left out, as events may be missing in "
				   "between",
				   gaps, gaps == 1 ? "" : "s", pair_kinds__name(&v->pairs, i));
	}
	return err;
}

static int describe_pairs(struct view *v)
{
	unsigned int i;

	v->kinds = calloc(v->pairs.nr + 1ul, sizeof(*v->kinds));
	for (i = 0; i < v->pairs.nr && v->kinds; i++)
		v->kinds[i] = (struct view_pair_kind){
			.name = pair_kinds__name(&v->pairs, i),
			.description = pair_kinds__summary(&v->pairs, i),
			.group = pair_kinds__by(&v->pairs, i),
		};
	return v->kinds ? 0 : -ENOMEM;
}

/* The command that makes a trace for Perfetto of the same. */
static void put_command(struct view *v, struct strbuf *b, bool has_times)
{
	unsigned int i;

	strbuf__puts(b, "stackonce export perfetto");
	view_text__put_selection(b, &v->rd.sel, has_times);
	view_text__put_pairs(b, &v->pairs);
	view_text__put_names(b, &v->rd.names);
	for (i = 0; i < v->rd.nr_paths; i++)
		view_text__put_word(b, v->rd.paths[i]);
	strbuf__puts(b, " -o trace.pftrace");
}

static int put_texts(struct view *v)
{
	view_text__put_selection(&v->selection, &v->rd.sel, true);
	put_command(v, &v->command, false);
	put_command(v, &v->command_all, true);
	return strbuf__failed(&v->selection) || strbuf__failed(&v->command) ||
			       strbuf__failed(&v->command_all) ?
		       -ENOMEM :
		       0;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The page on standard output has the line after it on standard error. */
static void say_what_was_written(const struct view *v, uint64_t bytes)
{
	bool is_stdout = !strcmp(v->output, "-");
	_cleanup_(strbuf__free) struct strbuf text = { 0 };

	if (v->quiet)
		return;
	strbuf__text(&text, is_stdout ? "standard output" : v->output);
	strbuf__printf(&text, ": a page of %s with %s and %s", text__bytes(bytes).s,
		       text__count(view_data__events(v->data), "event").s,
		       text__count(view_data__pairs(v->data), "pair").s);
	fprintf(is_stdout ? stderr : stdout, "%s\n", text.s ?: "");
}

static int put_page(struct view *v, uint64_t *ret_bytes)
{
	_cleanup_(strbuf__free) struct strbuf data = { 0 };
	const char *path = v->rd.paths[0];
	const struct view_page page = {
		.title = strcmp(path, "-") ? last_component(v->rd.path) : "standard input",
		.data = &data,
		.perfetto = &v->perfetto,
	};
	struct view_head head;
	int err;

	err = view_data__finish(v->data)      ?:
		      note_what_is_missing(v) ?:
		      describe_pairs(v)	      ?:
						put_texts(v);
	if (err)
		return err;
	head = (struct view_head){
		.paths = v->rd.paths,
		.selection = v->rd.sel.any ? v->selection.s + 1 : NULL,
		.command = v->command.s,
		.command_all = v->command_all.s,
		.pairs = v->kinds,
		.nr_pairs = v->pairs.nr,
		.notes = (const char *const *)v->notes,
		.nr_notes = v->nr_notes,
		.is_selection = v->rd.sel.any,
	};
	err = view_data__put(v->data, &head, &data);
	return err ?: view_page__write(&page, v->file, ret_bytes);
}

static int write_page(struct view *v)
{
	uint64_t bytes;
	int err;

	err = put_page(v, &bytes);
	if (err) {
		log_err(err, "write '%s'", v->output);
		return CMD_FAILURE;
	}
	if (output__commit(v->file))
		return CMD_FAILURE;
	say_what_was_written(v, bytes);
	return CMD_OK;
}

/* ---- the run --------------------------------------------------------------------------------- */

static int take_pair(void *ctx, const struct export_pair *pair)
{
	struct view *v = ctx;

	return view_data__add_pair(v->data, pair);
}

static int add_losses(struct view *v, uint64_t until)
{
	struct stk_loss loss;
	int n = 0, err = 0;

	while (!err && (n = stk_reader__next_loss(v->rd.reader, until, &loss)) == 1)
		if (reading__loss_selected(&v->rd, &loss))
			err = view_data__add_loss(v->data, &loss);
	return err ?: n;
}

/* An event that is not selected may end a pair that is. */
static int add_event(struct view *v, const struct stk_event *e)
{
	uint64_t from, to;
	int err = 0;

	if (!v->has_times && v->rd.sel.nr_times && selection__times(&v->rd.sel, &from, &to))
		view_data__end_at(v->data, to);
	v->has_times = true;
	if (v->pairs.nr)
		err = pair_kinds__add(&v->pairs, &v->rd, e);
	if (!err && (!v->rd.sel.any || reading__selected(&v->rd, e)))
		err = view_data__add(v->data, e);
	if (err)
		return err;
	err = add_losses(v, stk_event__ts(e));
	return err == -ENOBUFS ? 0 : err; /* reading the next event says so */
}

static int add_events(struct view *v)
{
	const struct stk_event *e;
	int n, err = 0;

	while (!err && (n = reading__next_selected(&v->rd, &e)) == 1)
		err = add_event(v, e);
	if (!err && n == -ECANCELED)
		return CMD_FAILURE;
	if (!err) {
		reading__end(&v->rd, n);
		/* once the budget is exhausted, nothing more is read */
		err = n == -ENOMEM ? n : n == -ENOBUFS ? 0 : add_losses(v, UINT64_MAX);
		if (err == -ENOBUFS) {
			reading__end(&v->rd, err);
			err = 0;
		}
	}
	if (!err && pair_kinds__check(&v->pairs))
		return CMD_FAILURE;
	if (!err)
		return CMD_OK;
	if (err != -ENOENT && n != -ENOMEM)
		log_err(err, "add up '%s'", v->rd.path);
	return CMD_FAILURE;
}

static int start(struct view *v)
{
	int err;

	v->pairs.taker = (struct export_pairs){ .take = take_pair, .ctx = v };
	err = view_data__new(v->rd.reader, &v->rd.names, &v->data) ?:
		      pair_kinds__start(&v->pairs, &v->rd);
	if (!err)
		return CMD_OK;
	log_err(err, "add up '%s'", v->rd.path);
	return CMD_FAILURE;
}

/* Threads of several boots have the same ids. */
static int check_boots(struct view *v)
{
	if (stk_reader__nr_boots(v->rd.reader) == 1)
		return CMD_OK;
	if (pair_kinds__are_given(&v->pairs) && v->pairs.nr) {
		log_err(0,
			"the recordings are of several boots, in which the same thread ids mean "
			"different tasks: give view --pairs none, or those of one boot at a time");
		return CMD_FAILURE;
	}
	pair_kinds__free(&v->pairs);
	v->pairs = (struct pair_kinds){ 0 };
	v->rd.every = false;
	return CMD_OK;
}

/* A second reading, by the command line once more, without the messages of the first one. */
static int add_perfetto(struct view *v, int argc, char **argv)
{
	_cleanup_(view__free) struct view again = { 0 };
	int code;

	if (v->no_perfetto || !view_perfetto__may_fit(&v->rd, view_data__events(v->data)))
		return CMD_OK;
	ui__set_log_level(STK_LOG_ERROR);
	code = reading__options(&again.rd, &cmd_view, argc, argv) ?:
		       pair_kinds__complete(&again.pairs, again.rd.command);
	again.rd.every = again.pairs.nr;
	again.rd.one_boot = true;
	code = code ?: view_perfetto__make(&again.rd, &again.pairs, &v->perfetto);
	ui__set_log_level(STK_LOG_WARN);
	return code;
}

static int make_page(struct view *v, int argc, char **argv)
{
	int code;

	code = name_output(v) ?: open_output(v);
	if (code)
		return code;
	code = reading__open(&v->rd, STK_WANT_EVENTS | STK_WANT_FIELDS) ?: check_boots(v);
	if (code)
		return code;
	code = start(v) ?: add_events(v) ?: add_perfetto(v, argc, argv) ?: write_page(v);
	return code ?: reading__finish(&v->rd);
}

static int run(int argc, char **argv)
{
	_cleanup_(view__free) struct view v = { .pairs.waits = true };
	_cleanup_free_ char **again = calloc(argc + 1, sizeof(*argv));
	const char *page;
	size_t len;
	int code;

	if (!again) {
		log_err(-ENOMEM, "parse the options");
		return CMD_FAILURE;
	}
	/* the parser reorders what it is given */
	memcpy(again, argv, argc * sizeof(*argv));
	code = reading__options(&v.rd, &cmd_view, argc, argv);
	if (code)
		return code;
	if (view_template__get(&page, &len))
		return CMD_FAILURE;
	code = pair_kinds__complete(&v.pairs, v.rd.command);
	if (code)
		return code;
	v.rd.every = v.pairs.nr;
	/* If the reader exits early, write(2) fails and a message says so. */
	signal(SIGPIPE, SIG_IGN);
	return make_page(&v, argc, again);
}

const struct cmd cmd_view = {
	.name = "view",
	.summary = "write a page on which a recording can be looked at",
	.run = run,
	.options = options,
	.text = "Writes a page of HTML that shows a recording in a browser: a timeline, flame\n"
		"graphs, pairs of events by latency, the slowest with their stacks.\n",
};
