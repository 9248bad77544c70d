/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The unwind table of one window of generated code (WIRE_JIT_BITS): what the jitdump of the process
 * says, and for other code the way to its return (return_path.h), which is looked for where a stack
 * passes.
 */
#ifndef RECORD_JIT_WINDOW_H
#define RECORD_JIT_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/unwind.h"

struct jit_source;
struct jit_window;

/* start: an address in the window.  Shares the source. */
int jit_window__new(uint64_t start, struct jit_source *source, struct jit_window **ret_window);
void jit_window__free(struct jit_window *w);

/*
 * A table that has a rule for the code at offset, the low bits of its address, if one can be found.
 * exact: the code there was interrupted; else it calls.  ts: when it was there, CLOCK_MONOTONIC.
 * NULL: out of memory.  Owned by the window until the next call.
 */
const struct unwind_table *jit_window__at(struct jit_window *w, uint64_t offset, bool exact,
					  uint64_t ts);

/*
 * The whole table, as of the last jit_source__poll(), if it differs from the last one returned
 * here; else NULL.  -ENOMEM.
 */
int jit_window__table(struct jit_window *w, struct unwind_table **ret_table);
/* The last table was lost: the next call returns it again. */
void jit_window__forget(struct jit_window *w);
/* Forgets rules of code that is no longer the same. */
void jit_window__check(struct jit_window *w);

#endif /* RECORD_JIT_WINDOW_H */
