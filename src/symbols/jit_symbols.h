/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of generated functions while perf maps and jitdumps are read. */
#ifndef SYMBOLS_JIT_SYMBOLS_H
#define SYMBOLS_JIT_SYMBOLS_H

#include "usyms.h"

#define JIT_MAX_FUNCTIONS (4u << 20)
#define JIT_MAX_NAME 4095 /* longer names are truncated */

#define JIT_NO_NAME UINT32_MAX

struct jit_function {
	uint64_t start, end;
	uint32_t name; /* offset in the names, or JIT_NO_NAME: not returned by a lookup */
};

/* A range of addresses and the last function added there. */
struct jit_range {
	uint64_t start, end;
	uint32_t function;
};

struct jit_symbols {
	struct jit_function *v; /* in order of addition */
	size_t nr, cap;
	char *names;
	size_t names_len, names_cap;
	struct jit_range *ranges; /* disjoint, ascending */
	size_t nr_ranges;
	uint64_t bad;
};

int jit_symbols__put(struct jit_symbols *s, uint64_t start, uint64_t end, uint32_t name);
int jit_symbols__put_name(struct jit_symbols *s, const char *name, size_t len, uint32_t *ret_name);
/* Rebuilds the ranges; to be called after the last put. */
int jit_symbols__settle(struct jit_symbols *s);

#endif /* SYMBOLS_JIT_SYMBOLS_H */
