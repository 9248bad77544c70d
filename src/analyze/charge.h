/* SPDX-License-Identifier: GPL-2.0-only */
/* What an analysis takes of its recording's budget. */
#ifndef ANALYZE_CHARGE_H
#define ANALYZE_CHARGE_H

#include "stackonce.h"

#define CHARGE_WORK 1024 /* steps that are charged together */
#define CHARGE_EVENTS 64

struct charge {
	uint64_t memory, work; /* charged so far */
	unsigned int events;
};

/* Whether to add up again what is held: an event more or less makes no difference. */
static inline bool charge__is_due(struct charge *c)
{
	return !(++c->events % CHARGE_EVENTS);
}

/* It holds so many bytes by now, and has gone so many steps that no event pays for; -ENOBUFS. */
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
