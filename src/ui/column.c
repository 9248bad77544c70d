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

/* Digits after the point so that there are four in all, at most nine. */
static int decimals_of(double v)
{
	int nr = 3;

	for (v = v < 0 ? -v : v; v >= 9.9995 && nr; v /= 10)
		nr--;
	for (; v > 0 && v < 0.99995 && nr < 9; v *= 10)
		nr++;
	return nr;
}

static void put_real(struct out *o, const char *name, int width, const char *sign, double v)
{
	bool is_whole = v >= 9999.5 || v <= -9999.5;
	char text[128];

	if (o->json.depth) {
		json__real(&o->json, name, v, 9);
	} else if (is_text(o, name, width)) {
		double size = v < 0 ? -v : v;

		if (is_whole && size < 1e18)
			snprintf(text, sizeof(text), "%s%s", v < 0 ? "-" : sign,
				 text__number(size + 0.5).s);
		else
			snprintf(text, sizeof(text), "%s%.*f", v < 0 ? "-" : sign, decimals_of(v),
				 size);
		strbuf__printf(&o->b, "%*s", width, text);
	}
}

void column__real(struct out *o, const char *name, int width, double v)
{
	put_real(o, name, width, "", v);
}

void column__change(struct out *o, const char *name, int width, double v)
{
	put_real(o, name, width, "+", v);
}

void column__bool(struct out *o, const char *name, bool v)
{
	if (o->json.depth)
		json__bool(&o->json, name, v);
}
