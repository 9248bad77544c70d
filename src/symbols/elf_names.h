/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of an ELF file by name, with all their names; struct elf_symbols keeps only the one
 * to show.  Files are untrusted.
 */
#ifndef SYMBOLS_ELF_NAMES_H
#define SYMBOLS_ELF_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_names; /* sorted by name, then offset */

struct elf_name {
	const char *name; /* not demangled; owned by the table */
	uint64_t start; /* offset in the file */
	uint64_t size; /* 0: unknown */
	bool old; /* for old programs: another function has the name's default version */
	bool is_ifunc; /* STT_GNU_IFUNC: the code only selects the function at load time */
};

/*
 * Reads .dynsym, .symtab, also of the debug file (debug_fd, or -1), and .gnu_debugdata; labels are
 * left out.  -ENOEXEC: not an ELF file; -ENOENT: no functions.
 */
int elf_names__from_fd(int fd, int debug_fd, struct elf_names **ret_names);
void elf_names__free(struct elf_names *n);
size_t elf_names__nr(const struct elf_names *n);
void elf_names__get(const struct elf_names *n, size_t i, struct elf_name *ret_name);
/* Index of the first function with this name, or elf_names__nr(). */
size_t elf_names__find(const struct elf_names *n, const char *name);

#endif /* SYMBOLS_ELF_NAMES_H */
