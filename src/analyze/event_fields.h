/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds fields of a recording's events by name, for analyses.  Each format is parsed once per type;
 * a lookup by role is an array access.  The recording is untrusted: a field may be missing, have an
 * unexpected size, or lie outside the record.
 */
#ifndef ANALYZE_EVENT_FIELDS_H
#define ANALYZE_EVENT_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "events/format.h"
#include "stackonce.h"

#define EVENT_FIELDS_MAX 8

/* Maps an event to the number by which an analysis knows it. */
struct event_role {
	int role; /* the caller's number, not 0 */
	const char *system, *name;
	const char *fields[EVENT_FIELDS_MAX]; /* fields it reads; NULL ends the list */
};

/* An event type of the recording with the fields of its role looked up. */
struct event_known {
	const struct stk_event_type *type;
	int role; /* 0: the type has no role */
	struct ev_format *format; /* NULL: unparsable, or role is 0 */
	const struct ev_field *fields[EVENT_FIELDS_MAX]; /* as in the role; NULL: missing */
};

struct event_fields;

/* roles: nr rows, borrowed.  NULL, 0: no roles, and the format of every type is parsed. */
int event_fields__new(const struct event_role *roles, unsigned int nr,
		      struct event_fields **ret_fields);
void event_fields__free(struct event_fields *f);
static inline void event_fields__freep(struct event_fields **f)
{
	event_fields__free(*f);
}

/* Looks up the type t, on the first call for it.  NULL: out of memory, now or before. */
const struct event_known *event_fields__of(struct event_fields *f, const struct stk_event_type *t);
/* -ENOMEM if one of the answers below is wrong because of it; to be asked at the end. */
int event_fields__error(const struct event_fields *f);

/* A time range and the roles [first, last]: may events of these roles be missing there? */
struct event_query {
	int first, last;
	bool fields; /* treat events recorded without their fields as missing */
	uint64_t from, to; /* ns, inclusive */
};
/* True if an event may be missing, in any task on any CPU.  Call it at the event at q->to. */
bool event_fields__may_miss(struct event_fields *f, struct stk_reader *r,
			    const struct event_query *q);
/*
 * Number of events of these roles counted as lost so far, excluding those before and after the
 * recording.
 */
uint64_t event_fields__lost(struct event_fields *f, const struct stk_reader *r, int first,
			    int last);

/*
 * Reads an integer field of e.  Returns false, and leaves ret_value untouched, if the event has no
 * such field or was recorded without its fields (STK_MARK_NO_FIELDS).
 */
bool event_fields__u64(const struct ev_field *field, const struct stk_event *e,
		       uint64_t *ret_value);
/*
 * Reads a string field (char array or __data_loc char[]), not NUL-terminated, valid until the next
 * event.  NULL if the event has no such field or was recorded without its fields.
 */
const char *event_fields__string(const struct ev_field *field, const struct stk_event *e,
				 size_t *ret_len);

#endif /* ANALYZE_EVENT_FIELDS_H */
