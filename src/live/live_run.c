// SPDX-License-Identifier: GPL-2.0-only
/* Fills the view from the counts, shows it in time, and acts on keys. */
#include "live_run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "cleanup.h"
#include "clock.h"
#include "live_counts.h"
#include "live_pairs.h"
#include "live_screen.h"
#include "live_view.h"
#include "log.h"
#include "losses.h"
#include "ui/frames.h"
#include "ui/reading.h"

#define REFRESH_NS 500000000ull
#define TEXT_NS 2000000000ull /* interval of text without a terminal */
#define QUIET_NS 2000000000ull /* an interval without events is this long */
#define TEXT_WIDTH 80
#define LOOK_EVENTS 4096 /* how often the clock is read while there are events */

struct live {
	struct reading *rd;
	struct out out;
	struct live_counts *counts;
	struct live_pairs *pairs; /* NULL: none were asked for */
	struct live_screen *screen; /* NULL: text */
	struct live_view view;
	unsigned int rows; /* of text */
	unsigned int type; /* index of the selected event type + 1; 0: all */
	uint64_t first_ts, last_ts; /* of the window */
	uint64_t taken, printed; /* events that were read, and when text was printed */
	bool has_window, has_events;
	bool changed; /* by a key: the page is to be shown at once */
	/* The end of the last interval; what had been read and counted; the last event. */
	uint64_t ended_ns, ended_taken, ended_events, ended_ts;
	uint64_t interval_ns, interval_events; /* of the last interval */
	int err;
};

/* ---- rows ------------------------------------------------------------------------------------ */

/* The functions of a stack in a line, as far as a terminal may be wide. */
static void put_stack(struct live *l, struct strbuf *b, const struct live_stack *s)
{
	const uint32_t numbers[] = { s->kstack, s->ustack };
	struct stk_frame frames[STK_MAX_DEPTH];
	unsigned int i, k, n;
	size_t start = b->len;

	for (k = 0; k < ARRAY_SIZE(numbers); k++) {
		n = stack__frames(l->rd->reader, numbers[k], frames);
		for (i = 0; i < n && b->len - start < 1024; i++) {
			strbuf__puts(b, b->len > start ? " < " : "");
			frame__function(&l->rd->names, b, &frames[i]);
		}
	}
	if (b->len == start)
		strbuf__puts(b, "no stack");
}

static int add_row(struct live_view *v, struct live_row row, struct strbuf *text)
{
	if (strbuf__failed(text))
		return -ENOMEM;
	row.text = take_ptr(text->s);
	return live_view__add(v, row);
}

static int fill_functions(struct live *l, unsigned int max)
{
	_cleanup_free_ struct live_function *f = calloc(max, sizeof(*f));
	struct live_view *v = &l->view;
	int n, i, err = 0;

	if (!f)
		return -ENOMEM;
	n = live_counts__functions(l->counts, v->order == LIVE_BY_ALL, f, max, &v->nr_all);
	for (i = 0; i < n && !err; i++) {
		_cleanup_(strbuf__free) struct strbuf text = { 0 };

		f[i].frame.guessed = false;
		frame__function(&l->rd->names, &text, &f[i].frame);
		err = add_row(v, (struct live_row){ .self = f[i].self, .all = f[i].all }, &text);
	}
	return n < 0 ? n : err;
}

static int fill_stacks(struct live *l, unsigned int max)
{
	_cleanup_free_ struct live_stack *s = calloc(max, sizeof(*s));
	struct live_view *v = &l->view;
	int n, i, err = 0;

	if (!s)
		return -ENOMEM;
	n = live_counts__stacks(l->counts, s, max, &v->nr_all);
	for (i = 0; i < n && !err; i++) {
		_cleanup_(strbuf__free) struct strbuf text = { 0 };

		put_stack(l, &text, &s[i]);
		err = add_row(v, (struct live_row){ .all = s[i].count }, &text);
	}
	return n < 0 ? n : err;
}

