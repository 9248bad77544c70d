/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stacks that a trace text has in full, because the kernel's stack map was full.  Their frames
 * are names.  A frame gets the address in the text, or that of the function in kallsyms if only one
 * has the name; any other function gets an address of its own from TEXT_STACKS_BASE on, where no
 * kernel has code.
 */
#ifndef IMPORT_TEXT_STACKS_H
#define IMPORT_TEXT_STACKS_H

#include <stddef.h>
#include <stdint.h>

#define TEXT_STACKS_BASE 0xffff800000000000ULL

struct fsmb_map;
struct kallsyms;
struct stk_writer;
struct text_stacks;

/* Borrows all; syms NULL: unknown.  New stacks get ids that the map does not have. */
int text_stacks__new(const struct fsmb_map *map, struct kallsyms *syms, struct stk_writer *writer,
		     struct text_stacks **ret_stacks);
void text_stacks__free(struct text_stacks *t);
/*
 * Writes the stack of those lines (trace_event.frames), and the symbols of its frames, unless it
 * was written before; returns its number in the recording.
 */
int text_stacks__number(struct text_stacks *t, const char *frames, size_t len,
			uint32_t *ret_number);
uint32_t text_stacks__nr(const struct text_stacks *t); /* distinct stacks so far */

#endif /* IMPORT_TEXT_STACKS_H */
