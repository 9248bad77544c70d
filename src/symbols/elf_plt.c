// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names the stubs of the procedure linkage table after their targets.  No symbol identifies a stub,
 * but its code does: it jumps through a slot that a relocation fills, or pushes the relocation's
 * number.  What is not identified has the section's name, such as the header of a table that is
 * bound lazily (in perf, too, since 6.3).  Files of other machines get no stubs.
 */
#include "elf_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch_code.h"
#include "arch_elf.h"
#include "array.h"
#include "cleanup.h"

#define MAX_RELOCS (1u << 20)
#define MAX_STUBS (4u << 20) /* bytes in all sections: hostile files have thousands of sections */
#define MAX_NAME 2048

struct slot {
	uint64_t addr; /* of the pointer */
	uint32_t sym;
};

struct plt {
	const struct elf_file *exe;
	size_t left; /* bytes of MAX_STUBS */
	struct slot *slots; /* sorted by address */
	size_t nr_slots;
	uint32_t *pushed; /* symbols of .rela.plt by number */
	size_t nr_pushed;
	uint64_t syms_off, nr_syms;
	char *strings;
	size_t strings_len;
};

static void plt_done(struct plt *p)
{
	free(p->slots);
	free(p->pushed);
	free(p->strings);
}

static int slot_compare(const void *pa, const void *pb)
{
	const struct slot *a = pa, *b = pb;

	return CMP(a->addr, b->addr) ?: CMP(a->sym, b->sym);
}

