/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Resolves kernel addresses in event fields to symbols and to strings.  The strings are those of
 * printk_formats in tracefs, which the recording holds as metadata.
 */
#ifndef UI_STRINGS_H
#define UI_STRINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "events/format.h"
#include "stackonce.h"

struct kernel_strings;

/* text: lines of 0xADDRESS : "STRING"; other lines are skipped.  NULL when out of memory. */
struct kernel_strings *kernel_strings__new(const char *text);
void kernel_strings__free(struct kernel_strings *s);
/* NULL if addr is unknown or s is NULL. */
const char *kernel_strings__find(const struct kernel_strings *s, uint64_t addr);

/* For printing events. */
struct kernel_text {
	struct stk_reader *reader;
	bool of_places; /* addresses are those of stk_event__place() */
	struct kernel_strings *strings; /* parsed at the first lookup */
	bool has_strings;
};
/* Makes print use t for lookups.  t and reader are borrowed for as long as print is used. */
void kernel_text__init(struct kernel_text *t, struct stk_reader *reader,
		       struct ev_print_ctx *print);
void kernel_text__clear(struct kernel_text *t);
/*
 * "symbol+0x1/0x2 [module]", or without the offset; false if addr is unknown.  text is a struct
 * kernel_text.
 */
bool kernel_text__symbol(void *text, uint64_t addr, bool with_offset, struct strbuf *out);

#endif /* UI_STRINGS_H */
