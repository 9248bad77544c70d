/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes the symbols of kernel addresses to a recording.  The kernel's own text keeps its names.
 * Elsewhere modules and BPF programs come and go, so that an address is looked up again in each
 * round, and the file told when it has got another name, or none.
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
 * addr is a frame of a stack that has just been given to the writer.  Its symbols are written
 * before the stack is: both that of an exact address and that of the call before it.
 */
int namer__frame(struct namer *n, uint64_t addr);
/* The same of all frames of a stack that are the kernel's. */
int namer__frames(struct namer *n, const uint64_t *frames, unsigned int nr);
/* addr is the value of a field. */
int namer__value(struct namer *n, uint64_t addr);
/* The same of a record's fields that may be kernel addresses. */
int namer__fields(struct namer *n, const struct ev_format *fmt, const void *rec, size_t len);
/* Whether the text of an event's format prints fields as kernel symbols. */
bool namer__prints_symbols(const char *format);
/* To be called when the writer has ended a round: all its stacks so far are in the file. */
void namer__end_round(struct namer *n);

#endif /* RECORD_NAMER_H */
