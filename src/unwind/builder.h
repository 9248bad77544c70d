/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds a table (table.h) from rows in the order of the file: the words grow in place, and no row
 * is stored twice.
 */
#ifndef UNWIND_BUILDER_H
#define UNWIND_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "rules.h"
#include "unwind.h"

#define UNW_MAX_OFFSET (1ULL << 32) /* code beyond it is not in the table */

struct unw_builder {
	uint32_t *words;
	uint32_t nr, size;
	uint32_t first_page, nr_pages; /* of the file; nr_pages: as announced */
	uint32_t page; /* being filled, relative to first_page; nr_pages: none yet */
	uint32_t page_start; /* word of its first row */
	uint32_t nr_rows;
	uint64_t end, limit; /* of the range: covered up to end, never beyond limit */
	uint64_t next_off; /* the pending row, which another one at the same offset may replace */
	uint32_t next_rule;
	uint32_t rule; /* of the last row written */
	bool started;
	int err; /* sticky */
};

/* Code is in [first, end) of the file. */
int unw_builder__init(struct unw_builder *b, uint64_t first, uint64_t end);
void unw_builder__free(struct unw_builder *b);

/*
 * Begins a range [start, end) of covered code, which must not start before the end of the last one.
 * The code between two ranges gets UNW_NONE, except padding of functions.
 */
void unw_builder__range(struct unw_builder *b, uint64_t start, uint64_t end);
/*
 * Adds a row.  Offsets within a range ascend; of equal ones the last counts; rows outside are
 * ignored.
 */
void unw_builder__row(struct unw_builder *b, uint64_t off, uint32_t rule);

/* Returns the table's words; the caller owns them. */
int unw_builder__finish(struct unw_builder *b, const struct unw_rules *rules,
			struct unwind_table *ret_table);

#endif /* UNWIND_BUILDER_H */
