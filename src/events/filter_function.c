// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Names and ranges of kernel functions for filters. */
#include "filter_function.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "slurp.h"

/* Maximum size of a symbol at the end of its module. */
#define MAX_LAST_SIZE (64u << 10)

struct filter_functions {
	char *path;
	char *text; /* NUL-terminated; NULL: not read yet */
	uint64_t stext, etext, sinittext, einittext, end;
	bool all; /* data symbols are listed as well */
};

struct symbol {
	uint64_t addr;
	char type;
	const char *name, *module; /* module: NULL for the kernel itself */
	size_t name_len, module_len;
};

/* Parses the symbol at *pos and moves *pos behind its line; false at the end of the text. */
static bool next_symbol(const char **pos, struct symbol *ret)
{
	const char *line = *pos, *end;
	char *p;

	while (*line) {
		end = line + strcspn(line, "\n");
		*pos = *end ? end + 1 : end;
		ret->addr = strtoull(line, &p, 16);
		if (p == line || p + 3 >= end || p[0] != ' ' || p[2] != ' ') {
			line = *pos;
			continue;
		}
		ret->type = p[1];
		ret->name = p + 3;
		ret->name_len = strcspn(ret->name, " \t\n");
		ret->module = memchr(ret->name, '[', end - ret->name);
		if (ret->module) {
			ret->module++;
			ret->module_len = strcspn(ret->module, "]\n");
		}
		return true;
	}
	return false;
}

static bool is_named(const struct symbol *s, const char *name, size_t len)
{
	return s->name_len == len && !memcmp(s->name, name, len);
}

/* Not a module: programs and trampolines that were generated at run time. */
static bool is_generated(const struct symbol *s)
{
	return s->module && (!strncmp(s->module, "bpf]", 4) || !strncmp(s->module, "__builtin", 9));
}

static void find_bounds(struct filter_functions *f)
{
	const struct {
		const char *name;
		uint64_t *addr;
	} bounds[] = {
		{ "_stext", &f->stext },
		{ "_etext", &f->etext },
		{ "_sinittext", &f->sinittext },
		{ "_einittext", &f->einittext },
		{ "_end", &f->end },
	};
	const char *pos = f->text;
	struct symbol s;
	size_t i;

	while (next_symbol(&pos, &s)) {
		if (s.module)
			continue;
		if (s.addr && strchr("dDbBrR", s.type))
			f->all = true;
		for (i = 0; i < ARRAY_SIZE(bounds); i++) {
			if (is_named(&s, bounds[i].name, strlen(bounds[i].name)))
				*bounds[i].addr = s.addr;
		}
	}
}

static int load(struct filter_functions *f)
{
	int err;

	if (!f->text) {
		err = slurp(f->path, &f->text, NULL);
		if (err)
			return err == -ENOMEM ? err : -ENODATA;
		find_bounds(f);
	}
	return f->stext ? 0 : -ENODATA;
}

/* The kernel's own symbols come first, sorted by address; "module:name" selects another one. */
static uint64_t find_name(const struct filter_functions *f, const char *name)
{
	const char *pos = f->text, *colon = strchr(name, ':');
	size_t len = strlen(name), prefix = colon ? colon - name : 0;
	struct symbol s;

	while (next_symbol(&pos, &s)) {
		if (is_generated(&s))
			continue;
		if (is_named(&s, name, len))
			return s.addr;
		if (colon && s.module && s.module_len == prefix &&
		    !memcmp(s.module, name, prefix) && is_named(&s, colon + 1, len - prefix - 1))
			return s.addr;
	}
	return 0;
}

static bool is_kernel(const struct filter_functions *f, uint64_t addr)
{
	return (addr >= f->stext && addr < (f->all && f->end ? f->end : f->etext)) ||
	       (addr >= f->sinittext && addr < f->einittext);
}

static uint64_t last_end(const struct filter_functions *f, uint64_t addr)
{
	if (addr >= f->sinittext && addr < f->einittext)
		return f->einittext;
	return f->all ? f->end : f->etext;
}

/* The nearest symbol at or below addr and the next one above that, of the kernel or of others. */
static int find_range(const struct filter_functions *f, uint64_t addr, uint64_t *ret_start,
		      uint64_t *ret_end)
{
	bool kernel = is_kernel(f, addr);
	uint64_t best = 0, next = UINT64_MAX;
	const char *pos = f->text;
	struct symbol s;

	while (next_symbol(&pos, &s)) {
		if (kernel == !s.module && s.addr <= addr && s.addr > best)
			best = s.addr;
	}
	if (!best)
		return -ENOENT;
	for (pos = f->text; next_symbol(&pos, &s);) {
		if (kernel == !s.module && s.addr > best && s.addr < next)
			next = s.addr;
	}
	if (!kernel)
		next = MIN(next, best + MAX_LAST_SIZE);
	else if (next == UINT64_MAX)
		next = last_end(f, addr);
	if (addr >= next)
		return -ENOENT;
	*ret_start = best;
	*ret_end = next;
	return 0;
}

int filter_functions__new(const char *path, struct filter_functions **ret_functions)
{
	struct filter_functions *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->path = strdup(path);
	if (!f->path) {
		free(f);
		return -ENOMEM;
	}
	*ret_functions = f;
	return 0;
}

void filter_functions__free(struct filter_functions *f)
{
	if (!f)
		return;
	free(f->path);
	free(f->text);
	free(f);
}

int filter_functions__range(void *functions, const char *name, uint64_t addr, uint64_t *ret_start,
			    uint64_t *ret_end)
{
	struct filter_functions *f = functions;
	int err;

	err = load(f);
	if (err)
		return err;
	if (name)
		addr = find_name(f, name);
	return addr ? find_range(f, addr, ret_start, ret_end) : -ENOENT;
}
