// SPDX-License-Identifier: GPL-2.0-only
/* Reads and checks the headers and sections of an ELF file. */
#include "elf_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"

#define NATIVE_DATA (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)
#define MAX_PHDRS 512 /* linkers make a dozen, and each symbol is searched in all */

int elf_file__read(const struct elf_file *f, uint64_t off, void *buf, size_t len)
{
	char *p = buf;

	if (off > f->size || len > f->size - off)
		return -EIO;
	if (f->fd < 0) {
		memcpy(buf, f->image + off, len);
		return 0;
	}
	while (len) {
		ssize_t n = pread(f->fd, p, len, off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		p += n;
		off += n;
		len -= n;
	}
	return 0;
}

int elf_file__load(const struct elf_file *f, uint64_t off, uint64_t len, char **ret_data)
{
	_cleanup_free_ char *data = NULL;
	int err;

	if (off > f->size || len > f->size - off)
		return -EIO;
	if (len > ELF_FILE_MAX_LOAD)
		return -EFBIG;
	data = malloc(len + 1);
	if (!data)
		return -ENOMEM;
	err = elf_file__read(f, off, data, len);
	if (err)
		return err;
	data[len] = '\0';
	*ret_data = take_ptr(data);
	return 0;
}

static void ehdr_from_32(const Elf32_Ehdr *from, Elf64_Ehdr *to)
{
	memcpy(to->e_ident, from->e_ident, EI_NIDENT);
	to->e_type = from->e_type;
	to->e_machine = from->e_machine;
	to->e_phoff = from->e_phoff;
	to->e_shoff = from->e_shoff;
	to->e_phentsize = from->e_phentsize;
	to->e_phnum = from->e_phnum;
	to->e_shentsize = from->e_shentsize;
	to->e_shnum = from->e_shnum;
	to->e_shstrndx = from->e_shstrndx;
}

static void phdr_from_32(const Elf32_Phdr *from, Elf64_Phdr *to)
{
	to->p_type = from->p_type;
	to->p_flags = from->p_flags;
	to->p_offset = from->p_offset;
	to->p_vaddr = from->p_vaddr;
	to->p_paddr = from->p_paddr;
	to->p_filesz = from->p_filesz;
	to->p_memsz = from->p_memsz;
	to->p_align = from->p_align;
}

static void shdr_from_32(const Elf32_Shdr *from, Elf64_Shdr *to)
{
	to->sh_name = from->sh_name;
	to->sh_type = from->sh_type;
	to->sh_flags = from->sh_flags;
	to->sh_addr = from->sh_addr;
	to->sh_offset = from->sh_offset;
	to->sh_size = from->sh_size;
	to->sh_link = from->sh_link;
	to->sh_info = from->sh_info;
	to->sh_addralign = from->sh_addralign;
	to->sh_entsize = from->sh_entsize;
}

static void sym_from_32(const Elf32_Sym *from, Elf64_Sym *to)
{
	to->st_name = from->st_name;
	to->st_info = from->st_info;
	to->st_other = from->st_other;
	to->st_shndx = from->st_shndx;
	to->st_value = from->st_value;
	to->st_size = from->st_size;
}

static int read_ehdr(struct elf_file *f)
{
	Elf32_Ehdr ehdr32;
	uint8_t *ident = f->ehdr.e_ident;

	if (elf_file__read(f, 0, ident, EI_NIDENT) || memcmp(ident, ELFMAG, SELFMAG) ||
	    ident[EI_DATA] != NATIVE_DATA || ident[EI_VERSION] != EV_CURRENT)
		return -ENOEXEC;
	f->is64 = ident[EI_CLASS] == ELFCLASS64;
	if (f->is64)
		return elf_file__read(f, 0, &f->ehdr, sizeof(f->ehdr)) ? -ENOEXEC : 0;
	if (ident[EI_CLASS] != ELFCLASS32 || elf_file__read(f, 0, &ehdr32, sizeof(ehdr32)))
		return -ENOEXEC;
	ehdr_from_32(&ehdr32, &f->ehdr);
	return 0;
}

static int read_phdrs(struct elf_file *f)
{
	size_t size = f->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	unsigned int nr = MIN(f->ehdr.e_phnum, (unsigned int)MAX_PHDRS);
	_cleanup_free_ char *raw = NULL;
	int err;

	if (!nr)
		return 0;
	if (f->ehdr.e_phentsize != size)
		return -ENOEXEC;
	err = elf_file__load(f, f->ehdr.e_phoff, nr * size, &raw);
	if (err)
		return err == -EIO ? -ENOEXEC : err;
	if (f->is64) {
		f->phdrs = (Elf64_Phdr *)take_ptr(raw);
	} else {
		f->phdrs = calloc(nr, sizeof(*f->phdrs));
		if (!f->phdrs)
			return -ENOMEM;
		for (unsigned int i = 0; i < nr; i++)
			phdr_from_32((Elf32_Phdr *)raw + i, &f->phdrs[i]);
	}
	f->nr_phdrs = nr;
	return 0;
}

static int file_open(struct elf_file f, struct elf_file *ret_file)
{
	int err = read_ehdr(&f);

	if (!err)
		err = read_phdrs(&f);
	if (err) {
		elf_file__done(&f);
		return err;
	}
	*ret_file = f;
	return 0;
}

int elf_file__from_fd(int fd, struct elf_file *ret_file)
{
	struct elf_file f = { .fd = fd };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < 0)
		return -ENOEXEC;
	f.size = st.st_size;
	return file_open(f, ret_file);
}

