// SPDX-License-Identifier: GPL-2.0-only
/* Maps cookies to user stacks, or to placeholders as long as a stack has not arrived. */
#include "ftrace_cookies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "frame.h"
#include "ftrace_ids.h"
#include "index.h"
#include "trace/write/writer.h"

enum cookie_state {
	COOKIE_PENDING, /* events were written with the number of a placeholder */
	COOKIE_KNOWN,
};

#define FORGET_FROM 512 /* cookies; fewer are not worth the work */

struct cell {
	uint64_t cookie;
	uint64_t ts; /* COOKIE_KNOWN: when its stack arrived */
	uint64_t value;
	enum cookie_state state;
};

struct ftrace_cookies {
	struct stk_writer *w;
	struct cell *cells;
	uint32_t nr, cap;
	struct index index;
	uint32_t kept; /* number of cells after the last cleanup */
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
	index__free(&c->index);
	free(c);
}

/* NULL: the cookie is unknown. */
static struct cell *find(const struct ftrace_cookies *c, uint64_t cookie)
{
	uint64_t hash = index__hash(cookie);
	uint32_t i;

	index__for_each(&c->index, hash, i)
		if (c->cells[i].cookie == cookie)
			return &c->cells[i];
	return NULL;
}

static int add(struct ftrace_cookies *c, struct cell cell)
{
	if (array__grow(&c->cells, c->nr, &c->cap) ||
	    index__add(&c->index, index__hash(cell.cookie), c->nr))
		return -ENOMEM;
	c->cells[c->nr++] = cell;
	return 0;
}

/* Keeps pending cookies and those known since ts; does nothing until the number has doubled. */
void ftrace_cookies__forget(struct ftrace_cookies *c, uint64_t ts)
{
	uint32_t i, nr = c->nr;

	if (nr < 2 * c->kept + FORGET_FROM)
		return;
	index__clear(&c->index);
	c->nr = 0;
	for (i = 0; i < nr; i++)
		if (c->cells[i].state != COOKIE_KNOWN || c->cells[i].ts >= ts)
			add(c, c->cells[i]); /* cannot fail: the array does not grow */
	c->kept = c->nr;
}

int ftrace_cookies__resolve(struct ftrace_cookies *c, uint64_t cookie, uint64_t value, uint64_t ts)
{
	struct cell *cell = find(c, cookie);
	int err = 0;

	if (!cookie)
		return 0;
	if (!cell)
		return add(c, (struct cell){ cookie, ts, value, COOKIE_KNOWN });
	if (cell->state == COOKIE_PENDING) {
		err = stk_writer__stack_alias(c->w, ftrace_stack_number(cell->value),
					      ftrace_stack_number(value));
		c->late++;
	}
	*cell = (struct cell){ cookie, ts, value, COOKIE_KNOWN };
	return err;
}

bool ftrace_cookies__is_known(const struct ftrace_cookies *c, uint64_t cookie)
{
	const struct cell *cell = find(c, cookie);

	return cell && cell->state == COOKIE_KNOWN;
}

int ftrace_cookies__value(struct ftrace_cookies *c, uint64_t cookie, uint64_t ts,
			  uint64_t *ret_value)
{
	uint64_t frames[2] = { 0, FRAME_MARKER(FRAME_END, STK_END_FAILED) };
	struct cell *cell = find(c, cookie), pending = { .cookie = cookie, .ts = ts };
	uint32_t number;
	int err;

	if (!cell) {
		frames[0] = FRAME_MARKER(FRAME_PENDING, ++c->nr_placeholders);
		err = stk_writer__stack(c->w, frames, ARRAY_SIZE(frames), &number);
		if (err)
			return err;
		*ret_value = ftrace_stack_value(number, STK_END_FAILED, true);
		pending.value = ftrace_stack_known(*ret_value);
		return add(c, pending);
	}
	*ret_value = cell->value;
	cell->value = ftrace_stack_known(cell->value); /* a stack is new only once */
	return 0;
}

uint64_t ftrace_cookies__late(const struct ftrace_cookies *c)
{
	return c->late;
}
