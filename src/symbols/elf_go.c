// SPDX-License-Identifier: GPL-2.0-only
/* Finds Go's table of functions: Go's src/runtime/symtab.go, src/cmd/link/internal/ld/pcln.go. */
#include "elf_go.h"

#include <stdlib.h>
#include <string.h>

#include "arch_elf.h"
#include "cleanup.h"

#define HEADER_TEXT 24 /* offset in the header */
#define MODULE_TEXT (22 * 8) /* field text of runtime.moduledata */
#define MAX_RELA 4 /* sections of relocations */

const Elf64_Shdr *elf_go__section(const struct elf_file *f)
{
	const Elf64_Shdr *section = elf_file__section(f, ".gopclntab");

	return section ?: elf_file__section(f, ".data.rel.ro.gopclntab");
}

/* The address that the relocation at vaddr writes there; 0: none. */
static uint64_t in_relocations(const struct elf_file *f, const Elf64_Shdr *section, uint64_t vaddr)
{
	_cleanup_free_ char *data = NULL;
	Elf64_Rela r;

	if (elf_file__load(f, section->sh_offset, section->sh_size, &data))
		return 0;
	for (uint64_t at = 0; section->sh_size - at >= sizeof(r); at += sizeof(r)) {
		memcpy(&r, data + at, sizeof(r));
		if (r.r_offset == vaddr && ELF64_R_TYPE(r.r_info) == ARCH_ELF_RELATIVE)
			return (uint64_t)r.r_addend;
	}
	return 0;
}

static uint64_t read_pointer(const struct elf_file *f, uint64_t vaddr)
{
	uint64_t value = 0, off, end;
	unsigned int nr = 0, i;

	if (elf_file__offset(f, vaddr, &off, &end) && elf_file__read(f, off, &value, sizeof(value)))
		value = 0;
	for (i = 0; i < f->nr_shdrs && nr < MAX_RELA && !value; i++) {
		const Elf64_Shdr *s = &f->shdrs[i];

		if (s->sh_type != SHT_RELA || !(s->sh_flags & SHF_ALLOC))
			continue;
		nr++;
		value = in_relocations(f, s, vaddr);
	}
	return value;
}

/* In the header until Go 1.25, in the module's data since. */
uint64_t elf_go__text(const struct elf_file *f, const Elf64_Shdr *section)
{
	const Elf64_Shdr *module = elf_file__section(f, ".go.module");
	uint64_t text = f->is64 ? read_pointer(f, section->sh_addr + HEADER_TEXT) : 0;

	if (!text && module && f->is64)
		text = read_pointer(f, module->sh_addr + MODULE_TEXT);
	return text;
}
