/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions with the events in them, and in them or in what they call: a flat profile. */
#ifndef ANALYZE_CALL_PROFILE_H
#define ANALYZE_CALL_PROFILE_H

#include "call_stack.h"

struct call_function {
	struct call_frame frame; /* any of the merged frames, as if it were not a guess */
	uint64_t count; /* events whose stack has the function, each once however often it recurs */
	uint64_t self; /* events whose stack ends in the function, included in count */
	uint64_t guesses; /* events in which all frames of the function are guesses */
	uint64_t weight,
		self_weight; /* the same, as values of the weight; without one count, self */
	struct call_key key;
};

enum profile_order { PROFILE_BY_WEIGHT, PROFILE_BY_SELF };

/*
 * Adds the stacks of a group.  Functions are sorted, heaviest first.  r is borrowed, and the
 * profile is charged to its budget.
 */
struct call_profile;
int call_profile__new(struct stk_reader *r, const struct stack_group *group,
		      enum profile_order order, call_frames_fn frames, void *ctx,
		      struct call_profile **ret_profile);
void call_profile__free(struct call_profile *p);
static inline void call_profile__freep(struct call_profile **p)
{
	call_profile__free(*p);
}
const struct call_function *call_profile__functions(const struct call_profile *p,
						    unsigned int *ret_nr);
/* Events whose stack has no frames. */
uint64_t call_profile__no_stack(const struct call_profile *p);

#endif /* ANALYZE_CALL_PROFILE_H */
