// SPDX-License-Identifier: GPL-2.0-only
/* Renders the view as text. */
#include "live_view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "strbuf.h"
#include "text.h"
#include "ui/out.h"

#define WIDE_COLUMNS 112 /* of both times of a group in one line, before its name */

unsigned int live_view__room(unsigned int height)
{
	return height > LIVE_OTHER_LINES ? height - LIVE_OTHER_LINES : 1;
}

int live_view__add(struct live_view *v, struct live_row row)
{
	if (!array__append(&v->rows, &v->nr_rows, row))
		return 0;
	free(row.text);
	return -ENOMEM;
}

/* Ends the line that starts at `from`, with at most width columns. */
static void end_line(struct strbuf *b, size_t from, unsigned int width)
{
	if (b->len > from)
		b->len = from + text__fit(b->s + from, b->len - from, width);
	strbuf__putc(b, '\n');
}

/* ---- the title ------------------------------------------------------------------------------- */

/* What was counted, in which time. */
static void put_counts(const struct live_view *v, struct strbuf *b)
{
	bool pairs = v->key == LIVE_PAIRS;
	uint64_t nr = pairs ? v->nr_pairs : v->events;

	strbuf__printf(b, "%s in %s", text__count(nr, pairs ? "pair" : "event").s,
		       text__ns(v->window_ns).s);
	if (v->rate)
		strbuf__printf(b, ", %s/s now", text__number(v->rate).s);
	if (pairs && v->gaps)
		strbuf__printf(b, ", %s across a gap", text__number(v->gaps).s);
	if (v->lost)
		strbuf__printf(b, ", %s lost",
			       pairs ? text__count(v->lost, "event").s : text__number(v->lost).s);
	strbuf__puts(b, ": ");
	strbuf__text(b, v->file);
}

/* What the rows are, and of which window. */
static void put_rows_are(const struct live_view *v, struct strbuf *b)
{
	static const char *const what[] = {
		[LIVE_FUNCTIONS] = "function",
		[LIVE_STACKS] = "stack",
		[LIVE_PAIRS] = "group",
	};
	const char *window = v->zeroed ? "since z was pressed" : "since the start";

	strbuf__printf(b, "%s of ", text__count(v->nr_all, what[v->key]).s);
	if (v->key != LIVE_PAIRS)
		strbuf__printf(b, "%s, %s", v->event ?: "all events", window);
	else if (v->interval_ns)
		strbuf__printf(b, "%s, now: the last %s, all: %s", v->pairs ?: "all pairs",
			       text__ns(v->interval_ns).s, window);
	else
		strbuf__printf(b, "%s, %s", v->pairs ?: "all pairs", window);
}

