/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What changed between two recordings, by call stack or by function.
 *
 *   side.c        counts the stacks of a recording by bin of time
 *   series.c      counts by bin
 *   same_code.c   which frames and stacks of both are the same code
 *   judge.c       whether a change is more than noise
 *   diff.c        the rows
 */
#ifndef ANALYZE_DIFF_H
#define ANALYZE_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "judge.h"
#include "same_code.h"
#include "side.h"
#include "stackonce.h"

#define DIFF_LEVEL 0.05 /* false discovery rate */

enum diff_per { DIFF_PER_SECOND, DIFF_PER_EVENT, DIFF_PER_OTHER };
enum diff_by {
	DIFF_BY_STACK,
	DIFF_BY_FUNCTION, /* events with the function anywhere in their stack */
	DIFF_BY_SELF, /* events with the function innermost in their stack */
	DIFF_BY_PATH, /* events whose stack begins with these functions, from the outermost on */
};
enum { DIFF_MAX_PATHS = 2 * STK_MAX_DEPTH + 1 };

struct diff_row {
	/* The row as one of the recordings has it. */
	const struct stk_event_type *type;
	unsigned int side; /* 1 if the second one has it */
	uint32_t kstack, ustack; /* of one of the stacks */
	struct stk_frame frame; /* the function, unless by stack; its ip is not of meaning */
	bool no_frame; /* by function: the events without a stack */
	struct ratio ratio[2];
	struct verdict verdict;
	double q; /* level at which the change is a finding; 1: not judged */
	bool rare; /* too few events to judge */
	bool significant;
};

struct diff_opts {
	enum diff_per per;
	enum diff_by by;
};

struct diff;

/* Both sides are finished and borrowed. */
int diff__new(struct side *a, struct side *b, const struct diff_opts *opts, struct diff **ret_diff);
void diff__free(struct diff *d);
static inline void diff__freep(struct diff **d)
{
	diff__free(*d);
}

/* Rows with the largest change first; by path in no order. */
const struct diff_row *diff__rows(const struct diff *d, uint32_t *ret_nr);
/*
 * By path: the rows of all events of the type of a stack of b, and of each frame from the outermost
 * to the innermost.  Returns their number, or a negative errno.
 */
int diff__path_rows(struct diff *d, const struct side_stack *stack,
		    const struct diff_row *ret_rows[DIFF_MAX_PATHS]);
/* Whether both recordings are long enough to judge. */
bool diff__is_judged(const struct diff *d);
/* Event types that are compared. */
unsigned int diff__nr_types(const struct diff *d);
uint32_t diff__nr_significant(const struct diff *d);
/*
 * The name of the next type of counted events that only one of the recordings has, from *at on,
 * initially 0; NULL: no more.  They are not compared, since the other one did not record them.
 */
const char *diff__one_sided(const struct diff *d, uint32_t *at, unsigned int *ret_side);
const struct same_code *diff__code(const struct diff *d);

#endif /* ANALYZE_DIFF_H */
