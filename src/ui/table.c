// SPDX-License-Identifier: GPL-2.0-only
/* Columns as a head, as text and as members of JSON objects. */
#include "table.h"

#include <stdio.h>

/* Whether there is text to print for this column that is not its name. */
static bool is_line(const struct table *t, const char *name, int width)
{
	if (t->form == TABLE_HEAD && width)
		strbuf__printf(&t->out->b, "%*s", width, name);
	return t->form == TABLE_LINE && width;
}

void column__number(const struct table *t, const char *name, int width, uint64_t v)
{
	if (t->form == TABLE_JSON)
		json__u64(&t->out->json, name, v);
	else if (is_line(t, name, width))
		out__number(&t->out->b, v, width);
}

void column__ns(const struct table *t, const char *name, int width, unsigned __int128 ns)
{
	char key[32];

	if (t->form == TABLE_JSON) {
		snprintf(key, sizeof(key), "%s_ns", name);
		json__u64(&t->out->json, key, ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns);
	} else if (is_line(t, name, width)) {
		strbuf__ns(&t->out->b, ns, width);
	}
}

void column__percent(const struct table *t, const char *name, int width, uint64_t part, uint64_t whole)
{
	if (t->form == TABLE_JSON)
		out__percent(json__value(&t->out->json, name), part, whole, 0);
	else if (is_line(t, name, width)) {
		out__percent(&t->out->b, part, whole, width - 1);
		strbuf__putc(&t->out->b, '%');
	}
}

void column__bool(const struct table *t, const char *name, bool v)
{
	if (t->form == TABLE_JSON)
		json__bool(&t->out->json, name, v);
}
