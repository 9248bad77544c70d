// SPDX-License-Identifier: GPL-2.0-only
/* Renders the view as text. */
#include "live_view.h"

#include <stdlib.h>

#include "cleanup.h"
#include "strbuf.h"
#include "text.h"
#include "ui/out.h"

unsigned int live_view__room(unsigned int height)
{
	if (height <= LIVE_OTHER_LINES)
		return 1;
	return MIN(height - LIVE_OTHER_LINES, LIVE_MAX_ROWS + 0u);
}

/* Ends the line that starts at `from`, with at most width columns: a character is a column. */
static void end_line(struct strbuf *b, size_t from, unsigned int width)
{
	unsigned int columns = 0;
	size_t i;

	for (i = from; i < b->len; i++) {
		columns += ((unsigned char)b->s[i] & 0xc0) != 0x80;
		if (columns > width)
			break;
	}
	b->len = MIN(b->len, i);
	strbuf__putc(b, '\n');
}

static void put_title(const struct live_view *v, unsigned int width, struct strbuf *b)
{
	size_t from = b->len;

	strbuf__printf(b, "%s event%s in %s", text__number(v->events).s, v->events == 1 ? "" : "s",
		       text__ns(v->window_ns).s);
	if (v->rate)
		strbuf__printf(b, ", %s/s now", text__number(v->rate).s);
	if (v->lost)
		strbuf__printf(b, ", %s lost", text__number(v->lost).s);
	strbuf__puts(b, ": ");
	strbuf__text(b, v->file);
	end_line(b, from, width);
	from = b->len;
	strbuf__printf(b, "%s %s%s of %s, %s", text__number(v->nr_all).s,
		       v->key == LIVE_STACKS ? "stack" : "function", v->nr_all == 1 ? "" : "s",
		       v->event ?: "all events",
		       v->zeroed ? "since z was pressed" : "since the start");
	end_line(b, from, width);
}

static void put_share(const struct live_view *v, uint64_t count, struct strbuf *b)
{
	strbuf__printf(b, "%11s ", text__number(count).s);
	out__percent(b, count, v->events, 6);
	strbuf__putc(b, '%');
}

static void put_heads(const struct live_view *v, unsigned int width, struct strbuf *b)
{
	size_t from = b->len;

	if (v->key == LIVE_STACKS)
		strbuf__printf(b, "%11s %7s  stack, innermost function first", "count", "");
	else
		strbuf__printf(b, "%11s %7s %11s %7s  function",
			       v->order == LIVE_BY_ALL ? "self" : "self*", "",
			       v->order == LIVE_BY_ALL ? "all*" : "all", "");
	end_line(b, from, width);
}

static void put_row(const struct live_view *v, const struct live_row *row, unsigned int width,
		    struct strbuf *b)
{
	size_t from = b->len;

	if (v->key == LIVE_FUNCTIONS) {
		put_share(v, row->self, b);
		strbuf__putc(b, ' ');
	}
	put_share(v, row->all, b);
	strbuf__puts(b, "  ");
	strbuf__puts(b, row->text ?: "");
	end_line(b, from, width);
}

void live_view__text(const struct live_view *v, unsigned int width, unsigned int height, bool keys,
		     struct strbuf *b)
{
	unsigned int nr = MIN(v->nr_rows, live_view__room(height)), i;
	size_t from;

	put_title(v, width, b);
	put_heads(v, width, b);
	for (i = 0; i < nr; i++)
		put_row(v, &v->rows[i], width, b);
	if (!keys)
		return;
	for (; i < live_view__room(height); i++)
		strbuf__putc(b, '\n');
	from = b->len;
	strbuf__puts(b, "k functions or stacks  e event  o order  z set to zero  q quit");
	end_line(b, from, width);
}

void live_view__clear(struct live_view *v)
{
	while (v->nr_rows)
		free(v->rows[--v->nr_rows].text);
	free(v->event);
	v->event = NULL;
}
