/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of generated functions while perf maps and jitdumps are read. */
#ifndef SYMBOLS_JIT_SYMBOLS_H
#define SYMBOLS_JIT_SYMBOLS_H

#include "index.h"
#include "usyms.h"

#define JIT_MAX_FUNCTIONS (4u << 20)
#define JIT_MAX_NAME 4095 /* longer names are truncated */

#define JIT_NO_NAME UINT32_MAX

/* Bytes of a function's .eh_frame, in jit_symbols.frames. */
struct jit_frames {
	uint32_t at, len; /* len 0: none */
	uint64_t vaddr; /* its address, for values that are relative to it */
};

struct jit_function {
	uint64_t start, end;
	uint64_t ts; /* when it was loaded or moved there; 0: unknown */
	uint32_t name; /* offset in the names, or JIT_NO_NAME: not returned by a lookup */
	struct jit_frames frames;
};

/* A range of addresses and the last function added there. */
struct jit_range {
	uint64_t start, end;
	uint32_t function;
};

/* A code index of a jitdump and the function loaded with it last. */
struct jit_loaded {
	uint64_t code_index;
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
	/* of a jitdump */
	uint64_t at; /* where its unread part begins; 0: the header was not read yet */
	bool closed; /* its end was read */
	bool counts_cycles; /* its times are not nanoseconds */
	struct jit_frames pending; /* for the next function */
	uint8_t *frames;
	size_t frames_len, frames_cap;
	uint32_t nr_framed; /* functions with bytes of .eh_frame */
	struct jit_loaded *loaded;
	uint32_t nr_loaded, cap_loaded;
	struct index by_code_index;
	uint64_t seed; /* of its hash */
};

/* f's name is an offset in the names. */
int jit_symbols__put(struct jit_symbols *s, const struct jit_function *f);
int jit_symbols__put_name(struct jit_symbols *s, const char *name, size_t len, uint32_t *ret_name);
/* Rebuilds the ranges; to be called after the last put. */
int jit_symbols__settle(struct jit_symbols *s);
/*
 * Frees all but the functions and their names; nothing can be added or found any more.  Returns the
 * bytes that are left.
 */
size_t jit_symbols__trim(struct jit_symbols *s);

#endif /* SYMBOLS_JIT_SYMBOLS_H */
