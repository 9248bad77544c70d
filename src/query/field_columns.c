// SPDX-License-Identifier: GPL-2.0-only
/* Decides which fields of an event type are columns, and reads their texts. */
#include "field_columns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "array.h"
#include "cleanup.h"
#include "events/format.h"
#include "strbuf.h"

static bool is_text(const struct ev_field *f)
{
	return f->kind == EV_FIELD_STRING || (f->kind != EV_FIELD_INT && f->is_char);
}

static int name_column(struct field_columns *c, unsigned int at, bool (*is_taken)(const char *name))
{
	struct field_column *column = &c->v[at];
	const char *name = column->field->name;
	bool taken = is_taken(name);

	for (unsigned int i = 0; !taken && i < at; i++)
		taken = !strcasecmp(c->v[i].field->name, name);
	if (!taken)
		column->name = strdup(name);
	else if (asprintf(&column->name, "%s#%u", name, at + 1) < 0)
		column->name = NULL;
	return column->name ? 0 : -ENOMEM;
}

int field_columns__of(const struct ev_format *format, unsigned int max,
		      bool (*is_taken)(const char *name), struct field_columns *ret_columns)
{
	struct field_columns c = { 0 };
	unsigned int i;
	int err = 0;

	for (i = 0; !err && format && i < ev_format__nr_fields(format); i++) {
		const struct ev_field *field = ev_format__field(format, i);
		struct field_column column = { .field = field };

		if (ev_format__is_hidden(format, field))
			continue;
		column.text = ev_format__companion(format, field);
		err = c.nr == max			 ? -E2BIG :
		      array__append(&c.v, &c.nr, column) ?:
							   name_column(&c, c.nr - 1, is_taken);
	}
	if (err)
		field_columns__clear(&c);
	else
		*ret_columns = c;
	return err;
}

void field_columns__clear(struct field_columns *c)
{
	for (unsigned int i = 0; i < c->nr; i++)
		free(c->v[i].name);
	free(c->v);
	*c = (struct field_columns){ 0 };
}

bool field_column__is_text(const struct field_column *c)
{
	return c->text || is_text(c->field);
}

/* The strings of an argv follow each other, each with its NUL. */
static const char *strings(const struct ev_field *f, const void *record, size_t len,
			   struct strbuf *scratch, size_t *ret_len)
{
	size_t n, i;
	const char *from = ev_field__bytes(f, record, len, &n);

	if (!from || !n)
		return NULL;
	while (n && !from[n - 1])
		n--;
	*ret_len = n;
	if (!memchr(from, '\0', n))
		return from;
	strbuf__reset(scratch);
	strbuf__add(scratch, from, n);
	if (strbuf__failed(scratch))
		return NULL;
	for (i = 0; i < n; i++)
		if (!scratch->s[i])
			scratch->s[i] = ' ';
	return scratch->s;
}

const char *field_column__text(const struct field_column *c, const void *record, size_t len,
			       struct strbuf *scratch, size_t *ret_len)
{
	const char *text;
	size_t n;

	if (c->text)
		return strings(c->text, record, len, scratch, ret_len);
	text = is_text(c->field) ? ev_field__bytes(c->field, record, len, &n) : NULL;
	if (text)
		*ret_len = strnlen(text, n);
	return text;
}
