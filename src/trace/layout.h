/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The parts of an event's record that the file stores as columns: the format's fields. */
#ifndef TRACE_LAYOUT_H
#define TRACE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "stk.h"

struct stk_column {
	uint32_t offset, size;
};

struct stk_layout {
	uint32_t id; /* common_type */
	uint32_t fixed; /* end of the last column, or STK_RECORD_HEAD */
	uint32_t nr;
	struct stk_column col[STK_MAX_COLUMNS]; /* ascending, not overlapping */
};

/*
 * From a tracefs `format` text: its id, and its fields after the common ones.  Fields that a layout
 * cannot hold (overlapping, or too many) are left to the record's tail.
 */
void stk_layout__from_format(const char *format, struct stk_layout *ret_layout);

/* Its bytes without unused columns. */
static inline size_t stk_layout__size(const struct stk_layout *l)
{
	return offsetof(struct stk_layout, col) + l->nr * sizeof(l->col[0]);
}

/* Where the tail of a record of that length starts: a short one has no columns. */
static inline uint32_t stk_layout__tail(const struct stk_layout *l, uint32_t len)
{
	return len >= l->fixed ? l->fixed : STK_RECORD_HEAD;
}

#endif /* TRACE_LAYOUT_H */
