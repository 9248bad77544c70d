/* SPDX-License-Identifier: GPL-2.0-only */
/* Hand-made ELF images: code of some pages, and sections. */
#ifndef TESTS_UNWIND_IMAGE_H
#define TESTS_UNWIND_IMAGE_H

#include <assert.h>
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE_CODE_OFFSET 0x1000 /* in the file */
#define IMAGE_CODE 0x401000 /* its address */
#define IMAGE_MAX_SECTIONS 12

struct image_section {
	const char *name;
	uint32_t type;
	uint64_t flags, addr, link;
	const void *bytes;
	size_t len;
	uint64_t offset; /* set by image__build() */
};

struct image {
	size_t code_len;
	const void *code; /* NULL: zeros */
	uint64_t entry;
	struct image_section sections[IMAGE_MAX_SECTIONS];
	unsigned int nr_sections;
	bool hdr; /* PT_GNU_EH_FRAME for the section .eh_frame_hdr */
	uint32_t extra; /* type of one more program header, for the last section */
	bool stripped; /* no section headers */
	uint8_t *bytes; /* set by image__build() */
	size_t len;
};

/* The file from IMAGE_CODE_OFFSET on is loaded at IMAGE_CODE. */
static inline void image__add(struct image *im, const char *name, uint32_t type, uint64_t flags,
			      const void *bytes, size_t len)
{
	assert(im->nr_sections < IMAGE_MAX_SECTIONS);
	im->sections[im->nr_sections++] = (struct image_section){
		.name = name, .type = type, .flags = flags, .bytes = bytes, .len = len
	};
}

static inline uint64_t image__align(uint64_t v)
{
	return (v + 15) & ~15ull;
}

/* The future offset of a section. */
static inline uint64_t image__offset(const struct image *im, unsigned int index)
{
	uint64_t at = IMAGE_CODE_OFFSET + im->code_len;

	for (unsigned int i = 0; i < index; i++)
		at = image__align(at) + im->sections[i].len;
	return image__align(at);
}

static inline uint64_t image__addr(const struct image *im, unsigned int index)
{
	return image__offset(im, index) - IMAGE_CODE_OFFSET + IMAGE_CODE;
}

/* Adds the image's code as a section; no sections with bytes may follow. */
static inline void image__add_code(struct image *im, const char *name)
{
	image__add(im, name, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, NULL, 0);
}

static inline void image__put_section(struct image *im, Elf64_Shdr *sh, unsigned int i)
{
	struct image_section *s = &im->sections[i];

	s->offset = image__offset(im, i);
	if (s->len)
		memcpy(im->bytes + s->offset, s->bytes, s->len);
	*sh = (Elf64_Shdr){
		.sh_type = s->type,
		.sh_flags = s->flags,
		.sh_addr = s->flags & SHF_ALLOC ? image__addr(im, i) : 0,
		.sh_offset = s->offset,
		.sh_size = s->len,
		.sh_link = (uint32_t)s->link,
	};
	if (s->flags & SHF_EXECINSTR) {
		sh->sh_addr = IMAGE_CODE;
		sh->sh_offset = IMAGE_CODE_OFFSET;
		sh->sh_size = im->code_len;
	}
}

/* Builds im->bytes, with exactly the bytes of the file. */
static inline void image__build(struct image *im)
{
	uint64_t end = image__offset(im, im->nr_sections), names_at = end, sh_at = end + 512;
	unsigned int nr_ph = im->extra ? 3 : im->hdr ? 2 : 1, nr_sh = im->nr_sections + 2;
	Elf64_Phdr ph[3] = { { .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_X,
			       .p_offset = IMAGE_CODE_OFFSET,
			       .p_vaddr = IMAGE_CODE,
			       .p_filesz = end - IMAGE_CODE_OFFSET,
			       .p_memsz = end - IMAGE_CODE_OFFSET },
			     { .p_type = im->hdr ? PT_GNU_EH_FRAME : PT_NULL },
			     { .p_type = im->extra } };
	Elf64_Shdr sh[IMAGE_MAX_SECTIONS + 2] = { { 0 } };
	char names[512] = "";
	size_t at = 1;
	Elf64_Ehdr eh = { .e_type = ET_DYN,
			  .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT,
			  .e_phoff = sizeof(eh),
			  .e_phentsize = sizeof(*ph),
			  .e_phnum = (uint16_t)nr_ph,
			  .e_entry = im->entry,
			  .e_ehsize = sizeof(eh) };

	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_ident[EI_VERSION] = EV_CURRENT;
	im->len = im->stripped ? end : sh_at + nr_sh * sizeof(*sh);
	im->bytes = calloc(1, im->len);
	assert(im->bytes);
	if (im->code)
		memcpy(im->bytes + IMAGE_CODE_OFFSET, im->code, im->code_len);
	for (unsigned int i = 0; i < im->nr_sections; i++) {
		image__put_section(im, &sh[i + 1], i);
		sh[i + 1].sh_name = (uint32_t)at;
		at += strlen(strcpy(names + at, im->sections[i].name)) + 1;
		if (im->hdr && !strcmp(im->sections[i].name, ".eh_frame_hdr"))
			ph[1].p_vaddr = image__addr(im, i);
	}
	if (im->extra) {
		ph[2].p_vaddr = image__addr(im, im->nr_sections - 1);
		ph[2].p_filesz = im->sections[im->nr_sections - 1].len;
	}
	if (!im->stripped) {
		eh.e_shoff = sh_at;
		eh.e_shentsize = sizeof(*sh);
		eh.e_shnum = (uint16_t)nr_sh;
		eh.e_shstrndx = (uint16_t)(nr_sh - 1);
		sh[nr_sh - 1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
					      .sh_offset = names_at,
					      .sh_size = sizeof(names) };
		memcpy(im->bytes + names_at, names, sizeof(names));
		memcpy(im->bytes + sh_at, sh, nr_sh * sizeof(*sh));
	}
	memcpy(im->bytes, &eh, sizeof(eh));
	memcpy(im->bytes + sizeof(eh), ph, nr_ph * sizeof(*ph));
}

#endif /* TESTS_UNWIND_IMAGE_H */
