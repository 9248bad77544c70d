// SPDX-License-Identifier: GPL-2.0-only
/* stackonce info: prints what a recording holds and checks its accounting. */
#include "info.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "losses.h"

/* clang-format off */
static const struct opt options[] = {
	READING_OPTIONS(struct info, rd, A_RECORDING),
	{ "-v, --verbose", "print all metadata, and events that never happened",
	  OPT_FLAG(struct info, verbose) },
	FOLLOW_OPTION("keep printing while the recording is in progress"),
	JSON_OPTION("one JSON object"),
	HELP_OPTION
};
/* clang-format on */

void info__account(const struct info *in, const struct stk_event_type *t, struct account *ret)
{
	const struct stk_reader *r = in->rd.reader;
	struct account a = { 0 };
	unsigned int c;

	for (c = 0; c < STK_NR_COUNTERS; c++)
		a.c[c] = stk_reader__counter(r, t, c);
	if (!in->accounted && stk_event_type__index(t) < in->nr_seen) {
		a.c[STK_C_RECORDED] = in->seen[stk_event_type__index(t)];
		a.c[STK_C_HAPPENED] = a.c[STK_C_RECORDED];
	}
	info__sum(&a);
	*ret = a;
}

void info__sum(struct account *a)
{
	a->filtered = counters_sum(STK_COUNTERS_FILTERED, a->c);
	a->lost = losses__sum(a->c);
	a->fallbacks = counters_sum(STK_COUNTERS_FELL, a->c);
	a->lookups = a->c[STK_C_STACK_HIT] + a->c[STK_C_STACK_NEW] + a->fallbacks;
	a->ustacks = counters_sum(STK_COUNTERS_USTACK_WAY, a->c);
}

/* Sums up all event types. */
static void total(struct info *in)
{
	unsigned int i, c, nr = stk_reader__nr_types(in->rd.reader);
	struct account a;

	memset(&in->total, 0, sizeof(in->total));
	stk_reader__totals(in->rd.reader, &in->t);
	in->running = in->following || reading__is_live(&in->rd);
	in->one_way = info__one_way(in);
	in->accounted = true;
	for (;;) {
		for (i = 0; i < nr; i++) {
			info__account(in, stk_reader__type(in->rd.reader, i), &a);
			for (c = 0; c < STK_NR_COUNTERS; c++)
				in->total.c[c] += a.c[c];
		}
		/* An import has events but no accounting: use the number of events read. */
		for (c = 0; c < STK_NR_COUNTERS && !in->total.c[c]; c++)
			;
		if (c < STK_NR_COUNTERS || !in->accounted || !in->t.events)
			break;
		in->accounted = false;
	}
	info__sum(&in->total);
	in->unique = in->t.stacks - MIN(in->t.duplicates, in->t.stacks);
}

/* Events are counted only for recordings without accounting. */
static int count_events(struct info *in, const struct stk_event *e, uint64_t count)
{
	unsigned int i = stk_event_type__index(stk_event__type(e));

	if (array__reach(&in->seen, i, &in->nr_seen))
		return -ENOMEM;
	in->seen[i] += count;
	return 0;
}

static void put(struct info *in)
{
	total(in);
	if (in->rd.json)
		info__put_json(in);
	else
		info__put_text(in);
}

/* While following: prints at most once a second, and only if the recording has grown. */
static void put_progress(void *ctx)
{
	struct info *in = ctx;
	struct timespec now;
	struct stk_totals t;

	clock_gettime(CLOCK_MONOTONIC, &now);
	stk_reader__totals(in->rd.reader, &t);
	if (now.tv_sec == in->put_at || t.bytes == in->put_bytes)
		return;
	in->put_at = now.tv_sec;
	in->put_bytes = t.bytes;
	in->following = true;
	if (in->out.terminal && !in->rd.json)
		strbuf__puts(&in->out.b, "\033[H\033[J");
	put(in);
	if (!in->out.terminal && !in->rd.json)
		strbuf__putc(&in->out.b, '\n');
	in->following = false;
}

/* Reads to the end; counts the events if want includes them. */
static int read_all(struct info *in, unsigned int want)
{
	const struct stk_event *e;
	uint64_t count;
	int err = 0;

	while (!err && reading__next_counted(&in->rd, &in->out, in->rd.follow ? put_progress : NULL,
					     in, &e, &count))
		if (want & STK_WANT_EVENTS)
			err = count_events(in, e, count);
	return err ? log_err(err, "count the events") : 0;
}

/*
 * A recording without accounting is read again with its events.  Standard input cannot be read
 * twice, so its events are always read.
 */
static int read_recording(struct info *in)
{
	bool once = in->rd.follow;
	unsigned int want, i;
	int code;

	for (i = 0; i < in->rd.nr_paths; i++)
		once |= !strcmp(in->rd.paths[i], "-");
	want = once ? STK_WANT_EVENTS : STK_WANT_FIELDS;
	code = reading__open(&in->rd, want);
	if (code)
		return code;
	if (read_all(in, want))
		return CMD_FAILURE;
	total(in);
	if (in->accounted || once || !in->t.events)
		return CMD_OK;
	stk_reader__free(in->rd.reader);
	in->rd.reader = NULL;
	code = reading__open(&in->rd, STK_WANT_EVENTS);
	if (!code && read_all(in, STK_WANT_EVENTS))
		code = CMD_FAILURE;
	return code;
}

static void info__free(struct info *in)
{
	free(in->seen);
	reading__free(&in->rd);
}

static int run(int argc, char **argv)
{
	_cleanup_(info__free) struct info in = { 0 };
	int code = reading__options(&in.rd, &cmd_info, argc, argv);

	if (code)
		return code;
	out__open(&in.out, !in.rd.follow);
	code = read_recording(&in);
	if (in.rd.reader && !code) {
		if (in.rd.follow && in.out.terminal && !in.rd.json)
			strbuf__puts(&in.out.b, "\033[H\033[J");
		put(&in);
		code = reading__finish(&in.rd);
	}
	return out__close(&in.out, code);
}

const struct cmd cmd_info = {
	.name = "info",
	.summary = "print what a recording holds, and check its accounting",
	.run = run,
	.options = options,
	.text = "Prints what a recording holds, the accounting of its events, and sizes.\n",
	.notes = "For every event: happened = recorded + filtered + lost.\n",
};
