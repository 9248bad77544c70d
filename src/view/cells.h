/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums by bin of time and key, which is a number from 0: a cell for each bin and key that has any.
 *
 * Most events come in the order of time, so the newest cell of a key is the one that is wanted, and
 * no search is needed.  What comes late makes a second cell, until the cells are merged.
 */
#ifndef VIEW_CELLS_H
#define VIEW_CELLS_H

#include <stdbool.h>
#include <stdint.h>

struct view_cell {
	uint32_t bin, key;
	uint64_t n;
};

/* Zero is empty. */
struct view_cells {
	struct view_cell *v;
	uint32_t nr, max;
	uint32_t *newest; /* by key: index + 1; 0: none */
	uint32_t nr_newest;
	bool is_sorted_by_bin; /* false also while there are none */
};

/* A sum that would exceed UINT64_MAX stays there. */
int view_cells__add(struct view_cells *c, uint32_t bin, uint32_t key, uint64_t n); /* -ENOMEM */
/* Makes bins 2^shift times as wide. */
void view_cells__widen(struct view_cells *c, unsigned int shift);
/* Gives each key a new number, which several may share; all are below nr.  -ENOMEM. */
int view_cells__renumber(struct view_cells *c, const uint32_t *numbers, uint32_t nr);
/* Sorts by bin, then key, and merges what is equal; nothing may be added afterwards. */
void view_cells__finish(struct view_cells *c);
uint64_t view_cells__memory(const struct view_cells *c); /* bytes */
void view_cells__clear(struct view_cells *c);

#endif /* VIEW_CELLS_H */
