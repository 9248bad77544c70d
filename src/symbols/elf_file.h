/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bounded access to an untrusted ELF file of this machine's byte order, 64 or 32 bits: everything
 * is read with pread(2) into own memory, because a mapped file that shrinks raises SIGBUS. Headers
 * are returned in their 64-bit form.
 */
#ifndef SYMBOLS_ELF_FILE_H
#define SYMBOLS_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_FILE_MAX_LOAD (512u << 20) /* bytes of a table that is read into memory */

struct elf_file {
	int fd; /* borrowed; -1: image */
	const uint8_t *image; /* borrowed */
	uint64_t size;
	bool is64;
	Elf64_Ehdr ehdr;
	Elf64_Phdr *phdrs;
	unsigned int nr_phdrs;
	Elf64_Shdr *shdrs; /* after elf_file__load_sections() */
	unsigned int nr_shdrs;
	char *names; /* of sections */
	size_t names_len;
};

/* -ENOEXEC: not an ELF file of a supported kind; -EIO, -ENOMEM.  Nothing to free on failure. */
int elf_file__from_fd(int fd, struct elf_file *ret_file);
int elf_file__from_image(const void *image, size_t len, struct elf_file *ret_file);
void elf_file__done(struct elf_file *f);

/* -EIO if the file does not have these bytes (any more). */
int elf_file__read(const struct elf_file *f, uint64_t off, void *buf, size_t len);
/* The same into newly allocated memory, NUL-terminated; -EFBIG above ELF_FILE_MAX_LOAD. */
int elf_file__load(const struct elf_file *f, uint64_t off, uint64_t len, char **ret_data);

/* Loads the section headers; -ENOENT: missing or invalid. */
int elf_file__load_sections(struct elf_file *f);
/* The section with this name; NULL if missing or without bytes in the file. */
const Elf64_Shdr *elf_file__section(const struct elf_file *f, const char *name);
const Elf64_Shdr *elf_file__section_of_type(const struct elf_file *f, uint32_t type);
const char *elf_file__section_name(const struct elf_file *f, const Elf64_Shdr *shdr);

/* Reads nr symbols from off on; each takes elf_file__sym_size() bytes in the file. */
size_t elf_file__sym_size(const struct elf_file *f);
int elf_file__read_syms(const struct elf_file *f, uint64_t off, size_t nr, Elf64_Sym *ret_syms);

/*
 * Converts a virtual address of code to a file offset; also returns where the code around it ends.
 * False if no executable segment contains it.
 */
bool elf_file__code_offset(const struct elf_file *f, uint64_t vaddr, uint64_t *ret_off,
			   uint64_t *ret_end);
/* The inverse. */
bool elf_file__code_vaddr(const struct elf_file *f, uint64_t off, uint64_t *ret_vaddr);
/* As elf_file__code_offset(), for any loaded segment. */
bool elf_file__offset(const struct elf_file *f, uint64_t vaddr, uint64_t *ret_off,
		      uint64_t *ret_end);

#endif /* SYMBOLS_ELF_FILE_H */
