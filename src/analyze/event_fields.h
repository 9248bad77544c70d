/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fields of a recording's events by name, for analyses.  Formats are parsed once per type; a lookup
 * by role is an array access.  Everything here is untrusted: a field may be missing, of another
 * size, or outside of the record.
 */
#ifndef ANALYZE_EVENT_FIELDS_H
#define ANALYZE_EVENT_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "events/format.h"
#include "stackonce.h"

#define EVENT_FIELDS_MAX 8

/* What an analysis knows an event by. */
struct event_role {
	int role; /* the caller's number, not 0 */
	const char *system, *name;
	const char *fields[EVENT_FIELDS_MAX]; /* that it reads, NULL: no more */
};

/* An event type of the recording, as the analysis sees it. */
struct event_known {
	const struct stk_event_type *type;
	int role; /* 0: none of the caller's */
	struct ev_format *format; /* NULL where the text is no format, or role is 0 */
	const struct ev_field
		*fields[EVENT_FIELDS_MAX]; /* as in the role; NULL: it has none such */
};

struct event_fields;

/* roles: nr rows, borrowed; NULL, 0: no roles (formats are then parsed for every type). */
int event_fields__new(const struct event_role *roles, unsigned int nr,
		      struct event_fields **ret_fields);
void event_fields__free(struct event_fields *f);
static inline void event_fields__freep(struct event_fields **f)
{
	event_fields__free(*f);
}

/* Of the event's type; made when its first event comes.  NULL when out of memory. */
const struct event_known *event_fields__of(struct event_fields *f, const struct stk_event_type *t);

/* Types of one of the roles first to last, without the analysis's knowing which. */
struct event_question {
	int first, last;
	bool fields; /* events that came without their fields are of no use to it */
	uint64_t from, to; /* ns, both included */
};
/* Whether such an event may be missing, of any task on any CPU.  To be asked at the event at `to`. */
bool event_fields__may_miss(struct event_fields *f, struct stk_reader *r,
			    const struct event_question *q);
/* Events of these roles that were lost, as counted so far; not those at the edges. */
uint64_t event_fields__lost(struct event_fields *f, const struct stk_reader *r, int first,
			    int last);

/*
 * The value of an integer field of this event: false where the event has no such field or came
 * without its fields (STK_MARK_NO_FIELDS), in which case ret_value is untouched.
 */
bool event_fields__u64(const struct ev_field *field, const struct stk_event *e,
		       uint64_t *ret_value);
/*
 * A string field (char array or __data_loc char[]), not NUL-terminated; NULL as above.  It lives
 * until the next event.
 */
const char *event_fields__string(const struct ev_field *field, const struct stk_event *e,
				 size_t *ret_len);

#endif /* ANALYZE_EVENT_FIELDS_H */
