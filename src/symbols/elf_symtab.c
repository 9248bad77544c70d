// SPDX-License-Identifier: GPL-2.0-only
/* Functions from a symbol table, found by its section or by the dynamic segment. */
#include "elf_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define CHUNK 2048 /* symbols read at once */
#define MAX_SYMBOLS (64u << 20)

struct symtab {
	const struct elf_file *exe, *f;
	uint64_t off, nr;
	uint32_t names, names_len; /* the place of its strings in the table's names */
};

static const Elf64_Shdr *section_of(const struct elf_file *f, const Elf64_Sym *sym)
{
	return sym->st_shndx < MIN(f->nr_shdrs, (unsigned int)SHN_LORESERVE) ?
		       &f->shdrs[sym->st_shndx] :
		       NULL;
}

/* Symbols for tools only: mapping symbols, notes of compiler plugins. */
static bool is_label(const Elf64_Shdr *section, const char *name)
{
	return section && section->sh_flags & SHF_EXECINSTR && *name != '$' && *name != '.';
}

static uint32_t rank_of(const Elf64_Sym *sym, const char *name)
{
	unsigned int bind = ELF64_ST_BIND(sym->st_info), underscores = 0;

	while (underscores < 255 && name[underscores] == '_')
		underscores++;
	bind = bind == STB_LOCAL ? 2 : bind == STB_WEAK ? 1 : 0;
	return (ELF64_ST_TYPE(sym->st_info) == STT_NOTYPE ? ELF_RANK_LABEL : 0) |
	       ELF_RANK_BIND(bind) | ELF_RANK_UNDERSCORES(underscores) |
	       (ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC ? ELF_RANK_IFUNC : 0) |
	       (sym->st_size ? 0 : ELF_RANK_NO_SIZE);
}

/* name@VERSION and name@@VERSION: other tables have the same function as "name". */
static void cut_versions(char *names, size_t len)
{
	char *end = names + len;

	while ((names = memchr(names, '@', end - names)))
		*names = '\0';
}

static int add_symbol(struct elf_symbols *s, const struct symtab *t, const Elf64_Sym *sym)
{
	unsigned int type = ELF64_ST_TYPE(sym->st_info);
	const Elf64_Shdr *section = section_of(t->f, sym);
	struct elf_function function = { 0 };
	uint64_t end, rest;
	char *name;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
	    sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || sym->st_shndx == SHN_COMMON ||
	    !sym->st_name || sym->st_name >= t->names_len)
		return 0;
	name = s->names + t->names + sym->st_name;
	if (!*name || (type == STT_NOTYPE && !is_label(section, name)) ||
	    !elf_file__code_offset(t->exe, sym->st_value, &function.start, &end))
		return 0;
	rest = end - function.start;
	if (section && sym->st_value >= section->sh_addr &&
	    sym->st_value - section->sh_addr <= section->sh_size)
		rest = MIN(rest, section->sh_size - (sym->st_value - section->sh_addr));
	function.limit = MIN(rest, (uint64_t)UINT32_MAX);
	function.size = MIN(sym->st_size, MIN(end - function.start, (uint64_t)UINT32_MAX));
	function.rank = rank_of(sym, name);
	function.name = name - s->names;
	return elf_table__add(s, &function);
}

static int add_symbols(struct elf_symbols *s, const struct symtab *t)
{
	_cleanup_free_ Elf64_Sym *syms = malloc(CHUNK * sizeof(*syms));
	uint64_t at, left = MIN(t->nr, (uint64_t)MAX_SYMBOLS);
	int err = 0;

	if (!syms)
		return -ENOMEM;
	for (at = t->off; left && !err;) {
		size_t nr = MIN(left, (uint64_t)CHUNK);

		err = elf_file__read_syms(t->f, at, nr, syms);
		for (size_t i = 0; i < nr && !err; i++)
			err = add_symbol(s, t, &syms[i]);
		at += nr * elf_file__sym_size(t->f);
		left -= nr;
	}
	return err;
}

/* Adds the strings, then the symbols. */
static int add_table(struct elf_symbols *s, struct symtab *t, uint64_t str_off, uint64_t str_len)
{
	size_t before = s->names_len;
	int err;

	if (str_off > t->f->size || str_len > t->f->size - str_off)
		return -ENOENT;
	err = elf_table__add_names(s, str_len, &t->names);
	if (err)
		return err;
	t->names_len = str_len;
	err = elf_file__read(t->f, str_off, s->names + t->names, str_len);
	if (err) {
		s->names_len = before;
		return err;
	}
	cut_versions(s->names + t->names, str_len);
	return add_symbols(s, t);
}

static int add_section(struct elf_symbols *s, struct symtab *t, const Elf64_Shdr *symtab)
{
	const Elf64_Shdr *strtab;

	if (symtab->sh_link >= t->f->nr_shdrs)
		return -ENOENT;
	strtab = &t->f->shdrs[symtab->sh_link];
	if (strtab->sh_type != SHT_STRTAB)
		return -ENOENT;
	t->off = symtab->sh_offset;
	t->nr = symtab->sh_size / elf_file__sym_size(t->f);
	return add_table(s, t, strtab->sh_offset, strtab->sh_size);
}

int elf_symtab__add(struct elf_symbols *s, const struct elf_file *exe, const struct elf_file *f)
{
	const Elf64_Shdr *symtab = elf_file__section_of_type(f, SHT_SYMTAB);
	struct symtab t = { .exe = exe, .f = f };

	return symtab ? add_section(s, &t, symtab) : -ENOENT;
}

int elf_dynsym__add(struct elf_symbols *s, const struct elf_file *exe, size_t whole)
{
	const Elf64_Shdr *dynsym = elf_file__section_of_type(exe, SHT_DYNSYM);
	struct symtab t = { .exe = exe, .f = exe };
	struct elf_dynsym d;
	int err;

	if (dynsym)
		return whole < dynsym->sh_size / elf_file__sym_size(exe) ?
			       add_section(s, &t, dynsym) :
			       0;
	err = elf_dynamic__find_symbols(exe, &d);
	if (err || whole >= d.nr)
		return err;
	t.off = d.off;
	t.nr = d.nr;
	return add_table(s, &t, d.str_off, d.str_len);
}
