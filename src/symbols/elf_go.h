/* SPDX-License-Identifier: GPL-2.0-only */
/* Where Go's table of functions is in a file, and what its entries are relative to. */
#ifndef SYMBOLS_ELF_GO_H
#define SYMBOLS_ELF_GO_H

#include "elf_file.h"

/* .gopclntab, which each Go program has, also a stripped one; NULL: not a Go program. */
const Elf64_Shdr *elf_go__section(const struct elf_file *f);

/* Since Go 1.18: the address of the code, 64 bit files only; 0: unknown. */
uint64_t elf_go__text(const struct elf_file *f, const Elf64_Shdr *section);

#endif /* SYMBOLS_ELF_GO_H */
