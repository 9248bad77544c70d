// SPDX-License-Identifier: GPL-2.0-only
/* Prints the events of a function as text and as JSON. */
#include "annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "ui/column.h"
#include "ui/frames.h"

#define CONTEXT 3 /* source lines shown around those with events */

/* The columns of functions, lines and instructions; the share is that of the function's events. */
static void put_columns(struct annotated *an, const struct annotate_sum *sum, uint64_t whole)
{
	struct out *o = &an->out;

	if (o->json.depth) {
		column__number(o, "self", 0, sum->self);
		column__number(o, "all", 0, sum->all);
	} else {
		column__number(o, an->children ? "all" : "self", 10, annotated__count(an, sum));
	}
	column__percent(o, "percent", 9, annotated__count(an, sum), whole);
}

static void put_heads(struct annotated *an, const char *last)
{
	out__paint(&an->out, OUT_HEAD);
	an->out.heads = true;
	put_columns(an, &(struct annotate_sum){ 0 }, 0);
	an->out.heads = false;
	strbuf__printf(&an->out.b, "  %s", last);
	out__paint(&an->out, OUT_PLAIN);
	strbuf__putc(&an->out.b, '\n');
}

static void put_counts(struct annotated *an, const struct annotate_sum *sum, uint64_t whole)
{
	out__paint(&an->out, OUT_NUMBER);
	put_columns(an, sum, whole);
	out__paint(&an->out, OUT_PLAIN);
	strbuf__puts(&an->out.b, "  ");
}

/* ---- functions ------------------------------------------------------------------------------- */

static void put_function_json(struct annotated *an, const struct annotate_function *f,
			      const char *name, const char *source)
{
	struct json *j = &an->out.json;
	struct stk_file file = { 0 };
	bool user = f->frame.kind == STK_FRAME_USER;

	json__record(j, "function");
	json__string(j, "function", name);
	frame__json_function(&an->rd.names, j, &f->frame);
	if (user && f->frame.file && !stk_reader__file(an->rd.reader, f->frame.file, &file))
		json__string(j, "path", file.path);
	json__printf(j, "start", "0x%" PRIx64, f->start);
	json__maybe(j, "size", f->frame.size, f->frame.size);
	json__string(j, "source", source);
	put_columns(an, &f->sum, annotate__events(an->annotate));
	json__u64(j, "events", annotate__events(an->annotate));
	json__end(j);
}

static void put_path(struct annotated *an, const struct stk_frame *f)
{
	struct stk_file file;

	if (f->kind != STK_FRAME_USER || !f->file ||
	    stk_reader__file(an->rd.reader, f->file, &file))
		return;
	strbuf__puts(&an->out.b, "  ");
	strbuf__text(&an->out.b, file.path);
}

void annotate__put_candidates(struct annotated *an, const struct annotate_function *functions,
			      unsigned int nr)
{
	_cleanup_(strbuf__free) struct strbuf name = { 0 };
	unsigned int i;

	if (!an->rd.json)
		put_heads(an, "function");
	for (i = 0; i < nr && !out__drain(&an->out); i++) {
		strbuf__reset(&name);
		function_name__put(an, &name, &functions[i], functions, nr);
		if (an->rd.json) {
			put_function_json(an, &functions[i], name.s ?: "", NULL);
			continue;
		}
		put_counts(an, &functions[i].sum, annotate__events(an->annotate));
		strbuf__puts(&an->out.b, name.s ?: "");
		put_path(an, &functions[i].frame);
		strbuf__putc(&an->out.b, '\n');
	}
	an->out.b.failed |= strbuf__failed(&name);
}

