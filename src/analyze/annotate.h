/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of one function by instruction.  Memory grows with the distinct stacks and the places
 * in functions of the wanted name, not with the events.
 */
#ifndef ANALYZE_ANNOTATE_H
#define ANALYZE_ANNOTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "stackonce.h"

/* Events whose innermost frame is here, and events with a frame here anywhere in a stack. */
struct annotate_sum {
	uint64_t self, all;
};

struct annotate_place {
	struct stk_frame frame; /* any of the frames here */
	/*
	 * The instruction, or the return address behind it if frame.exact is not set: from the
	 * start of the function.
	 */
	uint64_t offset;
	struct annotate_sum sum;
	uint64_t guesses; /* of sum.all: events whose frame here is a guess */
};

struct annotate_function {
	struct stk_frame frame; /* any of the frames in it */
	uint64_t start; /* address, or offset in the file */
	struct annotate_sum sum;
	const struct annotate_place *places; /* by offset */
	unsigned int nr_places;
};

struct annotate;

/* r is borrowed, and what is counted is charged to its budget. */
int annotate__new(struct stk_reader *r, bool kernel, bool user, struct annotate **ret_annotate);
void annotate__free(struct annotate *a);
/* Counts the stacks of an event.  -ENOMEM, -ENOBUFS. */
int annotate__add(struct annotate *a, const struct stk_event *e);
uint64_t annotate__events(const struct annotate *a); /* added so far */

/* Whether a frame, which has a symbol, is in a wanted function. */
typedef bool (*annotate_match_fn)(void *ctx, const struct stk_frame *frame);
/*
 * The functions that match and are in any of the stacks, most events first.  They belong to a;
 * called once, after all events.  -ENOMEM, -ENOBUFS.
 */
int annotate__finish(struct annotate *a, annotate_match_fn match, void *ctx,
		     const struct annotate_function **ret_functions, unsigned int *ret_nr);

#endif /* ANALYZE_ANNOTATE_H */