static int fill_pairs(struct live *l, unsigned int max)
{
	_cleanup_free_ struct live_group *g = calloc(max, sizeof(*g));
	struct live_view *v = &l->view;
	int n, i, err = 0;

	if (!g)
		return -ENOMEM;
	n = live_pairs__groups(l->pairs, v->pair_order, g, max, &v->nr_all);
	for (i = 0; i < n && !err; i++) {
		_cleanup_(strbuf__free) struct strbuf text = { 0 };

		live_pairs__put_group(l->pairs, &g[i], &text);
		err = add_row(v, (struct live_row){ .now = g[i].now, .since = g[i].all }, &text);
	}
	return n < 0 ? n : err;
}

/* ---- the view -------------------------------------------------------------------------------- */

static const struct stk_event_type *selected_type(const struct live *l)
{
	return l->type ? stk_reader__type(l->rd->reader, l->type - 1) : NULL;
}

/* Events or pairs per second in the last interval. */
static uint64_t rate(const struct live *l, uint64_t count)
{
	return l->interval_ns ? (unsigned __int128)count * 1000000000 / l->interval_ns : 0;
}

static int fill_counts(struct live *l)
{
	_cleanup_(strbuf__free) struct strbuf name = { 0 };
	_cleanup_free_ char *full_name = NULL;
	const struct stk_event_type *type = selected_type(l);
	struct live_view *v = &l->view;

	v->events = live_counts__events(l->counts);
	v->rate = rate(l, l->interval_events);
	if (!type)
		return 0;
	full_name = event__full_name(type);
	if (full_name)
		strbuf__text(&name, full_name);
	v->event = take_ptr(name.s);
	return v->event ? 0 : -ENOMEM;
}

static int fill_pair_counts(struct live *l)
{
	_cleanup_(strbuf__free) struct strbuf name = { 0 };
	struct live_view *v = &l->view;
	uint64_t now;

	live_pairs__sum(l->pairs, &now, &v->nr_pairs);
	v->rate = rate(l, now);
	v->interval_ns = l->interval_ns;
	v->gaps = live_pairs__gaps(l->pairs);
	if (live_pairs__selected(l->pairs) < 0)
		return 0;
	live_pairs__put_name(l->pairs, live_pairs__selected(l->pairs), &name);
	v->pairs = take_ptr(name.s);
	return v->pairs ? 0 : -ENOMEM;
}

static int fill(struct live *l, unsigned int max)
{
	struct live_view *v = &l->view;
	int err;

	live_view__clear(v);
	v->file = l->rd->path;
	v->window_ns = l->last_ts - l->first_ts;
	v->lost = losses__all(l->rd->reader);
	err = v->key == LIVE_PAIRS ? fill_pair_counts(l) : fill_counts(l);
	if (err)
		return err;
	switch (v->key) {
	case LIVE_PAIRS:
		return fill_pairs(l, max);
	case LIVE_STACKS:
		return fill_stacks(l, max);
	default:
		return fill_functions(l, max);
	}
}

static void show_page(struct live *l)
{
	_cleanup_(strbuf__free) struct strbuf page = { 0 };
	unsigned int width, height;

	live_screen__size(l->screen, &width, &height);
	l->err = fill(l, live_view__room(height));
	live_view__text(&l->view, width, height, true, &page);
	if (!strbuf__failed(&page))
		live_screen__show(l->screen, page.s);
}

static void print(struct live *l)
{
	if (l->printed)
		strbuf__putc(&l->out.b, '\n');
	l->err = fill(l, l->rows);
	/* A group of pairs may have two lines. */
	live_view__text(&l->view, TEXT_WIDTH, LIVE_OTHER_LINES + 2 * l->view.nr_rows, false,
			&l->out.b);
	l->printed = l->taken;
}

/* ---- intervals ------------------------------------------------------------------------------- */

