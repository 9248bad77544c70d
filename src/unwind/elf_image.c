// SPDX-License-Identifier: GPL-2.0-only
/* Reads sections and addresses of an ELF file or of an image of one. */
#include "elf_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch_elf.h"
#include "cleanup.h"
#include "inflate.h"

#define MAX_RELA 4 /* sections of relocations */

static const struct unw_segment *segment_of_offset(const struct unw_elf *elf, uint64_t offset)
{
	for (unsigned int i = 0; i < elf->nr_segments; i++) {
		if (offset - elf->segments[i].offset < elf->segments[i].size)
			return &elf->segments[i];
	}
	return NULL;
}

/* The place of [offset, +len) of the file in the image. */
static const uint8_t *in_image(const struct unw_elf *elf, uint64_t offset, uint64_t len)
{
	const struct unw_segment *s;
	uint64_t at = offset;

	if (elf->mapped) {
		s = segment_of_offset(elf, offset);
		if (!s)
			return NULL;
		at = offset - s->offset + s->vaddr - elf->segments[0].vaddr;
	}
	if (at > elf->file.size || len > elf->file.size - at)
		return NULL;
	return elf->file.image + at;
}

int unw_elf__read(const struct unw_elf *elf, uint64_t offset, uint64_t len,
		  struct unw_bytes *ret_bytes)
{
	const uint8_t *p;
	char *own;
	int err;

	if (len > UNW_MAX_BYTES)
		return -ERANGE;
	if (elf->file.image) {
		p = in_image(elf, offset, len);
		if (!p)
			return -ERANGE;
		*ret_bytes = (struct unw_bytes){ p, len, NULL };
		return 0;
	}
	if (offset > elf->file.size || len > elf->file.size - offset)
		return -ERANGE;
	err = elf_file__load(&elf->file, offset, len, &own);
	if (!err)
		*ret_bytes = (struct unw_bytes){ (uint8_t *)own, len, own };
	return err;
}

void unw_bytes__drop(struct unw_bytes *b)
{
	free(b->own);
	*b = (struct unw_bytes){ 0 };
}

const uint8_t *unw_part__get(struct unw_part *part, uint64_t at, size_t len, size_t *ret_len)
{
	uint64_t page = at >> UNW_WINDOW_SHIFT, start = page << UNW_WINDOW_SHIFT, nr;
	uint8_t **bytes = &part->windows[page % UNW_WINDOWS].bytes;

	if (at >= part->len)
		return NULL;
	*ret_len = MIN(len, part->len - at);
	if (part->elf->file.image)
		return in_image(part->elf, part->offset + at, *ret_len);
	if (*bytes && part->windows[page % UNW_WINDOWS].page == page)
		return *bytes + (at - start);
	if (!*bytes)
		*bytes = malloc(2 * UNW_WINDOW_MAX);
	nr = MIN(2 * UNW_WINDOW_MAX, part->len - start);
	part->windows[page % UNW_WINDOWS].page = UINT64_MAX;
	if (!*bytes || elf_file__read(&part->elf->file, part->offset + start, *bytes, nr))
		return NULL;
	part->windows[page % UNW_WINDOWS].page = page;
	return *bytes + (at - start);
}

void unw_part__close(struct unw_part *part)
{
	for (unsigned int i = 0; i < UNW_WINDOWS; i++)
		free(part->windows[i].bytes);
	*part = (struct unw_part){ 0 };
}

int unw_elf__read_vaddr(const struct unw_elf *elf, uint64_t vaddr, uint64_t len,
			struct unw_bytes *ret_bytes)
{
	for (unsigned int i = 0; i < elf->nr_segments; i++) {
		const struct unw_segment *s = &elf->segments[i];
		uint64_t at = vaddr - s->vaddr;

		if (at < s->size)
			return unw_elf__read(elf, s->offset + at, MIN(len, s->size - at),
					     ret_bytes);
	}
	return -ERANGE;
}

const struct unw_segment *unw_elf__code(const struct unw_elf *elf, uint64_t vaddr)
{
	for (unsigned int i = 0; i < elf->nr_segments; i++) {
		const struct unw_segment *s = &elf->segments[i];

		if (s->exec && vaddr - s->vaddr < s->size)
			return s;
	}
	return NULL;
}

