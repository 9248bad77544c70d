// SPDX-License-Identifier: GPL-2.0-only
/* stackonce futex: call sites, times and wakers of futex waits. */
#include "futex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "ui/need.h"

/* clang-format off */
static const struct opt options[] = {
	READING_OPTIONS(struct futex, w.rd, A_RECORDING),
	{ "--by WHAT", "one line per %s (default site)", OPT_WORD(struct futex, opts.by),
	  WORDS([FUTEX_BY_SITE] = "site", [FUTEX_BY_ADDRESS] = "address",
		[FUTEX_BY_COMM] = "comm", [FUTEX_BY_PID] = "pid") },
	WAITS_OPTIONS("print the full stacks of waits and wakers",
		      "write a flame graph of the stacks, by time waited", "only waits that began"),
	JSON_OPTION("print one JSON object per line, per open wait and for the sums"),
	HELP_OPTION
};
/* clang-format on */

static void futex__free(struct futex *fx)
{
	futex_analysis__free(fx->analysis);
	free(fx->wakers);
	waits__free(&fx->w);
}

static bool selected(void *ctx, const struct wait_task *task, uint64_t ts, unsigned int cpu)
{
	struct futex *fx = ctx;

	return waits__selected(&fx->w, task, ts, cpu);
}

const char *futex__kind(const struct futex_address *a)
{
	static const char *const kinds[] = {
		[FUTEX_OTHER] = "other", [FUTEX_MUTEX] = "mutex", [FUTEX_PI] = "pi"
	};

	return kinds[a->kind];
}

/* ---- wakers ---------------------------------------------------------------------------------- */

static int compare_u64(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

static int by_place(const void *x, const void *y)
{
	const struct futex_waker *a = x, *b = y;

	return compare_u64(a->first->interrupt, b->first->interrupt)	 ?:
		       compare_u64(a->first->by_call, b->first->by_call) ?:
		       compare_u64(a->frame.kind, b->frame.kind)	 ?:
		       compare_u64(a->frame.file, b->frame.file)	 ?:
		       compare_u64(a->frame.ip, b->frame.ip)		 ?:
		       strcmp(a->first->waker.comm, b->first->waker.comm);
}

static int by_count(const void *x, const void *y)
{
	const struct futex_waker *a = x, *b = y;

	return compare_u64(b->count, a->count) ?: by_place(a, b);
}

/* Merges neighbours of the same place; returns the number left. */
static uint32_t fold(struct futex_waker *v, uint32_t nr)
{
	uint32_t i, out = 0;

	for (i = 0; i < nr; i++) {
		if (out && !by_place(&v[out - 1], &v[i])) {
			v[out - 1].count += v[i].count;
			v[out - 1].guesses += v[i].guesses;
			v[out - 1].sum += v[i].sum;
		} else {
			v[out++] = v[i];
		}
	}
	return out;
}

int futex__wakers(struct futex *fx, const struct futex_group *g, uint32_t *ret_nr)
{
	struct futex_waker *w;
	uint32_t i, nr = 0;

	if (array__reserve(&fx->wakers, g->nr_stacks, &fx->max_wakers))
		return -ENOMEM;
	for (i = 0; i < g->nr_stacks; i++) {
		if (!g->stacks[i].woken)
			continue;
		w = &fx->wakers[nr++];
		*w = (struct futex_waker){ .first = &g->stacks[i],
					   .frame.kind = STK_FRAME_UNKNOWN,
					   .count = g->stacks[i].count,
					   .sum = g->stacks[i].sum };
		call_site__frame(fx->w.rd.reader, g->stacks[i].waker_ustack, &w->frame);
		w->guesses = w->frame.guessed ? w->count : 0;
		w->frame.guessed = false;
	}
	if (nr) {
		qsort(fx->wakers, nr, sizeof(*w), by_place);
		nr = fold(fx->wakers, nr);
		qsort(fx->wakers, nr, sizeof(*w), by_count);
	}
	*ret_nr = nr;
	return 0;
}

/* ---- the flame graph ------------------------------------------------------------------------- */

static int draw(struct futex *fx)
{
	static const struct flame_text text = { .title = "Futex waits",
						.subtitle = "by time waited",
						.unit = "ns" };
	_cleanup_(flamegraph__freep) struct flamegraph *flame = NULL;
	int err = flamegraph__new(&flame);
	uint32_t i, k;

	for (i = 0; i < fx->result->nr_groups && !err; i++) {
		const struct futex_group *g = &fx->result->groups[i];

		/* The kernel stacks of all waits are the same system calls. */
		for (k = 0; k < g->nr_stacks && !err; k++)
			err = flames__add(flame, fx->w.rd.reader, &fx->w.rd.names, g->comm,
					  g->stacks[k].ustack ? 0 : g->stacks[k].kstack,
					  g->stacks[k].ustack, g->stacks[k].sum);
	}
	if (err) {
		log_err(err, "draw the flame graph");
		return CMD_FAILURE;
	}
	return flames__write(flame, &fx->w.rd, &text);
}

static int read_events(struct futex *fx)
{
	const struct stk_event *e;
	int err;

	fx->opts.full = fx->w.rd.names.full;
	fx->opts.select = selected;
	fx->opts.ctx = fx;
	err = futex_analysis__new(fx->w.rd.reader, &fx->opts, &fx->analysis);
	while (!err && reading__next(&fx->w.rd, &fx->w.out, NULL, NULL, &e))
		err = futex_analysis__add(fx->analysis, e);
	if (!err)
		err = futex_analysis__finish(fx->analysis, &fx->result);
	return err ? log_err(err, "sum up the waits") : 0;
}

static int check_events(struct futex *fx)
{
	static const char *const calls[] = { "syscalls:sys_enter_futex*",
					     "syscalls:sys_exit_futex*", NULL };

	if (need__events(&fx->w.rd, calls, "--preset futex"))
		return CMD_FAILURE;
	waits__need_wakers(&fx->w, "--preset futex", "wakers are unknown");
	return CMD_OK;
}

static int run(int argc, char **argv)
{
	_cleanup_(futex__free) struct futex fx = { .w.rd.one_boot = true };
	int code, finished;

	code = waits__options(&fx.w, &cmd_futex, argc, argv) ?:
		       reading__open(&fx.w.rd, STK_WANT_EVENTS | STK_WANT_FIELDS);
	if (code)
		return code;
	out__open(&fx.w.out, true);
	if (read_events(&fx) || check_events(&fx))
		code = CMD_FAILURE;
	else if (fx.w.rd.flamegraph)
		code = draw(&fx);
	else if (fx.w.rd.json)
		futex__put_json(&fx);
	else
		futex__put_text(&fx);
	finished = reading__finish(&fx.w.rd);
	return out__close(&fx.w.out, code ?: finished);
}

const struct cmd cmd_futex = {
	.name = "futex",
	.summary = "futex waits by call site, with their wakers",
	.run = run,
	.options = options,
	.text = "Prints the call sites of futex waits, on which locks are based: how often and\n"
		"how long programs wait, and which tasks wake them from where.\n"
		"Record with 'stackonce record --preset futex'.\n",
};