static int load_relocs(struct plt *p, const char *name, bool pushed)
{
	const Elf64_Shdr *section = elf_file__section(p->exe, name);
	uint64_t nr =
		section ? MIN(section->sh_size / sizeof(Elf64_Rela), (uint64_t)MAX_RELOCS) : 0;
	_cleanup_free_ char *raw = NULL;
	struct slot *slots;
	int err;

	if (!nr || section->sh_type != SHT_RELA)
		return 0;
	err = elf_file__load(p->exe, section->sh_offset, nr * sizeof(Elf64_Rela), &raw);
	if (err)
		return err;
	slots = realloc(p->slots, (p->nr_slots + nr) * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	p->slots = slots;
	if (pushed) {
		p->pushed = calloc(nr, sizeof(*p->pushed));
		if (!p->pushed)
			return -ENOMEM;
		p->nr_pushed = nr;
	}
	for (uint64_t i = 0; i < nr; i++) {
		const Elf64_Rela *rela = (const Elf64_Rela *)raw + i;

		if (!ARCH_ELF_FILLS_SLOT(ELF64_R_TYPE(rela->r_info)))
			continue;
		slots[p->nr_slots++] = (struct slot){ rela->r_offset, ELF64_R_SYM(rela->r_info) };
		if (pushed)
			p->pushed[i] = ELF64_R_SYM(rela->r_info);
	}
	return 0;
}

static int load_symbols(struct plt *p)
{
	const Elf64_Shdr *dynsym = elf_file__section_of_type(p->exe, SHT_DYNSYM), *strtab;
	int err;

	if (!dynsym) /* linked statically: the targets have no symbols here */
		return 0;
	if (dynsym->sh_link >= p->exe->nr_shdrs)
		return -ENOENT;
	strtab = &p->exe->shdrs[dynsym->sh_link];
	if (strtab->sh_type != SHT_STRTAB)
		return -ENOENT;
	err = elf_file__load(p->exe, strtab->sh_offset, strtab->sh_size, &p->strings);
	if (err)
		return err;
	p->strings_len = strtab->sh_size;
	p->syms_off = dynsym->sh_offset;
	p->nr_syms = dynsym->sh_size / sizeof(Elf64_Sym);
	return 0;
}

static uint32_t slot_symbol(const struct plt *p, uint64_t addr)
{
	size_t low = array__bisect(p->nr_slots, i, p->slots[i].addr < addr);

	return low < p->nr_slots && p->slots[low].addr == addr ? p->slots[low].sym : 0;
}

/* The number of the stub's target symbol; 0: unknown. */
static uint32_t stub_symbol(const struct plt *p, const uint8_t *code, size_t len, uint64_t addr)
{
	int64_t value;

	switch (arch_code__stub(code, len, &value)) {
	case ARCH_STUB_PUSHES:
		return (uint64_t)value < p->nr_pushed ? p->pushed[value] : 0;
	case ARCH_STUB_JUMPS:
		return slot_symbol(p, addr + value);
	default:
		return 0;
	}
}

/* The name of the function is `name`, of this length, and the suffix. */
static int add_function(struct elf_symbols *s, const char *name, size_t len, const char *suffix,
			uint64_t off, uint32_t size)
{
	struct elf_function function = { .start = off, .size = size, .rank = ELF_RANK_BIND(2) };
	int err = elf_table__add_names(s, len + strlen(suffix), &function.name);

	if (err)
		return err;
	memcpy(s->names + function.name, name, len);
	memcpy(s->names + function.name + len, suffix, strlen(suffix));
	return elf_table__add(s, &function);
}

static int add_stub(struct elf_symbols *s, const struct plt *p, uint32_t nr, uint64_t off,
		    uint32_t size)
{
	Elf64_Sym sym;
	const char *name;
	size_t len;

	if (nr >= p->nr_syms ||
	    elf_file__read_syms(p->exe, p->syms_off + nr * sizeof(sym), 1, &sym) ||
	    sym.st_name >= p->strings_len)
		return 0;
	name = p->strings + sym.st_name;
	len = strnlen(name, MAX_NAME);
	if (!len || len == MAX_NAME)
		return 0;
	return add_function(s, name, len, "@plt", off, size);
}

static int add_unidentified(struct elf_symbols *s, const char *section, uint64_t off, uint32_t size)
{
	return size ? add_function(s, section, strlen(section), "", off, size) : 0;
}

static int add_stubs(struct elf_symbols *s, struct plt *p, const Elf64_Shdr *section)
{
	const char *name = elf_file__section_name(p->exe, section);
	size_t step = section->sh_entsize == 8 ? 8 : 16,
	       size = MIN(section->sh_size, (uint64_t)p->left), at, done = 0;
	_cleanup_free_ char *code = NULL;
	uint64_t off, end;
	int err;

	if (!elf_file__code_offset(p->exe, section->sh_addr, &off, &end))
		return 0;
	size = MIN(size, end - off);
	p->left -= size;
	err = elf_file__load(p->exe, off, size, &code);
	for (at = 0; !err && size - at >= step; at += step) {
		uint32_t nr = stub_symbol(p, (uint8_t *)code + at, step, section->sh_addr + at);

		if (!nr)
			continue;
		err = add_unidentified(s, name, off + done, at - done);
		err = err ?: add_stub(s, p, nr, off + at, step);
		done = at + step;
	}
	return err ?: add_unidentified(s, name, off + done, at - done);
}

static bool holds_stubs(const struct elf_file *exe, const Elf64_Shdr *section)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got", ".plt.bnd" };
	const char *name = elf_file__section_name(exe, section);

	if (section->sh_type != SHT_PROGBITS || !(section->sh_flags & SHF_EXECINSTR))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

int elf_plt__add(struct elf_symbols *s, const struct elf_file *exe)
{
	_cleanup_(plt_done) struct plt p = { .exe = exe, .left = MAX_STUBS };
	int err;

	if (exe->ehdr.e_machine != ARCH_ELF_MACHINE || !exe->is64)
		return -ENOENT;
	err = load_symbols(&p);
	err = err ?: load_relocs(&p, ".rela.plt", true);
	err = err ?: load_relocs(&p, ".rela.dyn", false);
	if (err)
		return err;
	if (p.nr_slots)
		qsort(p.slots, p.nr_slots, sizeof(*p.slots), slot_compare);
	for (unsigned int i = 0; i < exe->nr_shdrs && !err; i++) {
		if (holds_stubs(exe, &exe->shdrs[i]))
			err = add_stubs(s, &p, &exe->shdrs[i]);
	}
	return err;
}
