/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's vdso, read from this process's memory: it is the same in every process. */
#ifndef RECORD_VDSO_H
#define RECORD_VDSO_H

#include <stdint.h>

struct elf_symbols;
struct unwind_table;

/* -ENOENT: this process has no vdso. */
int vdso__table(struct unwind_table **ret_table);
int vdso__symbols(struct elf_symbols **ret_symbols);
int vdso__build_id(uint8_t ret_id[64], unsigned int *ret_len);

#endif /* RECORD_VDSO_H */
