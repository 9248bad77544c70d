/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values of events by name, for filters, groups, sums, columns and queries: fields of the event's
 * type, and generic values, which every event has.
 *
 *   prev_comm                 a field
 *   comm, task.comm           the name of the task in which the event happened
 *   field.comm                the field of that name
 *
 * 495 of 2,323 tracepoints have a field with the name of a generic value.  Which of the two a bare
 * name means is up to the caller: in filters the field, as in the kernel, elsewhere the generic
 * value.  With a prefix a name means the same everywhere.
 */
#ifndef QUERY_VALUES_H
#define QUERY_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stackonce.h"

struct ev_field;

/* The generic values, each in one row of value_names. */
enum value_name {
	VALUE_EVENT, /* "sched:sched_switch" */
	VALUE_TIME, /* ns of the recording's clock */
	VALUE_CPU,
	VALUE_PID,
	VALUE_TID,
	VALUE_COMM,
	VALUE_KSTACK, /* stack ids; 0: none */
	VALUE_USTACK,
	VALUE_SYM, /* the innermost function, by name; none: no stack */
	VALUE_CALLER, /* its caller */
	VALUE_FILE, /* module or file of the innermost function; "[kernel]" */
	VALUE_HOST, /* of the recording, else its path */
	NR_VALUE_NAMES,
};

enum value_type {
	VALUE_NONE, /* the event has no such value, or was recorded without its fields */
	VALUE_U64,
	VALUE_S64,
	VALUE_ADDRESS, /* printed as 0x... or by the name of its function */
	VALUE_TEXT,
	VALUE_BYTES, /* a field that is an array of something else than characters */
};

struct value_row {
	const char *name, *full_name; /* "comm", "task.comm" */
	const char *column; /* in SQL: "_comm" */
	enum value_type type;
	const char *help;
};
/* By enum value_name. */
extern const struct value_row value_names[NR_VALUE_NAMES];
/* The generic value of that name, or NR_VALUE_NAMES; *ret_is_full: it is the name with a prefix. */
enum value_name value_name__find(const char *name, bool *ret_is_full);

struct event_value {
	enum value_type type;
	uint64_t number; /* signed values: two's complement */
	/* Text and bytes, not NUL-terminated, and valid until the next event. */
	const char *text;
	size_t len;
};

enum value_prefer { VALUE_PREFER_GENERIC, VALUE_PREFER_FIELD };

/* A set of names that are looked up once per event type. */
struct values;

int values__new(struct stk_reader *r, struct values **ret_values); /* r is borrowed */
void values__free(struct values *v);
static inline void values__freep(struct values **v)
{
	values__free(*v);
}

/* Whether the name means a generic value where these come first. */
bool value_name__is_generic(const char *name);

/*
 * Adds a name (copied), unless it is there, and returns its number, counted from 0.  -EINVAL: it is
 * empty or has an unknown prefix, and can never be the name of a value.
 */
int values__add(struct values *v, const char *name, enum value_prefer prefer);

/* What sym, caller and file are made from; zero: all frames, with the names of the recording. */
struct value_frames {
	bool no_kernel, no_user; /* leave out the frames of kernel or user stacks */
	/* Returns how a user function's name is shown, valid as long as ctx.  NULL: as it is. */
	const char *(*function)(void *ctx, const char *sym);
	void *ctx;
};
/* Call it before the first values__get(). */
void values__set_frames(struct values *v, const struct value_frames *frames);

/* The generic value that name nr means in all event types; NR_VALUE_NAMES: a field, or either. */
enum value_name values__generic(const struct values *v, unsigned int nr);
/* Bytes that grow with what the recording holds: to be charged to its budget. */
uint64_t values__memory(const struct values *v);

/* The value of e; its type is VALUE_NONE if it has none, or if that is unknown. */
struct event_value values__get(struct values *v, unsigned int nr, const struct stk_event *e);
/* -ENOMEM if the value of an event was unknown; to be asked after VALUE_NONE, or at the end. */
int values__error(const struct values *v);

/*
 * Where the value comes from in events of this type: *ret_field is the field, or NULL for a generic
 * value.  -ENOENT: the type has no such value; -ENOMEM.
 */
int values__source(struct values *v, unsigned int nr, const struct stk_event_type *t,
		   const struct ev_field **ret_field, enum value_name *ret_name);

/* The value of a field in e, as above. */
struct event_value event_value__of_field(const struct ev_field *field, const struct stk_event *e);

#endif /* QUERY_VALUES_H */
