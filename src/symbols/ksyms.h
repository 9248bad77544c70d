/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The running kernel's symbols: /proc/kallsyms for the kernel's own text.  For modules and BPF
 * programs, which come and go, and where kallsyms hides addresses (kernel.kptr_restrict), a
 * resolver answers for one address at a time; in practice it is a BPF program that formats with
 * %pS.
 */
#ifndef SYMBOLS_KSYMS_H
#define SYMBOLS_KSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ksym {
	uint64_t start;
	uint64_t size; /* 0: unknown */
	const char *name;
	const char *module; /* "" for the kernel itself */
};

struct ksyms;

/*
 * Resolves addrs[0..nr): writes "name+0x12/0x34 [module]", as %pS prints it, of at most text_len
 * bytes to texts + i * text_len ("0x..." if unknown).  Returns 0 or a negative errno; -EOPNOTSUPP:
 * the resolver is unavailable.
 */
typedef int (*ksyms_resolve_fn)(void *ctx, const uint64_t *addrs, unsigned int nr, char *texts,
				size_t text_len);

/*
 * Keeps the kernel's own functions, which are the same as long as it runs.  first: the address of
 * the first of them, which differs from one run of a kernel to another; the keeper distinguishes
 * kernels.  Called by another thread.
 */
struct ksyms_keeper {
	void *ctx;
	bool (*get)(void *ctx, uint64_t first, void **ret_image, size_t *ret_len);
	void (*put)(void *ctx, uint64_t first, const void *image, size_t len);
};

/* Reads /proc/kallsyms; *ret_syms is empty if it hides addresses (ksyms__hidden). */
int ksyms__load(struct ksyms **ret_syms);
/*
 * The same by a thread, some 100 ms: returns at once, and the first call of another function waits.
 * What the keeper has is not read; NULL: none.  It is borrowed.
 * If addresses are hidden, when_hidden is called then, by the waiting thread; NULL: nothing is
 * done.  ksyms__wait() has the errors of both.
 */
int ksyms__load_beside(const struct ksyms_keeper *keeper, int (*when_hidden)(void *ctx), void *ctx,
		       struct ksyms **ret_syms);
int ksyms__wait(struct ksyms *k);
/* Parses a text in kallsyms format. */
int ksyms__parse(const char *text, struct ksyms **ret_syms);
void ksyms__free(struct ksyms *k);

bool ksyms__hidden(const struct ksyms *k);
/* Sets the resolver for addresses that kallsyms cannot resolve. */
void ksyms__set_resolver(struct ksyms *k, ksyms_resolve_fn fn, void *ctx);
/*
 * Walks the kernel's text from anchor (any address in it) through the resolver and keeps every
 * function found, for lookups by name.
 */
int ksyms__walk(struct ksyms *k, uint64_t anchor);

/*
 * The symbol that contains addr at present: outside of the kernel's own text the resolver is asked
 * each time.  BPF programs and their trampolines have the module "bpf".  Valid until the next call.
 * -ENOENT: no symbol.
 */
int ksyms__find(struct ksyms *k, uint64_t addr, struct ksym *ret_sym);
/* addr is in the kernel's own text: its symbol never changes. */
bool ksyms__is_fixed(const struct ksyms *k, uint64_t addr);
/*
 * The first symbol with this name, including the modules loaded at the start.  -ENOENT: no symbol.
 */
int ksyms__by_name(struct ksyms *k, const char *name, struct ksym *ret_sym);

/* The functions listed by kallsyms, by address: aliases are adjacent. */
size_t ksyms__nr(const struct ksyms *k);
void ksyms__get(const struct ksyms *k, size_t i, struct ksym *ret_sym);

struct ksym_range {
	uint64_t start, len;
};
/*
 * Kernel text that interrupts enter: the range *ret_entry without ret_holes, where unused holes are
 * zero.  -ENOENT: no such text; -E2BIG: more than max_holes holes.
 */
int ksyms__interrupt_entries(const struct ksyms *k, struct ksym_range *ret_entry,
			     struct ksym_range *ret_holes, unsigned int max_holes);

#endif /* SYMBOLS_KSYMS_H */
