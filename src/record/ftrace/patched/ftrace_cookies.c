// SPDX-License-Identifier: GPL-2.0-only
/* Holds events until the stack that their cookie stands for has come. */
#include "ftrace_cookies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "frame.h"
#include "ftrace_ids.h"
#include "trace/write/writer.h"

enum cookie_state {
	COOKIE_ASKED, /* events have it that were written with the number that stands for it */
	COOKIE_KNOWN,
};

struct cell {
	uint64_t cookie; /* 0: free */
	uint64_t ts; /* KNOWN: when its stack came */
	uint64_t value;
	enum cookie_state state;
};

struct ftrace_cookies {
	struct stk_writer *w;
	struct cell *cells;
	size_t mask, used;
	uint32_t nr_placeholders;
	uint64_t late;
};

int ftrace_cookies__new(struct stk_writer *w, struct ftrace_cookies **ret_cookies)
{
	struct ftrace_cookies *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->w = w;
	*ret_cookies = c;
	return 0;
}

void ftrace_cookies__free(struct ftrace_cookies *c)
{
	if (!c)
		return;
	free(c->cells);
	free(c);
}

static struct cell *cell_of(const struct ftrace_cookies *c, uint64_t cookie)
{
	size_t at = (cookie * 0x9e3779b97f4a7c15ull >> 24) & c->mask;

	while (c->cells[at].cookie && c->cells[at].cookie != cookie)
		at = (at + 1) & c->mask;
	return &c->cells[at];
}

/* A table for those that are kept: open ones, and known ones since ts. */
static int rebuild(struct ftrace_cookies *c, uint64_t ts)
{
	size_t keep = 0, cap = 1024, i, mask = c->mask;
	struct cell *old = c->cells, *cells;

	for (i = 0; old && i <= mask; i++)
		keep += old[i].cookie && (old[i].state != COOKIE_KNOWN || old[i].ts >= ts);
	while (cap < keep * 4)
		cap *= 2;
	cells = calloc(cap, sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	c->cells = cells;
	c->mask = cap - 1;
	c->used = keep;
	for (i = 0; old && i <= mask; i++)
		if (old[i].cookie && (old[i].state != COOKIE_KNOWN || old[i].ts >= ts))
			*cell_of(c, old[i].cookie) = old[i];
	free(old);
	return 0;
}

static int get(struct ftrace_cookies *c, uint64_t cookie, struct cell **ret_cell)
{
	if ((!c->cells || c->used > c->mask / 4 * 3) && rebuild(c, 0))
		return -ENOMEM;
	*ret_cell = cell_of(c, cookie);
	return 0;
}

void ftrace_cookies__forget(struct ftrace_cookies *c, uint64_t ts)
{
	/* where it fails the table stays as it is */
	if (c->cells && c->used > c->mask / 2)
		rebuild(c, ts);
}

int ftrace_cookies__resolve(struct ftrace_cookies *c, uint64_t cookie, uint64_t value, uint64_t ts)
{
	struct cell *cell;
	int err = 0;

	if (!cookie)
		return 0;
	if (get(c, cookie, &cell))
		return -ENOMEM;
	if (cell->cookie && cell->state == COOKIE_ASKED) {
		err = stk_writer__stack_alias(c->w, ftrace_stack_number(cell->value),
					      ftrace_stack_number(value));
		c->late++;
	}
	c->used += !cell->cookie;
	*cell = (struct cell){ cookie, ts, value, COOKIE_KNOWN };
	return err;
}

bool ftrace_cookies__is_known(const struct ftrace_cookies *c, uint64_t cookie)
{
	const struct cell *cell = c->cells ? cell_of(c, cookie) : NULL;

	return cell && cell->cookie && cell->state == COOKIE_KNOWN;
}

int ftrace_cookies__value(struct ftrace_cookies *c, uint64_t cookie, uint64_t ts, uint64_t *ret_value)
{
	uint64_t frames[2] = { 0, FRAME_MARKER(FRAME_END, STK_END_FAILED) };
	struct cell *cell;
	uint32_t number;
	int err;

	if (get(c, cookie, &cell))
		return -ENOMEM;
	if (!cell->cookie) {
		frames[0] = FRAME_MARKER(FRAME_PENDING, ++c->nr_placeholders);
		err = stk_writer__stack(c->w, frames, ARRAY_SIZE(frames), &number);
		if (err)
			return err;
		*cell = (struct cell){
			.cookie = cookie,
			.ts = ts,
			.value = ftrace_stack_value(number, STK_END_FAILED, true),
			.state = COOKIE_ASKED,
		};
		c->used++;
	}
	*ret_value = cell->value;
	cell->value = ftrace_stack_known(cell->value); /* new but once */
	return 0;
}

uint64_t ftrace_cookies__late(const struct ftrace_cookies *c)
{
	return c->late;
}
