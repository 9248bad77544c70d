// SPDX-License-Identifier: GPL-2.0-only
/* The functions of an ELF file: collects them from the file's parts, and finds one. */
#include "usyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "elf_table.h"

#define MAX_NESTING 64 /* functions in functions; no compiler produces more */

static int collect(struct elf_symbols *s, const struct elf_source *source)
{
	const struct elf_file *exe = &source->exe;
	size_t whole;
	int err = 0;

	if (source->has_debug)
		err = elf_part__optional(elf_symtab__add(s, exe, &source->debug));
	if (!err && !s->nr)
		err = elf_part__optional(elf_symtab__add(s, exe, exe));
	whole = s->nr;
	/* This one has what .dynsym has not. */
	if (!err && !s->nr)
		err = elf_part__optional(elf_debugdata__add(s, exe));
	if (!err && !s->nr)
		err = elf_part__optional(elf_gopclntab__add(s, exe));
	err = err ?: elf_part__optional(elf_dynsym__add(s, exe, whole));
	err = err ?: elf_part__optional(elf_plt__add(s, exe));
	return err;
}

static int symbols_new(const struct elf_source *source, struct elf_symbols **ret_symbols)
{
	struct elf_symbols *s = calloc(1, sizeof(*s));
	int err = s ? 0 : -ENOMEM;

	if (!err)
		err = collect(s, source);
	if (!err)
		elf_table__finish(s);
	if (!err && !s->nr)
		err = -ENOENT;
	if (err)
		elf_symbols__free(s);
	else
		*ret_symbols = s;
	return err;
}

int elf_symbols__from_fd(int fd, int debug_fd, struct elf_symbols **ret_symbols)
{
	_cleanup_(elf_source__done) struct elf_source source = { 0 };
	int err = elf_source__from_fd(fd, debug_fd, &source);

	return err ?: symbols_new(&source, ret_symbols);
}

int elf_symbols__from_image(const void *image, size_t len, struct elf_symbols **ret_symbols)
{
	_cleanup_(elf_source__done) struct elf_source source = { 0 };
	int err = elf_source__from_image(image, len, &source);

	return err ?: symbols_new(&source, ret_symbols);
}

void elf_symbols__free(struct elf_symbols *s)
{
	if (!s)
		return;
	free(s->v);
	free(s->names);
	free(s);
}

int elf_symbols__find(const struct elf_symbols *s, uint64_t offset, struct elf_symbol *ret_symbol)
{
	size_t low = array__bisect(s->nr, i, s->v[i].start <= offset);
	unsigned int depth;

	/* low - 1 is the last function that begins at or before the offset. */
	for (depth = 0; low && depth < MAX_NESTING; depth++) {
		const struct elf_function *f = &s->v[low - 1];

		if (offset - f->start < f->size) {
			ret_symbol->name = s->names + f->name;
			ret_symbol->start = f->start;
			ret_symbol->size = f->size;
			return 0;
		}
		low = f->outer;
	}
	return -ENOENT;
}

size_t elf_symbols__nr(const struct elf_symbols *s)
{
	return s->nr;
}

size_t elf_symbols__bytes(const struct elf_symbols *s)
{
	return sizeof(*s) + s->cap * sizeof(*s->v) + s->names_len;
}
