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
	/* Whether a selected event may be among the lost ones; NULL: of every loss. */
	bool (*has_loss)(void *ctx, const struct stk_loss *loss);
	/* How the name of a user function is shown, valid as long as ctx; NULL: as it is. */
	const char *(*function)(void *ctx, const char *sym);
	void *ctx;
};

static inline int export_source__next(const struct export_source *src,
				      const struct stk_event **ret_event)
{
	return src->next ? src->next(src->ctx, ret_event) :
			   stk_reader__next(src->reader, ret_event);
}

/* The next loss that began by `until`, as stk_reader__next_loss() returns it. */
static inline int export_source__next_loss(const struct export_source *src, uint64_t until,
					   struct stk_loss *ret_loss)
{
	int n;

	while ((n = stk_reader__next_loss(src->reader, until, ret_loss)) == 1)
		if (!src->has_loss || src->has_loss(src->ctx, ret_loss))
			break;
	return n;
}

static inline const char *export_source__function(const struct export_source *src,
						  const struct stk_frame *f)
{
	return src->function && f->sym && f->kind == STK_FRAME_USER ?
		       src->function(src->ctx, f->sym) :
		       f->sym;
}

#endif /* EXPORT_SOURCE_H */
