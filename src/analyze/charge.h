/* SPDX-License-Identifier: GPL-2.0-only */
/* Charges memory and work of an analysis to the budget of its reader. */
#ifndef ANALYZE_CHARGE_H
#define ANALYZE_CHARGE_H

#include "stackonce.h"

#define CHARGE_WORK 1024 /* steps that are charged together */
#define CHARGE_EVENTS 64

struct charge {
	uint64_t memory, work; /* charged so far */
	unsigned int events;
};

/* True once every CHARGE_EVENTS events: the exact event does not matter. */
static inline bool charge__is_due(struct charge *c)
{
	return !(++c->events % CHARGE_EVENTS);
}

/*
 * memory: bytes held now.  work: steps done so far beyond those that events pay for.  -ENOBUFS: the
 * budget is exhausted.
 */
static inline int charge(struct charge *c, struct stk_reader *r, uint64_t memory, uint64_t work)
{
	int err;

	if (memory == c->memory && work - c->work < CHARGE_WORK)
		return 0;
	err = stk_reader__charge(r, (int64_t)(memory - c->memory), work - c->work);
	if (err)
		return err;
	c->memory = memory;
	c->work = work;
	return 0;
}

#endif /* ANALYZE_CHARGE_H */
