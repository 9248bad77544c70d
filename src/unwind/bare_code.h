/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds code without unwind tables whose frames can be computed from the machine code.
 *
 * In any file: the entry point, and the code that follows it without a call.  It has no caller.
 *
 * In a C library without tables, such as musl as distributions build it: all functions that the
 * symbol table names, that are called, or whose address is taken, by following their code.  Such a
 * file depends on no library and no loader, and has a function __libc_start_main that no table
 * covers: musl's libc.so, or a program linked to it statically.
 *
 * Other code without tables is left uncovered.
 */
#ifndef UNWIND_BARE_CODE_H
#define UNWIND_BARE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "builder.h"
#include "elf_image.h"

struct flow;

struct unw_bare_func {
	uint64_t start; /* address */
	uint32_t len;
	bool sized; /* the symbol table gives the length; else it extends to the next function */
	bool is_entry; /* of the program */
	bool is_sigreturn; /* handlers return here; starts a byte early, for lookups of ip - 1 */
};

struct unw_addresses {
	uint64_t *v;
	uint32_t nr, size;
};

/* Whether an earlier source covers this address. */
typedef bool (*unw_covered_fn)(void *ctx, uint64_t addr);

struct unw_bare {
	const struct unw_elf *elf; /* borrowed */
	uint64_t code, code_len; /* the range that contains all functions */
	struct flow *flow;
	struct unw_bare_func *v; /* by start */
	uint32_t nr, size;
	uint8_t *claimed; /* a bit per byte of code: a function starts there, or none can */
	struct unw_addresses called, pointed; /* possible functions that are not added yet */
	unw_covered_fn covered;
	void *ctx;
	uint64_t work; /* cost so far */
	int err; /* sticky */
};

/* -ENOENT: the file has no such code.  -ENOMEM, -EIO. */
int unw_bare__open(const struct unw_elf *elf, unw_covered_fn covered, void *ctx,
		   struct unw_bare *ret_bare);
void unw_bare__close(struct unw_bare *bare);

/* Adds the rows of function i to the builder's current range: addresses + delta. */
int unw_bare__run(struct unw_bare *bare, uint32_t i, uint64_t delta, struct unw_rules *rules,
		  struct unw_builder *b, uint64_t *unknown);

#endif /* UNWIND_BARE_CODE_H */
