/* SPDX-License-Identifier: GPL-2.0-only */
/* Adds stacks of a recording to a flame graph. */
#ifndef EXPORT_FLAME_STACKS_H
#define EXPORT_FLAME_STACKS_H

#include "flamegraph.h"
#include "names/user_names.h"
#include "stackonce.h"

struct export_stacks;

/*
 * Frames of one stack, innermost first, and outside of them group, such as a comm or an event
 * (NULL: none).  n may be NULL to use only names in the recording.  changes are those of the group,
 * then from the outermost to the innermost frame: not for --inline, whose frames they would not
 * fit.
 */
int flame_stacks__add(struct flamegraph *f, struct stk_reader *r, struct user_names *n,
		      const char *group, const struct stk_frame *frames, unsigned int nr,
		      uint64_t weight, const struct flame_change *changes, unsigned int nr_changes);
/* All groups, with their labels.  Errors are logged. */
int flame_stacks__add_all(struct flamegraph *f, const struct export_stacks *stacks);

#endif /* EXPORT_FLAME_STACKS_H */
