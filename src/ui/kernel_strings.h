/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel's addresses in an event's fields stand for: symbols, and strings, which are tracefs's
 * printk_formats, kept as metadata.
 */
#ifndef UI_STRINGS_H
#define UI_STRINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "events/format.h"
#include "stackonce.h"

struct kernel_strings;

/* text: lines of 0xADDRESS : "STRING", others are left out; NULL when out of memory. */
struct kernel_strings *kernel_strings__new(const char *text);
void kernel_strings__free(struct kernel_strings *s);
/* NULL when unknown, or s is. */
const char *kernel_strings__find(const struct kernel_strings *s, uint64_t addr);

/* For printing events of one recording. */
struct kernel_text {
	struct stk_reader *reader;
	struct kernel_strings *strings; /* made when the first is asked for */
	bool has_strings;
};
/* Lets print look here; both live as long as it prints. */
void kernel_text__init(struct kernel_text *t, struct stk_reader *reader,
		       struct ev_print_ctx *print);
void kernel_text__clear(struct kernel_text *t);
/* "symbol+0x1/0x2 [module]", or without the offset; false when unknown.  text: a struct kernel_text. */
bool kernel_text__symbol(void *text, uint64_t addr, bool with_offset, struct strbuf *out);

#endif /* UI_STRINGS_H */
