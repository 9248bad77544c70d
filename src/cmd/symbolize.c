// SPDX-License-Identifier: GPL-2.0-only
/* Adds the symbols of user frames to a recording that lacks them. */
#include "ui/reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "output/output.h"
#include "symbols/usyms.h"
#include "trace/write/rewrite.h"
#include "trace/write/writer.h"
#include "ui/frames.h"

/* A code address of frames, and its symbol. */
struct place {
	uint32_t file;
	uint64_t offset; /* of the call or the interrupted instruction */
	struct stk_user_symbol symbol; /* name NULL: unknown */
};

enum result { RESULT_FOUND, RESULT_GONE, RESULT_OTHER, RESULT_NO_FILE };

static const char *const results[] = { "found", "gone", "other", "no file" };

struct symbolize {
	struct reading rd;
	struct out out;
	struct stk_rewrite *rw;
	const char *output;
	bool quiet;
	struct place *places; /* by file and offset */
	size_t nr_places, max_places;
	bool missing; /* some file is missing or differs */
};

/* clang-format off */
static const struct opt options[] = {
	READING_OPTIONS_ONE(struct symbolize, rd, "the recording (default trace.stk)"),
	{ "-o, --output FILE", "write FILE instead of replacing the recording",
	  OPT_TEXT(struct symbolize, output) },
	FORCE_OPTION("replace FILE even if it is a recording"),
	DEBUG_OPTIONS,
	{ "-q, --quiet", "do not print a line per file", OPT_FLAG(struct symbolize, quiet) },
	JSON_OPTION("one JSON object per file"),
	HELP_OPTION
};
/* clang-format on */

static void symbolize__free(struct symbolize *s)
{
	free(s->places);
	stk_rewrite__free(s->rw);
	reading__free(&s->rd);
}

static int parse_options(struct symbolize *s, int argc, char **argv)
{
	int code;

	s->rd.only_files = s->rd.only_one = true;
	code = reading__options(&s->rd, &cmd_symbolize, argc, argv);

	if (!code && (!strcmp(s->rd.path, "-") || (s->output && !strcmp(s->output, "-"))))
		return ui__usage_error(argv[0], "only files can be rewritten, not '-'");
	return code;
}

/* ---- places of user frames ------------------------------------------------------------------- */

static int add_place(struct symbolize *s, const struct stk_frame *f)
{
	if (array__grow(&s->places, s->nr_places, &s->max_places))
		return -ENOMEM;
	s->places[s->nr_places++] = (struct place){
		.file = f->file,
		.offset = f->exact || !f->ip ? f->ip : f->ip - 1,
		.symbol = { f->sym, f->ip - f->off, f->size },
	};
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void sort_places(struct symbolize *s)
{
	size_t i, nr = 0;

	if (s->nr_places)
		qsort(s->places, s->nr_places, sizeof(*s->places), by_place);
	for (i = 0; i < s->nr_places; i++)
		if (!nr || by_place(&s->places[nr - 1], &s->places[i]))
			s->places[nr++] = s->places[i];
	s->nr_places = nr;
}

/* Collects every user frame of every stack; removes duplicates now and then to save memory. */
static int collect(struct symbolize *s)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	uint32_t number, nr = stk_reader__nr_stacks(s->rd.reader);
	size_t distinct = 0;
	unsigned int n, i;
	int err = 0;

	for (number = 1; number <= nr && !err; number++) {
		n = stack__frames(s->rd.reader, number, frames);
		for (i = 0; i < n && !err; i++)
			if (frames[i].kind == STK_FRAME_USER && frames[i].file)
				err = add_place(s, &frames[i]);
		if (s->nr_places > 2 * distinct + (1u << 20)) {
			sort_places(s);
			distinct = s->nr_places;
		}
	}
	sort_places(s);
	return err;
}

/* ---- one file -------------------------------------------------------------------------------- */

static int write_symbols(struct symbolize *s, const struct place *p, size_t nr)
{
	_cleanup_free_ struct stk_user_symbol *symbols = calloc(nr, sizeof(*symbols));
	size_t i, n = 0, out = 0;

	if (!symbols)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		if (p[i].symbol.name)
			symbols[n++] = p[i].symbol;
	if (n)
		qsort(symbols, n, sizeof(*symbols), stk_user_symbol__compare);
	for (i = 0; i < n; i++)
		if (!out || stk_user_symbol__compare(&symbols[out - 1], &symbols[i]))
			symbols[out++] = symbols[i];
	return stk_rewrite__user_symbols(s->rw, p->file, symbols, out);
}

/* Looks up the places of a file; a place that the file has no symbol for keeps its old one. */
static enum result find_symbols(struct symbolize *s, const struct stk_file *file, struct place *p,
				size_t nr)
{
	struct usyms *usyms = user_names__usyms(&s->rd.names);
	struct usyms_file f;
	struct elf_symbol found;
	size_t i;
	int err;

	if (!usyms || file->kind != STK_FILE_FILE)
		return RESULT_NO_FILE;
	user_names__usyms_file(file, &f);
	for (i = 0; i < nr; i++) {
		err = usyms__find(usyms, &f, p[i].offset, &found);
		if (err == -ESTALE || err == -ENODEV)
			return err == -ESTALE ? RESULT_OTHER : RESULT_GONE;
		if (!err)
			p[i].symbol =
				(struct stk_user_symbol){ found.name, found.start, found.size };
	}
	return RESULT_FOUND;
}

