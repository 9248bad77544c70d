/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fields of nested sched events.  The kernel calls no program with the formatted record of an event
 * that is nested in another event's program.  src/bpf/nested_fields.bpf.h builds the record from
 * the tracepoint's arguments instead, if this table has every field of the event and the arguments
 * have the expected types.
 *
 * Source: include/trace/events/sched.h.
 */
#ifndef RECORD_NESTED_FIELDS_H
#define RECORD_NESTED_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

struct btf;
struct ev_format;
struct event_desc;

/* Whether this event is in the table. */
bool nested_fields__expected(const char *system, const char *name);

/*
 * Sets the members of desc that say how to fill a record of this event; desc->fixed_size must be
 * set.  btf: the kernel's types.  Returns NULL on success, the name of the first unknown field, or
 * "its arguments" if these are not as expected.
 */
const char *nested_fields__describe(const char *system, const char *name,
				    const struct ev_format *fmt, const struct btf *btf,
				    struct event_desc *desc);

/* The i-th event of the table; NULL after the last one. */
const char *nested_fields__event(size_t i);

/*
 * Returns 0 if the fields of all these events are known on this machine; -EOPNOTSUPP if not, with
 * the first such event and field in ret_detail; another negative errno if that cannot be
 * determined.
 */
int nested_fields__probe(char *ret_detail, size_t len);

#endif /* RECORD_NESTED_FIELDS_H */
