/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lays out a table (table.h) from rows that come in the order of the file: no row is held twice,
 * the words grow in place.
 */
#ifndef UNWIND_BUILDER_H
#define UNWIND_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "rules.h"
#include "unwind.h"

#define UNW_MAX_OFFSET (1ULL << 32) /* code beyond is not in the table */

struct unw_builder {
	uint32_t *words;
	uint32_t nr, size;
	uint32_t first_page, nr_pages; /* of the file; nr_pages: as announced */
	uint32_t page; /* being filled, from first_page; nr_pages: none yet */
	uint32_t page_start; /* word of its first row */
	uint32_t nr_rows;
	uint64_t end, limit; /* of the stretch: known to, not beyond */
	uint64_t next_off; /* the row that has not been written, because another may replace it */
	uint32_t next_rule;
	uint32_t rule; /* of the last row written */
	bool started;
	int err; /* sticks */
};

/* Code lies in [first, end) of the file. */
int unw_builder__init(struct unw_builder *b, uint64_t first, uint64_t end);
void unw_builder__free(struct unw_builder *b);

/*
 * A stretch of code [start, end) of which something is known; not before the last one's end.
 * Nothing is known of what lies between, padding of functions excepted.
 */
void unw_builder__stretch(struct unw_builder *b, uint64_t start, uint64_t end);
/* From off on; offsets of a stretch ascend, the last of equal ones counts, those outside do not. */
void unw_builder__row(struct unw_builder *b, uint64_t off, uint32_t rule);

/* The table's words, which the builder gives away. */
int unw_builder__finish(struct unw_builder *b, const struct unw_rules *rules,
			struct unwind_table *ret_table);

#endif /* UNWIND_BUILDER_H */
