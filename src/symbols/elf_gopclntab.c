// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of a stripped Go program: the runtime needs .gopclntab, so strip(1) keeps it.  Layouts
 * since Go 1.16, as in Go's debug/gosym.
 */
#include "elf_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "elf_go.h"

#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

struct pclntab {
	const char *data;
	uint64_t len;
	uint64_t nr, text_start, names, names_end, functions; /* offsets in data */
	unsigned int word; /* bytes of an entry of the table of functions: 4 or 8 */
};

static bool get(const struct pclntab *t, uint64_t off, unsigned int size, uint64_t *ret_value)
{
	*ret_value = 0;
	if (off > t->len || size > t->len - off)
		return false;
	memcpy(ret_value, t->data + off, size);
	return true;
}

/* u32 magic, u16 0, u8 quantum, u8 size of a pointer, then words of that size. */
static int parse_header(struct pclntab *t, const struct elf_file *exe, const Elf64_Shdr *section)
{
	uint64_t magic, pointer, names_end, words[8];
	unsigned int nr_words, i;
	const uint64_t *w = words;

	if (!get(t, 0, 4, &magic) || !get(t, 7, 1, &pointer) || (pointer != 4 && pointer != 8))
		return -ENOENT;
	if (magic != MAGIC_1_16 && magic != MAGIC_1_18 && magic != MAGIC_1_20)
		return -ENOENT;
	nr_words = magic == MAGIC_1_16 ? 7 : 8;
	for (i = 0; i < nr_words; i++) {
		if (!get(t, 8 + i * pointer, pointer, &words[i]))
			return -ENOENT;
	}
	/* functions, files, [start of the text,] names, units, files, pcs, table of functions */
	t->nr = *w;
	w += 2;
	if (magic != MAGIC_1_16) {
		/* 32 bit programs have it in the header, too, until Go 1.25. */
		t->text_start = exe->is64 ? elf_go__text(exe, section) : *w;
		if (!t->text_start)
			return -ENOENT;
		w++;
	}
	t->names = w[0];
	names_end = w[1];
	t->functions = w[4];
	t->word = magic == MAGIC_1_16 ? pointer : 4;
	if (t->names > names_end || names_end > t->len || t->functions > t->len ||
	    t->nr >= (t->len - t->functions) / (2 * t->word))
		return -ENOENT;
	t->names_end = names_end;
	return 0;
}

/*
 * Entry i is {offset of the code, offset of its description}; the latter starts with {code, i32
 * name}.
 */
static int add_function(struct elf_symbols *s, const struct elf_file *exe, const struct pclntab *t,
			uint64_t i, uint32_t names)
{
	uint64_t at = t->functions + 2 * i * t->word, start, end, info, name, limit;
	struct elf_function function = { .rank = ELF_RANK_BIND(2) };

	if (!get(t, at, t->word, &start) || !get(t, at + 2 * t->word, t->word, &end) ||
	    !get(t, at + t->word, t->word, &info) || end <= start || end - start > UINT32_MAX ||
	    info > t->len || !get(t, t->functions + info + t->word, 4, &name) ||
	    name >= t->names_end - t->names || !t->data[t->names + name])
		return 0;
	if (!elf_file__code_offset(exe, t->text_start + start, &function.start, &limit))
		return 0;
	function.size = MIN(end - start, limit - function.start);
	function.name = names + name;
	return elf_table__add(s, &function);
}

int elf_gopclntab__add(struct elf_symbols *s, const struct elf_file *exe)
{
	const Elf64_Shdr *section = elf_go__section(exe);
	_cleanup_free_ char *data = NULL;
	struct pclntab t = { 0 };
	uint32_t names;
	int err;

	if (!section)
		return -ENOENT;
	err = elf_file__load(exe, section->sh_offset, section->sh_size, &data);
	if (err)
		return err;
	t.data = data;
	t.len = section->sh_size;
	err = parse_header(&t, exe, section);
	if (!err)
		err = elf_table__add_names(s, t.names_end - t.names, &names);
	if (err)
		return err;
	memcpy(s->names + names, data + t.names, t.names_end - t.names);
	for (uint64_t i = 0; i < t.nr && !err; i++)
		err = add_function(s, exe, &t, i, names);
	return err;
}