static void put_title(const struct live_view *v, unsigned int width, struct strbuf *b)
{
	size_t from = b->len;

	put_counts(v, b);
	end_line(b, from, width);
	from = b->len;
	put_rows_are(v, b);
	end_line(b, from, width);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/*
 * How the times of a group in the last interval and in the window are arranged: without an interval
 * there is one line with those of the window.
 */
enum layout { ONE_LINE, TWO_LINES, WIDE_LINE };

static enum layout layout_of(const struct live_view *v, unsigned int width, unsigned int room)
{
	unsigned int i;

	if (v->key != LIVE_PAIRS || !v->interval_ns || room < 2)
		return ONE_LINE;
	for (i = 0; i < v->nr_rows && width >= WIDE_COLUMNS; i++) {
		const char *name = v->rows[i].text ?: "";

		if (name[text__fit(name, strlen(name), width - WIDE_COLUMNS)])
			break;
	}
	return width >= WIDE_COLUMNS && i == v->nr_rows ? WIDE_LINE : TWO_LINES;
}

/* first: head of the first column; marked: the column of the order has an asterisk. */
static void put_time_heads(const struct live_view *v, const char *first, bool marked,
			   struct strbuf *b)
{
	static const struct {
		const char *name;
		int width, order;
	} heads[] = { { NULL, 9, LIVE_BY_COUNT }, { "rate/s", 7, -1 },
		      { "sum", 8, LIVE_BY_SUM },  { "p50", 8, LIVE_BY_P50 },
		      { "p99", 8, LIVE_BY_P99 },  { "max", 8, LIVE_BY_MAX } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		char head[16];

		snprintf(head, sizeof(head), "%s%s", heads[i].name ?: first,
			 marked && heads[i].order == (int)v->pair_order ? "*" : "");
		/* "all count*" takes the blank before it, too */
		strbuf__printf(b, "%*s", heads[i].width + 1, head);
	}
}

static void put_pair_heads(const struct live_view *v, enum layout layout, struct strbuf *b)
{
	if (layout == TWO_LINES)
		strbuf__puts(b, "   ");
	if (layout == WIDE_LINE) {
		put_time_heads(v, "now count", false, b);
		strbuf__puts(b, "  ");
	}
	put_time_heads(v, layout == WIDE_LINE ? "all count" : "count", true, b);
	strbuf__puts(b, "  group");
}

/* Three digits, as durations have. */
static void put_rate(uint64_t count, uint64_t ns, struct strbuf *b)
{
	double rate = ns ? count * 1e9 / ns : 0;

	if (!count || !ns)
		strbuf__printf(b, " %7s", count ? "-" : "0");
	else if (rate < 99.95)
		strbuf__printf(b, " %7.*f", rate < 9.995 ? 2 : 1, rate);
	else
		strbuf__printf(b, " %7s", text__number(rate + 0.5).s);
}

static void put_times(const struct live_times *t, uint64_t ns, struct strbuf *b)
{
	const unsigned __int128 times[] = { t->sum, t->p50, t->p99, t->max };
	size_t i;

	strbuf__printf(b, " %9s", text__number(t->count).s);
	put_rate(t->count, ns, b);
	for (i = 0; i < ARRAY_SIZE(times); i++)
		strbuf__printf(b, " %8s", t->count ? text__ns(times[i]).s : "-");
}

/* How much of the text fits into width columns, if possible without dividing a word. */
static size_t first_part(const char *text, unsigned int width)
{
	size_t len = text__fit(text, strlen(text), width), i;

	for (i = len; text[len] && i; i--)
		if (text[i - 1] == ' ')
			return i;
	return len;
}

static void put_pair_row(const struct live_view *v, const struct live_row *row, enum layout layout,
			 unsigned int width, struct strbuf *b)
{
	const char *name = row->text ?: "";
	size_t from = b->len, len = strlen(name);

	if (layout == TWO_LINES)
		strbuf__puts(b, "all");
	if (layout == WIDE_LINE) {
		put_times(&row->now, v->interval_ns, b);
		strbuf__puts(b, "  ");
	}
	put_times(&row->since, v->window_ns, b);
	strbuf__puts(b, "  ");
	if (layout == TWO_LINES && b->len - from < width)
		len = first_part(name, width - (b->len - from));
	strbuf__add(b, name, len);
	end_line(b, from, width);
	if (layout != TWO_LINES)
		return;
	from = b->len;
	strbuf__puts(b, "now");
	put_times(&row->now, v->interval_ns, b);
	strbuf__printf(b, "%s%s", name[len] ? "  " : "", &name[len]);
	end_line(b, from, width);
}

/* ---- functions and stacks -------------------------------------------------------------------- */

static void put_share(const struct live_view *v, uint64_t count, struct strbuf *b)
{
	strbuf__printf(b, "%11s ", text__number(count).s);
	out__percent(b, count, v->events, 6);
	strbuf__putc(b, '%');
}

/* ---- the page -------------------------------------------------------------------------------- */

static void put_heads(const struct live_view *v, enum layout layout, unsigned int width,
		      struct strbuf *b)
{
	size_t from = b->len;

	if (v->key == LIVE_PAIRS)
		put_pair_heads(v, layout, b);
	else if (v->key == LIVE_STACKS)
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

static void put_keys(const struct live_view *v, unsigned int width, struct strbuf *b)
{
	size_t from = b->len;

	strbuf__puts(b, v->nr_queries ? "k functions, stacks or pairs" : "k functions or stacks");
	if (v->key != LIVE_PAIRS)
		strbuf__puts(b, "  e event");
	else if (v->nr_queries > 1)
		strbuf__puts(b, "  e pairs");
	strbuf__puts(b, v->key == LIVE_STACKS ? "" : "  o order");
	strbuf__puts(b, "  z set to zero  q quit");
	end_line(b, from, width);
}

void live_view__text(const struct live_view *v, unsigned int width, unsigned int height, bool keys,
		     struct strbuf *b)
{
	unsigned int room = live_view__room(height), lines, nr, i;
	enum layout layout = layout_of(v, width, room);

	lines = layout == TWO_LINES ? 2 : 1;
	nr = MIN(v->nr_rows, room / lines);
	put_title(v, width, b);
	put_heads(v, layout, width, b);
	for (i = 0; i < nr; i++) {
		if (v->key == LIVE_PAIRS)
			put_pair_row(v, &v->rows[i], layout, width, b);
		else
			put_row(v, &v->rows[i], width, b);
	}
	if (!keys)
		return;
	for (i = nr * lines; i < room; i++)
		strbuf__putc(b, '\n');
	put_keys(v, width, b);
}

void live_view__clear(struct live_view *v)
{
	while (v->nr_rows)
		free(v->rows[--v->nr_rows].text);
	free(v->rows);
	v->rows = NULL;
	free(v->event);
	v->event = NULL;
	free(v->pairs);
	v->pairs = NULL;
}