static void end_interval(struct live *l, uint64_t now)
{
	l->interval_events = live_counts__events(l->counts) - l->ended_events;
	l->interval_ns = l->taken > l->ended_taken ? l->last_ts - l->ended_ts : now - l->ended_ns;
	l->ended_ns = now;
	l->ended_taken = l->taken;
	l->ended_events += l->interval_events;
	l->ended_ts = l->last_ts;
	if (l->pairs)
		live_pairs__end_interval(l->pairs);
}

/*
 * Events come in rounds of the recorder, which may be further apart than pages: an interval ends
 * with the first events that come after its time.
 */
static bool is_over(const struct live *l, uint64_t now)
{
	uint64_t age = now - l->ended_ns;

	if (l->taken == l->ended_taken)
		return l->screen && l->taken && age >= QUIET_NS;
	return age >= (l->screen ? REFRESH_NS : TEXT_NS);
}

/* Shows the view, unless it is too early. */
static void show(struct live *l)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool over = is_over(l, now);

	if (over)
		end_interval(l, now);
	if (l->screen && (over || l->changed))
		show_page(l);
	else if (over)
		print(l);
	l->changed = false;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void next_type(struct live *l)
{
	unsigned int nr = stk_reader__nr_types(l->rd->reader);

	do
		l->type = l->type < nr ? l->type + 1 : 0;
	while (l->type && !live_counts__has_type(l->counts, selected_type(l)));
	live_counts__select(l->counts, selected_type(l));
	l->ended_events = live_counts__events(l->counts);
	l->interval_events = 0;
}

/* Forgets what was counted: the window begins with the next event. */
static void zero(struct live *l)
{
	live_counts__zero(l->counts);
	if (l->pairs)
		live_pairs__zero(l->pairs);
	l->view.zeroed = true;
	l->first_ts = l->ended_ts = l->last_ts;
	l->ended_taken = l->taken;
	l->ended_events = 0;
	l->ended_ns = clock_ns(CLOCK_MONOTONIC);
	l->interval_ns = l->interval_events = 0;
}

static void next_key(struct live *l)
{
	l->view.key = (l->view.key + 1) % (l->pairs ? NR_LIVE_KEYS : LIVE_PAIRS);
}

static void next_order(struct live_view *v)
{
	if (v->key == LIVE_PAIRS)
		v->pair_order = (v->pair_order + 1) % NR_LIVE_PAIR_ORDERS;
	else
		v->order = (v->order + 1) % NR_LIVE_ORDERS;
}

static void next_pairs(struct live *l)
{
	int next = live_pairs__selected(l->pairs) + 1;

	live_pairs__select(l->pairs, next < (int)l->view.nr_queries ? next : -1);
}

static void act(struct live *l, int key)
{
	switch (key) {
	case 'k':
		next_key(l);
		break;
	case 'o':
		next_order(&l->view);
		break;
	case 'e':
		if (l->view.key != LIVE_PAIRS)
			next_type(l);
		else if (l->view.nr_queries > 1)
			next_pairs(l);
		break;
	case 'z':
		zero(l);
		break;
	case 'q':
		raise(SIGINT); /* ends the reading, as Ctrl-C does */
		break;
	default:
		break;
	}
}

