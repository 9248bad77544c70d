// SPDX-License-Identifier: GPL-2.0-only
/* Fills the view from the counts, shows it in time, and acts on keys. */
#include "live_run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "cleanup.h"
#include "clock.h"
#include "live_counts.h"
#include "live_screen.h"
#include "live_view.h"
#include "log.h"
#include "losses.h"
#include "ui/frames.h"
#include "ui/reading.h"

#define REFRESH_NS 500000000ull
#define TEXT_NS 2000000000ull /* interval of text without a terminal */
#define TEXT_WIDTH 80
#define LOOK_EVENTS 4096 /* how often the clock is read while there are events */

struct live {
	struct reading *rd;
	struct out out;
	struct live_counts *counts;
	struct live_screen *screen; /* NULL: text */
	struct live_view view;
	unsigned int lines; /* of text */
	unsigned int type; /* index of the selected event type + 1; 0: all */
	uint64_t first_ts, last_ts; /* of the window */
	uint64_t shown_ns; /* when the view was shown; events and time of the event then */
	uint64_t shown_events, shown_ts;
	uint64_t added, added_shown; /* events in all, and when text was printed */
	unsigned int idle; /* consecutive times without events */
	bool abandoned; /* the recorder has ended without an end of the recording */
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

static int add_row(struct live_view *v, uint64_t self, uint64_t all, struct strbuf *text)
{
	if (strbuf__failed(text))
		return -ENOMEM;
	v->rows[v->nr_rows++] = (struct live_row){ self, all, text->s };
	*text = (struct strbuf){ 0 };
	return 0;
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
		err = add_row(v, f[i].self, f[i].all, &text);
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
		err = add_row(v, 0, s[i].count, &text);
	}
	return n < 0 ? n : err;
}

/* ---- the view -------------------------------------------------------------------------------- */

static const struct stk_event_type *selected_type(const struct live *l)
{
	return l->type ? stk_reader__type(l->rd->reader, l->type - 1) : NULL;
}

/* Events per second of the recording's time since the last view. */
static uint64_t present_rate(const struct live *l)
{
	uint64_t ns = l->last_ts - l->shown_ts;

	if (!l->shown_ts || l->last_ts <= l->shown_ts)
		return 0;
	return (unsigned __int128)(l->added - l->shown_events) * 1000000000 / ns;
}

static int fill(struct live *l, unsigned int max)
{
	const struct stk_event_type *type = selected_type(l);
	_cleanup_(strbuf__free) struct strbuf event = { 0 };
	_cleanup_free_ char *name = type ? event__full_name(type) : NULL;
	struct live_view *v = &l->view;

	live_view__clear(v);
	if (type && !name)
		return -ENOMEM;
	if (name) {
		strbuf__text(&event, name);
		v->event = event.s;
		event = (struct strbuf){ 0 };
	}
	v->file = l->rd->path;
	v->events = live_counts__events(l->counts);
	v->window_ns = l->last_ts - l->first_ts;
	v->rate = present_rate(l);
	v->lost = losses__all(l->rd->reader);
	return v->key == LIVE_STACKS ? fill_stacks(l, max) : fill_functions(l, max);
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
	if (l->added_shown)
		strbuf__putc(&l->out.b, '\n');
	l->err = fill(l, live_view__room(l->lines));
	live_view__text(&l->view, TEXT_WIDTH, l->lines, false, &l->out.b);
	l->added_shown = l->added;
}

/* Shows the view, unless it is too early. */
static void show(struct live *l, uint64_t now)
{
	if (now - l->shown_ns < (l->screen ? REFRESH_NS : TEXT_NS))
		return;
	if (l->screen)
		show_page(l);
	else if (l->added > l->added_shown && l->shown_ns)
		print(l);
	l->shown_ns = now;
	l->shown_events = l->added;
	l->shown_ts = l->last_ts;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void next_type(struct live *l)
{
	unsigned int nr = stk_reader__nr_types(l->rd->reader);

	do
		l->type = l->type < nr ? l->type + 1 : 0;
	while (l->type && !live_counts__has_type(l->counts, selected_type(l)));
	live_counts__select(l->counts, selected_type(l));
}

/* Forgets what was counted: the window begins with the next event. */
static void zero(struct live *l)
{
	live_counts__zero(l->counts);
	l->view.zeroed = true;
	l->first_ts = l->last_ts;
}

static void act(struct live *l, int key)
{
	switch (key) {
	case 'k':
		l->view.key = (l->view.key + 1) % NR_LIVE_KEYS;
		break;
	case 'o':
		l->view.order = (l->view.order + 1) % NR_LIVE_ORDERS;
		break;
	case 'e':
		next_type(l);
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
		l->shown_ns = 0;
	}
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* A recorder that was killed leaves a recording without an end: nothing more comes. */
static void stop_if_abandoned(struct live *l)
{
	if (!l->rd->live || ++l->idle <= 2 || stk_reader__is_live(l->rd->reader))
		return;
	l->abandoned = true;
	raise(SIGINT);
}

static void idle(void *ctx)
{
	struct live *l = ctx;

	take_keys(l);
	show(l, clock_ns(CLOCK_MONOTONIC));
	stop_if_abandoned(l);
	if (l->err)
		raise(SIGINT);
}

/*
 * The innermost function says where CPU time goes, but of a tracepoint it is always the same: then
 * stacks are shown first.
 */
static void begin(struct live *l, const struct stk_event *e)
{
	l->first_ts = l->last_ts = stk_event__ts(e);
	if (stk_event_type__kind(stk_event__type(e)) != STK_KIND_SAMPLE)
		l->view.key = LIVE_STACKS;
}

static int add(struct live *l, const struct stk_event *e)
{
	uint64_t ts = stk_event__ts(e);

	if (!l->added)
		begin(l, e);
	l->last_ts = MAX(l->last_ts, ts);
	l->idle = 0;
	if (++l->added % LOOK_EVENTS == 0 && l->screen) {
		take_keys(l);
		show(l, clock_ns(CLOCK_MONOTONIC));
	}
	return l->err ?: live_counts__add(l->counts, e);
}

static int follow(struct live *l)
{
	const struct stk_event *e;
	int err = 0;

	while (!err && reading__next(l->rd, &l->out, idle, l, &e))
		err = add(l, e);
	err = err ?: l->err;
	live_screen__close(l->screen);
	l->screen = NULL;
	if (l->abandoned)
		log_warn("'%s' ended abruptly: the last events may be missing", l->rd->path);
	if (err)
		return log_err(err, "count the events");
	if (l->added != l->added_shown || !l->added)
		print(l);
	return l->err ? log_err(l->err, "show the events") : 0;
}

int live__run(struct reading *rd, const struct live_opts *opts)
{
	struct live l = { .rd = rd, .lines = opts->rows + LIVE_OTHER_LINES };
	int err;

	out__open(&l.out, false);
	err = live_counts__new(rd->reader, opts->stacks, &l.counts);
	if (err) {
		log_err(err, "count the events");
		return out__close(&l.out, CMD_FAILURE);
	}
	err = live_screen__open(&l.screen);
	if (err == -EOPNOTSUPP)
		log_warn("ncurses (libncursesw6) is not installed: printing text every 2 seconds");
	err = follow(&l);
	live_counts__free(l.counts);
	live_view__clear(&l.view);
	return out__close(&l.out, err ? CMD_FAILURE : reading__finish(rd));
}
