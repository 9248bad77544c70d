/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables whose lines are JSON objects, too.  A command says each column once, in a function that it calls for
 * the head, for each line and for each object:
 *
 *	column__number(t, "count", 12, g->count);
 *	column__ns(t, "max", 10, g->max);
 *
 * The name is what heads the column and what the member is called.  The unit of a duration stands with the
 * number in a line and behind the name in JSON: max_ns.  Columns of width 0 are in JSON only.
 */
#ifndef CMD_TABLE_H
#define CMD_TABLE_H

#include <stdint.h>

#include "out.h"

enum table_form { TABLE_HEAD, TABLE_LINE, TABLE_JSON };

struct table {
	struct out *out;
	enum table_form form;
};

/* Right-aligned in width. */
void column__number(const struct table *t, const char *name, int width, uint64_t v);
void column__ns(const struct table *t, const char *name, int width, unsigned __int128 ns);
void column__percent(const struct table *t, const char *name, int width, uint64_t part,
		     uint64_t whole);
void column__bool(const struct table *t, const char *name, bool v); /* in JSON only */

#endif /* CMD_TABLE_H */
