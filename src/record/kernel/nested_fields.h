/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fields of sched events that hit another event's program.  The kernel then calls no program that would
 * see the formatted record: src/bpf/nested_fields.bpf.h makes it of the tracepoint's arguments, where every
 * field of the event is known here, and the arguments are of the expected types.
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

/* Whether this event has rows: its fields are to be known. */
bool nested_fields__expected(const char *system, const char *name);

/*
 * Sets what desc says of filling a record of this event; desc->fixed_size is set.  btf: the kernel's types.
 * Returns NULL when all is known, or the name of the first field that is not, or that would not be there:
 * "its arguments".
 */
const char *nested_fields__describe(const char *system, const char *name,
				    const struct ev_format *fmt, const struct btf *btf,
				    struct event_desc *desc);

/* The i-th event that is expected, NULL behind the last one. */
const char *nested_fields__event(size_t i);

/*
 * Whether all of them are known on this machine; -EOPNOTSUPP: not all, with the first event and field in
 * ret_detail.  Another negative errno: it could not be found out.
 */
int nested_fields__probe(char *ret_detail, size_t len);

#endif /* RECORD_NESTED_FIELDS_H */
