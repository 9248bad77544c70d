/* SPDX-License-Identifier: GPL-2.0-only */
/* What is exported: the events of a recording, or those that the user selected. */
#ifndef EXPORT_SOURCE_H
#define EXPORT_SOURCE_H

#include <stdbool.h>

#include "stackonce.h"

struct export_source {
	struct stk_reader *reader; /* opened for events and not read from yet */
	bool is_selection; /* next() leaves out events */
	/*
	 * Returns as stk_reader__next(), and -ECANCELED, after a message, if events cannot be
	 * selected; NULL: all events.
	 */
	int (*next)(void *ctx, const struct stk_event **ret_event);
	void *ctx;
};

static inline int export_source__next(const struct export_source *src,
				      const struct stk_event **ret_event)
{
	return src->next ? src->next(src->ctx, ret_event) :
			   stk_reader__next(src->reader, ret_event);
}

#endif /* EXPORT_SOURCE_H */