const Elf64_Phdr *unw_elf__phdr(const struct unw_elf *elf, uint32_t type)
{
	for (unsigned int i = 0; i < elf->file.nr_phdrs; i++) {
		if (elf->file.phdrs[i].p_type == type)
			return &elf->file.phdrs[i];
	}
	return NULL;
}

int unw_elf__section_bytes(const struct unw_elf *elf, const Elf64_Shdr *s,
			   struct unw_bytes *ret_bytes)
{
	const char *name = elf_file__section_name(&elf->file, s);
	struct unw_bytes raw;
	int err;

	err = unw_elf__read(elf, s->sh_offset, s->sh_size, &raw);
	if (err)
		return err;
	if (s->sh_flags & SHF_COMPRESSED)
		err = unw_inflate(raw.p, raw.len, ret_bytes);
	else if (!strncmp(name, ".zdebug_", 8))
		err = unw_inflate_gnu(raw.p, raw.len, ret_bytes);
	else {
		*ret_bytes = raw;
		return 0;
	}
	unw_bytes__drop(&raw);
	return err;
}

static bool each_in_section(const struct unw_elf *elf, const Elf64_Shdr *s, unw_relocation_fn fn,
			    void *ctx)
{
	struct unw_bytes b;
	bool stop = false;
	Elf64_Rela r;

	if (unw_elf__read(elf, s->sh_offset, s->sh_size, &b))
		return false;
	for (size_t at = 0; b.len - at >= sizeof(r) && !stop; at += sizeof(r)) {
		memcpy(&r, b.p + at, sizeof(r));
		stop = ELF64_R_TYPE(r.r_info) == ARCH_ELF_RELATIVE &&
		       fn(ctx, r.r_offset, (uint64_t)r.r_addend);
	}
	unw_bytes__drop(&b);
	return stop;
}

void unw_elf__each_relocation(const struct unw_elf *elf, unw_relocation_fn fn, void *ctx)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < elf->file.nr_shdrs && nr < MAX_RELA; i++) {
		const Elf64_Shdr *s = &elf->file.shdrs[i];

		if (s->sh_type != SHT_RELA || !(s->sh_flags & SHF_ALLOC))
			continue;
		nr++;
		if (each_in_section(elf, s, fn, ctx))
			return;
	}
}

static void add_segment(struct unw_elf *elf, const Elf64_Phdr *p)
{
	uint64_t size = p->p_filesz;

	if (!elf->mapped)
		size = p->p_offset < elf->file.size ? MIN(size, elf->file.size - p->p_offset) : 0;
	if (!size || p->p_vaddr + size < size || p->p_offset + size < size ||
	    elf->nr_segments == UNW_MAX_SEGMENTS)
		return;
	elf->segments[elf->nr_segments++] = (struct unw_segment){
		.vaddr = p->p_vaddr,
		.offset = p->p_offset,
		.size = size,
		.exec = p->p_flags & PF_X,
	};
}

static int open_elf(struct unw_elf *elf)
{
	const Elf64_Ehdr *h = &elf->file.ehdr;
	int err = 0;

	if (!elf->file.is64 || h->e_machine != ARCH_ELF_MACHINE ||
	    (h->e_type != ET_EXEC && h->e_type != ET_DYN))
		return -ENOEXEC;
	for (unsigned int i = 0; i < elf->file.nr_phdrs; i++) {
		if (elf->file.phdrs[i].p_type == PT_LOAD)
			add_segment(elf, &elf->file.phdrs[i]);
	}
	if (!elf->nr_segments)
		return -ENOEXEC;
	/* sections may be missing; then the program headers must suffice */
	if (!elf->mapped)
		err = elf_file__load_sections(&elf->file);
	return err == -ENOMEM ? err : 0;
}

int unw_elf__open_fd(struct unw_elf *elf, int fd)
{
	int err;

	*elf = (struct unw_elf){ .file.fd = -1 };
	err = elf_file__from_fd(fd, &elf->file);
	return err ?: open_elf(elf);
}

int unw_elf__open_image(struct unw_elf *elf, const void *image, size_t len, bool mapped)
{
	int err;

	*elf = (struct unw_elf){ .file.fd = -1, .mapped = mapped };
	err = elf_file__from_image(image, len, &elf->file);
	return err ?: open_elf(elf);
}

void unw_elf__close(struct unw_elf *elf)
{
	elf_file__done(&elf->file);
}
