// SPDX-License-Identifier: GPL-2.0-only
/* Sorts all names of an ELF file's functions. */
#include "elf_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "elf_table.h"

#define VERSION_HIDDEN 0x8000 /* not the version that programs link to today */
#define MAX_NAME 4096 /* hostile tables share megabytes of name */

struct elf_names {
	struct elf_symbols s; /* not finished: sorted by name instead */
};

static int collect(struct elf_symbols *s, const struct elf_source *source)
{
	const struct elf_file *exe = &source->exe;
	int err = elf_part__optional(elf_dynsym__add(s, exe, 0));
	size_t exported = s->nr;

	err = err ?: elf_part__optional(elf_symtab__add(s, exe, exe));
	err = err ?: elf_part__optional(elf_debugdata__add(s, exe));
	if (!err && source->has_debug)
		err = elf_part__optional(elf_symtab__add(s, exe, &source->debug));
	if (!err && s->nr == exported)
		err = elf_part__optional(elf_gopclntab__add(s, exe));
	return err;
}

static int compare(const void *pa, const void *pb, void *ctx)
{
	const struct elf_function *a = pa, *b = pb;
	const struct elf_symbols *s = ctx;
	int by_name = strcmp(s->names + a->name, s->names + b->name);

	if (by_name)
		return by_name;
	return CMP(a->start, b->start) ?: CMP(b->size, a->size);
}

/* Sorts and removes duplicates: several tables contain the same symbol. */
static void sort(struct elf_symbols *s)
{
	size_t to = 0;

	for (size_t i = 0; i < s->nr; i++)
		if (!(s->v[i].rank & ELF_RANK_LABEL) &&
		    strnlen(s->names + s->v[i].name, MAX_NAME) < MAX_NAME)
			s->v[to++] = s->v[i];
	s->nr = to;
	if (!to)
		return;
	qsort_r(s->v, s->nr, sizeof(*s->v), compare, s);
	to = 1;
	for (size_t i = 1; i < s->nr; i++) {
		const struct elf_function *last = &s->v[to - 1];

		if (s->v[i].start != last->start ||
		    strcmp(s->names + s->v[i].name, s->names + last->name))
			s->v[to++] = s->v[i];
	}
	s->nr = to;
}

/* In a hostile file many functions may share a name, so the offset is part of the search key. */
static struct elf_function *find_at(struct elf_names *n, const char *name, uint64_t start)
{
	size_t low = 0, high = n->s.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct elf_function *f = &n->s.v[mid];
		int by_name = strcmp(n->s.names + f->name, name);

		if (!by_name && f->start == start)
			return &n->s.v[mid];
		if (by_name < 0 || (!by_name && f->start < start))
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

static void mark(struct elf_names *n, const char *name, uint64_t start, bool old)
{
	struct elf_function *f = find_at(n, name, start);

	if (f)
		f->rank = (f->rank & ~ELF_RANK_OLD) | (old ? ELF_RANK_OLD : 0);
}

/*
 * A function that also has the default version of its name is not old: default versions come last.
 */
static int mark_versions(struct elf_names *n, const struct elf_file *exe)
{
	const Elf64_Shdr *dynsym = elf_file__section_of_type(exe, SHT_DYNSYM);
	const Elf64_Shdr *versym = elf_file__section_of_type(exe, SHT_GNU_versym), *strtab;
	_cleanup_free_ char *versions = NULL, *strings = NULL;
	_cleanup_free_ Elf64_Sym *syms = NULL;
	size_t nr, i;
	int err;

	if (!dynsym || !versym || dynsym->sh_link >= exe->nr_shdrs)
		return -ENOENT;
	strtab = &exe->shdrs[dynsym->sh_link];
	nr = MIN(dynsym->sh_size / elf_file__sym_size(exe), versym->sh_size / 2);
	if (nr > ELF_TABLE_MAX_FUNCTIONS)
		return -EFBIG;
	err = elf_file__load(exe, versym->sh_offset, nr * 2, &versions);
	if (!err)
		err = elf_file__load(exe, strtab->sh_offset, strtab->sh_size, &strings);
	if (err)
		return err;
	syms = calloc(nr + 1, sizeof(*syms));
	if (!syms)
		return -ENOMEM;
	err = elf_file__read_syms(exe, dynsym->sh_offset, nr, syms);
	for (i = 0; i < 2 * nr && !err; i++) {
		const Elf64_Sym *sym = &syms[i % nr];
		bool last = i >= nr;
		uint64_t start, end;
		uint16_t version;

		memcpy(&version, versions + i % nr * 2, sizeof(version));
		if (last == !!(version & VERSION_HIDDEN) || sym->st_name >= strtab->sh_size ||
		    sym->st_shndx == SHN_UNDEF ||
		    !elf_file__code_offset(exe, sym->st_value, &start, &end))
			continue;
		mark(n, strings + sym->st_name, start, !last);
	}
	return err;
}

static int names_new(const struct elf_source *source, struct elf_names **ret_names)
{
	struct elf_names *n = calloc(1, sizeof(*n));
	int err = n ? 0 : -ENOMEM;

	if (!err)
		err = collect(&n->s, source);
	if (!err)
		sort(&n->s);
	if (!err && !n->s.nr)
		err = -ENOENT;
	if (!err)
		err = elf_part__optional(mark_versions(n, &source->exe));
	if (err)
		elf_names__free(n);
	else
		*ret_names = n;
	return err;
}

int elf_names__from_fd(int fd, int debug_fd, struct elf_names **ret_names)
{
	_cleanup_(elf_source__done) struct elf_source source = { 0 };
	int err = elf_source__from_fd(fd, debug_fd, &source);

	return err ?: names_new(&source, ret_names);
}

void elf_names__free(struct elf_names *n)
{
	if (!n)
		return;
	free(n->s.v);
	free(n->s.names);
	free(n);
}

size_t elf_names__nr(const struct elf_names *n)
{
	return n->s.nr;
}

void elf_names__get(const struct elf_names *n, size_t i, struct elf_name *ret_name)
{
	const struct elf_function *f = &n->s.v[i];

	*ret_name = (struct elf_name){ .name = n->s.names + f->name,
				       .start = f->start,
				       .size = f->size,
				       .old = f->rank & ELF_RANK_OLD,
				       .is_ifunc = f->rank & ELF_RANK_IFUNC };
}

size_t elf_names__find(const struct elf_names *n, const char *name)
{
	size_t low = array__bisect(n->s.nr, i, strcmp(n->s.names + n->s.v[i].name, name) < 0);

	return low < n->s.nr && !strcmp(n->s.names + n->s.v[low].name, name) ? low : n->s.nr;
}
