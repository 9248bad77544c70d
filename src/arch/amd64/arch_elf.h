/* SPDX-License-Identifier: GPL-2.0-only */
/* What is specific to ELF files of amd64 (psABI, chapters 4 and 5), and its library directories. */
#ifndef ARCH_ELF_H
#define ARCH_ELF_H

#include <elf.h>

#define ARCH_ELF_NAME "x86-64" /* for messages */
#define ARCH_ELF_MACHINE EM_X86_64
#define ARCH_ELF_SHT_UNWIND SHT_X86_64_UNWIND
#define ARCH_ELF_RELATIVE R_X86_64_RELATIVE /* the addend is the address */
/* Relocations that fill a slot with the address of a function of another file. */
#define ARCH_ELF_FILLS_SLOT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)

#define ARCH_ELF_LIBRARY_DIRS                                                               \
	"/usr/local/lib:/usr/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu:/usr/lib64:/lib64:" \
	"/usr/lib:/lib"

#endif /* ARCH_ELF_H */
