/* SPDX-License-Identifier: GPL-2.0-only */
/* The text of /proc/kallsyms, sorted by address. */
#ifndef IMPORT_KALLSYMS_H
#define IMPORT_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

struct kallsyms;

struct kallsym {
	uint64_t start;
	uint64_t size; /* to the next symbol of the same module, 0: unknown */
	const char *name; /* name_len bytes, no NUL */
	const char *mod; /* mod_len bytes without the brackets; mod_len 0: the kernel itself */
	uint32_t name_len, mod_len;
};

/*
 * text (len bytes) is borrowed; name is for messages.  -EINVAL: not such a text; the line is
 * logged.
 */
int kallsyms__parse(const char *name, const char *text, size_t len, struct kallsyms **ret_syms);
void kallsyms__free(struct kallsyms *k);
size_t kallsyms__nr(const struct kallsyms *k);
/*
 * The symbol that contains addr, or NULL.  Of symbols with the same address the first in the text,
 * as the kernel prints it.
 */
const struct kallsym *kallsyms__find(const struct kallsyms *k, uint64_t addr);
/*
 * The only symbol of that name, or NULL.  mod (mod_len bytes, mod_len 0: the kernel itself) and
 * size: of that module and size; NULL and 0: of any.
 */
const struct kallsym *kallsyms__named(struct kallsyms *k, const char *name, size_t name_len,
				      const char *mod, size_t mod_len, uint64_t size);

#endif /* IMPORT_KALLSYMS_H */
