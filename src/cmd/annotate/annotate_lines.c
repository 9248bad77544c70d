// SPDX-License-Identifier: GPL-2.0-only
/* The source lines of a function, and the text of source files of this machine. */
#include "annotate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "slurp.h"
#include "symbols/debug_file.h"

#define MAX_SOURCE ((size_t)16 << 20) /* bytes of a source file that are read */
#define MAX_SOURCE_COLUMNS 512 /* bytes of a line that are printed */

/* ---- lines ----------------------------------------------------------------------------------- */

/* The line in the function itself, not in what is inlined there. */
static struct source_line line_of(struct annotated *an, const struct stk_frame *f)
{
	const struct name_line *lines;
	unsigned int nr = user_names__lines(&an->rd.names, f, &lines);

	if (!nr || !lines[nr - 1].source || !lines[nr - 1].line)
		return (struct source_line){ 0 };
	return (struct source_line){ .source = lines[nr - 1].source, .line = lines[nr - 1].line };
}

static int by_line(const void *x, const void *y)
{
	const struct source_line *a = x, *b = y;

	if (!a->source || !b->source)
		return !a->source - !b->source;
	return strcmp(a->source, b->source) ?: CMP(a->line, b->line);
}

/* Adds up the places of each line; returns the number of lines. */
static unsigned int merge_lines(struct source_line *v, unsigned int nr)
{
	unsigned int i, out = 0;

	for (i = 0; i < nr; i++) {
		if (!out || by_line(&v[out - 1], &v[i])) {
			v[out++] = v[i];
			continue;
		}
		v[out - 1].sum.self += v[i].sum.self;
		v[out - 1].sum.all += v[i].sum.all;
	}
	return out;
}

/* By line, then by what is inlined there; pointers of names are equal if the names are. */
static int by_inlined(const void *x, const void *y)
{
	const struct inlined_line *a = x, *b = y;

	return by_line(&a->at, &b->at)			       ?:
		       CMP(a->code.function, b->code.function) ?:
		       CMP(a->code.source, b->code.source)     ?:
								 CMP(a->code.line, b->code.line);
}

static int by_inlined_sum(const void *x, const void *y)
{
	const struct inlined_line *a = x, *b = y;

	return by_line(&a->at, &b->at)			   ?:
		       CMP(b->at.sum.self, a->at.sum.self) ?:
		       CMP(b->at.sum.all, a->at.sum.all)   ?:
		       strcmp(a->code.function ?: "", b->code.function ?: "") ?:
		       CMP(a->code.line, b->code.line);
}

static unsigned int merge_inlined(struct inlined_line *v, unsigned int nr)
{
	unsigned int i, out = 0;

	if (nr)
		qsort(v, nr, sizeof(*v), by_inlined);
	for (i = 0; i < nr; i++) {
		if (!out || by_inlined(&v[out - 1], &v[i])) {
			v[out++] = v[i];
			continue;
		}
		v[out - 1].at.sum.self += v[i].at.sum.self;
		v[out - 1].at.sum.all += v[i].at.sum.all;
	}
	if (out)
		qsort(v, out, sizeof(*v), by_inlined_sum);
	return out;
}

/* The innermost function inlined at each place. */
static int find_inlined(struct annotated *an, const struct annotate_function *f,
			struct source_lines *lines)
{
	unsigned int i, nr, n = 0;
	const struct name_line *l;

	lines->inlined = calloc(f->nr_places ?: 1, sizeof(*lines->inlined));
	if (!lines->inlined)
		return -ENOMEM;
	for (i = 0; i < f->nr_places; i++) {
		const struct annotate_place *p = &f->places[i];
		struct source_line at = line_of(an, &p->frame);

		nr = user_names__lines(&an->rd.names, &p->frame, &l);
		at.sum = p->sum;
		if (nr > 1 && at.source && annotated__count(an, &p->sum))
			lines->inlined[n++] = (struct inlined_line){ at, l[0] };
	}
	lines->nr_inlined = merge_inlined(lines->inlined, n);
	return 0;
}

/* The source file of the function, and its lines there: what is counted, and both ends. */
static void find_extent(struct annotated *an, const struct annotate_function *f,
			struct source_lines *lines)
{
	struct stk_frame end = f->frame;
	struct source_line at[2];
	unsigned int i;

