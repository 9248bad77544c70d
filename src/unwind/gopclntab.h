/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Go's own tables, which every Go program contains: they give, for each function, the stack pointer
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
	struct unw_part funcs; /* struct _func, at those offsets */
	struct unw_part values; /* pc-value tables */
	uint64_t text; /* base of relative entries */
	uint32_t nr;
};

struct unw_go_func {
	uint64_t start, end; /* addresses, start < end */
	uint32_t values; /* offset of the stack pointer's table; 0: none */
	uint8_t flags;
	bool is_top; /* it has no caller */
	bool is_sigreturn; /* signal handlers return here */
};

/* -ENOENT: no such tables, or an unknown version. */
int unw_go__open(const struct unw_elf *elf, struct unw_go *ret_go);
void unw_go__close(struct unw_go *go);

/* Reads function i of 0..go->nr - 1.  false: it is unreadable, or not a function of Go. */
bool unw_go__func(struct unw_go *go, uint32_t i, struct unw_go_func *ret_func);
/* Adds the rows of a function to the builder's current range: addresses + delta.  -ENOMEM. */
int unw_go__run(struct unw_go *go, const struct unw_go_func *f, uint64_t delta,
		struct unw_rules *rules, struct unw_builder *b, uint64_t *unknown);

#endif /* UNWIND_GOPCLNTAB_H */
