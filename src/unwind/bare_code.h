/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code without unwind tables whose frames are known nevertheless.
 *
 * In any file: its entry point, and what follows without a call.  Nothing called that.
 *
 * In a C library that has no tables, which musl is as distributions build it: all functions that
 * the symbol table names, that are called, or whose address is taken, by following their code.
 * Such a file needs no other library and no loader, and has a function __libc_start_main of which
 * no table says anything: musl's libc.so, or a program linked to it statically.
 *
 * Of other code without tables nothing is said.
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
	bool sized; /* the symbol table tells the length; else the next function does */
	bool is_entry; /* of the program */
	bool is_sigreturn; /* where signal handlers return to; starts a byte early, as it is looked up */
};

struct unw_addresses {
	uint64_t *v;
	uint32_t nr, size;
};

/* Does a better source know this address? */
typedef bool (*unw_covered_fn)(void *ctx, uint64_t addr);

struct unw_bare {
	const struct unw_elf *elf; /* borrowed */
	uint64_t code, code_len; /* all functions lie there */
	struct flow *flow;
	struct unw_bare_func *v; /* by start */
	uint32_t nr, size;
	uint8_t *taken_up; /* a bit per byte of code: a function starts there, or none can */
	struct unw_addresses called, pointed; /* that may be functions and are not known yet */
	unw_covered_fn covered;
	void *ctx;
	uint64_t work; /* that it has cost */
	int err; /* sticks */
};

/* -ENOENT: it has none of this.  -ENOMEM, -EIO. */
int unw_bare__open(const struct unw_elf *elf, unw_covered_fn covered, void *ctx,
		   struct unw_bare *ret_bare);
void unw_bare__close(struct unw_bare *bare);

/* Rows of function i, into the stretch that the builder was given: addresses + delta. */
int unw_bare__run(struct unw_bare *bare, uint32_t i, uint64_t delta, struct unw_rules *rules,
		  struct unw_builder *b, uint64_t *unknown);

#endif /* UNWIND_BARE_CODE_H */