static void print_result(struct symbolize *s, const struct stk_file *file, enum result result,
			 size_t named, size_t nr)
{
	static const char *const texts[] = { NULL, "not here", "differs", "no file" };
	struct json *j = &s->out.json;
	struct strbuf *b = &s->out.b;
	size_t start;

	if (s->rd.json) {
		json__record(j, "file");
		json__u64(j, "file", file->number);
		file__json(j, file);
		json__string(j, "result", results[result]);
		json__u64(j, "places", nr);
		json__u64(j, "named", named);
		json__end(j);
		return;
	}
	if (s->quiet)
		return;
	start = b->len;
	if (result == RESULT_FOUND)
		strbuf__printf(b, "%zu of %zu named", named, nr);
	else
		strbuf__puts(b, texts[result]);
	out__fill(b, start, 22);
	strbuf__text(b, file->path);
	strbuf__putc(b, '\n');
}

static size_t count_named(const struct place *p, size_t nr)
{
	size_t i, named = 0;

	for (i = 0; i < nr; i++)
		named += !!p[i].symbol.name;
	return named;
}

static int symbolize_file(struct symbolize *s, struct place *p, size_t nr)
{
	bool recorder_read = stk_reader__has_symbols(s->rd.reader, p->file);
	size_t before = count_named(p, nr), named;
	struct stk_file file;
	enum result result;
	int err = 0;

	if (before == nr || stk_reader__file(s->rd.reader, p->file, &file))
		return 0;
	result = find_symbols(s, &file, p, nr);
	/* The recorder has read this file and found no more symbols. */
	if (recorder_read && result != RESULT_FOUND)
		return 0;
	s->missing |= result == RESULT_GONE || result == RESULT_OTHER;
	named = count_named(p, nr);
	if (result == RESULT_FOUND && (!recorder_read || named > before))
		err = write_symbols(s, p, nr);
	if (err) {
		err = stk_user_symbol__left_out(file.path, err);
		named = before;
	}
	print_result(s, &file, result, named, nr);
	return err;
}

/* ---- the recording --------------------------------------------------------------------------- */

static int open_rewrite(struct symbolize *s)
{
	const char *path = s->rd.path;
	int err = stk_rewrite__open(path, &s->rw);

	if (err == -EBADMSG)
		return log_why(err, "'%s' is damaged: rewriting it would lose the rest", path);
	if (err)
		return log_err(err, "rewrite '%s'", path);
	if (!s->output && stk_rewrite__is_busy(s->rw))
		return log_why(-EBUSY, "'%s' is being written: wait until its recorder has ended",
			       path);
	return 0;
}

/* Replaces the recording if no other output is given. */
static int open_output(struct symbolize *s, struct output **ret_output)
{
	const struct output_opts opts = {
		.path = s->output ?: s->rd.path,
		.inputs = s->rd.paths,
		.nr_inputs = s->output ? 1 : 0,
		.force = s->rd.force || !s->output,
		.mode = stk_rewrite__mode(s->rw),
	};

	return output__open(&opts, ret_output);
}

static int symbolize_all(struct symbolize *s)
{
	size_t i, first = 0;
	int err = 0;

	for (i = 1; i <= s->nr_places && !err; i++) {
		if (i < s->nr_places && s->places[i].file == s->places[first].file)
			continue;
		err = symbolize_file(s, &s->places[first], i - first);
		out__drain(&s->out);
		first = i;
	}
	return err ? log_err(err, "collect the symbols") : 0;
}

static int rewrite(struct symbolize *s)
{
	_cleanup_(output__freep) struct output *output = NULL;
	int err = open_rewrite(s);

	if (!err)
		err = open_output(s, &output);
	if (!err)
		err = symbolize_all(s);
	if (err || (!s->output && !stk_rewrite__is_changed(s->rw)))
		return err;
	err = stk_rewrite__write(s->rw, output__fd(output));
	if (err)
		return log_err(err, "write '%s'", s->output ?: s->rd.path);
	return output__commit(output);
}

static int run(int argc, char **argv)
{
	/* Collect the symbols in the recording first, without lookups in files. */
	_cleanup_(symbolize__free) struct symbolize s = { .rd.names.no_symbols = true };
	const struct stk_event *e;
	int code, err;

	code = parse_options(&s, argc, argv) ?: reading__open(&s.rd, STK_WANT_FIELDS);
	if (code)
		return code;
	out__open(&s.out, false);
	while (reading__next(&s.rd, &s.out, NULL, NULL, &e))
		;
	err = collect(&s);
	if (err)
		log_err(err, "collect the frames");
	else
		err = rewrite(&s);
	if (!err && !s.nr_places && !s.quiet && !s.rd.json)
		strbuf__puts(&s.out.b, "The recording has no user frames.\n");
	code = reading__finish(&s.rd);
	return out__close(&s.out, err || s.missing ? CMD_FAILURE : code);
}

const struct cmd cmd_symbolize = {
	.name = "symbolize",
	.summary = "add the names of user functions to a recording",
	.run = run,
	.options = options,
	.text = "Adds missing names of user functions to a recording.  A file is used only if it\n"
		"is identical to the recorded one.\n",
};
