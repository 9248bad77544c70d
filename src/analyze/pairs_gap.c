// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which pairs can be trusted.
 *
 * A recording tells how many events of a type were lost, not when: the accounting comes about twice a
 * second, behind the round that ends with it, and covers what happened since the last one.  The
 * reader is ahead of the events it hands out, by two rounds.  So what an accounting says is about
 * a time that begins after the last accounting was read, and has ended by the time the next but
 * one has been read.  The time between two accountings that were read is a stretch here.  Losses make three of
 * them untrustworthy: the one that ends with the bad news and two after it.  A pair
 * waits until the accounting behind its end is read, and counts if no stretch from its start
 * on is tainted.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "cleanup.h"
#include "losses.h"
#include "pairs_priv.h"

#define BEHIND 2 /* stretches that bad news may still be about */

static uint64_t filtered_of(const struct stk_reader *r, const struct stk_event_type *t)
{
	return stk_reader__counter(r, t, STK_C_FILTERED_PID) +
	       stk_reader__counter(r, t, STK_C_FILTERED_EXPR);
}

/* Takes the accounting as it is now; whether it tells of more that is missing. */
static bool read_accounting(struct pairs *p, const struct stk_reader *r)
{
	struct pairs_counts *c = &p->counts;
	struct gap *g = &p->gap;
	struct stk_totals t;
	uint64_t lost;
	unsigned int i;
	bool more;

	c->lost_starts = c->lost_ends = c->filtered_starts = c->filtered_ends = 0;
	for (i = 0; i < stk_reader__nr_types(r); i++) {
		const struct stk_event_type *type = stk_reader__type(r, i);
		unsigned int role = type ? p->opts.role(p->opts.ctx, type) : 0;

		if (i < p->nr_types && role)
			p->types[i].happened = stk_reader__counter(r, type, STK_C_HAPPENED);
		if (role & PAIRS_START) {
			c->lost_starts += losses__of(r, type, false);
			c->filtered_starts += filtered_of(r, type);
		}
		if (role & PAIRS_END) {
			c->lost_ends += losses__of(r, type, false);
			c->filtered_ends += filtered_of(r, type);
		}
	}
	stk_reader__totals(r, &t);
	lost = c->lost_starts + c->lost_ends;
	more = lost > g->lost || t.bad_blocks > g->bad_blocks || g->bad;
	g->lost = MAX(g->lost, lost);
	g->bad_blocks = t.bad_blocks;
	g->bad = false;
	return more;
}

static int settle(struct pairs *p, bool unaccounted)
{
	struct gap *g = &p->gap;
	uint32_t i;
	int err = 0;

	for (i = 0; i < g->nr && !err; i++) {
		if (g->v[i].stretch <= g->tainted) {
			p->counts.gap++;
			continue;
		}
		p->counts.paired++;
		p->counts.unaccounted += unaccounted;
		p->counts.others += p->groups.others && g->v[i].group == p->groups.others - 1;
		err = groups__add(p, g->v[i].group, &g->v[i].pair);
	}
	g->nr = 0;
	return err;
}

static void close_stretch(struct pairs *p, const struct stk_reader *r)
{
	struct gap *g = &p->gap;

	g->recent = (g->recent << 1 | read_accounting(p, r)) & ((1u << (BEHIND + 1)) - 1);
	if (g->recent)
		g->tainted = g->stretch;
}

int gap__tick(struct pairs *p, const struct stk_reader *r)
{
	struct gap *g = &p->gap;
	int err;

	close_stretch(p, r);
	err = settle(p, false);
	g->stretch++;
	return err;
}

int gap__wait(struct pairs *p, const struct open_start *s, const struct pairs_end *end, uint32_t group)
{
	struct gap *g = &p->gap;
	int err;

	/* A recording without accounting, or with more events between two than there may be. */
	if (g->nr == PAIRS_MAX_WAITING) {
		err = settle(p, true);
		if (err)
			return err;
	}
	if (array__grow(&g->v, g->nr, &g->max))
		return -ENOMEM;
	g->v[g->nr++] = (struct waiting){
		.pair = { s->at, *end },
		.stretch = s->stretch,
		.group = group,
	};
	return 0;
}

void gap__hole(struct pairs *p, uint64_t hash)
{
	p->gap.any_hole = true;
	p->gap.holes[hash % GAP_HOLES] = p->seq;
}

/* The last accounting is that of the recording's end, where it has one. */
int gap__finish(struct pairs *p, const struct stk_reader *r)
{
	struct stk_totals t;
	uint64_t recorded = 0;
	unsigned int i;

	close_stretch(p, r);
	for (i = 0; i < stk_reader__nr_types(r); i++)
		recorded += stk_reader__counter(r, stk_reader__type(r, i), STK_C_RECORDED);
	stk_reader__totals(r, &t);
	return settle(p, !t.clean_end || recorded < t.events);
}