/* Takes the keys; any of them, and a new size of the terminal, renews the page at once. */
static void take_keys(struct live *l)
{
	int key;

	while (l->screen && (key = live_screen__key(l->screen))) {
		act(l, key);
		l->changed = true;
	}
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void idle(void *ctx)
{
	struct live *l = ctx;

	take_keys(l);
	show(l);
	if (l->err)
		raise(SIGINT);
}

/*
 * The innermost function says where CPU time goes, but of a tracepoint it is always the same: then
 * stacks are shown first.  Pairs are shown first if they were asked for.
 */
static void choose_key(struct live *l, const struct stk_event *first)
{
	if (!l->pairs && stk_event_type__kind(stk_event__type(first)) != STK_KIND_SAMPLE)
		l->view.key = LIVE_STACKS;
}

static int count(struct live *l, const struct stk_event *e)
{
	if (!l->has_events)
		choose_key(l, e);
	l->has_events = true;
	return live_counts__add(l->counts, e);
}

/* The window ends with the last event that --time selects, whatever else selects events. */
static void extend_window(struct live *l, uint64_t ts)
{
	if (l->rd->sel.nr_times && !selection__has_time(&l->rd->sel, ts, ts))
		return;
	if (!l->has_window)
		l->first_ts = l->last_ts = l->ended_ts = ts;
	l->has_window = true;
	l->last_ts = MAX(l->last_ts, ts);
}

/*
 * Whether a recording that goes on can have pairs: its event types precede the events.  Those of
 * several recordings are known at the end.
 */
static int check_first(struct live *l)
{
	bool known = l->rd->live && l->rd->nr_paths == 1;

	return l->pairs && known ? live_pairs__check(l->pairs) : 0;
}

/* Pairs are made of all events, and selected by their starts; functions and stacks are not. */
static int add(struct live *l, const struct stk_event *e)
{
	int err = l->taken ? 0 : check_first(l);

	extend_window(l, stk_event__ts(e));
	if (++l->taken % LOOK_EVENTS == 0 && (l->screen || l->rd->live)) {
		take_keys(l);
		show(l);
		err = err ?: l->err;
	}
	if (!err && l->pairs)
		err = live_pairs__add(l->pairs, e);
	if (err || (l->pairs && !reading__selected(l->rd, e)))
		return err;
	return count(l, e);
}

/* What remains on the terminal, or is printed last, are the totals. */
static int print_last(struct live *l)
{
	int err = l->pairs ? live_pairs__check(l->pairs) : 0;

	if (err)
		return err;
	if (l->pairs)
		live_pairs__warn_empty(l->pairs);
	l->interval_ns = l->interval_events = 0;
	if (l->taken != l->printed || !l->taken || l->pairs)
		print(l);
	return l->err ? log_err(l->err, "show the events") : 0;
}

static int follow(struct live *l)
{
	const struct stk_event *e;
	int err = 0;

	l->ended_ns = clock_ns(CLOCK_MONOTONIC);
	l->changed = true; /* the first page */
	while (!err && reading__next(l->rd, &l->out, idle, l, &e))
		err = add(l, e);
	err = err ?: l->err;
	live_screen__close(l->screen);
	l->screen = NULL;
	ui__hold_messages(false);
	if (err == -ENOENT) /* the reason has been logged */
		return err;
	return err ? log_err(err, "count the events") : print_last(l);
}

static int start(struct live *l, const struct live_opts *opts)
{
	int err = live_counts__new(l->rd->reader, opts->stacks, &l->counts);

	if (!err && opts->nr_queries)
		err = live_pairs__new(l->rd, opts->queries, opts->nr_queries, &l->pairs);
	if (err)
		return log_err(err, "count the events");
	l->view.nr_queries = opts->nr_queries;
	if (opts->nr_queries)
		l->view.key = LIVE_PAIRS;
	err = live_screen__open(&l->screen);
	if (err == -EOPNOTSUPP)
		log_warn("ncurses (libncursesw6) is not installed: printing text every 2 seconds");
	/* A message in the middle of a page would be lost with the page. */
	ui__hold_messages(l->screen);
	return 0;
}

int live__run(struct reading *rd, const struct live_opts *opts)
{
	struct live l = { .rd = rd, .rows = opts->rows };
	int err;

	out__open(&l.out, false);
	err = start(&l, opts) ?: follow(&l);
	live_counts__free(l.counts);
	live_pairs__free(l.pairs);
	live_view__clear(&l.view);
	return out__close(&l.out, err ? CMD_FAILURE : reading__finish(rd));
}
