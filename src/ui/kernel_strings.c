// SPDX-License-Identifier: GPL-2.0-only
/* Resolves kernel addresses in event fields to symbols and strings. */
#include "kernel_strings.h"

#include <stdlib.h>
#include <string.h>

#include "frames.h"

struct kernel_string {
	uint64_t addr;
	const char *text;
};

struct kernel_strings {
	char *text; /* all strings, unescaped in place */
	struct kernel_string *v;
	size_t nr;
};

static int by_addr(const void *a, const void *b)
{
	const struct kernel_string *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/*
 * The quoted string at p, unescaped in place as the kernel's t_show() wrote it: \n, \t, \\ and \".
 * NULL when it does not end on this line.
 */
static char *take_quoted(char *p)
{
	char *start, *out;

	if (*p++ != '"')
		return NULL;
	for (start = out = p; *p && *p != '\n' && *p != '"'; p++) {
		if (*p == '\\' && p[1] && p[1] != '\n') {
			p++;
			*out++ = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
		} else {
			*out++ = *p;
		}
	}
	if (*p != '"')
		return NULL;
	*out = '\0';
	return start;
}

static void add_line(struct kernel_strings *s, char *line)
{
	char *end, *string;
	uint64_t addr = strtoull(line, &end, 16);

	if (end == line || strncmp(end, " : ", 3))
		return;
	string = take_quoted(end + 3);
	if (string)
		s->v[s->nr++] = (struct kernel_string){ addr, string };
}

struct kernel_strings *kernel_strings__new(const char *text)
{
	struct kernel_strings *s = calloc(1, sizeof(*s));
	char *line, *next;
	size_t lines = 1;
	const char *p;

	for (p = text; (p = strchr(p, '\n')); p++)
		lines++;
	if (s) {
		s->text = strdup(text);
		s->v = calloc(lines, sizeof(*s->v));
	}
	if (!s || !s->text || !s->v) {
		kernel_strings__free(s);
		return NULL;
	}
	/* Find the end of the line first: add_line() unescapes in place. */
	for (line = s->text; line; line = next) {
		next = strchr(line, '\n');
		next = next ? next + 1 : NULL;
		add_line(s, line);
	}
	qsort(s->v, s->nr, sizeof(*s->v), by_addr);
	return s;
}

void kernel_strings__free(struct kernel_strings *s)
{
	if (!s)
		return;
	free(s->text);
	free(s->v);
	free(s);
}

const char *kernel_strings__find(const struct kernel_strings *s, uint64_t addr)
{
	const struct kernel_string key = { .addr = addr };
	const struct kernel_string *found;

	found = s ? bsearch(&key, s->v, s->nr, sizeof(*s->v), by_addr) : NULL;
	return found ? found->text : NULL;
}

bool kernel_text__symbol(void *text, uint64_t addr, bool with_offset, struct strbuf *out)
{
	struct kernel_text *t = text;
	struct stk_frame f;

	if ((t->of_places ? stk_reader__place_symbol : stk_reader__kernel_symbol)(t->reader, addr,
										  &f) ||
	    !f.sym)
		return false;
	(with_offset ? frame__text : frame__function)(NULL, out, &f);
	return true;
}

static const char *find_string(void *ctx, uint64_t addr)
{
	struct kernel_text *t = ctx;
	const char *text;

	if (!t->has_strings) {
		text = stk_reader__meta(t->reader, "printk_formats");
		t->strings = text ? kernel_strings__new(text) : NULL;
		t->has_strings = true;
	}
	return kernel_strings__find(t->strings, addr);
}

void kernel_text__init(struct kernel_text *t, struct stk_reader *reader, struct ev_print_ctx *print)
{
	*t = (struct kernel_text){ .reader = reader };
	print->symbol = kernel_text__symbol;
	print->symbol_ctx = t;
	print->string = find_string;
	print->string_ctx = t;
}

void kernel_text__clear(struct kernel_text *t)
{
	kernel_strings__free(t->strings);
}