static void put_title(struct annotated *an, const struct annotate_function *f, const char *source)
{
	uint64_t count = annotated__count(an, &f->sum), events = annotate__events(an->annotate);
	_cleanup_(strbuf__free) struct strbuf name = { 0 };
	struct strbuf *b = &an->out.b;
	struct stk_frame frame = f->frame;

	if (an->rd.json) {
		function_name__put(an, &name, f, f, 1);
		put_function_json(an, f, name.s ?: "", source);
		an->out.b.failed |= strbuf__failed(&name);
		return;
	}
	frame.guessed = false;
	strbuf__puts(b, "# ");
	frame__function(&an->rd.names, b, &frame);
	strbuf__printf(b, ": %s in %s of %s (", an->children ? "anywhere" : "innermost",
		       text__number(count).s, text__count(events, "event").s);
	out__percent(b, count, events, 0);
	strbuf__puts(b, "%)\n");
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void put_instruction(struct annotated *an, const struct annotate_function *f,
			    const struct annotate_place *p)
{
	struct json *j = &an->out.json;
	uint64_t whole = annotated__count(an, &f->sum);

	if (an->rd.json) {
		json__record(j, "instruction");
		json__printf(j, "ip", "0x%" PRIx64, p->frame.ip);
		json__u64(j, "off", p->offset);
		json__bool(j, "exact", p->frame.exact);
		put_columns(an, &p->sum, whole);
		if (p->guesses)
			json__u64(j, "guesses", p->guesses);
		json__end(j);
		return;
	}
	put_counts(an, &p->sum, whole);
	frame__guesses(&an->out.b, p->guesses, p->sum.all);
	strbuf__printf(&an->out.b, "%s+0x%" PRIx64 "\n", p->frame.exact ? "" : "call before ",
		       p->offset);
}

static void put_instructions(struct annotated *an, const struct annotate_function *f)
{
	unsigned int i;

	put_title(an, f, NULL);
	if (!an->rd.json)
		put_heads(an, "instruction");
	for (i = 0; i < f->nr_places && !out__drain(&an->out); i++)
		if (annotated__count(an, &f->places[i].sum))
			put_instruction(an, f, &f->places[i]);
}

/* ---- lines ----------------------------------------------------------------------------------- */

#define TEXT_AT 29 /* columns before the text of a line */

/* The text of a line, or "".  On a terminal it is cut: wrapped text would look like lines. */
static void put_text(struct out *o, const struct source_text *t, unsigned int line)
{
	struct strbuf *b = &o->b;
	size_t from = b->len;
	unsigned int i;

	if (!line || line > t->nr)
		return;
	for (i = 0; i < t->lengths[line] && t->lines[line][i] == '\t'; i++)
		strbuf__pad(b, ' ', 8);
	strbuf__safe(b, t->lines[line] + i, t->lengths[line] - i);
	if (o->terminal && o->width > TEXT_AT && b->len > from)
		b->len = from + text__fit(b->s + from, b->len - from, o->width - TEXT_AT);
}

static bool is_in_line(const struct inlined_line *in, const struct source_line *l)
{
	return l->source && in->at.line == l->line && !strcmp(in->at.source, l->source);
}

static void put_inlined_json(struct annotated *an, const struct source_lines *lines,
			     const struct source_line *l)
{
	struct json *j = &an->out.json;
	unsigned int i;

	json__array(j, "inlined");
	for (i = 0; i < lines->nr_inlined; i++) {
		const struct inlined_line *in = &lines->inlined[i];

		if (!is_in_line(in, l))
			continue;
		json__object(j, NULL);
		json__string(j, "sym", in->code.function);
		json__string(j, "source", in->code.source);
		json__maybe(j, "line", in->code.line, in->code.line);
		json__u64(j, "self", in->at.sum.self);
		json__u64(j, "all", in->at.sum.all);
		json__end(j);
	}
	json__end(j);
}

static void put_inlined(struct annotated *an, const struct annotate_function *f,
			const struct source_lines *lines, const struct source_line *l)
{
	unsigned int i;

	for (i = 0; i < lines->nr_inlined; i++) {
		if (!is_in_line(&lines->inlined[i], l))
			continue;
		put_counts(an, &lines->inlined[i].at.sum, annotated__count(an, &f->sum));
		strbuf__pad(&an->out.b, ' ', 8);
		frame__inlined(&an->out.b, &lines->inlined[i].code);
	}
}

static void put_line_json(struct annotated *an, const struct annotate_function *f,
			  const struct source_lines *lines, const struct source_line *l,
			  const struct source_text *t)
{
	struct json *j = &an->out.json;

	json__record(j, "line");
	json__string(j, "source", l->source);
	json__maybe(j, "line", l->source, l->line);
	put_columns(an, &l->sum, annotated__count(an, &f->sum));
	if (l->source && l->line <= t->nr)
		json__bytes(j, "text", t->lines[l->line], t->lengths[l->line]);
	if (an->inlines)
		put_inlined_json(an, lines, l);
	json__end(j);
}

static void put_line(struct annotated *an, const struct annotate_function *f,
		     const struct source_line *l, const struct source_text *t)
{
	struct strbuf *b = &an->out.b;

	put_counts(an, &l->sum, annotated__count(an, &f->sum));
	if (l->source)
		strbuf__printf(b, "%6u  ", l->line);
	else
		strbuf__puts(b, "     ?  lines unknown");
	put_text(&an->out, t, l->line);
	strbuf__putc(b, '\n');
}

static void put_context(struct annotated *an, const struct source_text *t, unsigned int line)
{
	out__paint(&an->out, OUT_DIM);
	strbuf__printf(&an->out.b, "%21s%6u  ", "", line);
	put_text(&an->out, t, line);
	out__paint(&an->out, OUT_PLAIN);
	strbuf__putc(&an->out.b, '\n');
}

/* The lines of one source file: v[0] to v[nr - 1], and text around them. */
static void put_file(struct annotated *an, const struct annotate_function *f,
		     const struct source_lines *lines, const struct source_line *v, unsigned int nr)
{
	bool is_main = v->source && lines->source && !strcmp(v->source, lines->source);
	unsigned int first = is_main ? lines->first : v->line, next = 0, i, at;
	unsigned int last = is_main ? lines->last : v[nr - 1].line;
	struct source_text t = { 0 };

	if (v->source)
		source_text__read(an, v->source, f, &t);
	if (!an->rd.json && v->source) {
		strbuf__puts(&an->out.b, "# ");
		strbuf__text(&an->out.b, v->source);
		strbuf__puts(&an->out.b, !t.nr	    ? ": not here" :
					 t.is_newer ? ": newer than the program" :
						      "");
		strbuf__putc(&an->out.b, '\n');
	}
	for (i = 0; i < nr && !out__drain(&an->out); i++) {
		if (an->rd.json) {
			put_line_json(an, f, lines, &v[i], &t);
			continue;
		}
		at = MAX(next, v[i].line > first + CONTEXT ? v[i].line - CONTEXT : first);
		if (t.nr && next && at > next)
			strbuf__printf(&an->out.b, "%26s\n", "...");
		for (; t.nr && at < v[i].line; at++)
			put_context(an, &t, at);
		put_line(an, f, &v[i], &t);
		put_inlined(an, f, lines, &v[i]);
		next = v[i].line + 1;
		for (; t.nr && next <= last && next <= v[i].line + CONTEXT &&
		       (i + 1 == nr || next < v[i + 1].line);
		     next++)
			put_context(an, &t, next);
	}
	source_text__free(&t);
}

static void put_lines(struct annotated *an, const struct annotate_function *f,
		      const struct source_lines *lines)
{
	unsigned int i = 0, n;

	put_title(an, f, lines->source);
	if (!an->rd.json)
		put_heads(an, "  line");
	for (; i < lines->nr && !out__drain(&an->out); i += n) {
		for (n = 1; i + n < lines->nr && lines->v[i].source && lines->v[i + n].source &&
			    !strcmp(lines->v[i].source, lines->v[i + n].source);
		     n++)
			;
		put_file(an, f, lines, &lines->v[i], n);
	}
}

int annotate__put(struct annotated *an, const struct annotate_function *f)
{
	_cleanup_(source_lines__free) struct source_lines lines = { 0 };
	int err = 0;

	if (an->by != ANNOTATE_BY_INSN)
		err = source_lines__of(an, f, &lines);
	if (err)
		return log_err(err, "look up the source lines of '%s'", an->function);
	if (lines.known) {
		put_lines(an, f, &lines);
		return 0;
	}
	if (an->by == ANNOTATE_BY_LINE)
		return log_why(-ENOENT,
			       "no source lines of '%s' are known: they come from the debug "
			       "information of the recorded file; --by insn needs none",
			       an->function);
	put_instructions(an, f);
	return 0;
}