	end.exact = true;
	end.ip = f->start;
	at[0] = line_of(an, &end);
	end.ip = f->start + (f->frame.size ? f->frame.size - 1 : 0);
	at[1] = line_of(an, &end);
	lines->source = at[0].source ?: lines->v[0].source;
	for (i = 0; i < lines->known + ARRAY_SIZE(at) && lines->source; i++) {
		const struct source_line *l =
			i < lines->known ? &lines->v[i] : &at[i - lines->known];

		if (!l->source || strcmp(l->source, lines->source))
			continue;
		lines->first = lines->first ? MIN(lines->first, l->line) : l->line;
		lines->last = MAX(lines->last, l->line);
	}
}

int source_lines__of(struct annotated *an, const struct annotate_function *f,
		     struct source_lines *ret_lines)
{
	struct source_lines lines = { 0 };
	unsigned int i, nr = 0;

	lines.v = calloc(f->nr_places ?: 1, sizeof(*lines.v));
	if (!lines.v)
		return -ENOMEM;
	for (i = 0; i < f->nr_places; i++) {
		if (!annotated__count(an, &f->places[i].sum))
			continue;
		lines.v[nr] = line_of(an, &f->places[i].frame);
		lines.v[nr++].sum = f->places[i].sum;
	}
	qsort(lines.v, nr, sizeof(*lines.v), by_line);
	lines.nr = merge_lines(lines.v, nr);
	while (lines.known < lines.nr && lines.v[lines.known].source)
		lines.known++;
	if (lines.nr)
		find_extent(an, f, &lines);
	if (an->inlines && find_inlined(an, f, &lines)) {
		source_lines__free(&lines);
		return -ENOMEM;
	}
	*ret_lines = lines;
	return 0;
}

void source_lines__free(struct source_lines *lines)
{
	free(lines->v);
	free(lines->inlined);
	*lines = (struct source_lines){ 0 };
}

/* ---- source files ---------------------------------------------------------------------------- */

/* Whether the source was changed after the program had been built. */
static bool is_newer(struct annotated *an, const struct annotate_function *f, int fd)
{
	struct stk_file file;
	struct stat st;

	if (fstat(fd, &st) || !f->frame.file ||
	    stk_reader__file(an->rd.reader, f->frame.file, &file) || !file.mtime_ns)
		return false;
	return st.st_mtim.tv_sec > 0 &&
	       st.st_mtim.tv_sec * 1000000000ull + st.st_mtim.tv_nsec > file.mtime_ns;
}

static int split(struct source_text *t, size_t len)
{
	char *at = t->text, *end = t->text + len;
	unsigned int max = 0;
	size_t n;

	for (; at < end; at += n + 1) {
		char *newline = memchr(at, '\n', end - at);
		unsigned int max_lengths = max;

		n = (newline ?: end) - at;
		if (array__reserve(&t->lengths, t->nr + 2, &max_lengths) ||
		    array__reserve(&t->lines, t->nr + 2, &max))
			return -ENOMEM;
		t->lines[++t->nr] = at;
		t->lengths[t->nr] = MIN(n, MAX_SOURCE_COLUMNS);
	}
	return 0;
}

int source_text__read(struct annotated *an, const char *path, const struct annotate_function *f,
		      struct source_text *ret_text)
{
	const char *root = an->rd.names.sysroot ?: "";
	_cleanup_close_ int fd = -1;
	struct source_text t = { 0 };
	size_t len;
	int err = *path == '/' ? root__open(root, path, &fd) : -ENOENT;

	if (err && *path == '/' && *root)
		err = root__open("", path, &fd);
	err = err ?: slurp__fd(fd, MAX_SOURCE, &t.text, &len);
	if (!err && memchr(t.text, '\0', len))
		err = -ENOENT;
	err = err ?: split(&t, len);
	if (err) {
		source_text__free(&t);
		return err;
	}
	t.is_newer = is_newer(an, f, fd);
	*ret_text = t;
	return 0;
}

void source_text__free(struct source_text *t)
{
	free(t->text);
	free(t->lines);
	free(t->lengths);
	*t = (struct source_text){ 0 };
}
