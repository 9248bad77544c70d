/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges of code in the order of the file, each with the source that describes it: eight bytes for
 * each of hundreds of thousands of functions.
 */
#ifndef UNWIND_UNITS_H
#define UNWIND_UNITS_H

#include <stddef.h>
#include <stdint.h>

enum unw_kind { UNW_KIND_EH, UNW_KIND_DEBUG, UNW_KIND_GO, UNW_KIND_CODE };

#define UNW_MAX_REF (1u << 30)

struct unw_units {
	uint64_t *v; /* start << 32 | kind << 30 | ref */
	size_t nr, size;
};

static inline uint64_t unw_unit__start(uint64_t u)
{
	return u >> 32;
}

static inline enum unw_kind unw_unit__kind(uint64_t u)
{
	return (enum unw_kind)(u >> 30 & 3);
}

static inline uint32_t unw_unit__ref(uint64_t u)
{
	return (uint32_t)u & (UNW_MAX_REF - 1);
}

void unw_units__free(struct unw_units *u);
/* start: offset in the file; a unit whose values do not fit is ignored.  -ENOMEM. */
int unw_units__add(struct unw_units *u, uint64_t start, enum unw_kind kind, uint64_t ref);
/* Sorts by start; of equal starts, keeps the first source and its smallest ref. */
void unw_units__sort(struct unw_units *u);
/* The last of the first nr (sorted) units that starts at or before the offset, or NULL. */
const uint64_t *unw_units__before(const struct unw_units *u, size_t nr, uint64_t off);

#endif /* UNWIND_UNITS_H */
