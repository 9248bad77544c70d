/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Go's own tables, which every Go program carries: for each function where the stack pointer is
 * relative to its entry.  Source: Go's src/runtime/symtab.go, runtime2.go (struct _func) and
 * src/internal/abi/symtab.go; versions by the magic number: Go 1.2, 1.16, 1.18, 1.20.
 */
#ifndef UNWIND_GOPCLNTAB_H
#define UNWIND_GOPCLNTAB_H

#include <stdbool.h>
#include <stdint.h>

#include "builder.h"
#include "elf_image.h"

struct unw_go_layout;

struct unw_go {
	const struct unw_elf *elf; /* borrowed */
	const struct unw_go_layout *layout;
	uint64_t names; /* offset in the file */
	struct unw_part table; /* of functions: entries {start, offset}, then the last one's end */
	struct unw_part funcs; /* struct _func, which the offsets lead to */
	struct unw_part values; /* pc-value tables */
	uint64_t text; /* what entries are relative to */
	uint32_t nr;
};

struct unw_go_func {
	uint64_t start, end; /* addresses, start < end */
	uint32_t values; /* the table of the stack pointer; 0: none */
	uint8_t flags;
	bool is_top; /* nothing called it */
	bool is_sigreturn; /* where signal handlers return to */
};

/* -ENOENT: no such tables, or of a version that is not known. */
int unw_go__open(const struct unw_elf *elf, struct unw_go *ret_go);
void unw_go__close(struct unw_go *go);

/* Functions 0..go->nr, some of which may be unreadable. */
bool unw_go__func(struct unw_go *go, uint32_t i, struct unw_go_func *ret_func);
/* Rows of a function, into the stretch that the builder was given: addresses + delta.  -ENOMEM. */
int unw_go__run(struct unw_go *go, const struct unw_go_func *f, uint64_t delta,
		struct unw_rules *rules, struct unw_builder *b, uint64_t *unknown);

#endif /* UNWIND_GOPCLNTAB_H */
