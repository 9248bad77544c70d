/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Columns of tables that are also printed as JSON.  A command lists its columns once, one call
 * each, in a function that it calls for the head, for every line and for every JSON object:
 *
 *	column__number(o, "count", 12, g->count);
 *	column__ns(o, "max", 10, g->max);
 *
 * While an object is open in o->json, a column is a member of it.  Otherwise it is text: its name
 * if o->heads is set, else its value.  The name is both the table head and the JSON key.  A
 * duration shows its unit in text; in JSON the key has the suffix _ns.  A column of width 0 is in
 * JSON only.
 */
#ifndef UI_COLUMN_H
#define UI_COLUMN_H

#include <stdint.h>

#include "out.h"

/* Right-aligned in width. */
void column__number(struct out *o, const char *name, int width, uint64_t v);
void column__ns(struct out *o, const char *name, int width, unsigned __int128 ns);
void column__percent(struct out *o, const char *name, int width, uint64_t part, uint64_t whole);
/* With four significant digits, and in JSON with nine decimals. */
void column__real(struct out *o, const char *name, int width, double v);
/* The same, always with its sign. */
void column__change(struct out *o, const char *name, int width, double v);
void column__bool(struct out *o, const char *name, bool v); /* in JSON only */

#endif /* UI_COLUMN_H */
