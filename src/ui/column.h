/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Columns of tables whose lines are JSON objects, too.  A command names each column once, a row each, in a
 * function that it calls for the head, for every line and for every object:
 *
 *	column__number(o, "count", 12, g->count);
 *	column__ns(o, "max", 10, g->max);
 *
 * While an object is open in o->json they are its members, else text: the names where o->heads says so, or the
 * values.  The name heads the column and is the member's key.  A duration has its unit beside it in a line and
 * behind the key in JSON: max_ns.  Columns of width 0 are in JSON only.
 */
#ifndef UI_COLUMN_H
#define UI_COLUMN_H

#include <stdint.h>

#include "out.h"

/* Right-aligned in width. */
void column__number(struct out *o, const char *name, int width, uint64_t v);
void column__ns(struct out *o, const char *name, int width, unsigned __int128 ns);
void column__percent(struct out *o, const char *name, int width, uint64_t part, uint64_t whole);
void column__bool(struct out *o, const char *name, bool v); /* in JSON only */

#endif /* UI_COLUMN_H */
