// SPDX-License-Identifier: GPL-2.0-only
/* stackonce view: a page of HTML on which a recording can be looked at. */
#include "ui/ui.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "output/output.h"
#include "text.h"
#include "ui/reading.h"
#include "view/data.h"
#include "view/page.h"
#include "view/template.h"

struct view {
	struct reading rd;
	const char *output;
	bool quiet;
	char *name; /* of the output if none is given */
	struct output *file;
	struct view_data *data;
};

/* clang-format off */
static const struct opt options[] = {
	READING_OPTIONS(struct view, rd, A_RECORDING),
	{ "-o, --output OUTPUT", "the page to write (default: the name of FILE with .html, here)",
	  OPT_TEXT(struct view, output) },
	FORCE_OPTION("replace OUTPUT even if it is a recording"),
	SELECT_OPTIONS("only events", "only these events, separated by commas"),
	NAMES_OPTIONS,
	{ "-q, --quiet", "do not print what was written", OPT_FLAG(struct view, quiet) },
	HELP_OPTION
};
/* clang-format on */

static void view__free(struct view *v)
{
	view_data__free(v->data);
	output__free(v->file);
	free(v->name);
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

/* The page on standard output has the line after it on standard error. */
static void say_what_was_written(const struct view *v, uint64_t bytes)
{
	bool is_stdout = !strcmp(v->output, "-");
	_cleanup_(strbuf__free) struct strbuf name = { 0 };

	if (v->quiet)
		return;
	strbuf__text(&name, is_stdout ? "standard output" : v->output);
	fprintf(is_stdout ? stderr : stdout, "%s: a page of %s with %s events\n", name.s ?: "",
		text__bytes(bytes).s, text__number(view_data__events(v->data)).s);
}

static int write_page(struct view *v)
{
	_cleanup_(strbuf__free) struct strbuf data = { 0 };
	const char *path = v->rd.paths[0];
	const struct view_page page = {
		.title = strcmp(path, "-") ? last_component(path) : "standard input",
		.data = &data,
	};
	uint64_t bytes;
	int err;

	err = view_data__put(v->data, &data) ?: view_page__write(&page, v->file, &bytes);
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

static int add_events(struct view *v)
{
	const struct stk_event *e;
	int n, err;

	while ((n = reading__next_selected(&v->rd, &e)) == 1) {
		err = view_data__add(v->data, e);
		if (err) {
			log_err(err, "add up '%s'", v->rd.path);
			return CMD_FAILURE;
		}
	}
	if (n == -ECANCELED)
		return CMD_FAILURE;
	reading__end(&v->rd, n);
	return v->rd.error == -ENOMEM ? CMD_FAILURE : CMD_OK;
}

static int make_page(struct view *v)
{
	int code;

	code = name_output(v)	      ?:
		       open_output(v) ?:
					reading__open(&v->rd, STK_WANT_EVENTS | STK_WANT_FIELDS);
	if (code)
		return code;
	if (view_data__new(v->rd.reader, &v->data)) {
		log_err(-ENOMEM, "add up '%s'", v->rd.path);
		return CMD_FAILURE;
	}
	code = add_events(v) ?: write_page(v);
	return code ?: reading__finish(&v->rd);
}

static int run(int argc, char **argv)
{
	_cleanup_(view__free) struct view v = { 0 };
	const char *page;
	size_t len;
	int code;

	code = reading__options(&v.rd, &cmd_view, argc, argv);
	if (code)
		return code;
	if (view_template__get(&page, &len))
		return CMD_FAILURE;
	/* If the reader exits early, write(2) fails and a message says so. */
	signal(SIGPIPE, SIG_IGN);
	return make_page(&v);
}

const struct cmd cmd_view = {
	.name = "view",
	.summary = "write a page on which a recording can be looked at",
	.run = run,
	.options = options,
	.text = "Writes a page of HTML that shows a recording in a browser: a timeline, flame "
		"graphs, pairs of events by latency, the slowest with their stacks.\n",
};