int elf_file__from_image(const void *image, size_t len, struct elf_file *ret_file)
{
	return file_open((struct elf_file){ .fd = -1, .image = image, .size = len }, ret_file);
}

void elf_file__done(struct elf_file *f)
{
	free(f->phdrs);
	free(f->shdrs);
	free(f->names);
	memset(f, 0, sizeof(*f));
	f->fd = -1;
}

static int read_shdrs(struct elf_file *f)
{
	size_t size = f->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	unsigned int nr = f->ehdr.e_shnum;
	_cleanup_free_ char *raw = NULL;
	int err;

	if (!nr || f->ehdr.e_shentsize != size)
		return -ENOENT;
	err = elf_file__load(f, f->ehdr.e_shoff, nr * size, &raw);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	if (f->is64) {
		f->shdrs = (Elf64_Shdr *)take_ptr(raw);
	} else {
		f->shdrs = calloc(nr, sizeof(*f->shdrs));
		if (!f->shdrs)
			return -ENOMEM;
		for (unsigned int i = 0; i < nr; i++)
			shdr_from_32((Elf32_Shdr *)raw + i, &f->shdrs[i]);
	}
	f->nr_shdrs = nr;
	return 0;
}

int elf_file__load_sections(struct elf_file *f)
{
	const Elf64_Shdr *names;
	int err;

	if (f->nr_shdrs)
		return 0;
	err = read_shdrs(f);
	if (err)
		return err;
	if (f->ehdr.e_shstrndx >= f->nr_shdrs)
		return 0;
	names = &f->shdrs[f->ehdr.e_shstrndx];
	if (names->sh_type == SHT_STRTAB &&
	    !elf_file__load(f, names->sh_offset, names->sh_size, &f->names))
		f->names_len = names->sh_size;
	return 0;
}

const char *elf_file__section_name(const struct elf_file *f, const Elf64_Shdr *shdr)
{
	return shdr->sh_name < f->names_len ? f->names + shdr->sh_name : "";
}

const Elf64_Shdr *elf_file__section(const struct elf_file *f, const char *name)
{
	for (unsigned int i = 0; i < f->nr_shdrs; i++) {
		if (f->shdrs[i].sh_type != SHT_NOBITS && f->shdrs[i].sh_type != SHT_NULL &&
		    !strcmp(elf_file__section_name(f, &f->shdrs[i]), name))
			return &f->shdrs[i];
	}
	return NULL;
}

const Elf64_Shdr *elf_file__section_of_type(const struct elf_file *f, uint32_t type)
{
	for (unsigned int i = 0; i < f->nr_shdrs; i++) {
		if (f->shdrs[i].sh_type == type)
			return &f->shdrs[i];
	}
	return NULL;
}

size_t elf_file__sym_size(const struct elf_file *f)
{
	return f->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

int elf_file__read_syms(const struct elf_file *f, uint64_t off, size_t nr, Elf64_Sym *ret_syms)
{
	Elf32_Sym *narrow;
	int err = elf_file__read(f, off, ret_syms, nr * elf_file__sym_size(f));

	if (err || f->is64)
		return err;
	/* The 32-bit symbols overlap the 64-bit ones: convert from the last one down. */
	narrow = (Elf32_Sym *)ret_syms;
	while (nr--) {
		Elf32_Sym from;

		memcpy(&from, narrow + nr, sizeof(from));
		sym_from_32(&from, &ret_syms[nr]);
	}
	return 0;
}

static bool segment_offset(const struct elf_file *f, uint64_t vaddr, uint32_t flags,
			   uint64_t *ret_off, uint64_t *ret_end)
{
	for (unsigned int i = 0; i < f->nr_phdrs; i++) {
		const Elf64_Phdr *p = &f->phdrs[i];

		if (p->p_type != PT_LOAD || (p->p_flags & flags) != flags ||
		    vaddr - p->p_vaddr >= p->p_filesz || vaddr < p->p_vaddr)
			continue;
		if (p->p_offset > f->size || p->p_filesz > f->size - p->p_offset)
			continue;
		*ret_off = p->p_offset + (vaddr - p->p_vaddr);
		*ret_end = p->p_offset + p->p_filesz;
		return true;
	}
	return false;
}

bool elf_file__code_offset(const struct elf_file *f, uint64_t vaddr, uint64_t *ret_off,
			   uint64_t *ret_end)
{
	return segment_offset(f, vaddr, PF_X, ret_off, ret_end);
}

bool elf_file__offset(const struct elf_file *f, uint64_t vaddr, uint64_t *ret_off,
		      uint64_t *ret_end)
{
	return segment_offset(f, vaddr, 0, ret_off, ret_end);
}

bool elf_file__code_vaddr(const struct elf_file *f, uint64_t off, uint64_t *ret_vaddr)
{
	for (unsigned int i = 0; i < f->nr_phdrs; i++) {
		const Elf64_Phdr *p = &f->phdrs[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && off >= p->p_offset &&
		    off - p->p_offset < p->p_filesz) {
			*ret_vaddr = p->p_vaddr + (off - p->p_offset);
			return true;
		}
	}
	return false;
}
