// SPDX-License-Identifier: GPL-2.0-only
/* Prints columns as a table head, as text or as members of JSON objects. */
#include "column.h"

#include <stdio.h>

/* Whether the caller prints the value as text.  Prints the name while the head is printed. */
static bool is_text(struct out *o, const char *name, int width)
{
	if (width && o->heads)
		strbuf__printf(&o->b, "%*s", width, name);
	return width && !o->heads;
}

void column__number(struct out *o, const char *name, int width, uint64_t v)
{
	if (o->json.depth)
		json__u64(&o->json, name, v);
	else if (is_text(o, name, width))
		strbuf__printf(&o->b, "%*s", width, text__number(v).s);
}

void column__ns(struct out *o, const char *name, int width, unsigned __int128 ns)
{
	char key[32];

	if (o->json.depth) {
		snprintf(key, sizeof(key), "%s_ns", name);
		json__u64(&o->json, key, ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns);
	} else if (is_text(o, name, width)) {
		strbuf__printf(&o->b, "%*s", width, text__ns(ns).s);
	}
}

void column__percent(struct out *o, const char *name, int width, uint64_t part, uint64_t whole)
{
	if (o->json.depth) {
		out__percent(json__value(&o->json, name), part, whole, 0);
	} else if (is_text(o, name, width)) {
		out__percent(&o->b, part, whole, width - 1);
		strbuf__putc(&o->b, '%');
	}
}

void column__bool(struct out *o, const char *name, bool v)
{
	if (o->json.depth)
		json__bool(&o->json, name, v);
}
