/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The running kernel's symbols: /proc/kallsyms for the kernel's own text.  For modules and BPF
 * programs, which come and go, and where kallsyms hides the addresses (kernel.kptr_restrict), what
 * a resolver, in practice a BPF program's own formatting, says of one address at a time.
 */
#ifndef SYMBOLS_KSYMS_H
#define SYMBOLS_KSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ksym {
	uint64_t start;
	uint64_t size; /* 0: not known */
	const char *name;
	const char *module; /* "" for the kernel itself */
};

struct ksyms;

/*
 * Resolve addrs[0..nr): for each a text "name+0x12/0x34 [module]" of at most text_len bytes, as
 * %pS prints it, into texts + i * text_len ("0x..." when unknown).  Returns 0 or a negative errno,
 * -EOPNOTSUPP when it can answer nothing at all.
 */
typedef int (*ksyms_resolve_fn)(void *ctx, const uint64_t *addrs, unsigned int nr, char *texts,
				size_t text_len);

/* From /proc/kallsyms; *ret_syms is empty where it hides addresses (ksyms__hidden). */
int ksyms__load(struct ksyms **ret_syms);
/* From a text in kallsyms' format. */
int ksyms__parse(const char *text, struct ksyms **ret_syms);
void ksyms__free(struct ksyms *k);

bool ksyms__hidden(const struct ksyms *k);
/* Ask here for what kallsyms does not tell. */
void ksyms__set_resolver(struct ksyms *k, ksyms_resolve_fn fn, void *ctx);
/*
 * Walk the kernel's text from anchor (any address in it) through the resolver and keep every
 * function found, so that names can be looked up.
 */
int ksyms__walk(struct ksyms *k, uint64_t anchor);

/*
 * The symbol that holds addr, now: what is not the kernel's own text is asked of the resolver each
 * time.  BPF programs and their trampolines have the module "bpf".  Valid until the next call.
 * -ENOENT: none.
 */
int ksyms__find(struct ksyms *k, uint64_t addr, struct ksym *ret_sym);
/* addr is in the kernel's own text: its symbol never changes. */
bool ksyms__is_fixed(const struct ksyms *k, uint64_t addr);
/* The first symbol of that name, of modules those that were there at the start.  -ENOENT: none. */
int ksyms__by_name(struct ksyms *k, const char *name, struct ksym *ret_sym);

/* The functions that kallsyms listed, by address: the names of one stand side by side. */
size_t ksyms__nr(const struct ksyms *k);
void ksyms__get(const struct ksyms *k, size_t i, struct ksym *ret_sym);

/* Kernel text that is entered by interrupts: [*ret_start, +*ret_len) without the holes. */
struct ksym_range {
	uint64_t start, len;
};
int ksyms__interrupt_entries(const struct ksyms *k, struct ksym_range *ret_entry,
			     struct ksym_range *ret_holes, unsigned int max_holes);

#endif /* SYMBOLS_KSYMS_H */
