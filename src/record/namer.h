/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes the symbols of kernel addresses to a recording.  The kernel's own text keeps its names.
 * Modules and BPF programs come and go, so an address elsewhere is looked up again in each round,
 * and a changed or removed name is written, too.
 */
#ifndef RECORD_NAMER_H
#define RECORD_NAMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ev_format;
struct namer;
struct ksyms;
struct stk_writer;

/* Borrows both. */
int namer__new(struct ksyms *syms, struct stk_writer *w, struct namer **ret_namer);
void namer__free(struct namer *n);

/*
 * addr is a frame of a stack that has just been handed to the writer.  Its symbols are written
 * before the stack: that of the address itself, and that of the call instruction before it.
 */
int namer__frame(struct namer *n, uint64_t addr);
/* The same for all kernel frames of a stack. */
int namer__frames(struct namer *n, const uint64_t *frames, unsigned int nr);
/* addr is the value of a field. */
int namer__value(struct namer *n, uint64_t addr);
/* The same for all fields of a record that may be kernel addresses. */
int namer__fields(struct namer *n, const struct ev_format *fmt, const void *rec, size_t len);
/* Whether an event's format text prints fields as kernel symbols. */
bool namer__prints_symbols(const char *format);
/* Call this after the writer has ended a round: all its stacks so far are in the file. */
void namer__end_round(struct namer *n);

#endif /* RECORD_NAMER_H */
