/* SPDX-License-Identifier: GPL-2.0-only */
/* Event types in a trace.dat file: their ids, their formats, and their records as entries. */
#ifndef EXPORT_TRACE_DAT_EVENTS_H
#define EXPORT_TRACE_DAT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stackonce.h"
#include "strbuf.h"

/* Ids of entries of our own; those below TRACE_DAT_FIRST_ID are the kernel's for ftrace. */
#define TRACE_DAT_KERNEL_STACK 4 /* TRACE_STACK of kernel/trace/trace.h */
#define TRACE_DAT_FIRST_ID 32
#define TRACE_DAT_USER_STACK TRACE_DAT_FIRST_ID
#define TRACE_DAT_MAX_ID INT16_MAX /* KernelShark's ids are signed */

struct trace_dat_type;

struct trace_dat_types {
	struct trace_dat_type **v; /* by index of the type; NULL: no event yet */
	uint32_t nr;
	bool *ids; /* TRACE_DAT_MAX_ID + 1 of them: those in use */
	uint32_t next_id; /* none above it is free */
};

/* The type; NULL when out of memory. */
struct trace_dat_type *trace_dat_types__of(struct trace_dat_types *ts,
					   const struct stk_event_type *t);
/* The id of its events with or without fields; 0: all ids are in use. */
uint16_t trace_dat_type__id(struct trace_dat_types *ts, struct trace_dat_type *t, bool has_fields);
/* The bytes of an entry for a record of len bytes. */
size_t trace_dat_type__size(const struct trace_dat_type *t, const void *rec, size_t len);
/*
 * Makes the entry, of the size above: what the record lacks is zero, and strings and arrays that
 * are empty or not in the record lie at the end of the entry.
 */
void trace_dat_type__put(const struct trace_dat_type *t, char *to, size_t size, const void *rec,
			 size_t len);
/* Calls fn for each code address in the record that the event prints as a function. */
int trace_dat_type__code(const struct trace_dat_type *t, const void *rec, size_t len,
			 int (*fn)(void *ctx, uint64_t address), void *ctx);
/* Appends the formats of all types with events, by system, as the file has them. */
void trace_dat_types__put(const struct trace_dat_types *ts, struct strbuf *b);
void trace_dat_types__clear(struct trace_dat_types *ts);

void trace_dat__put_u32(struct strbuf *b, uint32_t v);
void trace_dat__put_u64(struct strbuf *b, uint64_t v);
/* A text after its length in 8 bytes. */
void trace_dat__put_sized(struct strbuf *b, const struct strbuf *text);

#endif /* EXPORT_TRACE_DAT_EVENTS_H */
