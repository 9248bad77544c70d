/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters of recorded events, in the kernel's syntax (events/filter.h).  A name means the field, as
 * in the kernel; if the event's type has no such field, the generic value (values.h).  With stacks:
 *
 *   kstack ~ "*ext4*"    the name of a function, or of its module or file, of any frame
 *   kstack == 7          the id of the kernel stack, 0: none
 *   stack_id == 7        the id of the kernel stack or of the user stack
 *   sym == "vfs_read"    the name of the innermost function, as values.h has it; caller, file
 *
 * A recorder with the same filter would have recorded the events that are selected, and no others.
 */
#ifndef QUERY_EVENT_FILTER_H
#define QUERY_EVENT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stackonce.h"

struct event_filters;

struct event_filter_opts {
	/* The function as it is printed, beside its name in the recording; may be NULL. */
	const char *(*function)(void *ctx, const char *sym);
	void *ctx;
};

/* opts is borrowed and may be NULL. */
int event_filters__new(struct stk_reader *r, const struct event_filter_opts *opts,
		       struct event_filters **ret_filters);
void event_filters__free(struct event_filters *fs);
static inline void event_filters__freep(struct event_filters **fs)
{
	event_filters__free(*fs);
}

/* Adds an expression (copied) and returns its number, the next one from 0.  -ENOMEM. */
int event_filters__add(struct event_filters *fs, const char *expr);
/*
 * Whether the filter can be applied to events of the type: 0; -ENOENT: they lack a field of it;
 * -EINVAL, -E2BIG, -ENOMEM or -ENOBUFS.  why, which has FILTER_ERROR_SIZE bytes, says what is
 * wrong, as filter__compile() does.
 */
int event_filters__check(struct event_filters *fs, unsigned int nr, const struct stk_event_type *t,
			 char *why, size_t size);
/*
 * Whether the filter selects e: 1 or 0; -ENOMEM, -ENOBUFS: unknown.  Events to whose type it cannot
 * be applied are not selected, nor are those that were recorded without the fields that it tests.
 */
int event_filters__match(struct event_filters *fs, unsigned int nr, const struct stk_event *e);
/* Events that were not selected because they were recorded without these fields. */
uint64_t event_filters__untested(const struct event_filters *fs);
/* Whether a filter tests names of functions in user stacks. */
bool event_filters__user_names(const struct event_filters *fs);

#endif /* QUERY_EVENT_FILTER_H */
