// SPDX-License-Identifier: GPL-2.0-only
/* Matches stack records with the events before them. */
#include "ftrace_match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "event_flags.h"

/* Context levels: code of one level runs to its end before code of a lower level continues. */
enum level { LEVEL_TASK, LEVEL_SOFTIRQ, LEVEL_HARDIRQ, LEVEL_NMI };

struct open_event {
	struct ftrace_matched out;
	unsigned char *copy;
	size_t room; /* of copy */
	enum level level;
	bool done;
};

struct ftrace_match {
	struct open_event events[FTRACE_MATCH_OPEN]; /* a ring: nr from head on */
	unsigned int head, nr;
	struct ftrace_match_counts counts;
};

int ftrace_match__new(struct ftrace_match **ret_match)
{
	struct ftrace_match *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	*ret_match = m;
	return 0;
}

void ftrace_match__free(struct ftrace_match *m)
{
	unsigned int i;

	if (!m)
		return;
	for (i = 0; i < FTRACE_MATCH_OPEN; i++)
		free(m->events[i].copy);
	free(m);
}

static enum level level_of(const struct ftrace_context *ctx)
{
	if (ctx->flags & EVENT_FLAG_NMI)
		return LEVEL_NMI;
	if (ctx->flags & EVENT_FLAG_HARDIRQ)
		return LEVEL_HARDIRQ;
	return ctx->flags & EVENT_FLAG_SOFTIRQ ? LEVEL_SOFTIRQ : LEVEL_TASK;
}

static struct open_event *at(struct ftrace_match *m, unsigned int i)
{
	return &m->events[(m->head + i) % FTRACE_MATCH_OPEN];
}

/*
 * A record of this context shows that all other contexts have ended, except for those that it
 * interrupted.
 */
static void close_others(struct ftrace_match *m, const struct ftrace_context *ctx)
{
	enum level level = level_of(ctx);
	unsigned int i;

	for (i = 0; i < m->nr; i++) {
		struct open_event *e = at(m, i);

		if (e->level > level || (e->level == level && e->out.ctx.pid != ctx->pid))
			e->done = true;
	}
}

/* Limits the open events of a level.  They may nest, as by page faults, but not without limit. */
static void bound_level(struct ftrace_match *m, enum level level)
{
	struct open_event *oldest = NULL;
	unsigned int i, nr = 0;

	for (i = m->nr; i-- > 0;) {
		struct open_event *e = at(m, i);

		if (!e->done && e->level == level) {
			oldest = e;
			nr++;
		}
	}
	if (nr > FTRACE_MATCH_SAME)
		oldest->done = true;
}

static int keep(struct open_event *e, const void *data, size_t len)
{
	if (array__reserve(&e->copy, len, &e->room))
		return -ENOMEM;
	if (len)
		memcpy(e->copy, data, len);
	return 0;
}

int ftrace_match__event(struct ftrace_match *m, uint64_t ts, const struct ftrace_context *ctx,
			const void *data, size_t len, unsigned int parts)
{
	enum level level = level_of(ctx);
	struct open_event *e;
	int err;

	if (m->nr == FTRACE_MATCH_OPEN)
		return -EAGAIN;
	close_others(m, ctx);
	e = at(m, m->nr);
	err = keep(e, data, len);
	if (err)
		return err;
	/* The kernel does not take user stacks in an NMI. */
	if (level == LEVEL_NMI)
		parts &= ~FTRACE_MATCH_USER;
	e->out = (struct ftrace_matched){
		.ts = ts,
		.ctx = *ctx,
		.data = e->copy,
		.len = len,
		.wanted = parts,
	};
	e->level = level;
	e->done = !parts;
	m->nr++;
	m->counts.events++;
	bound_level(m, level);
	if (m->nr == FTRACE_MATCH_OPEN && !at(m, 0)->done) {
		at(m, 0)->done = at(m, 0)->out.forced = true;
		m->counts.forced++;
	}
	return 0;
}

static bool same_context(const struct ftrace_context *a, const struct ftrace_context *b)
{
	return a->pid == b->pid && a->flags == b->flags && a->preempt == b->preempt;
}

bool ftrace_match__stack(struct ftrace_match *m, const struct ftrace_context *ctx,
			 unsigned int parts, uint64_t value, uint64_t cookie)
{
	struct ftrace_matched *out;
	unsigned int i;

	close_others(m, ctx);
	for (i = m->nr; i-- > 0;) {
		struct open_event *e = at(m, i);

		out = &e->out;
		if (e->done || !(out->wanted & parts) || (out->got & parts) ||
		    !same_context(&out->ctx, ctx))
			continue;
		out->got |= parts;
		if (parts & FTRACE_MATCH_KERNEL)
			out->kernel = value;
		if (parts & FTRACE_MATCH_USER)
			out->user = value;
		if (parts & FTRACE_MATCH_COOKIE)
			out->cookie = cookie;
		/* The kernel writes the user stack last. */
		e->done = !(out->wanted & ~out->got) || (parts & FTRACE_MATCH_USER);
		return true;
	}
	m->counts.orphans++;
	return false;
}

void ftrace_match__cut(struct ftrace_match *m, uint64_t until)
{
	unsigned int i;

	for (i = 0; i < m->nr; i++)
		at(m, i)->done |= at(m, i)->out.ts <= until;
}

const struct ftrace_matched *ftrace_match__next(struct ftrace_match *m)
{
	struct open_event *e = at(m, 0);
	unsigned int missing;

	if (!m->nr || !e->done)
		return NULL;
	missing = e->out.wanted & ~e->out.got;
	m->counts.no_kernel += !!(missing & FTRACE_MATCH_KERNEL);
	m->counts.no_user += !!(missing & FTRACE_MATCH_USER);
	m->head = (m->head + 1) % FTRACE_MATCH_OPEN;
	m->nr--;
	return &e->out;
}

bool ftrace_match__oldest(const struct ftrace_match *m, uint64_t *ret_ts)
{
	if (!m->nr)
		return false;
	*ret_ts = m->events[m->head].out.ts;
	return true;
}

const struct ftrace_match_counts *ftrace_match__counts(const struct ftrace_match *m)
{
	return &m->counts;
}
