/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The columns that a table of an event type has beside the generic values: its fields, where the
 * string that an argument of a system call points to takes the place of the pointer.
 */
#ifndef QUERY_FIELD_COLUMNS_H
#define QUERY_FIELD_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

struct ev_field;
struct ev_format;
struct strbuf;

struct field_column {
	const struct ev_field *field;
	const struct ev_field *text; /* the string that the field points to; NULL: none recorded */
	char *name; /* of the field; NAME#3 if that is taken and it is the third column */
};

struct field_columns {
	struct field_column *v;
	unsigned int nr;
};

/*
 * -E2BIG: more than max; -ENOMEM.  format may be NULL, which has no columns.  is_taken: whether a
 * column that is no field has this name.  SQL takes names that differ in case for the same.
 */
int field_columns__of(const struct ev_format *format, unsigned int max,
		      bool (*is_taken)(const char *name), struct field_columns *ret_columns);
void field_columns__clear(struct field_columns *c);

/* Whether its values are text, unless no string was recorded with an event. */
bool field_column__is_text(const struct field_column *c);
/*
 * The text in a record of len bytes, not NUL-terminated; several strings, as of an argv, are joined
 * by blanks in scratch.  NULL: no text, so the value is that of the field, or missing.
 */
const char *field_column__text(const struct field_column *c, const void *record, size_t len,
			       struct strbuf *scratch, size_t *ret_len);

#endif /* QUERY_FIELD_COLUMNS_H */
