/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of functions while it is collected from the parts of a file. */
#ifndef SYMBOLS_ELF_TABLE_H
#define SYMBOLS_ELF_TABLE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "elf_file.h"
#include "usyms.h"

#define ELF_TABLE_MAX_FUNCTIONS (16u << 20)

/* The better of two names for a function has the lower rank; with equal ranks the names decide. */
#define ELF_RANK_LABEL (1u << 24) /* not marked as a function */
#define ELF_RANK_BIND(nr) ((uint32_t)(nr) << 16) /* 0 global, 1 weak, 2 local */
#define ELF_RANK_UNDERSCORES(nr) ((uint32_t)(nr) << 8) /* at most 255 */
#define ELF_RANK_NO_SIZE 1u
#define ELF_RANK_IFUNC 2u /* STT_GNU_IFUNC */
#define ELF_RANK_OLD 4u /* set by elf_names.c only: not the default version of its name */

struct elf_function {
	uint64_t start; /* offset in the file */
	uint32_t size; /* 0: up to the next function, at most limit bytes */
	uint32_t name; /* offset in the names */
	uint32_t rank;
	union {
		uint32_t limit; /* while collecting */
		uint32_t outer; /* afterwards: 1 + index of the function around this one; 0: none */
	};
};

struct elf_symbols {
	struct elf_function *v;
	size_t nr, cap;
	char *names; /* concatenated string tables */
	size_t names_len;
};

int elf_table__add(struct elf_symbols *s, const struct elf_function *function);
/* Makes room for len more bytes of names and a NUL; *ret_base: their offset. */
int elf_table__add_names(struct elf_symbols *s, size_t len, uint32_t *ret_base);
size_t elf_symbols__bytes(const struct elf_symbols *s);
/* Sorts, chooses among aliases and sets missing sizes. */
void elf_table__finish(struct elf_symbols *s);

/* The sources of a table: the executed file and its debug file. */
struct elf_source {
	struct elf_file exe, debug;
	bool has_debug;
};

/*
 * As elf_file__from_fd(), also loads the sections if there are any.  debug_fd: -1 for none; a debug
 * file that is not ELF is ignored.
 */
int elf_source__from_fd(int fd, int debug_fd, struct elf_source *ret_source);
int elf_source__from_image(const void *image, size_t len, struct elf_source *ret_source);
void elf_source__done(struct elf_source *s);

/* A missing or broken part is not an error: other parts may be usable. */
static inline int elf_part__optional(int err)
{
	return err == -ENOMEM ? err : 0;
}

/*
 * The parts.  exe: the executed file, whose segments map code to offsets; f: the same file or its
 * debug file.  -ENOENT: no such part.
 */
int elf_symtab__add(struct elf_symbols *s, const struct elf_file *exe, const struct elf_file *f);
/* whole: the functions of a .symtab; it has all of .dynsym if it has as many. */
int elf_dynsym__add(struct elf_symbols *s, const struct elf_file *exe, size_t whole);
int elf_gopclntab__add(struct elf_symbols *s, const struct elf_file *exe);
int elf_debugdata__add(struct elf_symbols *s, const struct elf_file *exe);
int elf_plt__add(struct elf_symbols *s, const struct elf_file *exe);

/* The symbols of the dynamic segment, for files without section headers. */
struct elf_dynsym {
	uint64_t off, nr, str_off, str_len; /* in the file */
};
int elf_dynamic__find_symbols(const struct elf_file *f, struct elf_dynsym *ret_dynsym);

#endif /* SYMBOLS_ELF_TABLE_H */
