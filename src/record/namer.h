/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes the symbols of kernel addresses to a recording.  The kernel's own text keeps its names.
 * Modules and BPF programs come and go, so an address elsewhere is looked up again in each round,
 * and a changed or removed name is written, too.
 */
#ifndef RECORD_NAMER_H
#define RECORD_NAMER_H

#include <stddef.h>
#include <stdint.h>

struct namer;
struct ksyms;
struct rec_events;
struct stk_writer;

/* Borrows symbols and writer. */
int namer__new(struct ksyms *syms, const struct rec_events *events, struct stk_writer *w,
	       struct namer **ret_namer);
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
/*
 * The same for all fields of a record that may be kernel addresses, if the print fmt of the event
 * type, given by its index, prints symbols.
 */
int namer__fields(struct namer *n, unsigned int event, const void *rec, size_t len);
/* Call this after the writer has ended a round: all its stacks so far are in the file. */
void namer__end_round(struct namer *n);

#endif /* RECORD_NAMER_H */
